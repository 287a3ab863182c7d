"""One log directory that is online, what is checkpointed of the logs in it, and logs that are to be made."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from barnabas.log.checkpoint import (
    LOG_START_CHECKPOINT,
    RECOVERY_POINT_CHECKPOINT,
    REPLICATION_CHECKPOINT,
    TopicPartition,
)
from barnabas.log.log_config import LogConfig
from barnabas.log.meta_properties import MetaProperties
from barnabas.log.partition_log import PartitionLog
from barnabas.ports.disk import Lock
from barnabas.protocol.uuid import Uuid


@dataclass
class LogDirectory:
    """One directory that is online. `logs` and `future_logs` are those of its partitions."""

    path: str
    lock: Lock
    meta: MetaProperties | None
    previous_broker_epoch: int | None = None  # None where the last stop was not clean.
    logs: dict[TopicPartition, PartitionLog] = field(default_factory=dict)
    future_logs: dict[TopicPartition, PartitionLog] = field(default_factory=dict)
    is_loaded: bool = False
    checkpoint_writes: int = 0  # How often a checkpoint was written at once.

    @property
    def partition_count(self) -> int:
        return len(self.logs) + len(self.future_logs)

    def all_logs(self) -> list[tuple[TopicPartition, PartitionLog]]:
        return [*self.logs.items(), *self.future_logs.items()]


class NewLog(NamedTuple):
    """A log that is to be made: in the directory `path`, or where the fewest are."""

    partition: TopicPartition
    config: LogConfig
    topic_id: Uuid
    path: str | None


# Does pieces of work that have nothing to do with each other; their results in order.
RunAll = Callable[[Sequence[Callable[[], PartitionLog | None]]], Sequence[PartitionLog | None]]


def one_by_one(works: Sequence[Callable[[], PartitionLog | None]]) -> list[PartitionLog | None]:
    return [work() for work in works]


def _recovery_points(directory: LogDirectory) -> dict[TopicPartition, int]:
    return {partition: log.recovery_point for partition, log in directory.all_logs()}


def _log_starts(directory: LogDirectory) -> dict[TopicPartition, int]:
    """The log starts that the segments' names do not tell."""
    return {
        partition: log.log_start_offset
        for partition, log in directory.all_logs()
        if log.log_start_offset > log.segments.first.base_offset
    }


def _high_watermarks(directory: LogDirectory) -> dict[TopicPartition, int]:
    return {partition: log.high_watermark for partition, log in directory.logs.items()}


CHECKPOINTED: Final[Mapping[str, Callable[[LogDirectory], dict[TopicPartition, int]]]] = {
    RECOVERY_POINT_CHECKPOINT: _recovery_points,
    LOG_START_CHECKPOINT: _log_starts,
    REPLICATION_CHECKPOINT: _high_watermarks,
}
