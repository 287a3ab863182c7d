"""Chooses the log that most needs cleaning, cleans it step by step, and remembers how far each log is clean.

One log is cleaned at a time. Whoever is about to cut, move or delete a log pauses or aborts its cleaning first; as all
of this happens in one loop, that takes effect at once.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from math import inf

from barnabas.log.checkpoint import (
    CLEANER_CHECKPOINT,
    MalformedCheckpointError,
    TopicPartition,
    read_offsets,
    write_offsets,
)
from barnabas.log.cleaner.clean import CleaningResult, CleaningStep, Steps, clean
from barnabas.log.cleaner.offset_map import OffsetMap
from barnabas.log.cleaner.plan import CleanableLog, CleaningPlan, plan_cleaning
from barnabas.log.cleaner.throttle import IoThrottle
from barnabas.ports.disk import Disk
from barnabas.ports.rng import Rng


@dataclass(frozen=True, kw_only=True)
class CleanerConfig:
    """Settings named `log.cleaner.*`, with Kafka's defaults."""

    dedupe_buffer_bytes: int = 128 * 1024 * 1024
    io_buffer_bytes: int = 512 * 1024
    io_buffer_load_factor: float = 0.9
    io_max_bytes_per_second: float = inf


@dataclass
class Cleaning:
    """A cleaning under way, made by LogCleaner.begin."""

    partition: TopicPartition
    log: CleanableLog
    plan: CleaningPlan
    steps: Steps
    result: CleaningResult | None = None


class LogCleaner:
    """`logs` is the live table of the partitions' logs, which the cleaner only reads.

    `take_offline` is told of a log directory whose disk has failed. A full disk only ends the cleaning under way.
    """

    def __init__(
        self,
        disk: Disk,
        config: CleanerConfig,
        logs: Mapping[TopicPartition, CleanableLog],
        take_offline: Callable[[str, OSError], object],
        *,
        rng: Rng,
    ) -> None:
        self._disk = disk
        self._logs = logs
        self._take_offline = take_offline
        self._rng = rng
        self._throttle = IoThrottle()
        self._take(config)
        self._checkpoints: dict[str, dict[TopicPartition, int]] = {}
        self._pauses: dict[TopicPartition, int] = {}
        self._uncleanable: dict[TopicPartition, str] = {}
        self._cleaning: Cleaning | None = None

    def _take(self, config: CleanerConfig) -> None:
        self._config = config
        seed = self._rng.randrange(1 << 64)
        self._offsets = OffsetMap(config.dedupe_buffer_bytes, config.io_buffer_load_factor, seed=seed)
        # Kafka's buffer is shared between reading and writing too.
        self._chunk_bytes = config.io_buffer_bytes // 2
        self._throttle.bytes_per_second = config.io_max_bytes_per_second

    def reconfigure(self, config: CleanerConfig) -> None:
        """Take changed settings. A cleaning under way is given up, to be begun again with them."""
        if config != self._config:
            if self._cleaning is not None:
                self.abort(self._cleaning.partition)
            self._take(config)

    # Cleaning

    def begin(self, now_ms: int) -> Cleaning | None:
        """Start to clean the log with the greatest dirty ratio among those that are worth it."""
        assert self._cleaning is None, "one log is cleaned at a time"
        filthiest: tuple[float, TopicPartition, CleaningPlan] | None = None
        for partition in self.idle_partitions():
            log = self._logs.get(partition)
            if log is None:  # Its directory has failed in this round.
                continue
            try:
                plan = self._plan(partition, log, now_ms)
            except OSError as error:
                self._fail(_parent(log.directory), error)
                continue
            if plan.is_worthwhile(log.config.min_cleanable_dirty_ratio) and (
                filthiest is None or plan.dirty_ratio > filthiest[0]
            ):
                filthiest = (plan.dirty_ratio, partition, plan)
        if filthiest is None or filthiest[1] not in self._logs:
            return None
        _, partition, plan = filthiest
        log = self._logs[partition]
        steps = clean(self._disk, log, plan, self._offsets, chunk_bytes=self._chunk_bytes, now_ms=now_ms)
        self._cleaning = Cleaning(partition, log, plan, steps)
        return self._cleaning

    def _plan(self, partition: TopicPartition, log: CleanableLog, now_ms: int) -> CleaningPlan:
        plan = plan_cleaning(log, self._checkpoint(_parent(log.directory)).get(partition), now_ms)
        if plan.is_checkpoint_stale:
            self._set_clean_offset(partition, log, plan.first_dirty_offset)
        return plan

    def step(self) -> CleaningStep | None:
        """Do a piece of the cleaning under way; None when it is over, done or given up.

        What the step names must be flushed before the next one. A log that cannot be understood is not cleaned again,
        as every attempt would end at the same place.
        """
        cleaning = self._cleaning
        if cleaning is None:
            return None
        try:
            return next(cleaning.steps)
        except StopIteration as stop:
            self._cleaning = None
            self._finish(cleaning, stop.value)
        except OSError as error:
            self._cleaning = None
            self._fail(_parent(cleaning.log.directory), error)
        except Exception as error:  # Whatever a producer has written, the other logs must still be cleaned.
            self._cleaning = None
            self._uncleanable[cleaning.partition] = str(error)
        return None

    def _finish(self, cleaning: Cleaning, result: CleaningResult) -> None:
        cleaning.result = result
        if result.end_offset == cleaning.plan.first_dirty_offset:
            self._uncleanable[cleaning.partition] = "the keys of a batch do not fit log.cleaner.dedupe.buffer.size"
            return
        with self._guard(_parent(cleaning.log.directory)):
            self._set_clean_offset(cleaning.partition, cleaning.log, result.end_offset)

    @contextmanager
    def _guard(self, log_directory: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            self._fail(log_directory, error)

    def _fail(self, log_directory: str, error: OSError) -> None:
        if error.errno != errno.ENOSPC:
            self.drop_directory(log_directory)
            self._take_offline(log_directory, error)

    def flush_failed(self, cleaning: Cleaning, error: OSError) -> None:
        """What a step named could not be flushed: the cleaning ends, and maybe the service of its directory."""
        if self._cleaning is cleaning:
            self.abort(cleaning.partition)
        self._fail(_parent(cleaning.log.directory), error)

    def rest_ms(self, step: CleaningStep, now_ms: int) -> int:
        """How long to wait after a step to stay below log.cleaner.io.max.bytes.per.second."""
        return self._throttle.charge(step.io_bytes, now_ms)

    def idle_partitions(self) -> Iterator[TopicPartition]:
        """Compacted partitions that may be cleaned, or may have old segments deleted where policy says both."""
        for partition, log in list(self._logs.items()):
            is_busy = self._cleaning is not None and self._cleaning.partition == partition
            if log.config.is_compacted and not (is_busy or partition in self._pauses or partition in self._uncleanable):
                yield partition

    @property
    def uncleanable(self) -> Mapping[TopicPartition, str]:
        """Partitions that cleaning gave up on, and why."""
        return self._uncleanable

    # What others do to a log

    def abort(self, partition: TopicPartition) -> None:
        """Stop cleaning a partition; it may be begun again."""
        if self._cleaning is not None and self._cleaning.partition == partition:
            self._cleaning.steps.close()
            self._cleaning = None

    def pause(self, partition: TopicPartition) -> None:
        """Stop cleaning a partition until each pause is resumed."""
        self.abort(partition)
        self._pauses[partition] = self._pauses.get(partition, 0) + 1

    def resume(self, partition: TopicPartition) -> None:
        self._pauses[partition] -= 1
        if not self._pauses[partition]:
            del self._pauses[partition]

    def forget(self, partition: TopicPartition, log_directory: str) -> None:
        """The partition leaves this log directory."""
        self.abort(partition)
        self._uncleanable.pop(partition, None)
        with self._guard(log_directory):
            if self._checkpoint(log_directory).pop(partition, None) is not None:
                self._write(log_directory)

    def truncate_checkpoint(self, partition: TopicPartition, log_directory: str, offset: int) -> None:
        """The log was cut at `offset`: nothing behind it is clean."""
        with self._guard(log_directory):
            checkpoint = self._checkpoint(log_directory)
            if checkpoint.get(partition, 0) > offset:
                checkpoint[partition] = offset
                self._write(log_directory)

    def move_checkpoint(self, partition: TopicPartition, source: str, target: str) -> None:
        """A copy of the log in another directory takes over; it is clean as far as the old one was."""
        offset = None
        with self._guard(source):
            offset = self._checkpoint(source).pop(partition, None)
            if offset is not None:
                self._write(source)
        if offset is not None:
            with self._guard(target):
                self._checkpoint(target)[partition] = offset
                self._write(target)

    def drop_directory(self, log_directory: str) -> None:
        """The log directory has failed: nothing there is read or written any more."""
        if self._cleaning is not None and _parent(self._cleaning.log.directory) == log_directory:
            with suppress(OSError):  # The unfinished copy is removed if the disk lets us, or at the next start.
                self._cleaning.steps.close()
            self._cleaning = None
        self._checkpoints[log_directory] = {}

    def _set_clean_offset(self, partition: TopicPartition, log: CleanableLog, offset: int) -> None:
        log_directory = _parent(log.directory)
        self._checkpoint(log_directory)[partition] = offset
        self._write(log_directory)

    def _checkpoint(self, log_directory: str) -> dict[TopicPartition, int]:
        if log_directory not in self._checkpoints:
            try:
                offsets = read_offsets(self._disk, f"{log_directory}/{CLEANER_CHECKPOINT}")
            except MalformedCheckpointError:
                offsets = {}  # Cleaning from the start again is safe, and writes another checkpoint.
            self._checkpoints[log_directory] = offsets
        return self._checkpoints[log_directory]

    def _write(self, log_directory: str) -> None:
        checkpoint = self._checkpoints[log_directory]
        for partition in [partition for partition in checkpoint if partition not in self._logs]:
            del checkpoint[partition]
        write_offsets(self._disk, f"{log_directory}/{CLEANER_CHECKPOINT}", checkpoint)


def _parent(directory: str) -> str:
    return directory.rpartition("/")[0]
