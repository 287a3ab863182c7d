"""Metadata: brokers and topics in every version, by name and by id, and what is said of those that are not there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from barnabas.broker.call import Call
from barnabas.metadata.topics import LOST_DIRECTORY
from barnabas.protocol.api import APIS, ApiKey
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from barnabas.protocol.uuid import Uuid
from unit.broker.hosting import NODE, OTHER, THIRD, Hosting, broker_record, topic_id

VERSIONS = APIS[ApiKey.METADATA].versions
NEWEST = VERSIONS[-1]


def named(*names: str, **fields: Any) -> MetadataRequest:
    return MetadataRequest(topics=[MetadataRequestTopic(name=name) for name in names], **fields)


def by_id(*ids: Uuid) -> MetadataRequest:
    return MetadataRequest(topics=[MetadataRequestTopic(name=None, topic_id=each) for each in ids])


def only(response: Any) -> Any:
    (topic,) = response.topics
    return topic


@pytest.fixture
def hosting() -> Hosting:
    hosting = Hosting()
    hosting.apply(broker_record(NODE, rack="r1"), broker_record(OTHER))
    hosting.create("t", partitions=2, replicas=(OTHER, NODE), leader_epoch=4)
    return hosting


@pytest.mark.parametrize("version", VERSIONS)
def test_brokers_and_partitions_are_told_in_every_version(hosting: Hosting, version: int) -> None:
    response = hosting.ask(named("t"), version)
    assert [(each.node_id, each.host, each.port) for each in response.brokers] == [
        (NODE, "host1", 9001),
        (OTHER, "host2", 9002),
    ]
    assert response.brokers[0].rack == ("r1" if version >= 1 else None)
    assert response.cluster_id == ("cluster" if version >= 2 else None)
    assert response.controller_id == (NODE if version >= 1 else -1)
    topic = only(response)
    assert (topic.error_code, topic.name, topic.is_internal) == (0, "t", False)
    assert topic.topic_id == (topic_id("t") if version >= 10 else Uuid(bytes(16)))
    assert [each.partition_index for each in topic.partitions] == [0, 1]
    partition = topic.partitions[0]
    assert (partition.error_code, partition.leader_id) == (0, OTHER)
    assert partition.leader_epoch == (4 if version >= 7 else -1)
    assert (partition.replica_nodes, partition.isr_nodes) == ([OTHER, NODE], [OTHER, NODE])


def test_all_topics_are_asked_for_by_none_in_version_0_and_by_null_afterwards(hosting: Hosting) -> None:
    hosting.create("__consumer_offsets")
    everything = MetadataRequest(topics=None)
    names = {"t", "__consumer_offsets"}
    assert {topic.name for topic in hosting.ask(named(), 0).topics} == names
    assert hosting.ask(named(), 1).topics == []
    topics = {topic.name: topic for topic in hosting.ask(everything, 1).topics}
    assert topics.keys() == names
    assert topics["__consumer_offsets"].is_internal


def test_topics_go_by_id_from_version_12_on(hosting: Hosting) -> None:
    known, unknown = hosting.ask(by_id(topic_id("t"), topic_id("none")), 12).topics
    assert (known.error_code, known.name) == (0, "t")
    assert (unknown.error_code, unknown.name, unknown.topic_id) == (
        ErrorCode.UNKNOWN_TOPIC_ID,
        None,
        topic_id("none"),
    )
    for version in (10, 11):
        request = MetadataRequest(topics=[MetadataRequestTopic(name="t", topic_id=topic_id("t"))])
        assert only(hosting.ask(request, version)).error_code == ErrorCode.INVALID_REQUEST


def test_a_topic_that_is_asked_for_twice_is_told_once(hosting: Hosting) -> None:
    assert len(hosting.ask(named("t", "t", "none", "none")).topics) == 2


# Brokers that are not there


def test_a_fenced_broker_is_not_told_but_for_the_partitions_it_is_to_have(hosting: Hosting) -> None:
    hosting.apply(broker_record(NODE, fenced=True))
    response = hosting.ask(named("t"))
    assert [each.node_id for each in response.brokers] == [OTHER]
    assert response.controller_id == OTHER
    partition = only(response).partitions[0]
    assert (partition.replica_nodes, partition.offline_replicas) == ([OTHER, NODE], [NODE])


def test_version_0_leaves_out_who_is_not_alive_and_says_so(hosting: Hosting) -> None:
    hosting.apply(broker_record(NODE, fenced=True))
    partition = only(hosting.ask(named("t"), 0)).partitions[0]
    assert (partition.error_code, partition.replica_nodes) == (ErrorCode.REPLICA_NOT_AVAILABLE, [OTHER])


def test_a_partition_without_a_leader_says_so(hosting: Hosting) -> None:
    hosting.change(leader=-1)
    partition = only(hosting.ask(named("t"))).partitions[0]
    assert (partition.error_code, partition.leader_id) == (ErrorCode.LEADER_NOT_AVAILABLE, -1)
    assert partition.leader_epoch == 5


@pytest.mark.parametrize(("version", "code"), [(5, ErrorCode.LEADER_NOT_AVAILABLE), (6, ErrorCode.LISTENER_NOT_FOUND)])
def test_a_leader_without_the_clients_listener_is_told_apart_from_version_6_on(
    hosting: Hosting, version: int, code: ErrorCode
) -> None:
    hosting.apply(broker_record(OTHER, listener="ELSEWHERE"))
    response = hosting.ask(named("t"), version)
    assert [each.node_id for each in response.brokers] == [NODE]
    partition = only(response).partitions[0]
    assert (partition.error_code, partition.leader_id, partition.offline_replicas) == (code, -1, [OTHER])


def test_a_replica_in_a_lost_directory_is_offline(hosting: Hosting) -> None:
    hosting.create("lost", replicas=(NODE,), directory=LOST_DIRECTORY)
    assert only(hosting.ask(named("lost"))).partitions[0].offline_replicas == [NODE]


def test_without_any_broker_nobody_is_named_for_the_controller() -> None:
    response = Hosting().ask(named())
    assert (response.brokers, response.controller_id) == ([], -1)


# Topics that are not there


def test_a_topic_that_is_not_there_is_unknown_or_has_no_name_for_a_topic(hosting: Hosting) -> None:
    missing, invalid = hosting.ask(named("none", "a/b")).topics
    assert (missing.name, missing.error_code) == ("none", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    assert (invalid.name, invalid.error_code) == ("a/b", ErrorCode.INVALID_TOPIC_EXCEPTION)


def test_topics_are_made_on_demand_unless_the_client_forbids_it() -> None:
    asked: list[list[str]] = []

    def create(names: list[str], _: Call) -> Mapping[str, ErrorCode]:
        asked.append(names)
        return dict.fromkeys(names, ErrorCode.INVALID_REPLICATION_FACTOR)

    hosting = Hosting(create_topics=create)
    hosting.create("t", replicas=(NODE, THIRD))
    answers = hosting.ask(named("t", "new")).topics
    assert [each.error_code for each in answers] == [0, ErrorCode.INVALID_REPLICATION_FACTOR]
    assert asked == [["new"]]
    forbidden = hosting.ask(named("new", allow_auto_topic_creation=False))
    assert only(forbidden).error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert only(hosting.ask(named("new"), 3)).error_code == ErrorCode.INVALID_REPLICATION_FACTOR
    hosting.ask(MetadataRequest(topics=None))
    assert asked == [["new"], ["new"]]


# What the asker may do


def test_what_one_may_do_is_told_to_those_who_ask(hosting: Hosting) -> None:
    asked = named("t", include_topic_authorized_operations=True)
    assert only(hosting.ask(asked, 8)).topic_authorized_operations == 0b110111111000
    assert only(hosting.ask(named("t"), 8)).topic_authorized_operations == -(2**31)
    cluster = named(include_cluster_authorized_operations=True)
    assert hosting.ask(cluster, 10).cluster_authorized_operations == 0b1111110100000
    assert hosting.ask(named(), 10).cluster_authorized_operations == -(2**31)


# What was described before


def test_what_changes_is_described_anew_and_the_rest_stays(hosting: Hosting) -> None:
    hosting.create("other", replicas=(OTHER, NODE))

    def leaders() -> dict[str, int]:
        topics = hosting.ask(MetadataRequest(topics=None)).topics
        return {topic.name: topic.partitions[0].leader_id for topic in topics}

    assert leaders() == {"t": OTHER, "other": OTHER}
    hosting.change("t", leader=NODE)
    assert leaders() == {"t": NODE, "other": OTHER}
    hosting.apply(broker_record(OTHER, listener="ELSEWHERE"))
    assert leaders() == {"t": NODE, "other": -1}
    hosting.delete("t")
    assert leaders() == {"other": -1}


def test_what_one_asker_may_do_is_not_told_to_the_next(hosting: Hosting) -> None:
    hosting.ask(named("t"))
    hosting.ask(named("t", include_topic_authorized_operations=True))
    assert only(hosting.ask(named("t"))).topic_authorized_operations == -(2**31)


def test_each_version_goes_on_seeing_the_brokers_in_its_own_way(hosting: Hosting) -> None:
    hosting.apply(broker_record(NODE, fenced=True))
    for _ in range(2):
        assert only(hosting.ask(named("t"), 0)).partitions[0].replica_nodes == [OTHER]
        assert only(hosting.ask(named("t"), 1)).partitions[0].replica_nodes == [OTHER, NODE]
