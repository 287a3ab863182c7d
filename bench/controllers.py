"""Quorums of controllers for the benchmark, all ours or all Apache's, and brokers that exist only as requests.

Both kinds get the same settings and directories that were formatted alike, and run as their start scripts run them.
"""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from io import StringIO
from pathlib import Path
from random import SystemRandom
from typing import Literal, TypeVar

from barnabas.cli.formatting.controllers import new_id
from barnabas.cli.storage import run as run_storage
from barnabas.client.addresses import Address
from barnabas.client.connection import Connection
from barnabas.client.errors import ClientError, check_code
from barnabas.client.patience import Deadline
from barnabas.metadata.features import SUPPORTED_FEATURES
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages import broker_heartbeat as heartbeat
from barnabas.protocol.messages import broker_registration as registration
from barnabas.protocol.messages import create_topics as topics
from barnabas.protocol.messages import describe_quorum as quorum
from barnabas.protocol.messages import incremental_alter_configs as configs
from barnabas.protocol.schema import Message
from barnabas.raft.log_view import METADATA_TOPIC
from barnabas.runtime.clock import SystemClock
from interop.referee import java_command
from interop.watched_process import WatchedProcess

Kind = Literal["ours", "Apache Kafka"]

CLUSTER_ID = "barnabasBarnabasBarnab"
LISTENER = "CONTROLLER"
BROKERS = (101, 102, 103)
LIMIT_MS = 60_000
PAUSE_S = 0.002
# Below those that a system gives to whoever asks for any: a port waits here for a JVM to start, and nobody may take it.
PORTS = range(24_000, 32_000)
BROKER_RESOURCE = 4
# Said by, or of, a controller that is not the active one.
ASK_ANOTHER = (
    ErrorCode.NETWORK_EXCEPTION,
    ErrorCode.NOT_CONTROLLER,
    ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ErrorCode.LEADER_NOT_AVAILABLE,
)
# What kafka-server-start.sh gives the JVM.
JVM_OPTIONS = ("-Xms1g", "-Xmx1g", "-server", "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20")

R = TypeVar("R", bound=Message)


class Controller(WatchedProcess):
    def __init__(self, kind: Kind, properties: Path) -> None:
        super().__init__()
        self._kind = kind
        self._properties = properties

    def start(self) -> None:
        if self._kind == "ours":
            self.launch([sys.executable, "-m", "barnabas.cli.server_start", str(self._properties)])
        else:
            self.launch(java_command("kafka.Kafka", self._properties, options=JVM_OPTIONS))

    def resident_mib(self) -> float:
        assert self._process is not None
        shown = subprocess.run(
            ["ps", "-o", "rss=", "-p", str(self._process.pid)], capture_output=True, text=True, check=True
        )
        return int(shown.stdout) / 1024


class Controllers:
    """Nodes 1 to `count`, all voters. A request is put to one after the other until the active one has answered it."""

    def __init__(self, home: Path, kind: Kind, ports: list[int]) -> None:
        self._ports = dict(enumerate(ports, start=1))
        self._connections: dict[int, Connection] = {}
        self.nodes = {
            node_id: Controller(kind, home / f"controller-{node_id}" / "server.properties") for node_id in self._ports
        }

    def ask(self, request: Message, response: type[R], code: Callable[[R], int]) -> R:
        """The answer of the active controller, as soon as there is one."""
        deadline = Deadline(SystemClock(), LIMIT_MS)
        while not deadline.is_over:
            for node_id, node in self.nodes.items():
                if not node.is_running:
                    continue
                try:
                    answer = self._connection(node_id, deadline).request(request, response, deadline)
                    check_code(code(answer))
                except ClientError as error:
                    if error.code not in ASK_ANOTHER:
                        raise
                else:
                    return answer
            time.sleep(PAUSE_S)
        raise AssertionError(f"no controller was active within {LIMIT_MS} ms")

    def _connection(self, node_id: int, deadline: Deadline) -> Connection:
        connection = self._connections.get(node_id)
        if connection is None or connection.is_closed:
            address = Address("127.0.0.1", self._ports[node_id])
            connection = Connection.open(address, "bench", connecting=deadline, asking=deadline)
            self._connections[node_id] = connection
        return connection

    def commit(self, value: int) -> None:
        """Have a record committed that needs no broker: a setting of them all."""
        change = configs.AlterableConfig(name="log.retention.ms", config_operation=0, value=str(value))
        resource = configs.AlterConfigsResource(resource_type=BROKER_RESOURCE, resource_name="", configs=[change])
        request = configs.IncrementalAlterConfigsRequest(resources=[resource], validate_only=False)
        self.ask(request, configs.IncrementalAlterConfigsResponse, lambda answer: answer.responses[0].error_code)

    def create_topic(self, name: str, partitions: int) -> None:
        topic = topics.CreatableTopic(
            name=name, num_partitions=partitions, replication_factor=len(BROKERS), assignments=[], configs=[]
        )
        request = topics.CreateTopicsRequest(topics=[topic])
        self.ask(request, topics.CreateTopicsResponse, lambda answer: answer.topics[0].error_code)

    def has_topic(self, name: str) -> bool:
        try:
            self.create_topic(name, 1)
        except ClientError as error:
            return error.code is ErrorCode.TOPIC_ALREADY_EXISTS
        return False

    def register_brokers(self) -> None:
        """Register and unfence brokers that have no process; their sessions outlast the benchmark."""
        for broker_id in BROKERS:
            request = registration.BrokerRegistrationRequest(
                broker_id=broker_id,
                cluster_id=CLUSTER_ID,
                incarnation_id=new_id(),
                listeners=[registration.Listener(name="BROKER", host="127.0.0.1", port=broker_id, security_protocol=0)],
                features=[
                    registration.Feature(name=name, min_supported_version=low, max_supported_version=high)
                    for name, (low, high) in SUPPORTED_FEATURES.items()
                ],
                rack=None,
                log_dirs=[new_id()],
            )
            registered = self.ask(request, registration.BrokerRegistrationResponse, lambda answer: answer.error_code)
            alive = heartbeat.BrokerHeartbeatRequest(
                broker_id=broker_id,
                broker_epoch=registered.broker_epoch,
                current_metadata_offset=registered.broker_epoch,
                want_fence=False,
                want_shut_down=False,
            )
            while self.ask(alive, heartbeat.BrokerHeartbeatResponse, lambda answer: answer.error_code).is_fenced:
                time.sleep(PAUSE_S)

    def describe(self) -> quorum.ResponsePartitionData:
        """The quorum in the words of its leader."""
        partition = quorum.RequestPartitionData(partition_index=0)
        topic = quorum.RequestTopicData(topic_name=METADATA_TOPIC, partitions=[partition])
        request = quorum.DescribeQuorumRequest(topics=[topic])
        answer = self.ask(request, quorum.DescribeQuorumResponse, _quorum_code)
        return answer.topics[0].partitions[0]

    def wait_until_level(self) -> int:
        """Wait until every voter has the whole log; the leader's id."""
        deadline = Deadline(SystemClock(), LIMIT_MS)
        while not deadline.is_over:
            state = self.describe()
            if all(voter.log_end_offset >= state.high_watermark > 0 for voter in state.current_voters):
                return state.leader_id
            time.sleep(PAUSE_S)
        logs = "\n".join(f"--- {node_id}\n{node.log()}" for node_id, node in self.nodes.items())
        raise AssertionError(f"a voter has not caught up within {LIMIT_MS} ms\n{logs}")

    def start(self) -> None:
        for node in self.nodes.values():
            node.start()

    def end(self) -> None:
        for connection in self._connections.values():
            connection.close()
        for node in self.nodes.values():
            node.end()


def _quorum_code(answer: quorum.DescribeQuorumResponse) -> int:
    return answer.error_code or answer.topics[0].partitions[0].error_code


def format_controllers(home: Path, count: int) -> list[int]:
    """Directories of a quorum that is still to be started; the ports that its settings name."""
    ports = free_ports(count)
    addresses = [f"127.0.0.1:{port}" for port in ports]
    voters = [f"{node_id}@{address}:{new_id()}" for node_id, address in enumerate(addresses, start=1)]
    for node_id, address in enumerate(addresses, start=1):
        folder = home / f"controller-{node_id}"
        folder.mkdir()
        settings = {
            "process.roles": "controller",
            "node.id": node_id,
            "controller.listener.names": LISTENER,
            "controller.quorum.bootstrap.servers": ",".join(addresses),
            "listeners": f"{LISTENER}://{address}",
            "log.dirs": folder / "logs",
            # Brokers without a process send no heartbeats.
            "broker.session.timeout.ms": 3_600_000,
        }
        properties = folder / "server.properties"
        properties.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
        err = StringIO()
        arguments = ["format", "--cluster-id", CLUSTER_ID, "--config", str(properties)]
        status = run_storage([*arguments, "--initial-controllers", ",".join(voters)], StringIO(), err)
        assert status == 0, err.getvalue()
    return ports


def free_ports(count: int) -> list[int]:
    free: list[int] = []
    while len(free) < count:
        port = SystemRandom().choice(PORTS)
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            free += [port] if port not in free else []
    return free


@contextmanager
def running(home: Path, kind: Kind, ports: list[int]) -> Iterator[Controllers]:
    controllers = Controllers(home, kind, ports)
    try:
        controllers.start()
        yield controllers
    finally:
        controllers.end()
