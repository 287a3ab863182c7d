"""OffsetForLeaderEpoch: where a leader epoch ends, by which a consumer or follower finds out that a log was cut.

v2-v4: 3 has the replica that asks, which makes no difference here; 4 is flexible. An epoch that is not known is
answered with the nearest one before it, and with -1 where there is none.
"""

from __future__ import annotations

from typing import Final

from barnabas.broker.call import Call
from barnabas.broker.replicas import Replicas
from barnabas.broker.routing import Route, ServedBy
from barnabas.protocol.api import APIS, ApiKey
from barnabas.protocol.errors import ApiError, ErrorCode
from barnabas.protocol.messages.offset_for_leader_epoch import (
    EpochEndOffset,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition,
    OffsetForLeaderTopicResult,
)

VERSIONS: Final = APIS[ApiKey.OFFSET_FOR_LEADER_EPOCH].versions


class OffsetForLeaderEpoch:
    def __init__(self, replicas: Replicas) -> None:
        self._replicas = replicas

    @property
    def routes(self) -> tuple[Route, ...]:
        return (Route(ApiKey.OFFSET_FOR_LEADER_EPOCH, VERSIONS, ServedBy.BROKER, self.handle, refuse),)

    def handle(self, request: OffsetForLeaderEpochRequest, call: Call) -> OffsetForLeaderEpochResponse:  # noqa: ARG002
        return OffsetForLeaderEpochResponse(
            throttle_time_ms=0,
            topics=[
                OffsetForLeaderTopicResult(
                    topic=topic.topic, partitions=[self._look_up(topic.topic, asked) for asked in topic.partitions]
                )
                for topic in request.topics
            ],
        )

    def _look_up(self, topic: str, asked: OffsetForLeaderPartition) -> EpochEndOffset:
        try:
            replica = self._replicas.find(topic, asked.partition)
            replica.check_epoch(asked.current_leader_epoch)
            replica.check_leader()
        except ApiError as error:
            return EpochEndOffset(partition=asked.partition, error_code=error.code)
        end = replica.log.end_offset_for_epoch(asked.leader_epoch)
        if end is None:
            return EpochEndOffset(partition=asked.partition, error_code=0)
        return EpochEndOffset(
            partition=asked.partition, error_code=0, leader_epoch=end.epoch, end_offset=end.end_offset
        )


def refuse(request: OffsetForLeaderEpochRequest, code: ErrorCode) -> OffsetForLeaderEpochResponse:
    """The response that every partition failed with this code."""
    return OffsetForLeaderEpochResponse(
        throttle_time_ms=0,
        topics=[
            OffsetForLeaderTopicResult(
                topic=topic.topic,
                partitions=[EpochEndOffset(partition=asked.partition, error_code=code) for asked in topic.partitions],
            )
            for topic in request.topics
        ],
    )
