"""Moves of partitions begin, end, are changed, cancelled and listed; and replicas are found in their directories."""

from __future__ import annotations

import pytest

from barnabas.metadata.topics import UNASSIGNED_DIRECTORY
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.assign_replicas_to_dirs import (
    AssignReplicasToDirsRequest,
    AssignReplicasToDirsResponse,
    RequestDirectoryData,
    RequestPartitionData,
    RequestTopicData,
)
from barnabas.protocol.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
    ListPartitionReassignmentsTopics,
)
from barnabas.protocol.uuid import Uuid
from unit.controller.controlled_cluster import ControlledCluster, directory
from unit.controller.requests import alter_isr, create_topic, reassign


@pytest.fixture
def cluster() -> ControlledCluster:
    made = ControlledCluster()
    made.start_brokers(1, 2, 3, 4)
    create_topic(made, "t", [[1, 2]])
    return made


def listed(cluster: ControlledCluster, topics: list[ListPartitionReassignmentsTopics] | None = None) -> list[str]:
    request = ListPartitionReassignmentsRequest(topics=topics)
    response = cluster.ask(request, ListPartitionReassignmentsResponse)
    return [
        f"{topic.name}-{each.partition_index} {each.replicas} +{each.adding_replicas} -{each.removing_replicas}"
        for topic in response.topics
        for each in topic.partitions
    ]


def test_a_move_ends_when_the_new_replicas_are_in_sync(cluster: ControlledCluster) -> None:
    assert reassign(cluster, "t", [3, 4]) == 0
    partition = cluster.partition("t")
    assert (partition.replicas, partition.isr, partition.leader) == ((3, 4, 1, 2), (1, 2), 1)
    assert partition.directories == tuple(directory(replica) for replica in (3, 4, 1, 2))
    alter_isr(cluster, "t", [1, 2, 3])
    assert listed(cluster) == ["t-0 [3, 4, 1, 2] +[3, 4] -[1, 2]"]
    alter_isr(cluster, "t", [1, 2, 3, 4])
    partition = cluster.partition("t")
    assert (partition.replicas, partition.isr, partition.leader) == ((3, 4), (3, 4), 3)
    assert listed(cluster) == []


def test_another_order_of_the_same_replicas_is_there_at_once(cluster: ControlledCluster) -> None:
    assert reassign(cluster, "t", [2, 1]) == 0
    assert cluster.partition("t").replicas == (2, 1)
    assert cluster.partition("t").directories == (directory(2), directory(1))
    assert listed(cluster) == []


def test_fewer_replicas_are_there_at_once_if_they_are_in_sync(cluster: ControlledCluster) -> None:
    assert reassign(cluster, "t", [2]) == 0
    partition = cluster.partition("t")
    assert (partition.replicas, partition.isr, partition.leader, partition.leader_epoch) == ((2,), (2,), 2, 1)


def test_a_cancelled_move_leaves_what_was_there(cluster: ControlledCluster) -> None:
    assert reassign(cluster, "t", [3, 2]) == 0
    alter_isr(cluster, "t", [1, 2])
    assert reassign(cluster, "t", None) == 0
    partition = cluster.partition("t")
    assert (partition.replicas, partition.isr, partition.leader) == ((2, 1), (1, 2), 1)
    assert reassign(cluster, "t", None) == ErrorCode.NO_REASSIGNMENT_IN_PROGRESS


def test_going_back_to_nobody_in_sync_needs_the_topics_consent() -> None:
    for has_elr in (True, False):
        for is_allowed in (True, False):
            cluster = ControlledCluster(has_elr=has_elr)
            cluster.start_brokers(1, 2, 3)
            configs = {"unclean.leader.election.enable": "true"} if is_allowed else {}
            create_topic(cluster, "t", [[1]], configs=configs)
            assert reassign(cluster, "t", [2, 3]) == 0
            alter_isr(cluster, "t", [1, 2])
            cluster.fence(1)
            assert cluster.partition("t").isr == (2,)
            assert reassign(cluster, "t", None) == (0 if is_allowed else ErrorCode.INVALID_REPLICA_ASSIGNMENT)
            if is_allowed:
                assert cluster.partition("t").replicas == (1,)
                assert cluster.partition("t").leader == -1


def test_a_move_can_be_changed_on_its_way(cluster: ControlledCluster) -> None:
    assert reassign(cluster, "t", [3, 4]) == 0
    assert reassign(cluster, "t", [1, 3]) == 0
    partition = cluster.partition("t")
    assert partition.replicas == (1, 3, 2, 4)
    assert set(partition.removing_replicas) == {2, 4}
    assert partition.adding_replicas == ()


@pytest.mark.parametrize(
    ("replicas", "expected"),
    [
        ([], ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        ([1, 9], ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        ([3, 3], ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (None, ErrorCode.NO_REASSIGNMENT_IN_PROGRESS),
    ],
)
def test_each_mistake_has_its_code(cluster: ControlledCluster, replicas: list[int] | None, expected: int) -> None:
    assert reassign(cluster, "t", replicas) == expected


def test_what_is_not_there_cannot_move(cluster: ControlledCluster) -> None:
    assert reassign(cluster, "x", [1]) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert reassign(cluster, "t", [1], index=5) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_the_number_of_replicas_stays_where_it_is_asked_to(cluster: ControlledCluster) -> None:
    fixed = {"allow_replication_factor_change": False}
    assert reassign(cluster, "t", [3], **fixed) == ErrorCode.INVALID_REPLICATION_FACTOR
    assert reassign(cluster, "t", [3, 4], **fixed) == 0
    assert reassign(cluster, "t", [1, 4], **fixed) == 0


def test_only_what_is_asked_for_is_listed(cluster: ControlledCluster) -> None:
    create_topic(cluster, "u", [[1], [2]])
    for topic, index in (("t", 0), ("u", 0), ("u", 1)):
        assert reassign(cluster, topic, [4], index=index) == 0
    assert len(listed(cluster)) == 3
    asked = [
        ListPartitionReassignmentsTopics(name="u", partition_indexes=[1, 7]),
        ListPartitionReassignmentsTopics(name="x", partition_indexes=[0]),
    ]
    assert [line.split()[0] for line in listed(cluster, asked)] == ["u-1"]


def assign(cluster: ControlledCluster, broker_id: int, where: Uuid, topic_id: Uuid, index: int = 0) -> int:
    topics = [RequestTopicData(topic_id=topic_id, partitions=[RequestPartitionData(partition_index=index)])]
    request = AssignReplicasToDirsRequest(
        broker_id=broker_id,
        broker_epoch=cluster.epochs[broker_id],
        directories=[RequestDirectoryData(id=where, topics=topics)],
    )
    response = cluster.ask(request, AssignReplicasToDirsResponse)
    assert response.error_code == 0
    return response.directories[0].topics[0].partitions[0].error_code


def test_a_broker_tells_where_it_put_a_replica() -> None:
    cluster = ControlledCluster()
    cluster.start_brokers(1, 2, directories=2)
    create_topic(cluster, "t", [[1, 2]])
    topic_id = cluster.image.topics.ids["t"]
    assert cluster.partition("t").directories == (UNASSIGNED_DIRECTORY,) * 2
    assert assign(cluster, 1, directory(1, 1), topic_id) == 0
    assert cluster.partition("t").directories == (directory(1, 1), UNASSIGNED_DIRECTORY)
    assert cluster.partition("t").leader == 1
    end_offset = cluster.end_offset
    assert assign(cluster, 1, directory(1, 1), topic_id) == 0
    assert cluster.end_offset == end_offset


def test_a_replica_in_a_directory_that_is_offline_is_out_of_sync() -> None:
    cluster = ControlledCluster()
    cluster.start_brokers(1, 2, directories=2)
    create_topic(cluster, "t", [[1, 2]])
    cluster.heartbeat(1, offline_log_dirs=[directory(1, 1)])
    assert assign(cluster, 1, directory(1, 1), cluster.image.topics.ids["t"]) == 0
    partition = cluster.partition("t")
    assert (partition.leader, partition.isr) == (2, (2,))
    assert partition.directories[0] == directory(1, 1)


def test_a_replica_that_a_broker_does_not_have_has_no_directory(cluster: ControlledCluster) -> None:
    topic_id = cluster.image.topics.ids["t"]
    assert assign(cluster, 3, directory(3), topic_id) == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert assign(cluster, 1, directory(1), topic_id, 4) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert assign(cluster, 1, directory(1), Uuid(b"nobody knows me!")) == ErrorCode.UNKNOWN_TOPIC_ID
    request = AssignReplicasToDirsRequest(broker_id=1, broker_epoch=0, directories=[])
    assert cluster.ask(request, AssignReplicasToDirsResponse).error_code == ErrorCode.STALE_BROKER_EPOCH
