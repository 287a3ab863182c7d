"""DescribeLogDirs: the log directories of this broker, how full their disks are, and the logs in each.

v1-v5: 3 has an error on top, 4 the room on the disk, 5 whether a directory takes no new replicas (KIP-1066).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from barnabas.broker.call import Call
from barnabas.broker.routing import Route, ServedBy
from barnabas.log.checkpoint import TopicPartition
from barnabas.log.directories import LogDirectories
from barnabas.log.partition_log import PartitionLog
from barnabas.protocol.api import APIS, ApiKey
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.describe_log_dirs import (
    DescribeLogDirsPartition,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)

VERSIONS: Final = APIS[ApiKey.DESCRIBE_LOG_DIRS].versions


class Room(NamedTuple):
    """How large the file system of a directory is, and how much of it can still be written."""

    total_bytes: int
    usable_bytes: int


class DescribeLogDirs:
    """The handler. `room_of` looks at the disk, `cordoned` are the directories that take no new replicas."""

    def __init__(
        self,
        directories: LogDirectories,
        paths: Iterable[str],
        room_of: Callable[[str], Room],
        cordoned: Callable[[], Iterable[str]],
    ) -> None:
        self._directories = directories
        self._paths = tuple(dict.fromkeys(paths))
        self._room_of = room_of
        self._cordoned = cordoned

    @property
    def routes(self) -> tuple[Route, ...]:
        return (Route(ApiKey.DESCRIBE_LOG_DIRS, VERSIONS, ServedBy.BROKER, self.handle),)

    def handle(self, request: DescribeLogDirsRequest, call: Call) -> DescribeLogDirsResponse:  # noqa: ARG002
        wanted = None
        if request.topics is not None:
            wanted = {TopicPartition(topic.topic, index) for topic in request.topics for index in topic.partitions}
        online = {directory.path: directory for directory in self._directories.online}
        results = []
        for path in self._paths:
            directory = online.get(path)
            try:
                room = None if directory is None else self._room_of(path)
            except OSError:
                room = None
            if directory is None or room is None:
                results.append(DescribeLogDirsResult(error_code=ErrorCode.KAFKA_STORAGE_ERROR, log_dir=path, topics=[]))
                continue
            logs = [
                *((partition, log, False) for partition, log in directory.logs.items()),
                *((partition, log, True) for partition, log in directory.future_logs.items()),
            ]
            results.append(
                DescribeLogDirsResult(
                    error_code=0,
                    log_dir=path,
                    topics=self._describe(each for each in logs if wanted is None or each[0] in wanted),
                    total_bytes=room.total_bytes,
                    usable_bytes=room.usable_bytes,
                    is_cordoned=path in self._cordoned(),
                )
            )
        return DescribeLogDirsResponse(throttle_time_ms=0, results=results)

    def _describe(self, logs: Iterable[tuple[TopicPartition, PartitionLog, bool]]) -> list[DescribeLogDirsTopic]:
        topics: dict[str, DescribeLogDirsTopic] = {}
        for partition, log, is_future in logs:
            topic = topics.setdefault(partition.topic, DescribeLogDirsTopic(name=partition.topic, partitions=[]))
            topic.partitions.append(
                DescribeLogDirsPartition(
                    partition_index=partition.partition,
                    partition_size=log.size_bytes,
                    offset_lag=self._lag(partition, log, is_future=is_future),
                    is_future_key=is_future,
                )
            )
        return list(topics.values())

    def _lag(self, partition: TopicPartition, log: PartitionLog, *, is_future: bool) -> int:
        """How far a log has to go: a future one behind the current, the current behind the high watermark."""
        if not is_future:
            return max(0, log.high_watermark - log.log_end_offset)
        current = self._directories.logs.get(partition)
        return 0 if current is None else current.log_end_offset - log.log_end_offset
