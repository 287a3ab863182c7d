"""A broker whose disks fail or are full: what its clients are answered, what goes on, and what ends the node."""

from __future__ import annotations

import asyncio
import errno
import io
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from barnabas import server
from barnabas.log.checkpoint import TopicPartition
from barnabas.metadata.topics import NO_LEADER
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest, CreateTopicsResponse
from barnabas.protocol.messages.describe_log_dirs import DescribeLogDirsRequest
from barnabas.protocol.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from barnabas.protocol.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from barnabas.protocol.uuid import Uuid
from barnabas.runtime.clock import SystemClock
from barnabas.runtime.peer import PeerLost
from broker_nodes import BrokerNode, broker_node
from builders import make_batch
from controller_nodes import LISTENER, LONG_MS, free_ports, run
from node_log import node_log
from node_process import NodeProcess
from unit.broker.hosting import produce_request

# The last version that names topics.
PRODUCE = 12
METADATA_PATH, OTHER_PATH = "/a", "/b"


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """The log of a node that runs in this process."""
    with node_log() as written:
        yield written


async def produce(node: BrokerNode, partition: int) -> PartitionProduceResponse:
    batch = make_batch(timestamp=node.running.clock.now_ms())
    response = await node.ask(produce_request(batch, partition=partition, timeout_ms=LONG_MS), PRODUCE)
    (answer,) = response.responses[0].partition_responses
    assert isinstance(answer, PartitionProduceResponse)
    return answer


def partition_in(node: BrokerNode, path: str) -> int:
    """One of the partitions of `t` that are in this directory."""
    logs = node.broker.directories.logs
    return next(name.partition for name, log in logs.items() if log.directory.rpartition("/")[0] == path)


def leader_of(node: BrokerNode, partition: int) -> int:
    topic = node.broker.replicas.image.topics.by_name("t")
    assert topic is not None
    return topic.partitions[partition].leader


def test_a_directory_that_fails_is_offline_and_the_others_go_on() -> None:
    async def scenario() -> None:
        async with broker_node() as node:
            await node.start()
            await node.create_topic("t", 2)
            failing, sound = partition_in(node, OTHER_PATH), partition_in(node, METADATA_PATH)
            assert (await produce(node, failing)).error_code == 0
            node.disk.fail("write", f"{OTHER_PATH}/t-{failing}/{0:020}.log", errno.EIO)
            assert (await produce(node, failing)).error_code == ErrorCode.KAFKA_STORAGE_ERROR
            assert (await produce(node, failing)).error_code == ErrorCode.KAFKA_STORAGE_ERROR
            assert (await produce(node, sound)).error_code == 0
            results = (await node.ask(DescribeLogDirsRequest(topics=None))).results
            assert next(each for each in results if each.log_dir == OTHER_PATH).error_code == (
                ErrorCode.KAFKA_STORAGE_ERROR
            )
            # The controller hears of it, and looks for another leader.
            await node.until(lambda: leader_of(node, failing) == NO_LEADER)
            assert leader_of(node, sound) != NO_LEADER
            # Until the next start.
            await node.stop()
            await node.start()
            await node.until(lambda: leader_of(node, failing) != NO_LEADER)
            assert (await produce(node, failing)).base_offset == 1

    run(scenario)


def test_a_directory_that_fails_in_the_background_is_offline_too() -> None:
    async def scenario() -> None:
        async with broker_node() as node:
            await node.start()
            await node.create_topic("t", 2, flush_messages="1")
            failing, sound = partition_in(node, OTHER_PATH), partition_in(node, METADATA_PATH)
            node.disk.fail("flush", f"{OTHER_PATH}/t-{failing}/{0:020}.log", errno.EIO)
            assert (await produce(node, failing)).error_code == ErrorCode.KAFKA_STORAGE_ERROR
            await node.until(lambda: leader_of(node, failing) == NO_LEADER)
            assert (await produce(node, sound)).error_code == 0

    run(scenario)


def test_partitions_of_a_directory_that_is_missing_at_the_start_are_refused_and_the_others_are_not() -> None:
    async def scenario() -> None:
        async with broker_node() as node:
            await node.start()
            await node.create_topic("t", 2)
            failing, sound = partition_in(node, OTHER_PATH), partition_in(node, METADATA_PATH)
            for partition in (failing, sound):
                path = OTHER_PATH if partition == failing else METADATA_PATH
                directory_id = node.broker.directories.directory_ids[path]
                await node.until(lambda p=partition, d=directory_id: directory_of(node, p) == d)  # type: ignore[misc]
            await node.stop()
            node.disk.fail("open", f"{OTHER_PATH}/recovery-point-offset-checkpoint", errno.EIO)
            await node.start()
            assert OTHER_PATH in node.broker.directories.failures
            await node.until(lambda: leader_of(node, failing) == NO_LEADER)
            assert (await produce(node, failing)).error_code == ErrorCode.KAFKA_STORAGE_ERROR
            assert (await produce(node, sound)).error_code == 0
            assert TopicPartition("t", failing) not in node.broker.directories.logs

    run(scenario)


def directory_of(node: BrokerNode, partition: int) -> object:
    topic = node.broker.replicas.image.topics.by_name("t")
    assert topic is not None
    return topic.partitions[partition].directories[0]


@pytest.mark.parametrize("is_metadata_path", [True, False], ids=["the metadata's directory", "the last one"])
def test_a_node_that_has_lost_what_it_needs_stops_and_says_why(
    is_metadata_path: bool, log: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario() -> None:
        async with broker_node() as node:
            monkeypatch.setattr(server, "PosixDisk", lambda: node.disk)
            metadata = {} if is_metadata_path else {"log_dirs": OTHER_PATH, "metadata_log_dir": METADATA_PATH}
            running = asyncio.ensure_future(server.run(node.config(**metadata)))
            path = METADATA_PATH if is_metadata_path else OTHER_PATH
            await until(log, "broker serving")
            topic = CreatableTopic(name="t", num_partitions=2, replication_factor=1, assignments=[], configs=[])
            await node.ask(CreateTopicsRequest(topics=[topic], timeout_ms=LONG_MS))
            partition = next(index for index in range(2) if node.disk.is_directory(f"{path}/t-{index}"))
            node.disk.fail("write", f"{path}/t-{partition}/{0:020}.log", errno.EIO)
            request = produce_request(make_batch(timestamp=SystemClock().now_ms()), partition=partition)
            with suppress(PeerLost):
                refused = (await node.ask(request, PRODUCE)).responses[0].partition_responses[0]
                assert refused.error_code == ErrorCode.KAFKA_STORAGE_ERROR
            assert await running == 1
            last = log.getvalue().splitlines()[-1]
            assert "CRITICAL stopped by a failure" in last
            assert os.strerror(errno.EIO) in last
            assert f"{path}/t-{partition}" in last

    run(scenario)


async def until(log: io.StringIO, text: str) -> None:
    while text not in log.getvalue():
        await asyncio.sleep(0.002)


class Process(NodeProcess):
    """A process of a broker and controller whose partitions go where there is little room."""

    def __init__(self, home: Path, small: Path) -> None:
        port, controller_port = free_ports(2)
        super().__init__(
            home / "server.properties",
            "process.roles=broker,controller\nnode.id=1\n"
            f"controller.listener.names={LISTENER}\n"
            f"listeners=PLAINTEXT://127.0.0.1:{port},{LISTENER}://127.0.0.1:{controller_port}\n"
            f"controller.quorum.bootstrap.servers=127.0.0.1:{controller_port}\n"
            f"log.dirs={home / 'logs'},{small}\ncordoned.log.dirs={home / 'logs'}\n",
            port=port,
            ready="broker serving",
        )

    def create_topic(self) -> Uuid:
        topic = CreatableTopic(name="t", num_partitions=1, replication_factor=1, assignments=[], configs=[])
        created = self.ask(CreateTopicsRequest(topics=[topic], timeout_ms=LONG_MS), CreateTopicsResponse).topics[0]
        assert created.error_code == 0, created
        return created.topic_id

    def produce(self, topic_id: Uuid) -> PartitionProduceResponse:
        batch = make_batch(timestamp=SystemClock().now_ms(), value_bytes=BATCH_BYTES)
        topic = TopicProduceData(topic_id=topic_id, partition_data=[PartitionProduceData(index=0, records=batch)])
        request = ProduceRequest(acks=-1, timeout_ms=LONG_MS, topic_data=[topic])
        return self.ask(request, ProduceResponse).responses[0].partition_responses[0]

    def fetch(self, topic_id: Uuid, offset: int) -> int:
        """How many bytes of records are found at an offset."""
        partition = FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=BATCH_BYTES)
        request = FetchRequest(
            max_wait_ms=0,
            min_bytes=0,
            topics=[FetchTopic(topic_id=topic_id, partitions=[partition])],
            forgotten_topics_data=[],
        )
        found = self.ask(request, FetchResponse).responses[0].partitions[0]
        assert found.error_code == 0, found
        return len(found.records or b"")


BATCH_BYTES = 100_000
SMALL_BYTES = 2 * 1024 * 1024


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own that is soon full."""
    path = tmp_path / "small"
    path.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={SMALL_BYTES}", "tmpfs", str(path)]
    if shutil.which("mount") is None or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("a full disk is had only by who may mount one")
    yield path
    subprocess.run(["umount", str(path)], check=True)


def test_a_full_disk_refuses_appends_and_is_read_and_written_again_when_there_is_room(
    tmp_path: Path, small: Path
) -> None:
    node = Process(tmp_path, small)
    ballast = small / "ballast"
    ballast.write_bytes(bytes(SMALL_BYTES // 2))
    with node:
        topic_id = node.create_topic()
        appended = 0
        while not (answer := node.produce(topic_id)).error_code:
            assert answer.base_offset == appended
            appended += 1
            assert appended * BATCH_BYTES < SMALL_BYTES
        assert answer.error_code == ErrorCode.KAFKA_STORAGE_ERROR
        assert appended > 0
        for offset in range(appended):
            assert node.fetch(topic_id, offset) > BATCH_BYTES
        assert node.fetch(topic_id, appended) == 0
        assert node.produce(topic_id).error_code == ErrorCode.KAFKA_STORAGE_ERROR
        ballast.unlink()
        assert node.produce(topic_id).base_offset == appended
        assert node.fetch(topic_id, appended) > BATCH_BYTES
