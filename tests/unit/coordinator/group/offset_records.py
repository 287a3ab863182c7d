"""Commits as records and requests, in few words."""

from __future__ import annotations

from typing import Any

from barnabas.protocol.group_records.offset_commit import OffsetCommitValue
from barnabas.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from barnabas.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from barnabas.protocol.uuid import ZERO_UUID, Uuid


def commit_value(offset: int, **fields: Any) -> OffsetCommitValue:
    return OffsetCommitValue(**{"offset": offset, "metadata": "", "commit_timestamp": 0, **fields})


def commit_request(
    offset: int,
    *,
    group_id: str = "g",
    topic: str = "t",
    topic_id: Uuid = ZERO_UUID,
    metadata: str | None = None,
    member_id: str = "",
    generation: int = -1,
    **fields: Any,
) -> OffsetCommitRequest:
    partition = OffsetCommitRequestPartition(partition_index=0, committed_offset=offset, committed_metadata=metadata)
    return OffsetCommitRequest(
        group_id=group_id,
        member_id=member_id,
        generation_id_or_member_epoch=generation,
        topics=[OffsetCommitRequestTopic(name=topic, topic_id=topic_id, partitions=[partition])],
        **fields,
    )


def fetch_request(
    group_id: str = "g", topic: str = "t", topic_id: Uuid = ZERO_UUID, *, require_stable: bool = False
) -> OffsetFetchRequest:
    topics = [OffsetFetchRequestTopics(name=topic, topic_id=topic_id, partition_indexes=[0])]
    return OffsetFetchRequest(
        groups=[OffsetFetchRequestGroup(group_id=group_id, topics=topics)], require_stable=require_stable
    )
