"""Our brokers under three controllers of Apache's and under one of ours: they register, serve, are fenced, come back.

What one broker is to its controllers is asked of the other one.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from io import StringIO
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from barnabas.cli.storage import run as run_storage
from barnabas.log.clean_shutdown import read_clean_shutdown
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from barnabas.protocol.messages.describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from barnabas.runtime.disk import PosixDisk
from interop.apache_broker import CLUSTER_ID
from interop.mixed_cluster import LISTENER, MixedCluster, running
from interop.quorum_questions import ask
from interop.referee import Tools
from interop.watched_process import WatchedProcess, free_ports

pytestmark = pytest.mark.referee

FIRST, SECOND = 201, 202
SERVING = "broker serving"


class OurBroker(WatchedProcess):
    """A node of the broker role only. `logs` is the first of its log directories."""

    def __init__(self, home: Path, node_id: int, controllers: str, *, directories: Sequence[str] = ("logs",)) -> None:
        super().__init__()
        (self.port,) = free_ports(1)
        home.mkdir()
        self.logs = home / directories[0]
        log_dirs = ",".join(str(home / directory) for directory in directories)
        self._properties = home / "server.properties"
        self._properties.write_text(
            f"process.roles=broker\nnode.id={node_id}\ncontroller.listener.names={LISTENER}\n"
            f"controller.quorum.bootstrap.servers={controllers}\nlisteners=PLAINTEXT://127.0.0.1:{self.port}\n"
            f"broker.heartbeat.interval.ms=500\nlog.dirs={log_dirs}\n"
        )
        err = StringIO()
        arguments = ["format", "--cluster-id", CLUSTER_ID, "--config", str(self._properties)]
        assert run_storage(arguments, StringIO(), err) == 0, err.getvalue()

    def start(self) -> None:
        self.launch([sys.executable, "-m", "barnabas.cli.server_start", str(self._properties)])
        self.wait_for_line(SERVING)

    def fenced(self) -> dict[int, bool]:
        """The brokers of the cluster as this one knows them, and whether each is fenced."""
        request = DescribeClusterRequest(include_cluster_authorized_operations=False, include_fenced_brokers=True)
        response: DescribeClusterResponse | None = ask(self.port, request)
        return {} if response is None else {each.broker_id: each.is_fenced for each in response.brokers}

    def has_log(self, topic: str) -> bool:
        return any(self.logs.glob(f"{topic}-0/*.log"))

    def create_topic(self, name: str, leader: int) -> int:
        assignment = CreatableReplicaAssignment(partition_index=0, broker_ids=[leader])
        topic = CreatableTopic(
            name=name, num_partitions=-1, replication_factor=-1, assignments=[assignment], configs=[]
        )
        response: CreateTopicsResponse | None = ask(self.port, CreateTopicsRequest(topics=[topic], timeout_ms=10_000))
        return ErrorCode.REQUEST_TIMED_OUT if response is None else response.topics[0].error_code


@pytest.fixture(scope="module", params=["aaa", "o"])
def cluster(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, tools: Tools
) -> Iterator[MixedCluster]:
    cluster = MixedCluster(tmp_path_factory.mktemp("controllers"), tools, request.param, brokers=0)
    with running(cluster):
        yield cluster


@pytest.fixture(scope="module")
def brokers(cluster: MixedCluster) -> Iterator[dict[int, OurBroker]]:
    made = {
        node_id: OurBroker(cluster.home / f"broker-{node_id}", node_id, cluster.controller_addresses)
        for node_id in (FIRST, SECOND)
    }
    try:
        for broker in made.values():
            broker.start()
        yield made
    finally:
        for broker in made.values():
            broker.end()


def produce(broker: OurBroker, topic: str, *values: str) -> None:
    producer = Producer({"bootstrap.servers": f"127.0.0.1:{broker.port}", "enable.idempotence": True})
    failures: list[object] = []
    for value in values:
        producer.produce(topic, value.encode(), on_delivery=lambda error, _: failures.append(error) if error else None)
    assert producer.flush(20) == 0
    assert not failures


def consume(broker: OurBroker, topic: str, count: int) -> list[str]:
    consumer = Consumer(
        {"bootstrap.servers": f"127.0.0.1:{broker.port}", "group.id": "none", "enable.auto.commit": False}
    )
    try:
        consumer.assign([TopicPartition(topic, 0, 0)])
        messages = consumer.consume(count, timeout=20)
        return [(message.value() or b"").decode() for message in messages]
    finally:
        consumer.close()


def test_brokers_serve_and_pass_on_what_is_the_controllers(
    cluster: MixedCluster, brokers: dict[int, OurBroker]
) -> None:
    first, second = brokers.values()
    assert second.fenced() == {FIRST: False, SECOND: False}
    assert first.create_topic("kept", FIRST) == ErrorCode.NONE
    assert second.create_topic("kept", FIRST) == ErrorCode.TOPIC_ALREADY_EXISTS
    cluster.wait_until(lambda: first.has_log("kept"), "the topic has no log")
    produce(second, "kept", "one", "two")
    assert consume(second, "kept", 2) == ["one", "two"]


def test_a_broker_that_is_paused_is_fenced_and_comes_back(cluster: MixedCluster, brokers: dict[int, OurBroker]) -> None:
    first, second = brokers.values()
    os.kill(first.pid, signal.SIGSTOP)
    try:
        cluster.wait_until(lambda: second.fenced().get(FIRST) is True, "the paused broker is not fenced")
    finally:
        os.kill(first.pid, signal.SIGCONT)
    cluster.wait_until(lambda: second.fenced().get(FIRST) is False, "the broker does not come back")
    assert consume(second, "kept", 2) == ["one", "two"]


def test_brokers_find_another_controller_when_theirs_is_killed(
    cluster: MixedCluster, brokers: dict[int, OurBroker]
) -> None:
    leader = cluster.controllers[cluster.leader_id()]
    leader.kill()
    if len(cluster.controllers) == 1:
        leader.start()
    first, _ = brokers.values()
    cluster.wait_until(lambda: first.create_topic("after", FIRST) in _MADE, "no other controller is found")
    cluster.wait_until(lambda: first.has_log("after"), "the broker does not hear of its topic")
    if not leader.is_running:
        leader.start()


_MADE = (ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS)


def test_a_broker_that_stops_says_so_first_and_finds_its_data_when_it_is_back(
    cluster: MixedCluster, brokers: dict[int, OurBroker]
) -> None:
    first, second = brokers.values()
    first.stop()
    states = ["PENDING_CONTROLLED_SHUTDOWN", "SHUTTING_DOWN"]
    assert all(first.has_line(f"state={state}") for state in states), first.log()
    assert first.has_line("node stopped")
    assert read_clean_shutdown(PosixDisk(), str(first.logs)) is not None
    # It has gone with the controller's consent, not by a session that ran out.
    assert second.fenced()[FIRST]
    first.start()
    assert first.has_line("logs loaded logs=2 clean=True"), first.log()
    cluster.wait_until(lambda: second.fenced().get(FIRST) is False, "the broker does not come back")
    assert consume(second, "kept", 2) == ["one", "two"]
