"""OffsetCommit, OffsetFetch and OffsetDelete: the coordinator's shards answer, for topics that there are.

OffsetCommit v2-v10 and OffsetFetch v1-v10 name topics by id from 10 on. OffsetFetch asks for many groups from 8 on; its
errors are of the group, in version 1 of every partition. OffsetDelete v0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from barnabas.broker.call import Call, Outcome
from barnabas.broker.handlers.groups import Answer, GroupCoordinator, ask_one, context_of, gather
from barnabas.broker.routing import Route, ServedBy
from barnabas.coordinator.group.refusals import REFUSALS
from barnabas.metadata.image import MetadataImage
from barnabas.metadata.topics import Topic
from barnabas.protocol.api import APIS, ApiKey
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from barnabas.protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestTopic,
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)
from barnabas.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)

TOPIC_IDS_SINCE: Final = 10
MANY_GROUPS_SINCE: Final = 8
GROUP_ERRORS_SINCE: Final = 2
NO_OFFSET: Final = -1


class GroupOffsets:
    """`image` is the metadata as it is now."""

    def __init__(self, coordinator: GroupCoordinator, image: Callable[[], MetadataImage]) -> None:
        self._coordinator = coordinator
        self._image = image

    @property
    def routes(self) -> tuple[Route, ...]:
        return (
            Route(
                ApiKey.OFFSET_COMMIT,
                APIS[ApiKey.OFFSET_COMMIT].versions,
                ServedBy.BROKER,
                self.commit,
                REFUSALS[OffsetCommitRequest],
            ),
            Route(ApiKey.OFFSET_FETCH, APIS[ApiKey.OFFSET_FETCH].versions, ServedBy.BROKER, self.fetch),
            Route(ApiKey.OFFSET_DELETE, APIS[ApiKey.OFFSET_DELETE].versions, ServedBy.BROKER, self.delete),
        )

    # Committing

    def commit(self, request: OffsetCommitRequest, call: Call) -> Outcome:
        refused: list[OffsetCommitResponseTopic] = []
        accepted: list[OffsetCommitRequestTopic] = []
        for topic in request.topics:
            self._sort_out(topic, call, accepted, refused)
        if not accepted:
            return OffsetCommitResponse(topics=refused)
        passed_on = OffsetCommitRequest(
            group_id=request.group_id,
            generation_id_or_member_epoch=request.generation_id_or_member_epoch,
            member_id=request.member_id,
            group_instance_id=request.group_instance_id,
            retention_time_ms=request.retention_time_ms,
            topics=accepted,
        )

        def fit(response: OffsetCommitResponse) -> OffsetCommitResponse:
            # Partitions that were refused here stand beside those of the same topic that were not.
            answered = {(topic.name, topic.topic_id): topic for topic in response.topics}
            for topic in refused:
                known = answered.get((topic.name, topic.topic_id))
                if known is None:
                    response.topics.append(topic)
                else:
                    known.partitions.extend(topic.partitions)
            return response

        return ask_one(self._coordinator, request.group_id, passed_on, call, fit)

    def _sort_out(
        self,
        topic: OffsetCommitRequestTopic,
        call: Call,
        accepted: list[OffsetCommitRequestTopic],
        refused: list[OffsetCommitResponseTopic],
    ) -> None:
        """Tell the partitions that there are from those that there are not."""
        topics = self._image().topics
        has_id = call.version >= TOPIC_IDS_SINCE
        known = topics.by_id.get(topic.topic_id) if has_id else topics.by_name(topic.name)
        code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        if known is None and has_id:
            code = ErrorCode.UNKNOWN_TOPIC_ID
        name, topic_id = (topic.name, topic.topic_id) if known is None else (known.name, known.id)
        there = [] if known is None else [each for each in topic.partitions if _has(known, each.partition_index)]
        if there:
            accepted.append(OffsetCommitRequestTopic(name=name, topic_id=topic_id, partitions=there))
        missing = [
            OffsetCommitResponsePartition(partition_index=each.partition_index, error_code=code)
            for each in topic.partitions
            if known is None or not _has(known, each.partition_index)
        ]
        if missing or not topic.partitions:
            refused.append(OffsetCommitResponseTopic(name=name, topic_id=topic_id, partitions=missing))

    # Fetching

    def fetch(self, request: OffsetFetchRequest, call: Call) -> Outcome:
        groups = request.groups
        if call.version < MANY_GROUPS_SINCE:
            topics = request.topics
            groups = [
                OffsetFetchRequestGroup(
                    group_id=request.group_id,
                    topics=None
                    if topics is None
                    else [
                        OffsetFetchRequestTopics(name=topic.name, partition_indexes=topic.partition_indexes)
                        for topic in topics
                    ],
                )
            ]
        return gather(
            [partial(self._fetch_group, group, request.require_stable, call) for group in groups],
            lambda answers: _fetched(groups, answers, call.version),
        )

    def _fetch_group(self, group: OffsetFetchRequestGroup, require_stable: bool, call: Call, answer: Answer) -> None:
        unknown: list[OffsetFetchResponseTopics] = []
        asked = group
        if call.version >= TOPIC_IDS_SINCE and group.topics is not None:
            known: list[OffsetFetchRequestTopics] = []
            for topic in group.topics:
                found = self._image().topics.by_id.get(topic.topic_id)
                if found is None:
                    unknown.append(_unknown(topic, ErrorCode.UNKNOWN_TOPIC_ID))
                else:
                    known.append(
                        OffsetFetchRequestTopics(
                            name=found.name, topic_id=found.id, partition_indexes=topic.partition_indexes
                        )
                    )
            asked = OffsetFetchRequestGroup(
                group_id=group.group_id, member_id=group.member_id, member_epoch=group.member_epoch, topics=known
            )

        def complete(response: OffsetFetchResponse) -> None:
            (told,) = response.groups
            if told.error_code == ErrorCode.NONE:
                if call.version >= TOPIC_IDS_SINCE and group.topics is None:
                    told.topics = self._with_ids(told.topics)
                told.topics.extend(unknown)
            answer(response)

        self._coordinator.ask(
            self._coordinator.partition_for(group.group_id),
            OffsetFetchRequest(groups=[asked], require_stable=require_stable),
            context_of(call),
            complete,
        )

    def _with_ids(self, topics: Sequence[OffsetFetchResponseTopics]) -> list[OffsetFetchResponseTopics]:
        """The topics that can be named by an id; there is no other way to name them."""
        found = []
        for topic in topics:
            known = self._image().topics.by_name(topic.name)
            if known is not None:
                topic.topic_id = known.id
                found.append(topic)
        return found

    # Deleting

    def delete(self, request: OffsetDeleteRequest, call: Call) -> Outcome:
        if not request.group_id:
            return REFUSALS[OffsetDeleteRequest](request, ErrorCode.INVALID_GROUP_ID)
        refused: list[OffsetDeleteResponseTopic] = []
        accepted: list[OffsetDeleteRequestTopic] = []
        for topic in request.topics:
            known = self._image().topics.by_name(topic.name)
            there = [each for each in topic.partitions if known is not None and _has(known, each.partition_index)]
            if there:
                accepted.append(OffsetDeleteRequestTopic(name=topic.name, partitions=there))
            missing = [
                OffsetDeleteResponsePartition(
                    partition_index=each.partition_index, error_code=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
                )
                for each in topic.partitions
                if each not in there
            ]
            if missing:
                refused.append(OffsetDeleteResponseTopic(name=topic.name, partitions=missing))

        def fit(response: OffsetDeleteResponse) -> OffsetDeleteResponse:
            if response.error_code == ErrorCode.NONE:
                answered = {topic.name: topic for topic in response.topics}
                for topic in refused:
                    if topic.name in answered:
                        answered[topic.name].partitions.extend(topic.partitions)
                    else:
                        response.topics.append(topic)
            return response

        passed_on = OffsetDeleteRequest(group_id=request.group_id, topics=accepted)
        return ask_one(self._coordinator, request.group_id, passed_on, call, fit)


def _has(topic: Topic, partition: int) -> bool:
    return topic.partitions.get(partition) is not None


def _unknown(topic: OffsetFetchRequestTopics, code: ErrorCode) -> OffsetFetchResponseTopics:
    return OffsetFetchResponseTopics(
        name=topic.name,
        topic_id=topic.topic_id,
        partitions=[
            OffsetFetchResponsePartitions(
                partition_index=partition, committed_offset=NO_OFFSET, metadata="", error_code=code
            )
            for partition in topic.partition_indexes
        ],
    )


def _fetched(
    asked: Sequence[OffsetFetchRequestGroup], answers: Sequence[OffsetFetchResponse], version: int
) -> OffsetFetchResponse:
    groups: list[OffsetFetchResponseGroup] = [group for answer in answers for group in answer.groups]
    if version >= MANY_GROUPS_SINCE:
        return OffsetFetchResponse(groups=groups)
    (group,) = groups
    topics = group.topics
    if version < GROUP_ERRORS_SINCE and group.error_code != ErrorCode.NONE:
        topics = [_unknown(topic, ErrorCode(group.error_code)) for topic in asked[0].topics or ()]
    return OffsetFetchResponse(
        error_code=group.error_code,
        topics=[
            OffsetFetchResponseTopic(
                name=topic.name,
                partitions=[
                    OffsetFetchResponsePartition(
                        partition_index=each.partition_index,
                        committed_offset=each.committed_offset,
                        committed_leader_epoch=each.committed_leader_epoch,
                        metadata=each.metadata,
                        error_code=each.error_code,
                    )
                    for each in topic.partitions
                ],
            )
            for topic in topics
        ],
    )
