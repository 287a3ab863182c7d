"""Log directories of a broker in its cluster: where partitions are put and told to be, and how they move."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.broker.handlers.log_dirs import Room
from barnabas.log.checkpoint import CLEANER_CHECKPOINT, TopicPartition, read_offsets, write_offsets
from barnabas.log.partition_log import PartitionLog
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from barnabas.protocol.messages.describe_log_dirs import DescribeLogDirsRequest
from barnabas.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from barnabas.protocol.uuid import Uuid
from barnabas.runtime.broker import serving
from broker_nodes import NODE_ID, BrokerNode, broker_node
from builders import make_batch
from controller_nodes import LONG_MS, run
from log_checks import stored_batches
from unit.broker.hosting import produce_request

NAME = TopicPartition("t", 0)
BROKER = 4
SET = 0
BY_NAME = 12


@pytest.fixture(autouse=True)
def room(monkeypatch: pytest.MonkeyPatch) -> None:
    """The file systems of a simulated disk have room."""
    monkeypatch.setattr(serving, "room_of", lambda _: Room(1000, 10))


async def produce(node: BrokerNode, count: int = 1, partition: int = 0, value_bytes: int = 10) -> Any:
    batch = make_batch(count, timestamp=node.running.clock.now_ms(), value_bytes=value_bytes)
    response = await node.ask(produce_request(batch, partition=partition, timeout_ms=LONG_MS), BY_NAME)
    return response.responses[0].partition_responses[0]


async def move(node: BrokerNode, path: str, partition: int = 0) -> int:
    topic = AlterReplicaLogDirTopic(name="t", partitions=[partition])
    response = await node.ask(AlterReplicaLogDirsRequest(dirs=[AlterReplicaLogDir(path=path, topics=[topic])]))
    code: int = response.results[0].partitions[0].error_code
    return code


async def configure(node: BrokerNode, name: str, value: str) -> None:
    resource = AlterConfigsResource(
        resource_type=BROKER,
        resource_name=str(NODE_ID),
        configs=[AlterableConfig(name=name, config_operation=SET, value=value)],
    )
    response = await node.ask(IncrementalAlterConfigsRequest(resources=[resource], validate_only=False))
    assert response.responses[0].error_code == 0, response


def log_of(node: BrokerNode, partition: int = 0) -> PartitionLog:
    return node.broker.replicas.find("t", partition).log


def path_of(node: BrokerNode, partition: int = 0) -> str:
    return log_of(node, partition).directory.rpartition("/")[0]


def assigned(node: BrokerNode, partition: int = 0) -> Uuid:
    """The directory of a replica in the metadata."""
    topic = node.broker.replicas.image.topics.by_name("t")
    assert topic is not None
    return topic.partitions[partition].directory(NODE_ID)


def id_of(node: BrokerNode, path: str) -> Uuid:
    return node.broker.directories.directory_ids[path]


def test_the_controller_is_told_where_new_partitions_were_put() -> None:
    async def scenario() -> None:
        async with broker_node() as node:
            await node.start()
            await node.create_topic("t", 4)
            paths = [path_of(node, index) for index in range(4)]
            assert sorted(paths) == ["/a", "/a", "/b", "/b"]
            await node.until(lambda: all(assigned(node, index) == id_of(node, paths[index]) for index in range(4)))

    run(scenario)


def test_a_replica_moves_and_is_there_after_a_restart() -> None:
    async def scenario() -> None:
        async with broker_node() as node:
            await node.start()
            await node.create_topic("t", cleanup_policy="compact")
            source = path_of(node)
            target = "/b" if source == "/a" else "/a"
            for _ in range(3):
                assert (await produce(node, value_bytes=700_000)).error_code == 0
            write_offsets(node.disk, f"{source}/{CLEANER_CHECKPOINT}", {NAME: 1})
            before = stored_batches(log_of(node))
            assert await move(node, target) == ErrorCode.NONE
            await node.until(lambda: path_of(node) == target)
            assert assigned(node) == id_of(node, target)
            assert stored_batches(log_of(node)) == before
            assert read_offsets(node.disk, f"{target}/{CLEANER_CHECKPOINT}") == {NAME: 1}
            assert (await produce(node)).base_offset == 3
            await node.stop()
            await node.start()
            assert path_of(node) == target
            assert log_of(node).log_end_offset == 4

    run(scenario)


def test_a_throttled_move_is_seen_and_can_be_given_up_or_hurried() -> None:
    async def scenario() -> None:
        async with broker_node() as node:
            await node.start()
            await node.create_topic("t")
            source = path_of(node)
            target = "/b" if source == "/a" else "/a"
            assert (await produce(node, 5)).error_code == 0
            await configure(node, "replica.alter.log.dirs.io.max.bytes.per.second", "0")
            assert await move(node, target) == ErrorCode.NONE
            results = (await node.ask(DescribeLogDirsRequest(topics=None))).results
            (future,) = next(each.topics[0].partitions for each in results if each.log_dir == target)
            assert (future.is_future_key, future.offset_lag) == (True, 5)
            assert await move(node, source) == ErrorCode.NONE
            results = (await node.ask(DescribeLogDirsRequest(topics=None))).results
            assert not next(each.topics for each in results if each.log_dir == target)
            assert await move(node, target) == ErrorCode.NONE
            await configure(node, "replica.alter.log.dirs.io.max.bytes.per.second", "1000000000")
            await node.until(lambda: path_of(node) == target)
            assert log_of(node).log_end_offset == 5

    run(scenario)


def test_a_move_that_a_power_cut_ended_goes_on() -> None:
    async def scenario() -> None:
        async with broker_node() as node:
            await node.start(replica_alter_log_dirs_io_max_bytes_per_second="0")
            await node.create_topic("t")
            source = path_of(node)
            target = "/b" if source == "/a" else "/a"
            await node.until(lambda: assigned(node) == id_of(node, source))
            assert await move(node, target) == ErrorCode.NONE
            await node.cut_power()
            await node.start()
            await node.until(lambda: path_of(node) == target)
            await node.until(lambda: assigned(node) == id_of(node, target))

    run(scenario)


@pytest.mark.parametrize("cordoned", ["/a", "/b"])
def test_a_cordoned_directory_takes_nothing_new(cordoned: str) -> None:
    async def scenario() -> None:
        async with broker_node() as node:
            await node.start()
            await configure(node, "cordoned.log.dirs", cordoned)
            await node.until(lambda: node.broker.directories.cordoned == {cordoned})
            await node.create_topic("t", 3)
            other = "/b" if cordoned == "/a" else "/a"
            assert [path_of(node, index) for index in range(3)] == [other] * 3
            assert await move(node, cordoned) == ErrorCode.INVALID_REPLICA_ASSIGNMENT
            results = (await node.ask(DescribeLogDirsRequest(topics=None))).results
            assert {each.log_dir: each.is_cordoned for each in results} == {cordoned: True, other: False}

    run(scenario)


def test_flush_messages_is_kept_before_a_batch_is_acknowledged() -> None:
    async def scenario() -> None:
        async with broker_node() as node:
            await node.start()
            await node.create_topic("t", flush_messages="1")
            assert (await produce(node, 2)).error_code == 0
            assert log_of(node).recovery_point == 2

    run(scenario)
