"""Offsets of partitions: where they start, end or reach a time, and the deletion of what is before one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum

from barnabas.client.cluster import Cluster
from barnabas.client.errors import ClientError
from barnabas.client.leaders import Found, ask_leaders, group_by_topic
from barnabas.client.outcomes import find_error
from barnabas.log.checkpoint import TopicPartition
from barnabas.protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopic,
)
from barnabas.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)

_CONSUMER = -1


class OffsetTime(IntEnum):
    """The timestamps of ListOffsets that stand for places in a log rather than for times."""

    LATEST = -1
    EARLIEST = -2
    MAX_TIMESTAMP = -3
    EARLIEST_LOCAL = -4
    LATEST_TIERED = -5
    EARLIEST_PENDING_UPLOAD = -6


def list_offsets(
    cluster: Cluster, partitions: Iterable[TopicPartition], timestamp: int
) -> dict[TopicPartition, int | ClientError]:
    """The first offset of a record that is as young, by partition, or -1; or what an OffsetTime stands for."""

    def build(led: Sequence[TopicPartition], timeout_ms: int) -> ListOffsetsRequest:
        return ListOffsetsRequest(
            replica_id=_CONSUMER,
            topics=[
                ListOffsetsTopic(
                    name=topic,
                    partitions=[ListOffsetsPartition(partition_index=index, timestamp=timestamp) for index in indexes],
                )
                for topic, indexes in group_by_topic(led).items()
            ],
            timeout_ms=timeout_ms,
        )

    def read(response: ListOffsetsResponse) -> Found[int]:
        return {
            TopicPartition(topic.name, each.partition_index): find_error(each.error_code) or each.offset
            for topic in response.topics
            for each in topic.partitions
        }

    return ask_leaders(cluster, "listOffsets", partitions, build, ListOffsetsResponse, read)


def delete_records(cluster: Cluster, offsets: Mapping[TopicPartition, int]) -> dict[TopicPartition, int | ClientError]:
    """Where each partition starts once the records before its offset, or before the high watermark for -1, are gone."""

    def build(led: Sequence[TopicPartition], timeout_ms: int) -> DeleteRecordsRequest:
        return DeleteRecordsRequest(
            topics=[
                DeleteRecordsTopic(
                    name=topic,
                    partitions=[
                        DeleteRecordsPartition(partition_index=index, offset=offsets[TopicPartition(topic, index)])
                        for index in indexes
                    ],
                )
                for topic, indexes in group_by_topic(led).items()
            ],
            timeout_ms=timeout_ms,
        )

    def read(response: DeleteRecordsResponse) -> Found[int]:
        return {
            TopicPartition(topic.name, each.partition_index): find_error(each.error_code) or each.low_watermark
            for topic in response.topics
            for each in topic.partitions
        }

    return ask_leaders(cluster, "deleteRecords", offsets, build, DeleteRecordsResponse, read)
