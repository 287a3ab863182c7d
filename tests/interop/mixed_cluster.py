"""A cluster of controllers, each ours or Apache's, and Apache's brokers, on ports and in directories of its own.

All nodes are formatted by our kafka-storage, which Apache's nodes start on like on their own tool's work.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from io import StringIO
from pathlib import Path

from barnabas.cli.formatting.controllers import new_id
from barnabas.cli.storage import run as run_storage
from barnabas.log.meta_properties import read_meta_properties
from barnabas.runtime.disk import PosixDisk
from interop.apache_broker import CLUSTER_ID, ApacheBroker
from interop.quorum_questions import PAUSE_S, find_leader
from interop.referee import ToolOutput, Tools
from interop.watched_process import WatchedProcess, free_ports

QUORUM_TOOL = "org.apache.kafka.tools.MetadataQuorumCommand"
TOPICS_TOOL = "org.apache.kafka.tools.TopicCommand"

FIRST_BROKER_ID = 101
LISTENER = "CONTROLLER"


class OurController(WatchedProcess):
    """A process of `kafka-server-start`."""

    def __init__(self, properties: Path) -> None:
        super().__init__()
        self._properties = properties

    def start(self) -> None:
        self.launch([sys.executable, "-m", "barnabas.cli.server_start", str(self._properties)])
        self.wait_for_line("controller started")


class ApacheNode(ApacheBroker):
    """A node of Apache's of one role; `own` are the settings in which it differs from a test broker's."""

    def __init__(self, directory: Path, own: Mapping[str, str], address: str) -> None:
        super().__init__(directory, own)
        self.bootstrap_servers = address


class MixedCluster:
    """`controllers` has a letter for each: o for one of ours, a for one of Apache's. Their ids count from 1.

    Those of `joining` are formatted to join a quorum that is there, and vote only when they were added. With
    `is_static` the voters are those that every node's settings name.
    """

    def __init__(
        self,
        home: Path,
        tools: Tools,
        controllers: str,
        brokers: int,
        *,
        joining: str = "",
        is_static: bool = False,
        settings: Mapping[str, str] | None = None,
        broker_settings: Mapping[str, str] | None = None,
    ) -> None:
        self.home = home
        self.tools = tools
        self._settings = dict(settings or {})
        self._broker_settings = dict(broker_settings or {})
        kinds = dict(enumerate(controllers + joining, start=1))
        self._ports = dict(zip(kinds, free_ports(len(kinds)), strict=True))
        self._is_static = is_static
        voters = [f"{each}@{self.address(each)}:{new_id()}" for each in range(1, len(controllers) + 1)]
        self.controllers: dict[int, WatchedProcess] = {}
        for node_id, kind in kinds.items():
            quorum: tuple[str, ...] = ("--no-initial-controllers",)
            if node_id <= len(controllers):
                quorum = () if is_static else ("--initial-controllers", ",".join(voters))
            self.controllers[node_id] = self._make_controller(node_id, kind, quorum)
        self.brokers = {
            FIRST_BROKER_ID + index: self._make_broker(FIRST_BROKER_ID + index, port)
            for index, port in enumerate(free_ports(brokers))
        }

    def address(self, node_id: int) -> str:
        """Where a controller listens."""
        return f"127.0.0.1:{self._ports[node_id]}"

    @property
    def controller_addresses(self) -> str:
        return ",".join(map(self.address, self._ports))

    @property
    def bootstrap_servers(self) -> str:
        return ",".join(broker.bootstrap_servers for broker in self.brokers.values())

    def _whereabouts(self) -> dict[str, str]:
        """The settings by which a node finds the quorum."""
        if not self._is_static:
            # A test broker's settings name itself.
            servers = self.controller_addresses
            return {"controller.quorum.voters": "", "controller.quorum.bootstrap.servers": servers}
        voters = ",".join(f"{node_id}@{self.address(node_id)}" for node_id in self._ports)
        return {"controller.quorum.voters": voters}

    def _make_controller(self, node_id: int, kind: str, quorum: tuple[str, ...]) -> WatchedProcess:
        address = self.address(node_id)
        settings = {
            "process.roles": "controller",
            "node.id": str(node_id),
            "controller.listener.names": LISTENER,
            **self._whereabouts(),
            "listeners": f"{LISTENER}://{address}",
            "advertised.listeners": f"{LISTENER}://{address}",
            "broker.session.timeout.ms": "3000",
            **self._settings,
        }
        directory = self._directory(node_id)
        self._format(directory, settings, quorum)
        if kind == "o":
            return OurController(directory / "server.properties")
        return ApacheNode(directory, settings, address)

    def _make_broker(self, node_id: int, port: int) -> ApacheNode:
        settings = {
            "process.roles": "broker",
            "node.id": str(node_id),
            "controller.listener.names": LISTENER,
            **self._whereabouts(),
            "listeners": f"BROKER://127.0.0.1:{port}",
            "advertised.listeners": f"BROKER://127.0.0.1:{port}",
            **self._broker_settings,
        }
        return ApacheNode(self.home / f"broker-{node_id}", settings, f"127.0.0.1:{port}")

    def _format(self, directory: Path, settings: Mapping[str, str], quorum: tuple[str, ...]) -> None:
        directory.mkdir(parents=True)
        properties = directory / "server.properties"
        lines = {**settings, "log.dirs": str(directory / "logs")}
        properties.write_text("".join(f"{name}={value}\n" for name, value in lines.items()))
        err = StringIO()
        arguments = ["format", "--cluster-id", CLUSTER_ID, "--config", str(properties), *quorum]
        assert run_storage(arguments, StringIO(), err) == 0, err.getvalue()

    # Running it

    def start(self) -> None:
        """Start all nodes at once: a JVM that starts leaves a core to others for much of the time."""
        with ThreadPoolExecutor() as pool:
            for started in [pool.submit(node.start) for node in self._nodes()]:
                started.result()

    def end(self) -> None:
        for node in self._nodes():
            node.end()

    def _nodes(self) -> Iterator[WatchedProcess]:
        yield from self.controllers.values()
        yield from self.brokers.values()

    # Asking Apache's tools

    def quorum(self, *command: str, config: int | None = None) -> ToolOutput:
        """Ask the controllers about themselves, with Apache's tool; `config` names the node whose file it is given."""
        given = () if config is None else ("--command-config", str(self._directory(config) / "server.properties"))
        return self.tools.run(QUORUM_TOOL, "--bootstrap-controller", self.controller_addresses, *given, *command)

    def leader_id(self) -> int:
        """Who leads, as soon as somebody does."""
        running = [self._ports[node_id] for node_id, node in self.controllers.items() if node.is_running]
        return find_leader(running)

    def topics(self, *arguments: str) -> ToolOutput:
        return self.tools.run(TOPICS_TOOL, "--bootstrap-server", self.bootstrap_servers, *arguments)

    def directory_id(self, node_id: int) -> str:
        meta = read_meta_properties(PosixDisk(), str(self._directory(node_id) / "logs"))
        assert meta is not None, "every controller is formatted"
        return str(meta.directory_id)

    def wait_for_file(self, node_id: int, pattern: str, *, but: str, limit_s: float = 30) -> Path:
        """A file of a controller that fits the pattern, as soon as there is one."""
        found: list[Path] = []

        def is_there() -> bool:
            found[:] = (path for path in self._directory(node_id).glob(pattern) if path.name != but)
            return bool(found)

        self.wait_until(is_there, f"node {node_id} has no {pattern}", limit_s)
        return found[0]

    def wait_until_caught_up(self, node_id: int, limit_s: float = 30) -> None:
        """Wait until the leader has seen a node fetch the end of its log."""

        def has_caught_up() -> bool:
            rows = (line.split() for line in self.quorum("describe", "--replication").out.splitlines()[1:])
            return any(row[0] == str(node_id) and row[3] == "0" for row in rows)

        self.wait_until(has_caught_up, f"node {node_id} has not caught up", limit_s)

    def wait_until(self, holds: Callable[[], bool], otherwise: str, limit_s: float = 30) -> None:
        deadline_s = time.monotonic() + limit_s
        while not holds():
            assert time.monotonic() < deadline_s, f"{otherwise} after {limit_s} s\n{self.logs()}"
            time.sleep(PAUSE_S)

    def _directory(self, node_id: int) -> Path:
        return self.home / f"controller-{node_id}"

    def logs(self, nodes: Iterable[int] | None = None) -> str:
        """What the controllers logged, for the report of a test that failed."""
        return "\n".join(f"--- {each}\n{self.controllers[each].log()}" for each in nodes or self.controllers)


@contextmanager
def running(cluster: MixedCluster) -> Iterator[MixedCluster]:
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.end()
