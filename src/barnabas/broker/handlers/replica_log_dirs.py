"""AlterReplicaLogDirs: move replicas to other log directories of this broker (KIP-113).

v1-v2 are the same but for their encoding. The answer says that a move has begun; DescribeLogDirs tells how far it is. A
replica that is not here yet is refused and made in the directory that was named for it, if it comes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from barnabas.broker.call import Call
from barnabas.broker.routing import Route, ServedBy
from barnabas.log.checkpoint import TopicPartition
from barnabas.protocol.api import APIS, ApiKey
from barnabas.protocol.errors import ApiError, ErrorCode
from barnabas.protocol.messages.alter_replica_log_dirs import (
    AlterReplicaLogDirPartitionResult,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopicResult,
)

VERSIONS: Final = APIS[ApiKey.ALTER_REPLICA_LOG_DIRS].versions


class AlterReplicaLogDirs:
    """The handler. `alter` moves one replica to a directory, or raises why not; the time is the wall clock's."""

    def __init__(self, alter: Callable[[TopicPartition, str], None]) -> None:
        self._alter = alter

    @property
    def routes(self) -> tuple[Route, ...]:
        return (Route(ApiKey.ALTER_REPLICA_LOG_DIRS, VERSIONS, ServedBy.BROKER, self.handle, refuse),)

    def handle(self, request: AlterReplicaLogDirsRequest, call: Call) -> AlterReplicaLogDirsResponse:  # noqa: ARG002
        codes = {}
        for name, path in _targets(request).items():
            try:
                self._alter(name, path)
                codes[name] = ErrorCode.NONE
            except ApiError as error:
                codes[name] = error.code
        return _response(codes)


def refuse(request: AlterReplicaLogDirsRequest, code: ErrorCode) -> AlterReplicaLogDirsResponse:
    """The response that says of every partition that it failed."""
    return _response(dict.fromkeys(_targets(request), code))


def _targets(request: AlterReplicaLogDirsRequest) -> dict[TopicPartition, str]:
    """Where each partition is to go; of several directories for one the last counts."""
    return {
        TopicPartition(topic.name, index): directory.path
        for directory in request.dirs
        for topic in directory.topics
        for index in topic.partitions
    }


def _response(codes: dict[TopicPartition, ErrorCode]) -> AlterReplicaLogDirsResponse:
    topics: dict[str, AlterReplicaLogDirTopicResult] = {}
    for name, code in codes.items():
        topic = topics.setdefault(name.topic, AlterReplicaLogDirTopicResult(topic_name=name.topic, partitions=[]))
        topic.partitions.append(AlterReplicaLogDirPartitionResult(partition_index=name.partition, error_code=code))
    return AlterReplicaLogDirsResponse(throttle_time_ms=0, results=list(topics.values()))
