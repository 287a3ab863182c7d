"""OffsetCommit, OffsetFetch and OffsetDelete of one group, and the end of offsets that nobody has use for.

OffsetCommit v2-v10: below 5 it may ask for a retention of its own; a group that is not there is an illegal generation
below 9. Its topics come with name and id, found by whoever passes it on. OffsetFetch v1-v10 comes with one group in the
form of v8; without topics it asks for all. An offset that was committed for a topic of another id is not there.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from barnabas.coordinator.decision import Decision, TimerKey
from barnabas.coordinator.errors import IllegalGeneration
from barnabas.coordinator.events import RequestReceived
from barnabas.coordinator.group.classic.group import ClassicGroup
from barnabas.coordinator.group.classic.members import keep_session
from barnabas.coordinator.group.groups import Group, PartitionCheck
from barnabas.coordinator.group.offsets import NO_EXPIRY, CommittedOffset
from barnabas.coordinator.group.state import GroupState, Operations
from barnabas.metadata.topics import Topic
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.group_records.offset_commit import OffsetCommitKey, OffsetCommitValue
from barnabas.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from barnabas.protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)
from barnabas.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopics,
)
from barnabas.protocol.uuid import ZERO_UUID, Uuid

GROUP_ID_NOT_FOUND_SINCE: Final = 9
DEFAULT_RETENTION_MS: Final = -1
RECORD_VERSION: Final = 4
# The one form of the record that has a time of its own to expire.
EXPIRING_RECORD_VERSION: Final = 1
NO_OFFSET: Final = -1
EXPIRATION: Final = "offsets-expiration"


# Committing


def commit(state: GroupState, event: RequestReceived, decision: Decision) -> None:
    request: OffsetCommitRequest = event.request
    check = _check_committer(state, request, event.context.version, decision)
    topics = []
    for topic in request.topics:
        partitions = []
        for partition in topic.partitions:
            code = _commit_partition(state, request, topic, partition, check, decision)
            partitions.append(OffsetCommitResponsePartition(partition_index=partition.partition_index, error_code=code))
        topics.append(OffsetCommitResponseTopic(name=topic.name, topic_id=topic.topic_id, partitions=partitions))
    decision.respond(event.token, OffsetCommitResponse(topics=topics))


def _check_committer(
    state: GroupState, request: OffsetCommitRequest, version: int, decision: Decision
) -> PartitionCheck | None:
    generation = request.generation_id_or_member_epoch
    group = state.groups.get(request.group_id)
    if group is None:
        if generation < 0:
            # An administrator, or a consumer that chooses its partitions itself: replaying makes a group of it.
            return None
        if version < GROUP_ID_NOT_FOUND_SINCE:
            raise IllegalGeneration
        group = state.groups.find(request.group_id)
    check = group.check_offset_commit(
        request.member_id, request.group_instance_id, generation, is_transactional=False, version=version
    )
    if isinstance(group, ClassicGroup):
        keep_session(group, request.member_id, decision)
    return check


def _commit_partition(
    state: GroupState,
    request: OffsetCommitRequest,
    topic: OffsetCommitRequestTopic,
    partition: OffsetCommitRequestPartition,
    check: PartitionCheck | None,
    decision: Decision,
) -> ErrorCode:
    metadata = partition.committed_metadata or ""
    # Java measures text in units of UTF-16.
    if len(metadata.encode("utf-16-le")) // 2 > state.settings().offset_metadata_max:
        return ErrorCode.OFFSET_METADATA_TOO_LARGE
    if check is not None:
        check(topic.name, topic.topic_id, partition.partition_index)
    expires = request.retention_time_ms != DEFAULT_RETENTION_MS
    decision.write(
        OffsetCommitKey(group=request.group_id, topic=topic.name, partition=partition.partition_index),
        OffsetCommitValue(
            offset=partition.committed_offset,
            leader_epoch=partition.committed_leader_epoch,
            metadata=metadata,
            commit_timestamp=decision.now_ms,
            expire_timestamp=decision.now_ms + request.retention_time_ms if expires else NO_EXPIRY,
            topic_id=topic.topic_id,
        ),
        EXPIRING_RECORD_VERSION if expires else RECORD_VERSION,
    )
    return ErrorCode.NONE


# Fetching


def fetch(state: GroupState, event: RequestReceived, decision: Decision) -> None:
    request: OffsetFetchRequest = event.request
    (asked,) = request.groups
    group = state.groups.get(asked.group_id)
    if group is not None:
        group.check_offset_fetch(asked.member_id, asked.member_epoch)
    offsets = state.offsets.of_group(asked.group_id)
    wanted: Iterable[tuple[str, Uuid, Iterable[int]]]
    if asked.topics is None:
        wanted = ((topic, ZERO_UUID, partitions) for topic, partitions in offsets.items())
    else:
        wanted = ((topic.name, topic.topic_id, topic.partition_indexes) for topic in asked.topics)
    answer = OffsetFetchResponseGroup(
        group_id=asked.group_id,
        topics=[
            OffsetFetchResponseTopics(
                name=topic,
                topic_id=topic_id,
                partitions=[
                    _unstable(partition)
                    if request.require_stable and state.offsets.has_pending(asked.group_id, topic, partition)
                    else _fetched(partition, offsets.get(topic, {}).get(partition), topic_id)
                    for partition in partitions
                ],
            )
            for topic, topic_id, partitions in wanted
        ],
    )
    decision.respond(event.token, OffsetFetchResponse(groups=[answer]))


def _fetched(partition: int, committed: CommittedOffset | None, topic_id: Uuid) -> OffsetFetchResponsePartitions:
    if committed is None or (ZERO_UUID not in (topic_id, committed.topic_id) and committed.topic_id != topic_id):
        return _absent(partition, ErrorCode.NONE)
    return OffsetFetchResponsePartitions(
        partition_index=partition,
        committed_offset=committed.offset,
        committed_leader_epoch=committed.leader_epoch,
        metadata=committed.metadata,
        error_code=ErrorCode.NONE,
    )


def _unstable(partition: int) -> OffsetFetchResponsePartitions:
    return _absent(partition, ErrorCode.UNSTABLE_OFFSET_COMMIT)


def _absent(partition: int, code: ErrorCode) -> OffsetFetchResponsePartitions:
    return OffsetFetchResponsePartitions(
        partition_index=partition, committed_offset=NO_OFFSET, metadata="", error_code=code
    )


# Deleting


def delete(state: GroupState, event: RequestReceived, decision: Decision) -> None:
    request: OffsetDeleteRequest = event.request
    group = state.groups.find(request.group_id)
    group.check_offset_delete()
    topics = []
    for topic in request.topics:
        is_subscribed = group.is_subscribed_to(topic.name)
        code = ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC if is_subscribed else ErrorCode.NONE
        partitions = [partition.partition_index for partition in topic.partitions]
        if not is_subscribed:
            for partition in partitions:
                _delete_known(state, request.group_id, topic.name, partition, decision)
        topics.append(
            OffsetDeleteResponseTopic(
                name=topic.name,
                partitions=[
                    OffsetDeleteResponsePartition(partition_index=partition, error_code=code)
                    for partition in partitions
                ],
            )
        )
    decision.respond(event.token, OffsetDeleteResponse(error_code=ErrorCode.NONE, throttle_time_ms=0, topics=topics))


def _delete_known(state: GroupState, group_id: str, topic: str, partition: int, decision: Decision) -> None:
    offsets = state.offsets
    if offsets.get(group_id, topic, partition) is not None or offsets.has_pending(group_id, topic, partition):
        delete_offset(group_id, topic, partition, decision)


def delete_offset(group_id: str, topic: str, partition: int, decision: Decision) -> None:
    decision.delete(OffsetCommitKey(group=group_id, topic=topic, partition=partition))


def delete_all(state: GroupState, group_id: str, decision: Decision) -> None:
    """Delete every offset of a group, those as well that wait for the end of a transaction."""
    places = {
        (topic, partition): None
        for topic, partitions in state.offsets.of_group(group_id).items()
        for partition in partitions
    }
    places |= {(place.topic, place.partition): None for place in state.offsets.pending_places(group_id)}
    for topic, partition in places:
        delete_offset(group_id, topic, partition, decision)


def forget_topics(state: GroupState, topics: Iterable[Topic], decision: Decision) -> None:
    """Delete the offsets of topics that are gone."""
    decision.is_atomic = False
    for topic in topics:
        for place in sorted(state.offsets.places_of_topic(topic.name, topic.id)):
            delete_offset(*place, decision)


# Expiring


def expire(state: GroupState, key: TimerKey, decision: Decision) -> None:
    """Delete what has outlived its retention, and the groups of which nothing is left."""
    decision.is_atomic = False
    for group in state.groups:
        if _expire_offsets(state, group, decision) and group.is_empty:
            group.write_tombstones(decision)
    decision.set_timer(key, state.settings().offsets_retention_check_interval_ms)


def _expire_offsets(state: GroupState, group: Group, decision: Decision) -> bool:
    """Whether the group will have no offset left."""
    is_left = any(state.offsets.pending_places(group.group_id))
    for topic, partitions in state.offsets.of_group(group.group_id).items():
        if group.is_subscribed_to(topic):
            is_left = True
            continue
        for partition, committed in partitions.items():
            is_pending = state.offsets.has_pending(group.group_id, topic, partition)
            if not is_pending and _has_expired(state, group, committed, decision.now_ms):
                delete_offset(group.group_id, topic, partition, decision)
            else:
                is_left = True
    return not is_left


def _has_expired(state: GroupState, group: Group, committed: CommittedOffset, now_ms: int) -> bool:
    idle_since_ms = group.offset_idle_since_ms(committed.commit_timestamp_ms)
    if idle_since_ms is None:
        return False
    if committed.expire_timestamp_ms != NO_EXPIRY:
        return now_ms >= committed.expire_timestamp_ms
    return now_ms - idle_since_ms >= state.settings().offsets_retention_ms


OPERATIONS: Final[Operations] = {
    OffsetCommitRequest: commit,
    OffsetFetchRequest: fetch,
    OffsetDeleteRequest: delete,
}
TIMERS: Final = {EXPIRATION: expire}
