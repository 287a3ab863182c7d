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
from typing import Any

from barnabas.cli.formatting.controllers import new_id
from barnabas.cli.storage import run as run_storage
from barnabas.log.meta_properties import read_meta_properties
from barnabas.protocol.messages.describe_quorum import ResponsePartitionData
from barnabas.protocol.schema import Message
from barnabas.runtime.disk import PosixDisk
from interop.apache_broker import CLUSTER_ID, ApacheBroker
from interop.quorum_questions import PAUSE_S, ask, find_quorum
from interop.referee import ToolOutput, Tools
from interop.watched_process import WatchedProcess, free_ports

QUORUM_TOOL = "org.apache.kafka.tools.MetadataQuorumCommand"
FEATURES_TOOL = "org.apache.kafka.tools.FeatureCommand"
TOPICS_TOOL = "org.apache.kafka.tools.TopicCommand"

FIRST_BROKER_ID = 101
# What a broker needs to let clients log in on a listener of their own.
SASL_SETTINGS = {
    "listener.security.protocol.map": "BROKER:PLAINTEXT,CONTROLLER:PLAINTEXT,SASL:SASL_PLAINTEXT",
    "sasl.enabled.mechanisms": "SCRAM-SHA-256",
    "listener.name.sasl.scram-sha-256.sasl.jaas.config": (
        "org.apache.kafka.common.security.scram.ScramLoginModule required;"
    ),
}
LISTENER = "CONTROLLER"
METADATA = "logs/__cluster_metadata-0"
BOOTSTRAP_FILE = "bootstrap.checkpoint"


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

    Those of `joining` are formatted to join a quorum that is there; they are not started with the others, and vote only
    when they were added. With `is_static` the voters are those that every node's settings name. With `has_sasl` clients
    can log in to the brokers, by SCRAM.
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
        has_sasl: bool = False,
        settings: Mapping[str, str] | None = None,
        broker_settings: Mapping[str, str] | None = None,
    ) -> None:
        self.home = home
        self.tools = tools
        self._settings = dict(settings or {})
        self._broker_settings = dict(broker_settings or {})
        self.kinds = dict(enumerate(controllers + joining, start=1))
        self._ports = dict(zip(self.kinds, free_ports(len(self.kinds)), strict=True))
        self._joining = range(len(controllers) + 1, len(self.kinds) + 1)
        self._is_static = is_static
        voters = [f"{each}@{self.address(each)}:{new_id()}" for each in range(1, len(controllers) + 1)]
        self.controllers: dict[int, WatchedProcess] = {}
        for node_id, kind in self.kinds.items():
            quorum: tuple[str, ...] = ("--no-initial-controllers",)
            if node_id not in self._joining:
                quorum = () if is_static else ("--initial-controllers", ",".join(voters))
            self.controllers[node_id] = self._make_controller(node_id, kind, quorum)
        broker_ids = range(FIRST_BROKER_ID, FIRST_BROKER_ID + brokers)
        self._sasl_ports = dict(zip(broker_ids, free_ports(brokers), strict=True)) if has_sasl else {}
        ports = zip(broker_ids, free_ports(brokers), strict=True)
        self.brokers = {node_id: self._make_broker(node_id, port) for node_id, port in ports}

    def address(self, node_id: int) -> str:
        """Where a node listens."""
        if node_id in self._ports:
            return f"127.0.0.1:{self._ports[node_id]}"
        return self.brokers[node_id].bootstrap_servers

    @property
    def sasl_servers(self) -> str:
        """Where clients log in."""
        return ",".join(f"127.0.0.1:{port}" for port in self._sasl_ports.values())

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
        listeners = f"BROKER://127.0.0.1:{port}"
        if node_id in self._sasl_ports:
            listeners += f",SASL://127.0.0.1:{self._sasl_ports[node_id]}"
        settings = {
            "process.roles": "broker",
            "node.id": str(node_id),
            "controller.listener.names": LISTENER,
            **self._whereabouts(),
            "listeners": listeners,
            "advertised.listeners": listeners,
            **(SASL_SETTINGS if self._sasl_ports else {}),
            **self._broker_settings,
        }
        return ApacheNode(self._directory(node_id), settings, f"127.0.0.1:{port}")

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
        """Start them at once: a JVM that starts leaves a core to others for much of the time."""
        voters = (node for node_id, node in self.controllers.items() if node_id not in self._joining)
        with ThreadPoolExecutor() as pool:
            for started in [pool.submit(node.start) for node in (*voters, *self.brokers.values())]:
                started.result()

    def end(self) -> None:
        for node in (*self.controllers.values(), *self.brokers.values()):
            node.end()

    def move_leadership(self, node_id: int) -> None:
        """Have this node of three elected: while the third is down the quorum commits, then the leader is killed.

        So the third cannot win when it is back: it lacks what was committed.
        """
        leader_id = self.leader_id()
        if leader_id == node_id:
            return
        (third_id,) = self.voter_ids() - {leader_id, node_id}
        self.controllers[third_id].stop()
        self.commit()
        self.controllers[leader_id].kill()
        self.controllers[third_id].start()
        assert self.leader_id() == node_id, self.logs()
        self.controllers[leader_id].start()

    def commit(self, partitions: int = 2) -> None:
        """Make a topic, and see that it is there with all that were there before."""
        before = self.topics("--list").out.split()
        topic = f"topic-{len(before)}"
        self.create_topic(topic, "--partitions", str(partitions))
        assert set(self.topics("--list").out.split()) == {*before, topic}

    # Asking Apache's tools

    def quorum(self, *command: str, config: int | None = None) -> ToolOutput:
        """Run Apache's tool on the quorum; `config` names the node whose file it is given.

        It is sent to the leader: its client takes a node that has just come back, and has loaded nothing yet, for one
        that is no controller, or waits for another to be named.
        """
        given = () if config is None else ("--command-config", str(self._directory(config) / "server.properties"))
        return self.tools.run(QUORUM_TOOL, "--bootstrap-controller", self.address(self.leader_id()), *given, *command)

    def quorum_state(self) -> ResponsePartitionData:
        """What the leader says of the quorum, as soon as there is one."""
        return find_quorum(self._ports[node_id] for node_id, node in self.controllers.items() if node.is_running)

    def ask(self, node_id: int, request: Message) -> Any:
        """A controller's answer, None where it gives none in time."""
        return ask(self._ports[node_id], request)

    def leader_id(self) -> int:
        return self.quorum_state().leader_id

    def voter_ids(self) -> set[int]:
        return {voter.replica_id for voter in self.quorum_state().current_voters}

    def topics(self, *arguments: str) -> ToolOutput:
        return self.tools.run(TOPICS_TOOL, "--bootstrap-server", self.bootstrap_servers, *arguments)

    def create_topic(self, topic: str, *options: str) -> None:
        created = self.topics("--create", "--topic", topic, *options)
        assert created.out == f"Created topic {topic}.\n", (created, self.logs())

    def directory_id(self, node_id: int) -> str:
        meta = read_meta_properties(PosixDisk(), str(self._directory(node_id) / "logs"))
        assert meta is not None, "a controller is formatted from the beginning, a broker once it has started"
        return str(meta.directory_id)

    def snapshots(self, node_id: int) -> dict[int, Path]:
        """A controller's snapshots, by the offset at which each ends."""
        found = (self._directory(node_id) / METADATA).glob("*.checkpoint")
        return {int(path.name.partition("-")[0]): path for path in found if path.name != BOOTSTRAP_FILE}

    def log_start(self, node_id: int) -> int:
        """The offset at which a controller's metadata log begins."""
        return min(int(path.stem) for path in (self._directory(node_id) / METADATA).glob("*.log"))

    def wait_for_snapshot(self, node_id: int, *, after: int = 0) -> Path:
        """The newest snapshot of a controller, as soon as that ends after an offset."""
        self.wait_until(
            lambda: max(self.snapshots(node_id), default=0) > after, f"node {node_id} has no snapshot after {after}"
        )
        return max(self.snapshots(node_id).items())[1]

    def wait_until_caught_up(self, node_id: int, limit_s: float = 30) -> None:
        """Wait until the leader has seen a node fetch the end of its log."""

        def has_caught_up() -> bool:
            quorum = self.quorum_state()
            ends = {each.replica_id: each.log_end_offset for each in (*quorum.current_voters, *quorum.observers)}
            return ends.get(node_id) == ends[quorum.leader_id]

        self.wait_until(has_caught_up, f"node {node_id} has not caught up", limit_s)

    def wait_until(self, holds: Callable[[], bool], otherwise: str, limit_s: float = 30) -> None:
        deadline_s = time.monotonic() + limit_s
        while not holds():
            assert time.monotonic() < deadline_s, f"{otherwise} after {limit_s} s\n{self.logs()}"
            time.sleep(PAUSE_S)

    def _directory(self, node_id: int) -> Path:
        return self.home / f"node-{node_id}"

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
