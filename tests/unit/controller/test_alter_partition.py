"""What a leader reports is taken over, or answered with the code that tells it what it missed."""

from __future__ import annotations

import pytest

from barnabas.metadata.topics import LeaderRecoveryState
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.alter_partition import (
    AlterPartitionRequest,
    AlterPartitionResponse,
    RequestPartitionData,
    RequestTopicData,
)
from barnabas.protocol.uuid import Uuid
from unit.controller.controlled_cluster import ControlledCluster
from unit.controller.requests import alter_isr, create_topic, reassign


@pytest.fixture
def cluster() -> ControlledCluster:
    made = ControlledCluster(static_configs={"min.insync.replicas": "2"})
    made.start_brokers(1, 2, 3, 4)
    create_topic(made, "t", [[1, 2, 3]])
    return made


def test_the_isr_shrinks_and_grows_in_the_same_leader_epoch(cluster: ControlledCluster) -> None:
    response = alter_isr(cluster, "t", [1, 2])
    assert (response.error_code, response.isr, response.leader_epoch, response.partition_epoch) == (0, [1, 2], 0, 1)
    response = alter_isr(cluster, "t", [1, 2, 3])
    assert (response.isr, response.partition_epoch) == ([1, 2, 3], 2)
    assert cluster.partition("t").isr == (1, 2, 3)


def test_an_isr_that_stays_writes_nothing(cluster: ControlledCluster) -> None:
    end_offset = cluster.end_offset
    response = alter_isr(cluster, "t", [1, 2, 3])
    assert (response.error_code, response.partition_epoch) == (0, 0)
    assert cluster.end_offset == end_offset


def test_below_the_least_isr_eligible_replicas_are_kept(cluster: ControlledCluster) -> None:
    alter_isr(cluster, "t", [1])
    assert cluster.partition("t").eligible_leader_replicas == (2, 3)
    alter_isr(cluster, "t", [1, 3])
    assert cluster.partition("t").eligible_leader_replicas == ()


@pytest.mark.parametrize(
    ("isr", "fields", "expected"),
    [
        ([1, 2], {"leader_epoch": 1}, ErrorCode.NOT_CONTROLLER),
        ([1, 2], {"partition_epoch": 2}, ErrorCode.NOT_CONTROLLER),
        ([1, 2], {"leader_epoch": -1}, ErrorCode.FENCED_LEADER_EPOCH),
        ([1, 2], {"partition_epoch": 0}, ErrorCode.INVALID_UPDATE_VERSION),
        ([1, 2], {"broker_id": 2}, ErrorCode.INVALID_REQUEST),
        ([1, 4], {}, ErrorCode.INVALID_REQUEST),
        ([1, 1], {}, ErrorCode.INVALID_REQUEST),
        ([2, 3], {}, ErrorCode.INVALID_REQUEST),
        ([], {}, ErrorCode.INVALID_REQUEST),
        ([1], {"leader_recovery_state": 1}, ErrorCode.INVALID_REQUEST),
        ([1, 2], {"leader_recovery_state": 1}, ErrorCode.INVALID_REQUEST),
        ([1], {"leader_recovery_state": 9}, ErrorCode.INVALID_REQUEST),
        ([1, 2], {"broker_epochs": {2: 0}}, ErrorCode.INELIGIBLE_REPLICA),
        ([1, 2], {"broker_epochs": {2: -1}}, 0),
    ],
)
def test_each_mistake_has_its_code(
    cluster: ControlledCluster, isr: list[int], fields: dict[str, object], expected: int
) -> None:
    alter_isr(cluster, "t", [1, 3])
    response = alter_isr(cluster, "t", isr, **fields)  # type: ignore[arg-type]
    assert response.error_code == expected


def test_who_is_fenced_or_stopping_cannot_join(cluster: ControlledCluster) -> None:
    cluster.fence(3)
    assert alter_isr(cluster, "t", [1, 2, 3]).error_code == ErrorCode.INELIGIBLE_REPLICA
    create_topic(cluster, "u", [[2]])
    cluster.heartbeat(2, want_shut_down=True)
    assert cluster.image.cluster.brokers[2].is_in_controlled_shutdown
    assert alter_isr(cluster, "t", [1, 2]).error_code == ErrorCode.INELIGIBLE_REPLICA


def test_unknown_topics_and_partitions_spare_their_neighbours(cluster: ControlledCluster) -> None:
    topic_id = cluster.image.topics.ids["t"]

    def partition(index: int) -> RequestPartitionData:
        return RequestPartitionData(partition_index=index, leader_epoch=0, partition_epoch=0, new_isr=[1, 2])

    request = AlterPartitionRequest(
        broker_id=1,
        broker_epoch=cluster.epochs[1],
        topics=[
            RequestTopicData(topic_id=Uuid(b"nobody knows me!"), partitions=[partition(0)]),
            RequestTopicData(topic_id=topic_id, partitions=[partition(7), partition(0)]),
        ],
    )
    response = cluster.ask(request, AlterPartitionResponse, version=2)
    assert [each.error_code for topic in response.topics for each in topic.partitions] == [
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        0,
    ]
    assert cluster.partition("t").isr == (1, 2)


def test_a_second_report_on_a_partition_in_one_request_is_of_an_old_epoch(cluster: ControlledCluster) -> None:
    partition = RequestPartitionData(partition_index=0, leader_epoch=0, partition_epoch=0, new_isr=[1, 2])
    topic = RequestTopicData(topic_id=cluster.image.topics.ids["t"], partitions=[partition, partition])
    request = AlterPartitionRequest(broker_id=1, broker_epoch=cluster.epochs[1], topics=[topic])
    response = cluster.ask(request, AlterPartitionResponse, version=2)
    assert [each.error_code for each in response.topics[0].partitions] == [0, ErrorCode.INVALID_UPDATE_VERSION]


def test_a_stale_broker_is_refused_as_a_whole(cluster: ControlledCluster) -> None:
    request = AlterPartitionRequest(broker_id=1, broker_epoch=0, topics=[])
    assert cluster.ask(request, AlterPartitionResponse).error_code == ErrorCode.STALE_BROKER_EPOCH
    request = AlterPartitionRequest(broker_id=9, broker_epoch=0, topics=[])
    assert cluster.ask(request, AlterPartitionResponse).error_code == ErrorCode.STALE_BROKER_EPOCH


def test_a_report_that_ends_a_reassignment_may_end_the_leadership_too(cluster: ControlledCluster) -> None:
    assert reassign(cluster, "t", [4]) == 0
    response = alter_isr(cluster, "t", [1, 2, 3, 4])
    assert response.error_code == ErrorCode.NEW_LEADER_ELECTED
    partition = cluster.partition("t")
    assert (partition.replicas, partition.isr, partition.leader) == ((4,), (4,), 4)


def test_a_leader_that_recovers_says_when_it_has(cluster: ControlledCluster) -> None:
    create_topic(cluster, "u", [[1, 2]], configs={"unclean.leader.election.enable": "true", "min.insync.replicas": "1"})
    alter_isr(cluster, "u", [1])
    cluster.fence(1)
    partition = cluster.partition("u")
    assert (partition.leader, partition.isr) == (2, (2,))
    assert partition.leader_recovery_state is LeaderRecoveryState.RECOVERING
    assert alter_isr(cluster, "u", [2], leader_recovery_state=1).error_code == 0
    assert alter_isr(cluster, "u", [2], leader_recovery_state=0).error_code == 0
    assert cluster.partition("u").leader_recovery_state is LeaderRecoveryState.RECOVERED
