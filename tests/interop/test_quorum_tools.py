"""Apache Kafka judges our tools for quorum, features and cluster: on its node both sides' tools say and do the same."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from io import StringIO
from pathlib import Path
from typing import TextIO

import pytest

from barnabas.cli import cluster, features, metadata_quorum, storage
from barnabas.cli.error_lines import exception_name
from barnabas.protocol.errors import ErrorCode
from interop.apache_broker import CLUSTER_ID, ApacheBroker
from interop.referee import PROGRAMS, ToolOutput, Tools, java_command, run_java
from interop.watched_process import free_ports

pytestmark = pytest.mark.referee

TOOLS: dict[str, tuple[str, Callable[[Sequence[str], TextIO, TextIO], int]]] = {
    "quorum": ("org.apache.kafka.tools.MetadataQuorumCommand", metadata_quorum.run),
    "features": ("org.apache.kafka.tools.FeatureCommand", features.run),
    "cluster": ("org.apache.kafka.tools.ClusterTool", cluster.run),
}
LOG_LINE = re.compile(r"^\[.*\] (INFO|WARN|ERROR) .*\n", re.MULTILINE)
# Numbers that grow while the tools run.
MOVING = re.compile(r"((?:HighWatermark|MaxFollowerLag|MaxFollowerLagTimeMs): +)\d+|(Epoch: )\d+$", re.MULTILINE)


class Quorum:
    """A node of Apache's, voter and broker, and a second controller of Apache's that observes it."""

    def __init__(self, home: Path, stack: ExitStack) -> None:
        broker_port, controller_port, other_port = free_ports(3)
        self.broker = f"127.0.0.1:{broker_port}"
        self.controller = f"127.0.0.1:{controller_port}"
        self.newcomer = f"127.0.0.1:{other_port}"
        self.home = home
        dynamic = {"controller.quorum.voters": "", "controller.quorum.bootstrap.servers": self.controller}
        self._start(
            stack,
            dynamic
            | {
                "listeners": f"BROKER://{self.broker},CONTROLLER://{self.controller}",
                "advertised.listeners": f"BROKER://{self.broker}",
            },
            "--standalone",
        )
        newcomer = {
            "node.id": "2",
            "process.roles": "controller",
            "listeners": f"CONTROLLER://{self.newcomer}",
            "advertised.listeners": f"CONTROLLER://{self.newcomer}",
        }
        self._start(stack, dynamic | newcomer, "--no-initial-controllers")
        # Short, so that a tool which reaches nobody gives up soon.
        self.impatient = home / "impatient.properties"
        self.impatient.write_text("default.api.timeout.ms=800\nrequest.timeout.ms=400\n")

    def _start(self, stack: ExitStack, settings: dict[str, str], voters: str) -> None:
        node_id = settings.get("node.id", "1")
        node = ApacheBroker(self.home / node_id, settings)
        self.server_properties(node_id).parent.mkdir()
        lines = {
            "process.roles": "broker,controller",
            "node.id": "1",
            "controller.listener.names": "CONTROLLER",
            "inter.broker.listener.name": "BROKER",
            "listener.security.protocol.map": "BROKER:PLAINTEXT,CONTROLLER:PLAINTEXT",
            "log.dirs": str(node.log_directory),
        } | settings
        if settings.get("process.roles") == "controller":
            del lines["inter.broker.listener.name"]
        path = self.server_properties(node_id)
        path.write_text("".join(f"{name}={value}\n" for name, value in lines.items()))
        out, err = StringIO(), StringIO()
        arguments = ["format", "-t", CLUSTER_ID, "-c", str(path), voters]
        assert storage.run(arguments, out, err) == 0, err.getvalue()
        stack.enter_context(node)

    def server_properties(self, node_id: str) -> Path:
        return self.home / f"formatted-{node_id}" / "server.properties"


@pytest.fixture(scope="module")
def quorum(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Quorum]:
    with ExitStack() as stack:
        yield Quorum(tmp_path_factory.mktemp("quorum"), stack)


def ours(tool: str, words: Sequence[str]) -> ToolOutput:
    out, err = StringIO(), StringIO()
    status = TOOLS[tool][1](words, out, err)
    return ToolOutput(status, out.getvalue(), err.getvalue())


def apaches(tools: Tools, tool: str, words: Sequence[str]) -> ToolOutput:
    return tools.run(TOOLS[tool][0], *words)


def first_complaint(err: str) -> str:
    """The first line of an error; of a usage, what stands under it, without the blanks that argparse4j scatters."""
    said = LOG_LINE.sub("", err)
    _, *complaint = re.split(r": +error:", said, maxsplit=1)
    return re.sub(r"\s", "", complaint[0]) if complaint else said.partition("\n")[0]


def compare(tools: Tools, quorum: Quorum, tool: str, arguments: str) -> ToolOutput:
    """Run both tools on the same words; their outputs and the heads of their errors are the same."""
    words = arguments.format(
        broker=f"--bootstrap-server {quorum.broker}",
        controller=f"--bootstrap-controller {quorum.controller}",
        b=quorum.broker,
        c=quorum.controller,
        nobody="--bootstrap-server 127.0.0.1:1",
        impatient=quorum.impatient,
        newcomer=quorum.server_properties("2"),
        first=quorum.server_properties("1"),
    ).split()
    theirs, our = apaches(tools, tool, words), ours(tool, words)
    assert our.status == theirs.status, our.err + theirs.err
    assert MOVING.sub(r"\1\2N", our.out) == MOVING.sub(r"\1\2N", theirs.out)
    assert first_complaint(our.err) == first_complaint(theirs.err)
    return our


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("quorum", "{broker} describe --status"),
        ("quorum", "{controller} describe --status"),
        ("cluster", "cluster-id --bootstrap-server {b}"),
        ("cluster", "cluster-id -C {c}"),
        ("cluster", "list-endpoints -b {b}"),
        ("cluster", "list-endpoints -b {b} --include-fenced-brokers"),
        ("cluster", "list-endpoints -C {c}"),
        ("features", "{broker} describe"),
        ("features", "{controller} describe"),
        ("features", "{broker} describe --node-id 1"),
        ("features", "{controller} describe --node-id 2"),
        ("features", "version-mapping"),
        ("features", "version-mapping --release-version 4.0"),
        ("features", "version-mapping --release-version 4.1-IV0"),
        ("features", "feature-dependencies --feature metadata.version=26 --feature eligible.leader.replicas.version=1"),
        ("features", "feature-dependencies --feature metadata.version=7 --feature group.version=0"),
        ("features", "{broker} upgrade --feature metadata.version=30 --dry-run"),
        ("features", "{broker} upgrade --release-version 4.3 --dry-run"),
        ("features", "{broker} downgrade --feature share.version=0 --dry-run"),
        ("quorum", "{broker} remove-controller -i 7 -d MvDxzVmcRsaTz33bUuRU6A --dry-run"),
        ("quorum", "{controller} --command-config {newcomer} add-controller --dry-run"),
    ],
)
def test_both_tools_print_the_same(tools: Tools, quorum: Quorum, tool: str, arguments: str) -> None:
    said = compare(tools, quorum, tool, arguments)
    assert (said.status, said.err) == (0, "")
    assert said.out


@pytest.mark.parametrize("option", ["", " --human-readable"])
@pytest.mark.parametrize("at", ["--bootstrap-server {broker}", "--bootstrap-controller {controller}"])
def test_both_tools_list_the_same_replicas(tools: Tools, quorum: Quorum, at: str, option: str) -> None:
    where = at.format(broker=quorum.broker, controller=quorum.controller)
    words = f"{where} describe --replication{option}".split()

    def rows(said: ToolOutput) -> list[list[str]]:
        assert said.status == 0, said.err
        table = [[cell.rstrip() for cell in line.split("\t")] for line in said.out.splitlines()]
        # All but offset, lag and times, of which only the form is compared.
        return [[*row[:2], *(re.sub(r"\d+", "N", cell) for cell in row[2:6]), *row[6:]] for row in table]

    our = rows(ours("quorum", words))
    assert our == rows(apaches(tools, "quorum", words))
    assert [(row[0], row[6]) for row in our[1:]] == [("1", "Leader"), ("2", "Observer")]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("quorum", ""),
        ("quorum", "describe --status"),
        ("quorum", "{broker}"),
        ("quorum", "{broker} fly"),
        ("quorum", "{broker} {controller} describe"),
        ("quorum", "--bootstrap-server"),
        ("quorum", "{broker} --bogus describe"),
        ("quorum", "{broker} describe --bogus"),
        ("quorum", "{broker} describe bogus"),
        ("quorum", "describe --status {broker}"),
        ("quorum", "{nobody} describe"),
        ("quorum", "{nobody} describe --status --replication"),
        ("quorum", "{nobody} describe --status --human-readable"),
        ("quorum", "{nobody} --command-config /no/such/file describe --status"),
        ("quorum", "--bootstrap-server nowhere describe --status"),
        ("quorum", "--bootstrap-server no-such-host.invalid:9092 describe --status"),
        ("quorum", "{nobody} --command-config {impatient} describe --status"),
        ("quorum", "--bootstrap-controller 127.0.0.1:1 --command-config {impatient} describe --replication"),
        ("quorum", "--bootstrap-server {c} --command-config {impatient} describe --status"),
        ("quorum", "--bootstrap-controller {b} --command-config {impatient} describe --status"),
        ("quorum", "{nobody} remove-controller"),
        ("quorum", "{nobody} remove-controller -i x -d y"),
        ("quorum", "{nobody} remove-controller -i -1 -d y"),
        ("quorum", "{broker} remove-controller -i 7 -d MvDxzVmcRsaTz33bUuRU6A"),
        ("quorum", "{controller} remove-controller -i 7 -d MvDxzVmcRsaTz33bUuRU6A"),
        ("quorum", "{nobody} add-controller"),
        ("quorum", "{nobody} --command-config {impatient} add-controller"),
        ("quorum", "{broker} --command-config {first} add-controller"),
        ("features", ""),
        ("features", "fly"),
        ("features", "describe"),
        ("features", "--bootstrap-server"),
        ("features", "{broker} {controller} describe"),
        ("features", "{broker} describe --node-id x"),
        ("features", "{broker} describe --node-id=-1"),
        ("features", "{broker} --command-config {impatient} describe --node-id 9"),
        ("features", "--bootstrap-server nowhere describe"),
        ("features", "{nobody} --command-config {impatient} describe"),
        ("features", "{nobody} --command-config {impatient} upgrade --feature metadata.version=30"),
        ("features", "{nobody} --command-config {impatient} disable --feature a.version --feature b.version"),
        ("features", "{broker} upgrade"),
        ("features", "{broker} upgrade --feature x"),
        ("features", "{broker} upgrade --feature x=y"),
        ("features", "{broker} upgrade --feature =1"),
        ("features", "{broker} upgrade --feature a=1 --feature a=2"),
        ("features", "{broker} upgrade --release-version 4.0 --feature a=1"),
        ("features", "{broker} upgrade --metadata 4.0 --feature metadata.version=30"),
        ("features", "{broker} upgrade --feature metadata.version=99"),
        ("features", "{broker} upgrade --feature no.version=1 --dry-run"),
        ("features", "{broker} upgrade --release-version 4.0"),
        ("features", "{controller} downgrade --feature metadata.version=25"),
        ("features", "{broker} disable --feature metadata.version"),
        ("features", "feature-dependencies"),
        ("features", "feature-dependencies --feature x=1"),
        ("features", "feature-dependencies --feature group.version=9"),
        ("features", "feature-dependencies --feature metadata.version=99"),
        ("features", "feature-dependencies --feature group.version=1 more"),
        ("cluster", "unregister -b {b} --id 77"),
        ("cluster", "list-endpoints -C {c} --include-fenced-brokers"),
        ("cluster", "cluster-id -b nowhere"),
        ("cluster", "cluster-id -b 127.0.0.1:1 -c {impatient}"),
        ("cluster", "cluster-id -b 127.0.0.1:1 --config {impatient}"),
        ("cluster", "cluster-id -b 127.0.0.1:1 --config {impatient} -c {impatient}"),
        ("cluster", "unregister -b 127.0.0.1:1 -c {impatient} -i 1"),
    ],
)
def test_both_tools_complain_alike(tools: Tools, quorum: Quorum, tool: str, arguments: str) -> None:
    said = compare(tools, quorum, tool, arguments)
    assert said.status == 1
    assert said.err


@pytest.mark.parametrize(
    "arguments",
    ["", "fly", "cluster-id", "cluster-id -b a:1 -C b:1", "unregister -b a:1", "unregister -b a:1 -i x", "--help"],
)
def test_both_cluster_tools_refuse_the_same_command_lines(arguments: str) -> None:
    """In a JVM of its own, which Apache's tool ends by itself."""
    words = arguments.split()
    theirs = subprocess.run(java_command(TOOLS["cluster"][0], *words), capture_output=True, encoding="utf-8")
    our = ours("cluster", words)
    assert our.status == theirs.returncode == 1
    assert first_complaint(our.err) == first_complaint(theirs.stderr)
    assert bool(our.out) == bool(theirs.stdout)


def test_a_controller_is_added_and_removed(tools: Tools, quorum: Quorum) -> None:
    settings = str(quorum.server_properties("2"))
    at_controller = ["--bootstrap-controller", quorum.controller]
    at_broker = ["--bootstrap-server", quorum.broker]

    def roles() -> dict[str, str]:
        said = apaches(tools, "quorum", [*at_broker, "describe", "--replication"])
        return {row[0].strip(): row[6].strip() for row in (line.split("\t") for line in said.out.splitlines()[1:])}

    added = ours("quorum", [*at_controller, "--command-config", settings, "add-controller"])
    assert (added.status, added.err) == (0, "")
    found = re.fullmatch(
        rf"Added controller 2 with directory id (\S+) and endpoints: CONTROLLER://{quorum.newcomer}\n", added.out
    )
    assert found is not None, added.out
    assert roles() == {"1": "Leader", "2": "Follower"}
    compare(tools, quorum, "quorum", "{broker} describe --status")
    compare(tools, quorum, "quorum", "{broker} --command-config {newcomer} add-controller")
    removed = ours("quorum", [*at_broker, "remove-controller", "-i", "2", "-d", found[1]])
    assert removed == (0, f"Removed  KRaft controller 2 with directory id {found[1]}\n", "")
    assert roles() == {"1": "Leader", "2": "Observer"}


def test_features_are_changed_and_changed_back(tools: Tools, quorum: Quorum) -> None:
    at_broker = ["--bootstrap-server", quorum.broker]

    def level() -> str:
        said = apaches(tools, "features", [*at_broker, "describe"])
        found = re.search(r"Feature: share.version .*FinalizedVersionLevel: (\d+)", said.out)
        assert found is not None, said.out
        return found[1]

    assert level() == "1"
    assert ours("features", [*at_broker, "disable", "--feature", "share.version"]).status == 0
    assert level() == "0"
    at_controller = ["--bootstrap-controller", quorum.controller]
    raised = ours("features", [*at_controller, "upgrade", "--feature", "share.version=1"])
    assert raised == (0, "share.version was upgraded to 1.\n", "")
    assert level() == "1"


def test_errors_have_the_names_of_kafkas_exceptions() -> None:
    rows = [line.split("\t") for line in run_java(PROGRAMS / "Facts.java", "exceptions").stdout.splitlines()]
    assert [[code.name, exception_name(code)] for code in ErrorCode if code is not ErrorCode.NONE] == rows
