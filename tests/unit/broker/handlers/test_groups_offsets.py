"""Committed offsets in every version: kept, found by name and by id, refused where there is no such partition."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.protocol.api import APIS, ApiKey
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from barnabas.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from unit.broker.handlers.group_hosting import GroupHosting, commit_request, fetch_request, fetched_offsets
from unit.broker.hosting import OTHER, topic_id

COMMIT = APIS[ApiKey.OFFSET_COMMIT].versions
FETCH = APIS[ApiKey.OFFSET_FETCH].versions


@pytest.fixture
def hosting() -> GroupHosting:
    hosting = GroupHosting()
    hosting.create("t", partitions=2)
    return hosting


def code_of(answer: Any) -> int:
    return int(answer.topics[0].partitions[0].error_code)


def name_of(topic: str, version: int) -> Any:
    return topic_id(topic) if version >= 10 else topic


@pytest.mark.parametrize("version", COMMIT)
def test_a_commit_is_kept_with_its_epoch_and_note(hosting: GroupHosting, version: int) -> None:
    answer = hosting.ask(commit_request(42, leader_epoch=3, metadata="note"), version)
    assert code_of(answer) == ErrorCode.NONE
    assert (answer.topics[0].topic_id if version >= 10 else answer.topics[0].name) == name_of("t", version)
    (partition,) = hosting.ask(fetch_request(8), 8).groups[0].topics[0].partitions
    epoch = 3 if version >= 6 else -1
    assert (partition.committed_offset, partition.committed_leader_epoch, partition.metadata) == (42, epoch, "note")


@pytest.mark.parametrize("version", FETCH)
def test_what_was_committed_is_fetched(hosting: GroupHosting, version: int) -> None:
    hosting.ask(commit_request(42))
    answer = hosting.ask(fetch_request(version, partitions=(0, 1)), version)
    name = name_of("t", version)
    assert fetched_offsets(answer, version) == {(name, 0): (42, 0), (name, 1): (-1, 0)}


@pytest.mark.parametrize("version", FETCH[1:])
def test_all_offsets_of_a_group_are_fetched(hosting: GroupHosting, version: int) -> None:
    hosting.create("u")
    hosting.ask(commit_request(42))
    hosting.ask(commit_request(7, topic="u"))
    answer = hosting.ask(fetch_request(version, topic=None), version)
    assert fetched_offsets(answer, version) == {
        (name_of("t", version), 0): (42, 0),
        (name_of("u", version), 0): (7, 0),
    }


@pytest.mark.parametrize("version", FETCH)
def test_a_refused_fetch_can_be_read_in_every_version(version: int) -> None:
    hosting = GroupHosting(replicas=(OTHER, 1))
    hosting.create("t")
    answer = hosting.ask(fetch_request(version), version)
    group = answer.groups[0] if version >= 8 else answer
    assert (group.error_code if version >= 2 else code_of(answer)) == ErrorCode.NOT_COORDINATOR


@pytest.mark.parametrize("version", COMMIT)
def test_partitions_that_are_not_there_are_refused_beside_those_that_are(hosting: GroupHosting, version: int) -> None:
    request = commit_request(42)
    request.topics[0].partitions += commit_request(1, partition=9).topics[0].partitions
    request.topics += commit_request(1, topic="none").topics
    topics = hosting.ask(request, version).topics
    by_index = {partition.partition_index: partition.error_code for partition in topics[0].partitions}
    assert by_index == {0: ErrorCode.NONE, 9: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}
    unknown = ErrorCode.UNKNOWN_TOPIC_ID if version >= 10 else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert topics[1].partitions[0].error_code == unknown
    assert len(topics) == 2


def test_a_topic_of_another_id_has_no_offsets(hosting: GroupHosting) -> None:
    hosting.ask(commit_request(42))
    named = [OffsetFetchRequestTopics(topic_id=topic_id("none"), partition_indexes=[0])]
    answer = hosting.ask(OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id="g", topics=named)]), 10)
    assert fetched_offsets(answer, 10) == {(topic_id("none"), 0): (-1, ErrorCode.UNKNOWN_TOPIC_ID)}


def test_many_groups_are_fetched_at_once(hosting: GroupHosting) -> None:
    for offset, group_id in enumerate(("a", "b")):
        hosting.ask(commit_request(offset, group_id=group_id))
    groups = [OffsetFetchRequestGroup(group_id=group_id, topics=None) for group_id in ("b", "a", "none")]
    answer = hosting.ask(OffsetFetchRequest(groups=groups), 9)
    offsets = [
        [each.committed_offset for topic in group.topics for each in topic.partitions] for group in answer.groups
    ]
    assert offsets == [[1], [0], []]


def test_offsets_are_deleted_unless_the_group_reads_the_topic(hosting: GroupHosting) -> None:
    hosting.create("u")
    joined = hosting.join_alone()
    hosting.sync(joined, {})
    for topic in ("t", "u"):
        request = commit_request(42, topic=topic, generation=joined.generation_id, member_id=joined.member_id)
        assert code_of(hosting.ask(request)) == ErrorCode.NONE

    def delete(topic: str, partition: int = 0) -> int:
        partitions = [OffsetDeleteRequestPartition(partition_index=partition)]
        topics = [OffsetDeleteRequestTopic(name=topic, partitions=partitions)]
        return code_of(hosting.ask(OffsetDeleteRequest(group_id="g", topics=topics)))

    assert delete("t") == ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC
    assert delete("u") == ErrorCode.NONE
    assert delete("u", 5) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    answer = hosting.ask(fetch_request(9, topic=None), 9)
    assert fetched_offsets(answer, 9) == {("t", 0): (42, 0)}
    assert hosting.ask(OffsetDeleteRequest(group_id="none", topics=[])).error_code == ErrorCode.GROUP_ID_NOT_FOUND
    assert hosting.ask(OffsetDeleteRequest(group_id="", topics=[])).error_code == ErrorCode.INVALID_GROUP_ID


def test_offsets_of_a_deleted_topic_are_forgotten(hosting: GroupHosting) -> None:
    hosting.create("u")
    hosting.ask(commit_request(42))
    hosting.ask(commit_request(7, topic="u"))
    hosting.delete("t")
    assert fetched_offsets(hosting.ask(fetch_request(9, topic=None), 9), 9) == {("u", 0): (7, 0)}
