"""Topics are created as asked for or not at all, each by itself."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.controller.policies import NewTopic, Policies, PolicyViolation
from barnabas.metadata.topics import UNASSIGNED_DIRECTORY
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from unit.controller.controlled_cluster import ControlledCluster, directory
from unit.controller.requests import create_topics, mutation_quotas, new_topic


@pytest.fixture
def cluster() -> ControlledCluster:
    made = ControlledCluster()
    made.start_brokers(1, 2, 3)
    return made


def code(cluster: ControlledCluster, topic: CreatableTopic, **context: Any) -> int:
    (result,) = create_topics(cluster, topic, **context)
    return result.error_code


def test_a_topic_is_created_with_its_partitions_and_settings(cluster: ControlledCluster) -> None:
    (result,) = create_topics(cluster, new_topic("t", 3, 2, configs={"retention.ms": "5"}))
    assert (result.error_code, result.num_partitions, result.replication_factor) == (0, 3, 2)
    topic = cluster.image.topics.by_name("t")
    assert topic is not None
    assert topic.id == result.topic_id
    for partition in topic.partitions.contents():
        assert len(partition.replicas) == 2
        assert partition.isr == partition.replicas
        assert partition.leader == partition.replicas[0]
        assert partition.directories == tuple(directory(replica) for replica in partition.replicas)
        assert (partition.leader_epoch, partition.partition_epoch) == (0, 0)
    configs = {config.name: (config.value, config.config_source) for config in result.configs or []}
    assert configs["retention.ms"] == ("5", 1)
    assert configs["min.insync.replicas"] == ("1", 3)
    assert configs["segment.bytes"] == ("1073741824", 5)


def test_numbers_that_are_left_out_come_from_the_settings() -> None:
    cluster = ControlledCluster(num_partitions=4, default_replication_factor=2)
    cluster.start_brokers(1, 2)
    (result,) = create_topics(cluster, new_topic("t", -1, -1))
    assert (result.num_partitions, result.replication_factor) == (4, 2)


def test_a_broker_with_several_directories_chooses_by_itself() -> None:
    cluster = ControlledCluster()
    cluster.start_brokers(1, directories=2)
    create_topics(cluster, new_topic("t"))
    assert cluster.partition("t").directories == (UNASSIGNED_DIRECTORY,)


def test_fenced_brokers_get_replicas_but_are_not_in_sync(cluster: ControlledCluster) -> None:
    cluster.fence(2)
    assert code(cluster, new_topic("t", 1, 3)) == 0
    assert sorted(cluster.partition("t").replicas) == [1, 2, 3]
    assert sorted(cluster.partition("t").isr) == [1, 3]


def test_brokers_with_cordoned_directories_get_no_replicas(cluster: ControlledCluster) -> None:
    cluster.heartbeat(1, cordoned_log_dirs=[directory(1)])
    assert code(cluster, new_topic("t", 8, 2)) == 0
    assert code(cluster, new_topic("u", 1, 3)) == ErrorCode.INVALID_REPLICATION_FACTOR
    topic = cluster.image.topics.by_name("t")
    assert topic is not None
    assert not any(1 in partition.replicas for partition in topic.partitions.contents())


@pytest.mark.parametrize(
    ("topic", "expected"),
    [
        (new_topic(""), ErrorCode.INVALID_TOPIC_EXCEPTION),
        (new_topic(".."), ErrorCode.INVALID_TOPIC_EXCEPTION),
        (new_topic("a" * 249), 0),
        (new_topic("a" * 250), ErrorCode.INVALID_TOPIC_EXCEPTION),
        (new_topic("ümlaut"), ErrorCode.INVALID_TOPIC_EXCEPTION),
        (new_topic("there.is"), ErrorCode.INVALID_TOPIC_EXCEPTION),
        (new_topic("there_is"), ErrorCode.TOPIC_ALREADY_EXISTS),
        (new_topic("__cluster_metadata"), ErrorCode.INVALID_REQUEST),
        (new_topic("t", 0), ErrorCode.INVALID_PARTITIONS),
        (new_topic("t", -2), ErrorCode.INVALID_PARTITIONS),
        (new_topic("t", 1, 0), ErrorCode.INVALID_REPLICATION_FACTOR),
        (new_topic("t", 1, 4), ErrorCode.INVALID_REPLICATION_FACTOR),
        (new_topic("t", configs={"no.such": "1"}), ErrorCode.INVALID_CONFIG),
        (new_topic("t", configs={"retention.ms": "soon"}), ErrorCode.INVALID_CONFIG),
        (new_topic("t", configs={"retention.ms": None}), ErrorCode.INVALID_CONFIG),
        (
            new_topic("t", configs={"min.compaction.lag.ms": "2", "max.compaction.lag.ms": "1"}),
            ErrorCode.INVALID_CONFIG,
        ),
        (new_topic("t", configs={"remote.storage.enable": "true"}), ErrorCode.INVALID_CONFIG),
        (new_topic("t", assignments=[[1, 2], [2, 3]]), 0),
        (new_topic("t", assignments=[[1, 9]]), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (new_topic("t", assignments=[[1, 1]]), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (new_topic("t", assignments=[[]]), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (new_topic("t", assignments=[[1, 2], [3]]), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
    ],
)
def test_each_mistake_has_its_code(cluster: ControlledCluster, topic: CreatableTopic, expected: int) -> None:
    assert code(cluster, new_topic("there_is")) == 0
    assert code(cluster, topic) == expected


def test_partitions_are_assigned_without_a_gap_and_once(cluster: ControlledCluster) -> None:
    for indexes in ([0, 2], [0, 0], [1]):
        topic = new_topic("t", assignments=[[1]])
        topic.assignments = [CreatableReplicaAssignment(partition_index=index, broker_ids=[1]) for index in indexes]
        assert code(cluster, topic) == ErrorCode.INVALID_REPLICA_ASSIGNMENT


def test_assignments_and_numbers_exclude_each_other(cluster: ControlledCluster) -> None:
    topic = new_topic("t", assignments=[[1]])
    topic.num_partitions = 1
    assert code(cluster, topic) == ErrorCode.INVALID_REQUEST


def test_somebody_of_the_assigned_has_to_be_alive(cluster: ControlledCluster) -> None:
    cluster.fence(2)
    assert code(cluster, new_topic("t", assignments=[[2]])) == ErrorCode.INVALID_REPLICA_ASSIGNMENT
    assert code(cluster, new_topic("t", assignments=[[2, 3]])) == 0
    assert cluster.partition("t").leader == 3


def test_one_bad_topic_spares_its_neighbours(cluster: ControlledCluster) -> None:
    results = create_topics(cluster, new_topic("a"), new_topic(".."), new_topic("b"), new_topic("b"))
    assert {result.name: result.error_code for result in results} == {
        "a": 0,
        "..": ErrorCode.INVALID_TOPIC_EXCEPTION,
        "b": ErrorCode.INVALID_REQUEST,
    }
    assert list(cluster.image.topics.ids) == ["a"]


def test_topics_of_one_request_may_not_collide_either(cluster: ControlledCluster) -> None:
    results = create_topics(cluster, new_topic("a.b"), new_topic("a_b"))
    assert [result.error_code for result in results] == [0, ErrorCode.INVALID_TOPIC_EXCEPTION]


def test_validation_alone_writes_nothing(cluster: ControlledCluster) -> None:
    end_offset = cluster.end_offset
    (result,) = create_topics(cluster, new_topic("t", 3), validate_only=True)
    assert (result.error_code, result.num_partitions) == (0, 3)
    assert cluster.end_offset == end_offset


def test_too_many_partitions_are_refused_before_they_are_made(cluster: ControlledCluster) -> None:
    results = create_topics(cluster, new_topic("a", 10_000), new_topic("b", 1))
    assert [result.error_code for result in results] == [ErrorCode.POLICY_VIOLATION] * 2


def test_more_records_than_a_batch_may_have_are_refused(cluster: ControlledCluster) -> None:
    (result,) = create_topics(cluster, new_topic("a", 10_000))
    assert result.error_code == ErrorCode.POLICY_VIOLATION
    (result,) = create_topics(cluster, new_topic("a", 9_999))
    assert result.error_code == 0


def test_a_policy_has_its_say() -> None:
    seen: list[NewTopic] = []

    def policy(topic: NewTopic) -> None:
        seen.append(topic)
        if topic.name == "no":
            raise PolicyViolation("not this one")

    cluster = ControlledCluster(policies=Policies(create_topic=policy))
    cluster.start_brokers(1)
    results = create_topics(cluster, new_topic("yes", 2), new_topic("no"), new_topic("also", assignments=[[1]]))
    assert [result.error_code for result in results] == [0, ErrorCode.POLICY_VIOLATION, 0]
    assert [(topic.num_partitions, topic.assignments) for topic in seen] == [(2, None), (1, None), (None, {0: (1,)})]


def test_a_quota_that_is_used_up_refuses_what_is_beyond_it(cluster: ControlledCluster) -> None:
    quotas = mutation_quotas(rate=1, burst=5)
    allowance = quotas.allowance("ada", "app", 0, is_strict=True)
    request = CreateTopicsRequest(topics=[new_topic("a", 4), new_topic("b", 4), new_topic("c", 1)])
    response = cluster.ask(request, CreateTopicsResponse, allowance=allowance)
    codes = [result.error_code for result in response.topics]
    assert codes == [0, 0, ErrorCode.THROTTLING_QUOTA_EXCEEDED], "one change may overdraw, the next has to wait"
    assert response.throttle_time_ms == 3_000


def test_an_older_client_is_slowed_down_by_its_quota_and_not_refused(cluster: ControlledCluster) -> None:
    allowance = mutation_quotas(rate=2, burst=2).allowance("ada", "app", 0, is_strict=False)
    request = CreateTopicsRequest(topics=[new_topic("a", 4), new_topic("b", 4)])
    response = cluster.ask(request, CreateTopicsResponse, version=5, allowance=allowance)
    assert [result.error_code for result in response.topics] == [0, 0]
    assert response.throttle_time_ms == 3_000


def test_an_older_client_gets_an_answer_that_its_version_carries(cluster: ControlledCluster) -> None:
    response = cluster.ask(CreateTopicsRequest(topics=[new_topic("t")]), CreateTopicsResponse, version=2)
    assert response.topics[0].error_code == 0
