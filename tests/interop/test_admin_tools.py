"""Apache Kafka judges our admin tools: on one cluster both sides' tools print the same and end with the same status.

Commands that only look are given to both in the same words. Commands that change something are given to each side with
a name of its own, `{side}`, which both outputs are compared without.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import TextIO

import pytest

from barnabas.cli import (
    broker_api_versions,
    configs,
    delete_records,
    get_offsets,
    leader_election,
    log_dirs,
    reassign_partitions,
    topics,
)
from interop.apache_broker import ApacheBroker
from interop.referee import ToolOutput, Tools
from interop.watched_process import free_ports

pytestmark = pytest.mark.referee

TOOLS: dict[str, tuple[str, Callable[[Sequence[str], TextIO, TextIO], int]]] = {
    "topics": ("org.apache.kafka.tools.TopicCommand", topics.run),
    "configs": ("kafka.admin.ConfigCommand", configs.run),
    "get-offsets": ("org.apache.kafka.tools.GetOffsetShell", get_offsets.run),
    "delete-records": ("org.apache.kafka.tools.DeleteRecordsCommand", delete_records.run),
    "log-dirs": ("org.apache.kafka.tools.LogDirsCommand", log_dirs.run),
    "leader-election": ("org.apache.kafka.tools.LeaderElectionCommand", leader_election.run),
    "reassign": ("org.apache.kafka.tools.reassign.ReassignPartitionsCommand", reassign_partitions.run),
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


@pytest.fixture(scope="module", params=["apache"])
def bootstrap(
    request: pytest.FixtureRequest, tools: Tools, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Bootstrap]:
    start = {"apache": start_apache}[request.param]
    with ExitStack() as stack:
        found = start(tmp_path_factory.mktemp("cluster"), stack)
        fill(found, tools)
        yield found


def start_apache(home: Path, stack: ExitStack) -> Bootstrap:
    broker_port, controller_port = free_ports(2)
    server, controller = f"127.0.0.1:{broker_port}", f"127.0.0.1:{controller_port}"
    properties = {
        "controller.quorum.voters": f"1@{controller}",
        "listeners": f"BROKER://{server},CONTROLLER://{controller}",
        "advertised.listeners": f"BROKER://{server}",
        "log.dirs": f"{home / '1' / 'logs'},{home / '1' / 'more'}",
        "num.partitions": "2",
    }
    stack.enter_context(ApacheBroker(home / "1", properties))
    return Bootstrap(server, controller, home)


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


def first_complaint(err: str) -> str:
    return LOG_LINE.sub("", err).partition("\n")[0]


def compare(tools: Tools, bootstrap: Bootstrap, tool: str, arguments: str) -> ToolOutput:
    """Give both tools the same words, but for their sides; they print the same, and their errors begin alike."""
    theirs, ours = (bootstrap.words(arguments, side) for side in SIDES)
    their = run_theirs(tools, tool, theirs)
    our = run_ours(tool, ours)
    their_out, our_out = (said.out.replace(side, "side") for said, side in zip((their, our), SIDES, strict=True))
    assert our_out == their_out, our.err + their.err
    assert our.status == their.status, our.err + their.err
    if our.err:
        their_first, our_first = (
            first_complaint(said.err).replace(side, "side") for said, side in zip((their, our), SIDES, strict=True)
        )
        assert our_first == their_first
    return our


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("topics", "{server} --list"),
        ("topics", "{server} --list --exclude-internal"),
        ("topics", "{server} --list --topic pl.*,tuned"),
        ("topics", "{server} --list --topic nothing"),
        ("topics", "{server} --describe"),
        ("topics", "{server} --describe --exclude-internal"),
        ("topics", "{server} --describe --topic plain"),
        ("topics", "{server} --describe --topic plain|tuned"),
        ("topics", "{server} --describe --topic tuned --if-exists"),
        ("topics", "{server} --describe --topic nothing --if-exists"),
        ("topics", "{server} --describe --topic wide --partition-size-limit-per-response 5"),
        ("topics", "{server} --describe --under-replicated-partitions"),
        ("topics", "{server} --describe --unavailable-partitions"),
        ("topics", "{server} --describe --under-min-isr-partitions"),
        ("topics", "{server} --describe --at-min-isr-partitions"),
        ("topics", "{server} --describe --topics-with-overrides"),
        ("topics", "{server} --describe --topic plain --at-min-isr-partitions --under-replicated-partitions"),
        ("configs", "{server} --describe --entity-type topics"),
        ("configs", "{server} --describe --entity-type topics --entity-name tuned"),
        ("configs", "{server} --describe --entity-type topics --entity-name tuned --all"),
        ("configs", "{server} --describe --topic tuned"),
        ("configs", "{server} --describe --entity-type topics --entity-name nothing"),
        ("configs", "{server} --describe --entity-type brokers"),
        ("configs", "{server} --describe --entity-type brokers --entity-name 1"),
        ("configs", "{server} --describe --entity-type brokers --entity-name 1 --all"),
        ("configs", "{server} --describe --entity-type brokers --entity-default"),
        ("configs", "{server} --describe --broker-defaults --all"),
        ("configs", "{server} --describe --broker 7"),
        ("configs", "{server} --describe --entity-type broker-loggers --entity-name 1"),
        ("configs", "{server} --describe --entity-type users"),
        ("configs", "{server} --describe --entity-type users --entity-name nobody"),
        ("configs", "{server} --describe --entity-type clients --entity-default"),
        ("configs", "{server} --describe --entity-type ips"),
        ("configs", "{server} --describe --entity-type client-metrics"),
        ("configs", "{server} --describe --entity-type client-metrics --entity-name nothing"),
        ("configs", "{server} --describe --entity-type groups"),
        ("configs", "{server} --describe --group nothing"),
        ("configs", "{controller} --describe --entity-type brokers --entity-name 1"),
        ("configs", "{controller} --describe --entity-type brokers --entity-default"),
        ("get-offsets", "{server}"),
        ("get-offsets", "{server} --topic plain"),
        ("get-offsets", "{server} --topic plain --time earliest"),
        ("get-offsets", "{server} --topic plain --time -3"),
        ("get-offsets", "{server} --topic plain --time 0"),
        ("get-offsets", "{server} --topic plain --time 9999999999999"),
        ("get-offsets", "{server} --topic plain --time earliest-local"),
        ("get-offsets", "{server} --topic wide --partitions 1,10,2"),
        ("get-offsets", "{server} --topic-partitions plain:1,wide:2-4,wide:10-,tu.*"),
        ("get-offsets", "{server} --topic-partitions :0 --exclude-internal-topics"),
        ("log-dirs", "{server} --describe"),
        ("log-dirs", "{server} --describe --broker-list 1 --topic-list plain,wide"),
        ("leader-election", "{server} --election-type preferred --topic plain --partition 1"),
        ("leader-election", "{server} --election-type PREFERRED --all-topic-partitions"),
        ("reassign", "{server} --list"),
        ("reassign", "{controller} --list"),
        ("api-versions", "{server}"),
    ],
)
def test_both_tools_print_the_same(tools: Tools, bootstrap: Bootstrap, tool: str, arguments: str) -> None:
    said = compare(tools, bootstrap, tool, arguments)
    assert (said.status, said.err) == (0, "")
