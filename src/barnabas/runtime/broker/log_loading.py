"""Opens a broker's logs at its start, in a thread, and says in the log how far that is; makes many new ones at once."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Final

from barnabas.log.clean_shutdown import read_clean_shutdown
from barnabas.log.directories import ConfigOf, LogDirectories
from barnabas.log.directory_opening import FoundLog
from barnabas.log.log_config import LogConfig
from barnabas.log.names import partition_directory
from barnabas.log.partition_log import PartitionLog
from barnabas.metadata.image import MetadataImage
from barnabas.ports.clock import Clock
from barnabas.ports.disk import Disk
from barnabas.protocol.errors import KafkaStorageError

LOG: Final = logging.getLogger(__name__)

NO_EPOCH: Final = -1
PROGRESS_INTERVAL_MS: Final = 1_000
THREADS_MAX: Final = 32


def side_by_side(works: Sequence[Callable[[], PartitionLog | None]]) -> list[PartitionLog | None]:
    """Open or make logs in threads, so that the disk takes their flushes together."""
    if not works:
        return []
    with ThreadPoolExecutor(min(THREADS_MAX, len(works))) as threads:
        return list(threads.map(lambda work: work(), works))


def previous_broker_epoch(disk: Disk, directories: LogDirectories) -> int:
    """The epoch in which this broker last stopped cleanly; -1 unless all directories are there and agree on it."""
    if directories.failures:
        return NO_EPOCH
    try:
        epochs = {read_clean_shutdown(disk, directory.path) for directory in directories.online}
    except OSError:
        return NO_EPOCH
    epoch = epochs.pop() if len(epochs) == 1 else None
    return NO_EPOCH if epoch is None else epoch


def load_logs(
    disk: Disk,
    directories: LogDirectories,
    config_of: ConfigOf,
    image: MetadataImage,
    broker_id: int,
    clock: Clock,
) -> None:
    """Open every log that the metadata assigns to this broker; the others are set aside."""
    started_ms = clock.elapsed_ms()
    progress = _Progress(clock)

    def counted_config_of(topic: str) -> LogConfig:
        progress.count()
        return config_of(topic)

    paths = {directory_id: path for path, directory_id in directories.directory_ids.items()}

    def is_stray(found: FoundLog) -> bool:
        # A log has its topic's id before it has records: without one it is empty, whatever became of its topic.
        assigned = None if found.topic_id is None else image.topics.partition(found.topic_id, found.partition.partition)
        if assigned is None or broker_id not in assigned.replicas:
            LOG.warning("a log that is not assigned to this broker is set aside", extra={"path": found.path})
            return True
        # The end of a move was cut off between its two steps: the controller knows the one that serves.
        log_directory = paths.get(assigned.directory(broker_id))
        if log_directory is None or found.is_future:
            return False
        serving = f"{log_directory}/{partition_directory(*found.partition)}"
        if found.path == serving or not disk.is_directory(serving):
            return False
        LOG.warning("a log whose replica has moved is set aside", extra={"path": found.path, "moved_to": serving})
        return True

    directories.load(counted_config_of, now_ms=clock.now_ms(), is_stray=is_stray)
    for log in (*directories.logs.values(), *directories.future_logs.values()):
        if log.dropped_bytes:
            LOG.warning(
                "the end of a log was torn or damaged and is cut off",
                extra={"path": log.directory, "bytes": log.dropped_bytes, "log_end_offset": log.log_end_offset},
            )
    _finish_moves(directories, image, broker_id, clock)
    for path, error in directories.failures.items():
        LOG.error("log directory offline", extra={"path": path, "reason": str(error)})
    LOG.info(
        "logs loaded",
        extra={
            "logs": len(directories.logs),
            "clean": all(directory.previous_broker_epoch is not None for directory in directories.online),
            "duration_ms": clock.elapsed_ms() - started_ms,
        },
    )


def _finish_moves(directories: LogDirectories, image: MetadataImage, broker_id: int, clock: Clock) -> None:
    """Let future logs serve that the controller takes for the replicas, where those that they were to follow are gone.

    Where both are there, the move goes on: the one to be followed may have more.
    """
    for partition, future in list(directories.future_logs.items()):
        topic_id = directories.topic_ids.get(partition)
        assigned = None if topic_id is None else image.topics.partition(topic_id, partition.partition)
        if partition in directories.logs or assigned is None:
            continue
        directory = directories.directory_of(future)
        if directory.meta is not None and directory.meta.directory_id == assigned.directory(broker_id):
            with suppress(KafkaStorageError):  # Its directory is offline from then on.
                directories.promote_future(partition, now_ms=clock.now_ms())
                LOG.warning("a move is ended whose source is gone", extra={"partition": str(partition)})


class _Progress:
    """Says now and then how many logs are being opened."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._told_ms = clock.elapsed_ms()
        self._count = 0

    def count(self) -> None:
        self._count += 1
        now_ms = self._clock.elapsed_ms()
        if now_ms - self._told_ms >= PROGRESS_INTERVAL_MS:
            self._told_ms = now_ms
            LOG.info("loading logs", extra={"logs": self._count})
