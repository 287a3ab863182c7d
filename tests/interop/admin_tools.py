"""Both sides' admin tools on one cluster of one broker, Apache's or ours, and how what they say is compared.

Commands that only look are given to both in the same words. Commands that change something are given to each side with
a name of its own, `{side}`, which both outputs are compared without.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import TextIO

from barnabas.cli import (
    broker_api_versions,
    configs,
    consumer_groups,
    delete_records,
    get_offsets,
    groups,
    leader_election,
    log_dirs,
    reassign_partitions,
    storage,
    topics,
)
from interop.apache_broker import CLUSTER_ID, ApacheBroker
from interop.referee import ToolOutput, Tools
from interop.watched_process import WatchedProcess, free_ports

TOOLS: dict[str, tuple[str, Callable[[Sequence[str], TextIO, TextIO], int]]] = {
    "topics": ("org.apache.kafka.tools.TopicCommand", topics.run),
    "configs": ("kafka.admin.ConfigCommand", configs.run),
    "get-offsets": ("org.apache.kafka.tools.GetOffsetShell", get_offsets.run),
    "delete-records": ("org.apache.kafka.tools.DeleteRecordsCommand", delete_records.run),
    "log-dirs": ("org.apache.kafka.tools.LogDirsCommand", log_dirs.run),
    "leader-election": ("org.apache.kafka.tools.LeaderElectionCommand", leader_election.run),
    "reassign": ("org.apache.kafka.tools.reassign.ReassignPartitionsCommand", reassign_partitions.run),
    "consumer-groups": ("org.apache.kafka.tools.consumer.group.ConsumerGroupCommand", consumer_groups.run),
    "groups": ("org.apache.kafka.tools.GroupsCommand", groups.run),
    "api-versions": ("org.apache.kafka.tools.BrokerApiVersionsCommand", broker_api_versions.run),
}
PERFORMANCE = "org.apache.kafka.tools.ProducerPerformance"
LOG_LINE = re.compile(r"^\[.*\] (INFO|WARN|ERROR) .*\n", re.MULTILINE)
SIDES = ("theirs", "our-is")


@dataclass(frozen=True)
class Bootstrap:
    """A cluster of one broker, 1, with two log directories, and files for the tools."""

    server: str
    controller: str
    home: Path

    def words(self, arguments: str, side: str = "") -> list[str]:
        found = arguments.format(
            server=f"--bootstrap-server {self.server}",
            controller=f"--bootstrap-controller {self.controller}",
            s=self.server,
            nobody="--bootstrap-server 127.0.0.1:1",
            impatient=self.home / "impatient.properties",
            home=self.home,
            side=side,
        )
        # A blank inside a word is typed as a tilde here.
        return [word.replace("~", " ") for word in found.split()]

    def write(self, name: str, content: object) -> Path:
        path = self.home / name
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path


def settings(home: Path) -> dict[str, str]:
    broker_port, controller_port = free_ports(2)
    server, controller = f"127.0.0.1:{broker_port}", f"127.0.0.1:{controller_port}"
    return {
        "process.roles": "broker,controller",
        "node.id": "1",
        "controller.quorum.voters": f"1@{controller}",
        "listeners": f"BROKER://{server},CONTROLLER://{controller}",
        "advertised.listeners": f"BROKER://{server}",
        "listener.security.protocol.map": "BROKER:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "inter.broker.listener.name": "BROKER",
        "controller.listener.names": "CONTROLLER",
        "log.dirs": f"{home / '1' / 'logs'},{home / '1' / 'more'}",
        "num.partitions": "2",
    }


def servers(properties: dict[str, str]) -> tuple[str, str]:
    """Where the broker and the controller listen."""
    broker, controller = properties["listeners"].split(",")
    return broker.removeprefix("BROKER://"), controller.removeprefix("CONTROLLER://")


def start_apache(home: Path, stack: ExitStack) -> Bootstrap:
    properties = settings(home)
    stack.enter_context(ApacheBroker(home / "1", properties))
    return Bootstrap(*servers(properties), home)


class OurNode(WatchedProcess):
    """A process of kafka-server-start that is broker and controller."""

    def __init__(self, properties: Path) -> None:
        super().__init__()
        self._properties = properties

    def start(self) -> None:
        self.launch([sys.executable, "-m", "barnabas.cli.server_start", str(self._properties)])
        self.wait_for_line("broker serving")


def start_ours(home: Path, stack: ExitStack) -> Bootstrap:
    properties = settings(home)
    path = home / "server.properties"
    path.write_text("".join(f"{name}={value}\n" for name, value in properties.items()))
    out, err = StringIO(), StringIO()
    assert storage.run(["format", "-t", CLUSTER_ID, "-c", str(path)], out, err) == 0, err.getvalue()
    stack.enter_context(OurNode(path))
    return Bootstrap(*servers(properties), home)


def fill(found: Bootstrap, tools: Tools) -> None:
    """Topics to look at, one of them with a hundred records."""
    found.write("impatient.properties", "default.api.timeout.ms=800\nrequest.timeout.ms=400\n")
    for words in (
        "--topic plain --partitions 3",
        "--topic tuned --config segment.bytes=2000000 --config retention.ms=60000 --config cleanup.policy=compact",
        "--topic wide --partitions 12",
        "--topic __consumer_offsets --partitions 1",
    ):
        made = run_theirs(tools, "topics", found.words("{server} --create " + words))
        assert made.status == 0, made
    load = "--topic plain --num-records 100 --record-size 10 --throughput -1 --producer-props bootstrap.servers={s}"
    assert tools.run(PERFORMANCE, *found.words(load)).status == 0


def run_theirs(tools: Tools, tool: str, words: Sequence[str]) -> ToolOutput:
    return tools.run(TOOLS[tool][0], *words)


def run_ours(tool: str, words: Sequence[str]) -> ToolOutput:
    out, err = StringIO(), StringIO()
    status = TOOLS[tool][1](words, out, err)
    return ToolOutput(status, out.getvalue(), err.getvalue())


def served_apis(bootstrap: Bootstrap) -> str:
    return run_ours("api-versions", bootstrap.words("{server}")).out


def first_complaint(err: str) -> str:
    return LOG_LINE.sub("", err).partition("\n")[0]


def compare(tools: Tools, bootstrap: Bootstrap, tool: str, arguments: str) -> ToolOutput:
    """Give both tools the same words, but for their sides; they print the same, and their errors begin alike."""
    theirs, ours = (bootstrap.words(arguments, side) for side in SIDES)
    their, our = run_theirs(tools, tool, theirs), run_ours(tool, ours)
    assert without_sides(our.out) == without_sides(their.out), our.err + their.err
    assert our.status == their.status, our.err + their.err
    if our.err:
        assert without_sides(first_complaint(our.err)) == without_sides(first_complaint(their.err))
    return our


def without_sides(text: str) -> str:
    return re.sub("|".join(SIDES), "side", text)


def wait_until_moved(bootstrap: Bootstrap) -> None:
    """Until no replica grows in a second directory any more."""
    words = bootstrap.words("{server} --describe --topic-list wide")
    wait_until(lambda: '"isFuture":true' not in run_ours("log-dirs", words).out)


def wait_until_listed(bootstrap: Bootstrap, topic: str) -> None:
    """Until the broker has heard from the controller of a topic that both sides made."""
    names = {topic.format(side=side) for side in SIDES}
    words = bootstrap.words("{server} --list")
    wait_until(lambda: names <= set(run_ours("topics", words).out.split()))


def wait_until_described(bootstrap: Bootstrap, entity: str, setting: str, *, is_there: bool) -> None:
    """Until the broker has heard from the controller that a setting is there, or no longer is."""
    words = bootstrap.words(f"{{server}} --describe {entity}")
    wait_until(lambda: (f"{setting}=" in run_ours("configs", words).out) == is_there)


def wait_until(is_so: Callable[[], bool], tries: int = 1000) -> None:
    for _ in range(tries):
        if is_so():
            return
    raise AssertionError(f"still not so after {tries} looks")
