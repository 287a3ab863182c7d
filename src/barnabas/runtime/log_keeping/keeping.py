"""Keeps a broker's logs: what has to be flushed is flushed, what is old goes, and checkpoints say how far it all is.

Everything here happens on the loop but the slow part of it, in pieces: fsync, writing checkpoints and removing files
are done in threads. A disk that fails takes its directory offline, as it does when a request finds out.
"""

from __future__ import annotations

import errno
import logging
from asyncio import AbstractEventLoop
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from barnabas.log.background_checkpoint import BackgroundCheckpoint
from barnabas.log.checkpoint import (
    LOG_START_CHECKPOINT,
    RECOVERY_POINT_CHECKPOINT,
    REPLICATION_CHECKPOINT,
    TopicPartition,
)
from barnabas.log.cleaner.log_cleaner import LogCleaner
from barnabas.log.deleted_files import remove_files
from barnabas.log.directories import LogDirectories, remove_tree
from barnabas.log.partition_log import PartitionLog
from barnabas.ports.clock import Clock
from barnabas.ports.disk import Disk
from barnabas.runtime.log_keeping.chores import Chore
from barnabas.runtime.log_keeping.cleaning import CleanerDriver
from barnabas.runtime.log_keeping.flushing import Flusher
from barnabas.runtime.log_keeping.settings import KeepingSettings
from barnabas.runtime.off_loop import OffLoop
from barnabas.runtime.timers import DeadlineTimer

LOG: Final = logging.getLogger(__name__)

DirectoryFailed = Callable[[str, OSError], object]


class LogKeeping:
    """`failed` is told of a log directory whose disk has failed, and takes it out of service.

    Where `cleaner` is None, compacted topics are not compacted.
    """

    def __init__(
        self,
        disk: Disk,
        directories: LogDirectories,
        cleaner: LogCleaner | None,
        settings: Callable[[], KeepingSettings],
        *,
        loop: AbstractEventLoop,
        clock: Clock,
        off_loop: OffLoop,
        failed: DirectoryFailed,
    ) -> None:
        self.flusher = Flusher(
            off_loop=off_loop, clock=clock, failed=lambda log, error: failed(_parent(log.directory), error)
        )
        self._disk = disk
        self._directories = directories
        self._cleaner = cleaner
        self._settings = settings
        self._loop = loop
        self._clock = clock
        self._off_loop = off_loop
        self._failed = failed
        self._with_dropped_files: set[PartitionLog] = set()
        self._rolled: set[PartitionLog] = set()
        # By its path, what each checkpoint was last written with.
        self._checkpointed: dict[str, tuple[Mapping[TopicPartition, int], int]] = {}
        self._removal = DeadlineTimer(loop, clock, lambda _: self._remove_dropped())
        self._chores = self._make_chores()
        self._cleaning: CleanerDriver | None = None
        if cleaner is not None:
            self._cleaning = CleanerDriver(
                cleaner,
                lambda: settings().cleaner_backoff_ms,
                between=self._retain_compacted,
                loop=loop,
                clock=clock,
                off_loop=off_loop,
            )

    def _make_chores(self) -> list[Chore]:
        def chore(pieces: Callable[[int], Iterator[None]], interval_ms: Callable[[KeepingSettings], int]) -> Chore:
            return Chore(pieces, lambda: interval_ms(self._settings()), loop=self._loop, clock=self._clock)

        return [
            chore(self._retain, lambda settings: settings.retention_check_interval_ms),
            chore(self._flush_due, lambda settings: settings.flush_scheduler_interval_ms),
            chore(self._expire_producers, lambda settings: settings.producer_id_expiration_check_interval_ms),
            chore(
                lambda _: self._checkpoint(RECOVERY_POINT_CHECKPOINT),
                lambda settings: settings.flush_offset_checkpoint_interval_ms,
            ),
            chore(
                lambda _: self._checkpoint(LOG_START_CHECKPOINT),
                lambda settings: settings.flush_start_offset_checkpoint_interval_ms,
            ),
            chore(
                lambda _: self._checkpoint(REPLICATION_CHECKPOINT),
                lambda settings: settings.high_watermark_checkpoint_interval_ms,
            ),
        ]

    def start(self) -> None:
        """Begin, when the logs are loaded."""
        self._directories.watch(self)
        delay_ms = self._settings().initial_task_delay_ms
        for chore in self._chores:
            chore.start(delay_ms)
        if self._cleaning is not None:
            self._cleaning.start(delay_ms)
        self._removal.arm(self._clock.elapsed_ms())

    def close(self) -> None:
        """Begin nothing any more; what is in a thread goes on there."""
        for chore in self._chores:
            chore.close()
        if self._cleaning is not None:
            self._cleaning.close()
        self._removal.cancel()

    def settle_flush(self, log: PartitionLog, then: Callable[[OSError | None], object]) -> bool:
        """After an append: whether flush.messages wants the log flushed before anybody hears of it.

        Then `then` is called when that is done, with what went wrong if it could not be.
        """
        if not log.is_flush_wanted:
            return False
        self.flusher.flush(log, log.log_end_offset, then)
        return True

    # What the logs tell

    def rolled(self, log: PartitionLog) -> None:
        """A complete segment is flushed soon, so that little has to be recovered after an unclean stop."""
        if not self._rolled:
            self._loop.call_soon(self._flush_rolled)
        self._rolled.add(log)

    def dropped_files(self, log: PartitionLog) -> None:
        self._with_dropped_files.add(log)
        self._arm_removal(log.deletion_due_ms)
        self._arm_removal(self._directories.deletion_due_ms)

    def _arm_removal(self, due_ms: int | None) -> None:
        # What is due is told by the wall clock, as files' times are; how long to wait for it is not.
        if due_ms is not None:
            self._removal.arm(self._clock.elapsed_ms() + max(0, due_ms - self._clock.now_ms()))

    # Flushing

    def _flush_rolled(self) -> None:
        rolled, self._rolled = self._rolled, set()
        for log in rolled:
            self.flusher.flush(log, log.segments.active.base_offset)

    def _flush_due(self, now_ms: int) -> Iterator[None]:
        for log in self._all_logs():
            offset = log.flush_due_offset(now_ms)
            if offset is not None:
                self.flusher.flush(log, offset)
            yield

    # Deleting

    def _retain(self, now_ms: int) -> Iterator[None]:
        for partition, log in list(self._directories.logs.items()):
            if log.config.is_compacted or self._directories.logs.get(partition) is not log:
                continue
            if self._cleaner is not None:
                self._cleaner.abort(partition)  # Its policy may have been another a moment ago.
            self._delete_old_segments(log, now_ms)
            future = self._directories.future_logs.get(partition)
            if future is not None:
                self._delete_old_segments(future, now_ms)
            yield

    def _retain_compacted(self) -> None:
        """Delete what is old in topics that are compacted and deleted; the cleaner must not be at it."""
        assert self._cleaner is not None, "the cleaner's driver calls"
        for partition in self._cleaner.idle_partitions():
            log = self._directories.logs.get(partition)
            if log is not None:
                self._delete_old_segments(log, self._clock.now_ms())

    def _delete_old_segments(self, log: PartitionLog, now_ms: int) -> None:
        with self._guard(log):
            deleted = log.delete_old_segments(now_ms)
            if deleted:
                LOG.info(
                    "old segments deleted",
                    extra={
                        "log": log.directory.rpartition("/")[2],
                        "segments": deleted,
                        "log_start_offset": log.log_start_offset,
                    },
                )

    def _remove_dropped(self) -> None:
        """Remove what is due in a thread, and wait for what is not."""
        now_ms = self._clock.now_ms()
        for log in list(self._with_dropped_files):
            self._remove(_parent(log.directory), log.take_deleted(now_ms), [])
            if log.deletion_due_ms is None:
                self._with_dropped_files.discard(log)
            self._arm_removal(log.deletion_due_ms)
        for path in self._directories.take_due(now_ms):
            self._remove(_parent(path), [], [path])
        self._arm_removal(self._directories.deletion_due_ms)

    def _remove(self, log_directory: str, files: list[str], trees: list[str]) -> None:
        def work() -> None:
            remove_files(self._disk, files)
            for tree in trees:
                remove_tree(self._disk, tree)

        if files or trees:
            self._off_loop.run(work, lambda _: None, lambda error: self._fail(log_directory, error))

    def _expire_producers(self, now_ms: int) -> Iterator[None]:
        for log in self._all_logs():
            log.remove_expired_producers(now_ms)
            yield

    # Checkpoints

    def _checkpoint(self, name: str) -> Iterator[None]:
        for checkpoint in self._directories.prepare_checkpoints(name):
            state = checkpoint.offsets, checkpoint.writes_before
            if self._checkpointed.get(checkpoint.path) != state:  # An idle node writes nothing.
                self._checkpointed[checkpoint.path] = state
                self._write(checkpoint)
            yield

    def _write(self, checkpoint: BackgroundCheckpoint) -> None:
        def failed(error: Exception) -> None:
            del self._checkpointed[checkpoint.path]
            self._fail(checkpoint.directory, error)

        self._off_loop.run(checkpoint.run, lambda _: self._directories.put_in_place(checkpoint), failed)

    # Failing

    def _all_logs(self) -> list[PartitionLog]:
        return [*self._directories.logs.values(), *self._directories.future_logs.values()]

    @contextmanager
    def _guard(self, log: PartitionLog) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            self._fail(_parent(log.directory), error)

    def _fail(self, log_directory: str, error: Exception) -> None:
        if not isinstance(error, OSError):
            raise error
        if error.errno == errno.ENOSPC:
            LOG.warning("no room in a log directory", extra={"directory": log_directory, "reason": str(error)})
        else:
            self._failed(log_directory, error)


def _parent(path: str) -> str:
    return path.rpartition("/")[0]
