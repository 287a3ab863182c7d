"""ListOffsets: where a partition starts, ends, or first reaches a timestamp, as far as the asker may see.

v1-v11: 2 has the isolation level, 4 leader epochs, 5 OFFSET_NOT_AVAILABLE (KIP-207); each special timestamp has the
version that brought it. Consumers see up to the high watermark or the last stable offset, replicas to the log's end.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

from barnabas.broker.call import Call
from barnabas.broker.replicas import Replicas
from barnabas.broker.routing import Route, ServedBy
from barnabas.controller.errors import InvalidRequest
from barnabas.log.read import Isolation, OffsetSpec
from barnabas.protocol.api import APIS, ApiKey
from barnabas.protocol.errors import ApiError, ErrorCode
from barnabas.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from barnabas.replication.errors import OffsetNotAvailable
from barnabas.replication.leader import Leader

VERSIONS: Final = APIS[ApiKey.LIST_OFFSETS].versions
LEADER_EPOCHS_SINCE: Final = 4
OFFSET_NOT_AVAILABLE_SINCE: Final = 5
CONSUMER_ID: Final = -1
DEBUGGING_ID: Final = -2
READ_COMMITTED: Final = 1
# The version from which on each timestamp that is no time may be asked for.
SPECIAL_SINCE: Final = {
    OffsetSpec.LATEST: 1,
    OffsetSpec.EARLIEST: 1,
    OffsetSpec.MAX_TIMESTAMP: 7,
    OffsetSpec.EARLIEST_LOCAL: 8,
    OffsetSpec.LATEST_TIERED: 9,
    OffsetSpec.EARLIEST_PENDING_UPLOAD: 11,
}


class UnsupportedTimestamp(ApiError):  # noqa: N818 (its like are named after what happened)
    """A special timestamp that this version does not have."""

    code = ErrorCode.UNSUPPORTED_VERSION


class ListOffsets:
    def __init__(self, replicas: Replicas) -> None:
        self._replicas = replicas

    @property
    def routes(self) -> tuple[Route, ...]:
        return (Route(ApiKey.LIST_OFFSETS, VERSIONS, ServedBy.BROKER, self.handle, refuse),)

    def handle(self, request: ListOffsetsRequest, call: Call) -> ListOffsetsResponse:
        if request.replica_id != CONSUMER_ID:
            isolation = Isolation.LOG_END
        elif request.isolation_level == READ_COMMITTED:
            isolation = Isolation.COMMITTED
        else:
            isolation = Isolation.HIGH_WATERMARK
        times = Counter((topic.name, asked.partition_index) for topic in request.topics for asked in topic.partitions)
        topics = []
        for topic in request.topics:
            partitions = []
            for asked in topic.partitions:
                try:
                    if times[topic.name, asked.partition_index] > 1:
                        raise InvalidRequest(f"{topic.name}-{asked.partition_index} is asked for more than once")
                    answer = self._look_up(topic.name, asked, request.replica_id, isolation, call.version)
                except ApiError as error:
                    answer = ListOffsetsPartitionResponse(
                        partition_index=asked.partition_index, error_code=_code(error, call.version)
                    )
                partitions.append(answer)
            topics.append(ListOffsetsTopicResponse(name=topic.name, partitions=partitions))
        return ListOffsetsResponse(topics=topics)

    def _look_up(
        self, topic: str, asked: ListOffsetsPartition, replica_id: int, isolation: Isolation, version: int
    ) -> ListOffsetsPartitionResponse:
        timestamp = asked.timestamp
        if timestamp < 0 and version < SPECIAL_SINCE.get(timestamp, VERSIONS.stop):
            raise UnsupportedTimestamp(f"timestamp {timestamp} in version {version} of ListOffsets")
        replica = self._replicas.find(topic, asked.partition_index)
        replica.check_epoch(asked.current_leader_epoch)
        if replica_id != DEBUGGING_ID:
            replica.check_leader()
        answer = ListOffsetsPartitionResponse(partition_index=asked.partition_index, error_code=0)
        end_offset = replica.end_offset(isolation)
        if timestamp == OffsetSpec.LATEST:
            if isinstance(replica, Leader) and replica_id == CONSUMER_ID:
                replica.check_offsets_known()
            answer.offset = end_offset
            found_epoch: int | None = replica.leader_epoch
        else:
            found = self._replicas.offset_for_timestamp(replica, timestamp)
            is_start = timestamp in (OffsetSpec.EARLIEST, OffsetSpec.EARLIEST_LOCAL)
            if found is None or (found.offset >= end_offset and not is_start):
                # What the asker may not see yet is as good as not there, once it is known how far it may see.
                if isinstance(replica, Leader) and replica_id == CONSUMER_ID:
                    replica.check_offsets_known()
                return answer
            answer.timestamp, answer.offset, found_epoch = found
        if found_epoch is not None and version >= LEADER_EPOCHS_SINCE:
            answer.leader_epoch = found_epoch
        return answer


def _code(error: ApiError, version: int) -> ErrorCode:
    if isinstance(error, OffsetNotAvailable) and version < OFFSET_NOT_AVAILABLE_SINCE:
        return ErrorCode.LEADER_NOT_AVAILABLE
    return error.code


def refuse(request: ListOffsetsRequest, code: ErrorCode) -> ListOffsetsResponse:
    """The response that every partition failed with this code."""
    return ListOffsetsResponse(
        topics=[
            ListOffsetsTopicResponse(
                name=topic.name,
                partitions=[
                    ListOffsetsPartitionResponse(partition_index=asked.partition_index, error_code=code)
                    for asked in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )
