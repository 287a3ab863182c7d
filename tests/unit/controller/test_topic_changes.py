"""Topics are deleted by name or id, and grow by partitions."""

from __future__ import annotations

import pytest

from barnabas.metadata.configs import ConfigResource, ConfigResourceType
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
)
from barnabas.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse, DeleteTopicState
from barnabas.protocol.schema import ZERO_UUID
from barnabas.protocol.uuid import Uuid
from unit.controller.controlled_cluster import ControlledCluster
from unit.controller.requests import create_topic, set_configs

UNKNOWN = Uuid(b"nobody knows me!")


@pytest.fixture
def cluster() -> ControlledCluster:
    made = ControlledCluster()
    made.start_brokers(1, 2)
    create_topic(made, "t", [[1, 2]])
    create_topic(made, "u", [[2, 1]])
    return made


def delete(cluster: ControlledCluster, *states: tuple[str | None, Uuid]) -> list[tuple[str | None, int]]:
    topics = [DeleteTopicState(name=name, topic_id=topic_id) for name, topic_id in states]
    response = cluster.ask(DeleteTopicsRequest(topics=topics, timeout_ms=0), DeleteTopicsResponse)
    return [(result.name, result.error_code) for result in response.responses]


def add(
    cluster: ControlledCluster, count: int, assignments: list[list[int]] | None = None, *, validate_only: bool = False
) -> int:
    given = None if assignments is None else [CreatePartitionsAssignment(broker_ids=each) for each in assignments]
    topic = CreatePartitionsTopic(name="t", count=count, assignments=given)
    request = CreatePartitionsRequest(topics=[topic], timeout_ms=0, validate_only=validate_only)
    return cluster.ask(request, CreatePartitionsResponse).results[0].error_code


def test_a_topic_goes_by_name_and_by_id_and_takes_its_settings_with_it(cluster: ControlledCluster) -> None:
    resource = ConfigResource(ConfigResourceType.TOPIC, "t")
    assert set_configs(cluster, 2, "t", {"retention.ms": "5"}) == 0
    assert resource in cluster.image.configs
    topic_id = cluster.image.topics.ids["u"]
    assert delete(cluster, ("t", ZERO_UUID), (None, topic_id)) == [("t", 0), ("u", 0)]
    assert len(cluster.image.topics.ids) == 0
    assert resource not in cluster.image.configs


def test_one_that_is_not_there_spares_its_neighbours(cluster: ControlledCluster) -> None:
    assert delete(cluster, ("x", ZERO_UUID), (None, UNKNOWN), ("t", ZERO_UUID)) == [
        ("x", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (None, ErrorCode.UNKNOWN_TOPIC_ID),
        ("t", 0),
    ]


def test_a_topic_is_named_once_and_in_one_way(cluster: ControlledCluster) -> None:
    topic_id = cluster.image.topics.ids["t"]
    invalid = ErrorCode.INVALID_REQUEST
    assert delete(cluster, ("t", ZERO_UUID), ("t", ZERO_UUID)) == [("t", invalid)]
    assert delete(cluster, ("t", ZERO_UUID), (None, topic_id)) == [("t", invalid), (None, invalid)]
    assert delete(cluster, ("t", topic_id)) == [("t", invalid)]
    assert delete(cluster, (None, ZERO_UUID)) == [(None, invalid)]
    assert "t" in cluster.image.topics.ids


def test_older_versions_name_topics_in_their_own_list(cluster: ControlledCluster) -> None:
    request = DeleteTopicsRequest(topic_names=["t"], timeout_ms=0)
    response = cluster.ask(request, DeleteTopicsResponse, version=5)
    assert [result.error_code for result in response.responses] == [0]


@pytest.mark.parametrize(
    ("version", "expected"), [(2, ErrorCode.INVALID_REQUEST), (6, ErrorCode.TOPIC_DELETION_DISABLED)]
)
def test_deleting_can_be_switched_off(version: int, expected: int) -> None:
    cluster = ControlledCluster(is_topic_deletion_enabled=False)
    request = DeleteTopicsRequest(topics=[DeleteTopicState(name="t", topic_id=ZERO_UUID)], timeout_ms=0)
    response = cluster.ask(request, DeleteTopicsResponse, version=version)
    assert [result.error_code for result in response.responses] == [expected]


def test_a_topic_grows(cluster: ControlledCluster) -> None:
    assert add(cluster, 3) == 0
    assert [len(cluster.partition("t", index).replicas) for index in range(3)] == [2, 2, 2]
    assert add(cluster, 4, [[2, 1]]) == 0
    assert cluster.partition("t", 3).replicas == (2, 1)


@pytest.mark.parametrize(
    ("count", "assignments", "expected"),
    [
        (1, None, ErrorCode.INVALID_PARTITIONS),
        (0, None, ErrorCode.INVALID_PARTITIONS),
        (100_000, None, ErrorCode.INVALID_PARTITIONS),
        (3, [[1, 2]], ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (2, [[1]], ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (2, [[1, 7]], ErrorCode.INVALID_REPLICA_ASSIGNMENT),
    ],
)
def test_each_mistake_in_growing_has_its_code(
    cluster: ControlledCluster, count: int, assignments: list[list[int]] | None, expected: int
) -> None:
    end_offset = cluster.end_offset
    assert add(cluster, count, assignments) == expected
    assert cluster.end_offset == end_offset


def test_growing_can_be_tried_without_doing_it(cluster: ControlledCluster) -> None:
    end_offset = cluster.end_offset
    assert add(cluster, 2, validate_only=True) == 0
    assert cluster.end_offset == end_offset


def test_a_topic_that_is_not_there_or_named_twice_does_not_grow(cluster: ControlledCluster) -> None:
    topics = [CreatePartitionsTopic(name=name, count=2, assignments=None) for name in ("x", "t", "u", "u")]
    request = CreatePartitionsRequest(topics=topics, timeout_ms=0, validate_only=False)
    results = cluster.ask(request, CreatePartitionsResponse).results
    assert {result.name: result.error_code for result in results} == {
        "x": ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        "t": 0,
        "u": ErrorCode.INVALID_REQUEST,
    }
