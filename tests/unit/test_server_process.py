"""A controller as a process of its own: signals, exit statuses, and the last line of its log."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest

from barnabas.cli.storage import run as run_storage
from interop.watched_process import WatchedProcess, free_ports

CLUSTER_ID = "barnabasBarnabasBarnab"
ACTIVE = "active controller epoch="


class Node(WatchedProcess):
    def __init__(self, home: Path) -> None:
        super().__init__()
        self.properties = home / "server.properties"
        (port,) = free_ports(1)
        self.properties.write_text(
            "process.roles=controller\nnode.id=1\ncontroller.listener.names=CONTROLLER\n"
            f"controller.quorum.bootstrap.servers=127.0.0.1:{port}\nlisteners=CONTROLLER://127.0.0.1:{port}\n"
            f"log.dirs={home}/data\n"
        )

    def format(self) -> None:
        arguments = ["format", "--standalone", "--cluster-id", CLUSTER_ID, "--config", str(self.properties)]
        assert run_storage(arguments, StringIO(), sys.stderr) == 0

    def start(self, *overrides: str) -> None:
        words = [word for override in overrides for word in ("--override", override)]
        self.launch([sys.executable, "-m", "barnabas.cli.server_start", str(self.properties), *words])

    @property
    def last_line(self) -> str:
        return self.log().splitlines()[-1]


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Node]:
    node = Node(tmp_path)
    try:
        yield node
    finally:
        node.end()


def test_a_node_stops_when_it_is_asked_to_and_starts_again_after_any_end(node: Node) -> None:
    node.format()
    node.start()
    node.wait_for_line(ACTIVE + "1 ")
    node.stop()
    assert "controller stopped" in node.last_line
    node.start()
    node.wait_for_line(ACTIVE + "2 ")
    node.kill()
    node.start()
    node.wait_for_line(ACTIVE + "3 ")


@pytest.mark.parametrize(
    ("is_formatted", "override", "reason"),
    [
        (False, "node.id=1", "kafka-storage format"),
        (True, "node.id=2", "node 1, where node 2"),
        (True, "listener.security.protocol.map=CONTROLLER:SSL", "listener.security.protocol.map"),
    ],
)
def test_a_node_that_cannot_start_says_why_in_its_last_line(
    node: Node, is_formatted: bool, override: str, reason: str
) -> None:
    if is_formatted:
        node.format()
    node.start(override)
    assert node.wait() == 1
    assert "CRITICAL cannot start" in node.last_line
    assert reason in node.last_line


def test_a_setting_that_is_wrong_is_named(node: Node) -> None:
    node.start("controller.quorum.election.timeout.ms=soon")
    assert node.wait() == 1
    assert "controller.quorum.election.timeout.ms" in node.last_line
