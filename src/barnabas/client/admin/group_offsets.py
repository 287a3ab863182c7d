"""How far groups have read: their committed offsets, others in their place, and the deletion of some.

Topics are asked for by their names, which the newest versions of these requests no longer carry.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from barnabas.client.cluster import Cluster
from barnabas.client.coordinators import Coordinator, ask_coordinators
from barnabas.client.errors import ClientError
from barnabas.client.leaders import group_by_topic
from barnabas.client.outcomes import find_error, raise_first, unanswered
from barnabas.log.checkpoint import TopicPartition
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from barnabas.protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
    OffsetDeleteResponse,
)
from barnabas.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
)

_NEWEST_WITH_NAMES: Final = 9
_NO_METADATA: Final = ""
_TRY_AGAIN: Final = frozenset(
    {
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
        ErrorCode.REBALANCE_IN_PROGRESS,
    }
)

PartitionOutcomes = dict[TopicPartition, ClientError | None]


@dataclass(frozen=True, slots=True)
class CommittedOffset:
    offset: int
    leader_epoch: int | None


def fetch_group_offsets(cluster: Cluster, group_id: str) -> dict[TopicPartition, CommittedOffset]:
    """The offsets that a group has committed, which are none for a group that is not there."""
    request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id=group_id, topics=None)])

    def read(
        response: OffsetFetchResponse, _: Coordinator
    ) -> dict[str, dict[TopicPartition, CommittedOffset] | ClientError]:
        return {group.group_id: find_error(group.error_code) or _read_offsets(group) for group in response.groups}

    outcomes = ask_coordinators(
        cluster,
        "listConsumerGroupOffsets",
        [group_id],
        lambda _: request,
        OffsetFetchResponse,
        read,
        newest=_NEWEST_WITH_NAMES,
    )
    return raise_first(outcomes)[group_id]


def alter_group_offsets(cluster: Cluster, group_id: str, offsets: Mapping[TopicPartition, int]) -> PartitionOutcomes:
    """Commit offsets for a group that has no members; raises what goes wrong with the group as a whole."""
    request = OffsetCommitRequest(
        group_id=group_id,
        member_id="",
        topics=[
            OffsetCommitRequestTopic(
                name=topic,
                partitions=[
                    OffsetCommitRequestPartition(
                        partition_index=index,
                        committed_offset=offsets[TopicPartition(topic, index)],
                        committed_metadata=_NO_METADATA,
                    )
                    for index in indexes
                ],
            )
            for topic, indexes in group_by_topic(offsets).items()
        ],
    )

    def read(response: OffsetCommitResponse, _: Coordinator) -> dict[str, PartitionOutcomes | ClientError]:
        outcomes: PartitionOutcomes = {partition: unanswered(partition) for partition in offsets}
        for topic in response.topics:
            for each in topic.partitions:
                error = find_error(each.error_code)
                if error is not None and error.code in _TRY_AGAIN:
                    return {group_id: error}
                outcomes[TopicPartition(topic.name, each.partition_index)] = error
        return {group_id: outcomes}

    outcomes = ask_coordinators(
        cluster,
        "offsetCommit",
        [group_id],
        lambda _: request,
        OffsetCommitResponse,
        read,
        newest=_NEWEST_WITH_NAMES,
    )
    return raise_first(outcomes)[group_id]


def delete_group_offsets(cluster: Cluster, group_id: str, partitions: Iterable[TopicPartition]) -> PartitionOutcomes:
    """Forget what a group has committed; raises what goes wrong with the group as a whole."""
    wanted = list(partitions)
    request = OffsetDeleteRequest(
        group_id=group_id,
        topics=[
            OffsetDeleteRequestTopic(
                name=topic, partitions=[OffsetDeleteRequestPartition(partition_index=index) for index in indexes]
            )
            for topic, indexes in group_by_topic(wanted).items()
        ],
    )

    def read(response: OffsetDeleteResponse, _: Coordinator) -> dict[str, PartitionOutcomes | ClientError]:
        error = find_error(response.error_code)
        if error is not None:
            return {group_id: error}
        outcomes: PartitionOutcomes = {partition: unanswered(partition) for partition in wanted}
        for topic in response.topics:
            for each in topic.partitions:
                outcomes[TopicPartition(topic.name, each.partition_index)] = find_error(each.error_code)
        return {group_id: outcomes}

    outcomes = ask_coordinators(cluster, "offsetDelete", [group_id], lambda _: request, OffsetDeleteResponse, read)
    return raise_first(outcomes)[group_id]


def _read_offsets(group: OffsetFetchResponseGroup) -> dict[TopicPartition, CommittedOffset]:
    """A partition that cannot be told of, or that has no offset, is left out."""
    return {
        TopicPartition(topic.name, each.partition_index): CommittedOffset(
            each.committed_offset, each.committed_leader_epoch if each.committed_leader_epoch >= 0 else None
        )
        for topic in group.topics
        for each in topic.partitions
        if each.error_code == ErrorCode.NONE and each.committed_offset >= 0
    }
