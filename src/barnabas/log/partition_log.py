"""A partition's log as its leader and its followers use it: batches, producers, leader epochs and the high watermark.

Offsets are in order: log start offset <= last stable offset <= high watermark <= log end offset, and recovery point <=
log end offset. An append that raises has left the log as it was; one that a full disk stopped raises KafkaStorageError,
and any other OSError goes through to whoever takes the directory offline. After a truncation the recovery point may be
lower than its checkpoint, which must be written before the next append.
"""

from __future__ import annotations

import errno
from collections.abc import Iterable, Sequence
from typing import Protocol

from barnabas.log.append import (
    AppendInfo,
    UnexpectedAppendOffsetError,
    check_chunk,
    check_leader_batch,
    place,
    prepare_producers,
)
from barnabas.log.flush import Flush
from barnabas.log.leader_epochs import UNDEFINED_OFFSET, EpochEnd
from barnabas.log.local_log import LocalLog
from barnabas.log.log_config import LONG_MAX, LogConfig
from barnabas.log.names import LEADER_EPOCH_CHECKPOINT
from barnabas.log.producer_entry import AppendOrigin, ProducerEntry
from barnabas.log.producer_state import LATEST_TRANSACTION_VERSION, ProducerState, ProducerUpdate
from barnabas.log.read import (
    Isolation,
    LogRead,
    OffsetSpec,
    TimestampedOffset,
    aborted_transactions,
    collect_aborted,
    find_max_timestamp,
    find_offset_by_timestamp,
    read_region,
)
from barnabas.log.recovery import LogLoader, rebuild_producer_state
from barnabas.log.retention import before_log_start, beyond_size, beyond_time
from barnabas.log.scan import end_marker
from barnabas.log.segment import FileRegion, LogSegment, SegmentMark
from barnabas.log.segments import Segments
from barnabas.log.transaction_index import AbortedTransaction
from barnabas.log.whole_change import whole_change
from barnabas.ports.disk import Buffer, Disk
from barnabas.ports.rng import Rng
from barnabas.protocol.errors import KafkaStorageError, OffsetOutOfRange, RecordBatchTooLarge
from barnabas.records.batch import MAGIC, NO_LEADER_EPOCH, NO_TIMESTAMP, BatchHeader


class LogWatcher(Protocol):
    """Told of what makes work for later, in the middle of a change: it takes note and does nothing else."""

    def rolled(self, log: PartitionLog) -> None:
        """A segment is complete and should be made durable soon."""
        ...

    def dropped_files(self, log: PartitionLog) -> None:
        """Some of its files wait for `take_deleted`, or all of them in a directory that was dropped."""
        ...


class PartitionLog:
    """Constructing one opens the directory, recovers what an unclean stop left, and is ready to append.

    `log_start_offset` and `recovery_point` are what the checkpoints of the log directory say.
    """

    def __init__(
        self,
        disk: Disk,
        directory: str,
        config: LogConfig,
        *,
        rng: Rng,
        now_ms: int,
        log_start_offset: int = 0,
        recovery_point: int = 0,
        had_clean_shutdown: bool = False,
        producer_id_expiration_ms: int = 24 * 60 * 60 * 1000,
        max_transaction_timeout_ms: int = 15 * 60 * 1000,
    ) -> None:
        def make_producer_state() -> ProducerState:
            return ProducerState(
                disk,
                directory,
                producer_id_expiration_ms=producer_id_expiration_ms,
                max_transaction_timeout_ms=max_transaction_timeout_ms,
            )

        if not disk.exists(directory):
            disk.make_directory(directory)
            disk.flush_directory(directory.rpartition("/")[0])
        loaded = LogLoader(
            disk,
            directory,
            config,
            rng=rng,
            now_ms=now_ms,
            log_start_offset=log_start_offset,
            recovery_point=recovery_point,
            had_clean_shutdown=had_clean_shutdown,
            make_producer_state=make_producer_state,
        ).load()
        for segment in loaded.segments:
            segment.rest()
        self.leader_epochs = loaded.leader_epochs
        self.producer_state = loaded.producer_state
        self.log_start_offset = self.high_watermark = loaded.log_start_offset
        # What opening it had to give up, because it was torn or damaged.
        self.dropped_bytes = loaded.dropped_bytes
        self.watcher: LogWatcher | None = None
        self._unflushed_snapshots: list[str] = []
        self._local = LocalLog(disk, directory, config, rng, loaded, now_ms)

    # What it is

    @property
    def directory(self) -> str:
        return self._local.directory

    @property
    def config(self) -> LogConfig:
        return self._local.config

    @config.setter
    def config(self, config: LogConfig) -> None:
        """Take changed settings; segments that are there keep their index interval, as Kafka's do."""
        self._local.config = config

    @property
    def segments(self) -> Segments:
        return self._local.segments

    @property
    def size_bytes(self) -> int:
        return self._local.segments.size_bytes

    @property
    def log_end_offset(self) -> int:
        return self._local.log_end_offset

    @property
    def recovery_point(self) -> int:
        """Everything below it is durable."""
        return self._local.recovery_point

    @property
    def first_unstable_offset(self) -> int | None:
        """Where the first transaction begins that is open, or ended above the high watermark."""
        offset = self.producer_state.first_unstable_offset
        return None if offset is None else max(offset, self.log_start_offset)

    @property
    def last_stable_offset(self) -> int:
        """Below it every transaction has ended."""
        unstable = self.first_unstable_offset
        return self.high_watermark if unstable is None else min(unstable, self.high_watermark)

    def update_high_watermark(self, offset: int) -> int:
        """Set it, within the log's bounds, also backwards; the value that it got."""
        self.high_watermark = min(max(offset, self.log_start_offset), self.log_end_offset)
        self.producer_state.advance_high_watermark(self.high_watermark)
        return self.high_watermark

    def increment_high_watermark(self, offset: int) -> bool:
        """Move it forward, as a leader does; false where it is there already."""
        assert offset <= self._local.log_end_offset, "a high watermark is within the log"
        if offset <= self.high_watermark:
            return False
        self.high_watermark = offset
        self.producer_state.advance_high_watermark(offset)
        return True

    def end_offset_for_epoch(self, epoch: int) -> EpochEnd | None:
        """The largest known epoch up to `epoch` and the offset where it ends; None where nothing is known of it."""
        end = self.leader_epochs.end_offset_for(epoch, self.log_end_offset)
        return None if end.end_offset == UNDEFINED_OFFSET else end

    # Appending

    def append_as_leader(
        self,
        records: Buffer,
        leader_epoch: int,
        now_ms: int,
        *,
        origin: AppendOrigin = AppendOrigin.CLIENT,
        transaction_version: int = LATEST_TRANSACTION_VERSION,
    ) -> AppendInfo:
        """Check one batch, give it the next offsets and write it; a batch sent again is answered with its old offsets.

        A writable buffer is stamped in place.
        """
        local = self._local
        batch, header = check_leader_batch(records, local.config, origin, now_ms)
        first_offset = local.log_end_offset
        last_offset = first_offset + header.last_offset_delta
        update: ProducerUpdate | None = None
        producer: ProducerEntry | None = None
        if header.producer_id >= 0:
            if origin is AppendOrigin.CLIENT and (known := self.producer_state.producers.get(header.producer_id)):
                producer = known.with_next(header, last_offset)
                duplicate = known.find_duplicate(header) if producer is None else None
                if duplicate is not None:
                    return AppendInfo(
                        duplicate.first_offset,
                        duplicate.last_offset,
                        header.max_timestamp,
                        duplicate.timestamp,
                        self.log_start_offset,
                        is_duplicate=True,
                    )
            if producer is None:
                update = self.producer_state.prepare(origin, transaction_version=transaction_version)
                marker = end_marker(batch, header) if header.is_control else None
                update.add(BatchHeader(first_offset, *header[1:]), marker)
        size_bytes = len(batch)
        if size_bytes > local.config.append_bytes_max:
            raise self._too_large(size_bytes)
        is_new_epoch = leader_epoch != self.leader_epochs.durable_epoch
        try:
            if is_new_epoch:
                self.leader_epochs.assign(leader_epoch, first_offset)
            segment = local.active
            if segment.should_roll(size_bytes, last_offset, header.max_timestamp, local.config, now_ms):
                segment = self.roll(now_ms, first_offset)
            mark = segment.mark() if update is not None and update.aborted else None
            parts = place(batch, first_offset, leader_epoch)
            segment.append_batch(parts, size_bytes, last_offset, header.max_timestamp)
            if producer is not None:
                self.producer_state.put(producer)
            elif update is not None:
                self._apply(update, segment, mark, last_offset + 1)
        except OSError as error:
            if is_new_epoch:
                self.leader_epochs.truncate_from_end(first_offset)
            if error.errno == errno.ENOSPC:
                raise self._no_room() from error
            raise
        self.producer_state.map_end_offset = local.log_end_offset = last_offset + 1
        return AppendInfo(
            first_offset,
            last_offset,
            header.max_timestamp,
            now_ms if local.config.is_log_append_time else NO_TIMESTAMP,
            self.log_start_offset,
        )

    def append_as_follower(
        self, records: Buffer, leader_epoch: int, now_ms: int, *, origin: AppendOrigin = AppendOrigin.REPLICATION
    ) -> AppendInfo | None:
        """Write the batches of a fetched chunk as they are, in one piece; None where it holds no whole batch.

        A raft leader appends its own batches so, too, as it has given them their offsets.
        """
        chunk = check_chunk(records, leader_epoch, is_own=origin is AppendOrigin.RAFT_LEADER)
        if not chunk.headers:
            return None
        first_offset, last_offset = chunk.headers[0].base_offset, chunk.headers[-1].last_offset
        if first_offset < self.log_end_offset:
            raise UnexpectedAppendOffsetError(first_offset, last_offset, self.log_end_offset)
        update = prepare_producers(self.producer_state, chunk)
        size_bytes = len(chunk.data)
        if size_bytes > self.config.append_bytes_max:
            raise self._too_large(size_bytes)
        max_timestamp = max(header.max_timestamp for header in chunk.headers)
        latest_epoch = self.leader_epochs.latest_epoch
        try:
            for header in chunk.headers:
                if header.magic == MAGIC:
                    if header.leader_epoch >= 0 and header.leader_epoch != self.leader_epochs.latest_epoch:
                        self.leader_epochs.assign(header.leader_epoch, header.base_offset)
                elif self.leader_epochs.latest_epoch is not None:
                    # Epochs do not cover the older formats: without any, divergence is found by other means.
                    self.leader_epochs.clear()
            segment = self._local.active
            if segment.should_roll(size_bytes, last_offset, max_timestamp, self.config, now_ms):
                segment = self.roll(now_ms, first_offset)
            mark = segment.mark() if update is not None and update.aborted else None
            segment.append(chunk.data, chunk.headers)
            if update is not None:
                self._apply(update, segment, mark, last_offset + 1)
        except OSError as error:
            if self.leader_epochs.latest_epoch != latest_epoch:
                self.leader_epochs.truncate_from_end(first_offset)
            if error.errno == errno.ENOSPC:
                raise self._no_room() from error
            raise
        self.producer_state.map_end_offset = self._local.log_end_offset = last_offset + 1
        return AppendInfo(first_offset, last_offset, max_timestamp, NO_TIMESTAMP, self.log_start_offset)

    def _too_large(self, size_bytes: int) -> RecordBatchTooLarge:
        return RecordBatchTooLarge(f"{size_bytes} bytes do not fit a segment of {self.config.append_bytes_max}")

    def _no_room(self) -> KafkaStorageError:
        return KafkaStorageError(f"no room on the disk of {self.directory}")

    def _apply(self, update: ProducerUpdate, segment: LogSegment, mark: SegmentMark | None, end_offset: int) -> None:
        """Let a written append take effect; where its aborted transactions cannot be written, it is undone."""
        if mark is not None:
            try:
                segment.transaction_index.append(update.aborted)
            except OSError:
                segment.undo(mark)
                raise
        self.producer_state.apply(update, end_offset)

    def roll(self, now_ms: int, next_offset: int = 0) -> LogSegment:
        """Begin a new segment at the log's end, or at `next_offset` if that is further on."""
        segment = self._local.roll(next_offset, now_ms)
        # The segment can be recovered from this snapshot and its own batches.
        self.producer_state.map_end_offset = segment.base_offset
        snapshot = self.producer_state.take_snapshot(flush=False)
        if snapshot is not None:
            self._unflushed_snapshots.append(snapshot)
        if self.watcher is not None:
            self.watcher.rolled(self)
        return segment

    # Reading

    def read(
        self,
        offset: int,
        max_bytes: int,
        *,
        isolation: Isolation = Isolation.HIGH_WATERMARK,
        min_one_batch: bool = True,
    ) -> LogRead:
        """The batches from the one with `offset` on, up to what the reader may see; empty where that is before it."""
        local = self._local
        log_end_offset = local.log_end_offset
        if not self.log_start_offset <= offset <= log_end_offset:
            raise OffsetOutOfRange(f"offset {offset} is not in {self.log_start_offset} to {log_end_offset}")
        if isolation is Isolation.LOG_END:
            bound = log_end_offset
        elif isolation is Isolation.HIGH_WATERMARK:
            bound = self.high_watermark
        else:
            bound = self.last_stable_offset
        found = None
        if offset < bound:
            found = read_region(
                local.segments, offset, max_bytes, bound=local.place_of(bound), min_one_batch=min_one_batch
            )
        aborted: list[AbortedTransaction] | None = None
        if found is None:
            if isolation is Isolation.COMMITTED:
                aborted = []
            return LogRead(FileRegion(local.active.file, local.active.size_bytes, 0), False, aborted)
        segment, region, is_cut = found
        if isolation is Isolation.COMMITTED:
            aborted = aborted_transactions(local.segments, segment, offset, region, log_end_offset)
        return LogRead(region, is_cut, aborted)

    def aborted_transactions(self, start_offset: int, upper_bound: int) -> list[AbortedTransaction]:
        """The aborted transactions that touch [start_offset, upper_bound)."""
        segment = self.segments.floor(start_offset)
        return [] if segment is None else collect_aborted(self.segments, segment, start_offset, upper_bound)

    def offset_for_timestamp(self, timestamp: int) -> TimestampedOffset | None:
        """The first record not older than `timestamp`, or what one of the special timestamps asks for.

        Without tiered storage nothing is tiered or waits to be, which is answered with offset -1.
        """
        match timestamp:
            case OffsetSpec.LATEST:
                return TimestampedOffset(NO_TIMESTAMP, self.log_end_offset, self.leader_epochs.latest_epoch)
            case OffsetSpec.EARLIEST | OffsetSpec.EARLIEST_LOCAL:
                epoch = self.leader_epochs.epoch_for(self.log_start_offset)
                return TimestampedOffset(NO_TIMESTAMP, self.log_start_offset, epoch)
            case OffsetSpec.LATEST_TIERED | OffsetSpec.EARLIEST_PENDING_UPLOAD:
                return TimestampedOffset(NO_TIMESTAMP, -1, NO_LEADER_EPOCH)
            case OffsetSpec.MAX_TIMESTAMP:
                return find_max_timestamp(self.segments)
        return find_offset_by_timestamp(self.segments, timestamp, self.log_start_offset)

    # Cutting

    @whole_change()
    def truncate_to(self, offset: int, now_ms: int) -> bool:
        """Drop everything from `offset` on; false where the log ends before it."""
        if offset >= self.log_end_offset:
            # An epoch may have been noted whose leader never wrote here.
            self.leader_epochs.truncate_from_end(self.log_end_offset)
            return False
        if offset < self.segments.first.base_offset:
            self.truncate_fully_and_start_at(offset, now_ms)
            return True
        self._drop_snapshots(self._local.truncate_to(offset, now_ms), now_ms)
        self.leader_epochs.truncate_from_end(offset)
        self.log_start_offset = min(offset, self.log_start_offset)
        self._reload_producers(now_ms)
        if self.high_watermark > offset:
            self.update_high_watermark(offset)
        return True

    @whole_change()
    def truncate_fully_and_start_at(self, offset: int, now_ms: int, *, log_start_offset: int | None = None) -> None:
        """Drop everything and go on at `offset`."""
        self._drop_snapshots(self._local.truncate_fully_and_start_at(offset, now_ms), now_ms)
        self.leader_epochs.clear()
        self.producer_state.truncate_fully_and_start_at(offset)
        self.log_start_offset = offset if log_start_offset is None else log_start_offset
        self._reload_producers(now_ms)
        self.update_high_watermark(offset)

    def _reload_producers(self, now_ms: int) -> None:
        rebuild_producer_state(
            self.producer_state,
            self.segments,
            self.log_start_offset,
            self.log_end_offset,
            now_ms,
            had_clean_shutdown=False,
        )
        # A snapshot of what was cut must not come back beside what is written in its place.
        self._local.flush_names()

    def delete_records_before(self, offset: int) -> bool:
        """Let the log start at `offset`; false where it does already. Retention then frees the segments before it."""
        if offset > self.high_watermark:
            raise OffsetOutOfRange(f"offset {offset} is above the high watermark {self.high_watermark}")
        if offset <= self.log_start_offset:
            return False
        self.log_start_offset = offset
        self.leader_epochs.truncate_from_start(offset)
        self.producer_state.advance_log_start(offset)
        return True

    def delete_old_segments(self, now_ms: int) -> int:
        """Drop the segments that retention wants gone; how many."""
        config, high_watermark, end = self.config, self.high_watermark, self.log_end_offset
        deleted = self._delete(before_log_start(self.segments, self.log_start_offset, high_watermark, end), now_ms)
        if config.is_deleted:
            deleted += self._delete(beyond_size(self.segments, config, high_watermark, end), now_ms)
            deleted += self._delete(beyond_time(self.segments, config, high_watermark, end, now_ms), now_ms)
        return deleted

    def _delete(self, segments: list[LogSegment], now_ms: int) -> int:
        if not segments:
            return 0
        if len(segments) == len(self.segments):
            self.roll(now_ms)
        following = self.segments.behind(segments[-1])
        assert following is not None, "the active segment stays"
        self.delete_records_before(following.base_offset)
        self._local.remove(segments, now_ms)
        self._drop_snapshots(segments, now_ms)
        return len(segments)

    def replace_segments(
        self, replacements: Sequence[LogSegment], originals: Sequence[LogSegment], now_ms: int
    ) -> None:
        """Let cleaned and flushed segments take the place of those they were made from."""
        self._local.replace(replacements, originals, now_ms)
        kept = {segment.base_offset for segment in replacements}
        self._drop_snapshots([segment for segment in originals if segment.base_offset not in kept], now_ms)

    def _drop_snapshots(self, segments: Iterable[LogSegment], now_ms: int) -> None:
        """Let the producer snapshots of dropped segments go the way of their files."""
        for segment in segments:
            path = self.producer_state.set_snapshot_aside(segment.base_offset)
            if path is not None:
                self._local.deleted_files.add(path, now_ms + self.config.file_delete_delay_ms)
        if self.watcher is not None and self.deletion_due_ms is not None:
            self.watcher.dropped_files(self)

    @property
    def deletion_due_ms(self) -> int | None:
        """When `take_deleted` has something to give next."""
        return self._local.deleted_files.due_ms

    def take_deleted(self, now_ms: int) -> list[str]:
        """The files that were dropped file.delete.delay.ms ago, for whoever asks to remove, in any thread."""
        return self._local.deleted_files.take_due(now_ms)

    def remove_deleted(self, now_ms: int) -> None:
        """Remove the files that were dropped file.delete.delay.ms ago, here and now."""
        self._local.remove_deleted(now_ms)

    def remove_expired_producers(self, now_ms: int) -> None:
        self.producer_state.remove_expired(now_ms)

    # Flushing and the end

    @property
    def is_flush_wanted(self) -> bool:
        """Whether flush.messages wants the log flushed before anybody hears of its last append."""
        wanted = self._local.config.flush_messages
        return wanted != LONG_MAX and self.log_end_offset - self.recovery_point >= wanted

    def flush_due_offset(self, now_ms: int) -> int | None:
        """Up to where a flush is due: all by flush.messages and flush.ms, and always what was rolled; else None."""
        unflushed = self.log_end_offset - self.recovery_point
        if unflushed and (self.is_flush_wanted or now_ms - self._local.flushed_ms >= self.config.flush_ms):
            return self.log_end_offset
        rolled_offset = self._local.active.base_offset
        return rolled_offset if rolled_offset > self.recovery_point else None

    def prepare_flush(self, offset: int | None = None) -> Flush | None:
        """What makes everything below `offset` durable, by default all; None where it is. Run it in any thread."""
        flush = self._local.prepare_flush(offset, self._unflushed_snapshots)
        if flush is not None:
            self._unflushed_snapshots = []
        return flush

    def mark_flushed(self, flush: Flush, now_ms: int) -> None:
        """Note that a prepared flush has run: the recovery point moves up."""
        self._local.mark_flushed(flush, now_ms)

    def flush(self, now_ms: int) -> None:
        """Make the whole log durable, here and now."""
        flush = self.prepare_flush()
        if flush is not None:
            flush.run()
            self.mark_flushed(flush, now_ms)

    def close(self, now_ms: int) -> None:
        """Make everything durable and let go of the files, so that the next start need not look."""
        self.flush(now_ms)
        self.leader_epochs.flush()
        self.producer_state.take_snapshot()
        self._local.close()

    def release(self) -> None:
        """Let go of the files as they are, when their disk has failed."""
        self._local.release()

    def move_to(self, directory: str) -> None:
        """Rename the directory, as one that is to be deleted or has caught up."""
        self._local.move_to(directory)
        self.leader_epochs.move_to(f"{directory}/{LEADER_EPOCH_CHECKPOINT}")
        self.producer_state.move_to(directory)

    def delete(self) -> None:
        """Remove the directory and everything in it."""
        self._local.delete()
