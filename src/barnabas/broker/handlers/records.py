"""DeleteRecords and DescribeProducers: what the leader of a partition can be told about, and asked of, its log.

DeleteRecords v0-v2: 2 is flexible. The records before an offset, or before the high watermark where it is -1, are gone;
segments that hold nothing else follow with the next retention. DescribeProducers v0.
"""

from __future__ import annotations

from typing import Final

from barnabas.broker.call import Call
from barnabas.broker.internal_topics import INTERNAL_TOPICS
from barnabas.broker.replicas import Replicas
from barnabas.broker.routing import Route, ServedBy
from barnabas.controller.errors import InvalidTopic
from barnabas.controller.policies import PolicyViolation
from barnabas.controller.topic_names import check_topic_name
from barnabas.protocol.api import APIS, ApiKey
from barnabas.protocol.errors import ApiError, ErrorCode, OffsetOutOfRange
from barnabas.protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)
from barnabas.protocol.messages.describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    PartitionResponse,
    ProducerState,
    TopicResponse,
)

HIGH_WATERMARK: Final = -1
NO_LOW_WATERMARK: Final = -1
NO_TRANSACTION: Final = -1


class PartitionRecords:
    def __init__(self, replicas: Replicas) -> None:
        self._replicas = replicas

    @property
    def routes(self) -> tuple[Route, ...]:
        return (
            Route(
                ApiKey.DELETE_RECORDS,
                APIS[ApiKey.DELETE_RECORDS].versions,
                ServedBy.BROKER,
                self.delete_records,
                refuse_deletion,
            ),
            Route(
                ApiKey.DESCRIBE_PRODUCERS,
                APIS[ApiKey.DESCRIBE_PRODUCERS].versions,
                ServedBy.BROKER,
                self.describe_producers,
                refuse_description,
            ),
        )

    # DeleteRecords

    def delete_records(self, request: DeleteRecordsRequest, call: Call) -> DeleteRecordsResponse:  # noqa: ARG002
        return DeleteRecordsResponse(
            throttle_time_ms=0,
            topics=[
                DeleteRecordsTopicResult(
                    name=topic.name, partitions=[self._delete(topic.name, asked) for asked in topic.partitions]
                )
                for topic in request.topics
            ],
        )

    def _delete(self, topic: str, asked: DeleteRecordsPartition) -> DeleteRecordsPartitionResult:
        low_watermark, code = NO_LOW_WATERMARK, ErrorCode.NONE
        try:
            low_watermark = self._delete_before(topic, asked.partition_index, asked.offset)
        except ApiError as error:
            code = error.code
        return DeleteRecordsPartitionResult(
            partition_index=asked.partition_index, low_watermark=low_watermark, error_code=code
        )

    def _delete_before(self, topic: str, partition: int, offset: int) -> int:
        """The log start offset, which is the low watermark of a partition with one replica."""
        if topic in INTERNAL_TOPICS:
            raise InvalidTopic(f"records of {topic} are the brokers' own")
        leader = self._replicas.find_leader(topic, partition)
        log = leader.log
        if log.config.is_compacted and not log.config.is_deleted:
            raise PolicyViolation(f"{topic} is compacted, and its cleanup.policy does not have delete")
        wanted = log.high_watermark if offset == HIGH_WATERMARK else offset
        if not 0 <= wanted <= log.high_watermark:
            raise OffsetOutOfRange(f"offset {wanted} of {leader.name}, whose high watermark is {log.high_watermark}")
        if log.delete_records_before(wanted):
            self._replicas.waiting_room.wake(leader.name)
        return log.log_start_offset

    # DescribeProducers

    def describe_producers(self, request: DescribeProducersRequest, call: Call) -> DescribeProducersResponse:  # noqa: ARG002
        return DescribeProducersResponse(
            throttle_time_ms=0,
            topics=[
                TopicResponse(
                    name=topic.name,
                    partitions=[self._producers(topic.name, index) for index in topic.partition_indexes],
                )
                for topic in request.topics
            ],
        )

    def _producers(self, topic: str, partition: int) -> PartitionResponse:
        try:
            check_topic_name(topic)
            log = self._replicas.find_leader(topic, partition).log
        except ApiError as error:
            return PartitionResponse(
                partition_index=partition, error_code=error.code, error_message=str(error), active_producers=[]
            )
        return PartitionResponse(
            partition_index=partition,
            error_code=0,
            active_producers=[
                ProducerState(
                    producer_id=producer_id,
                    producer_epoch=entry.producer_epoch,
                    last_sequence=entry.last_sequence,
                    last_timestamp=entry.last_timestamp,
                    coordinator_epoch=entry.coordinator_epoch,
                    current_txn_start_offset=NO_TRANSACTION
                    if entry.current_txn_first_offset is None
                    else entry.current_txn_first_offset,
                )
                for producer_id, entry in log.producer_state.producers.items()
            ],
        )


def refuse_deletion(request: DeleteRecordsRequest, code: ErrorCode) -> DeleteRecordsResponse:
    """The response that every partition failed with this code."""
    return DeleteRecordsResponse(
        throttle_time_ms=0,
        topics=[
            DeleteRecordsTopicResult(
                name=topic.name,
                partitions=[
                    DeleteRecordsPartitionResult(
                        partition_index=each.partition_index, low_watermark=NO_LOW_WATERMARK, error_code=code
                    )
                    for each in topic.partitions
                ],
            )
            for topic in request.topics
        ],
    )


def refuse_description(request: DescribeProducersRequest, code: ErrorCode) -> DescribeProducersResponse:
    """The response that every partition failed with this code."""
    return DescribeProducersResponse(
        throttle_time_ms=0,
        topics=[
            TopicResponse(
                name=topic.name,
                partitions=[
                    PartitionResponse(partition_index=index, error_code=code, active_producers=[])
                    for index in topic.partition_indexes
                ],
            )
            for topic in request.topics
        ],
    )
