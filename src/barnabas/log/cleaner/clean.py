"""One cleaning of one log, in steps between which a loop may do other things.

First the keys of the dirty part go into the offset map; then groups of segments are copied into `.cleaned` ones without
what is superseded, and each takes the place of its group. A step that is not resumed leaves the log as it is: closing
the generator removes the unfinished copy. Segments are only read, and none that may still change.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from struct import Struct
from typing import NamedTuple

from barnabas.log.cleaner.batch_filter import BatchFilter, CleaningStats, read_is_abort, read_records
from barnabas.log.cleaner.offset_map import OffsetMap
from barnabas.log.cleaner.plan import CleanableLog, CleaningPlan, group_segments
from barnabas.log.cleaner.transactions import CleanedTransactions
from barnabas.log.flush import Flushable
from barnabas.log.names import CLEANED, LOG, OFFSET_INDEX, TIME_INDEX
from barnabas.log.read import collect_aborted
from barnabas.log.segment import LogSegment
from barnabas.ports.disk import Buffer, Disk
from barnabas.protocol.errors import CorruptMessage
from barnabas.records.batch import LOG_OVERHEAD_BYTES, MAGIC, BatchHeader, read_header
from barnabas.records.legacy import iterate_any, iterate_any_records

_LENGTH = Struct(">i")
_LENGTH_AT = 8


class CleaningStep(NamedTuple):
    """What was read and written since the last step; whoever resumes has flushed `to_flush` before, in any thread."""

    io_bytes: int
    to_flush: Sequence[Flushable] = ()


@dataclass(frozen=True)
class CleaningResult:
    end_offset: int  # The log is clean up to here.
    stats: CleaningStats


Steps = Generator[CleaningStep, None, CleaningResult]


def clean(
    disk: Disk, log: CleanableLog, plan: CleaningPlan, offsets: OffsetMap, *, chunk_bytes: int, now_ms: int
) -> Steps:
    """Clean what `plan` says, as far as the keys fit into `offsets`."""
    return _Compaction(disk, log, plan, offsets, chunk_bytes, now_ms).run()


def run_to_end(steps: Steps) -> CleaningResult:
    """Take every step at once and flush on the way."""
    while True:
        try:
            step = next(steps)
        except StopIteration as stop:
            result: CleaningResult = stop.value
            return result
        for file in step.to_flush:
            file.flush()


class _Compaction:
    def __init__(
        self, disk: Disk, log: CleanableLog, plan: CleaningPlan, offsets: OffsetMap, chunk_bytes: int, now_ms: int
    ) -> None:
        self._disk = disk
        self._log = log
        self._plan = plan
        self._offsets = offsets
        self._chunk_bytes = chunk_bytes
        self._now_ms = now_ms
        self._stats = CleaningStats()
        self._transactions = CleanedTransactions()
        clean_part = log.segments.holding(0, plan.first_dirty_offset)
        # Before batches had delete horizons, a tombstone's time was counted from the last cleaning before this one.
        self._legacy_horizon_ms = clean_part[-1].modified_ms - log.config.delete_retention_ms if clean_part else 0

    def run(self) -> Steps:
        yield from self._map_keys()
        end_offset = self._offsets.latest_offset + 1
        groups = group_segments(
            self._log.segments.holding(0, end_offset),
            segment_bytes=self._log.config.segment_bytes,
            index_bytes=self._log.config.segment_index_bytes,
            first_uncleanable_offset=self._plan.first_uncleanable_offset,
        )
        for group in groups:
            yield from self._clean_group(group)
        return CleaningResult(max(end_offset, self._plan.first_dirty_offset), self._stats)

    # The dirty part's keys

    def _map_keys(self) -> Iterator[CleaningStep]:
        start, end = self._plan.first_dirty_offset, self._plan.first_uncleanable_offset
        self._offsets.clear(keys_expected=end - start)
        dirty = self._log.segments.holding(start, end)
        if not dirty:
            return
        transactions = CleanedTransactions()
        transactions.add_aborted(collect_aborted(self._log.segments, dirty[0], start, end))
        for segment, next_base in zip(dirty, [*(s.base_offset for s in dirty[1:]), end], strict=True):
            position = segment.offset_index.lookup(start).position
            for chunk, batches in _chunks(segment, position, self._chunk_bytes):
                view = memoryview(chunk)
                for at, header in batches:
                    if not self._map_batch(view[at : at + header.size_bytes], header, transactions):
                        return
                    if header.last_offset >= start:
                        self._offsets.latest_offset = header.last_offset
                self._stats.mapped_bytes += len(chunk)
                yield CleaningStep(len(chunk))
            # Offsets that are missing behind the last batch hold nothing that could be superseded.
            self._offsets.latest_offset = max(self._offsets.latest_offset, next_base - 1)

    def _map_batch(self, batch: memoryview, header: BatchHeader, transactions: CleanedTransactions) -> bool:
        """Note the batch's keys; false where the map is full before its end."""
        start = self._plan.first_dirty_offset
        if header.magic < MAGIC:
            records = iterate_any_records(batch, 0, header)
            return all(self._offsets.add(record.key, record.offset) for record in records if record.offset >= start)
        if header.is_control:
            transactions.can_drop_marker(header, read_is_abort(*read_records(batch, header)))
            return True
        if transactions.can_drop_data(header):
            return True
        data, rows = read_records(batch, header)
        return self._offsets.add_batch(data, rows, header.base_offset, start)

    # What stays

    def _clean_group(self, group: list[LogSegment]) -> Iterator[CleaningStep]:
        log = self._log
        batch_filter = BatchFilter(
            self._offsets,
            self._transactions,
            dict(log.producer_state.producers),
            self._stats,
            round_end_offset=self._plan.first_uncleanable_offset,
            delete_retention_ms=log.config.delete_retention_ms,
            now_ms=self._now_ms,
        )
        cleaned = LogSegment.create(
            self._disk, log.directory, group[0].base_offset, log.config, now_ms=self._now_ms, suffix=CLEANED
        )
        is_handed_over = False
        try:
            for segment in group:
                following = log.segments.behind(segment)
                end = following.base_offset if following is not None else log.log_end_offset
                self._transactions.add_aborted(collect_aborted(log.segments, segment, segment.base_offset, end))
                batch_filter.keeps_legacy_tombstones = segment.modified_ms > self._legacy_horizon_ms
                for chunk, batches in _chunks(segment, 0, self._chunk_bytes):
                    written = _copy_chunk(chunk, batches, batch_filter, cleaned)
                    self._stats.written_bytes += written
                    yield CleaningStep(len(chunk) + written)
            cleaned.transaction_index.append(batch_filter.aborted)
            cleaned.become_inactive()
            yield CleaningStep(0, cleaned.files_to_flush())
            for kind in (LOG, OFFSET_INDEX, TIME_INDEX):  # Retention without timestamps goes by the files' age.
                self._disk.set_modified_ms(cleaned.path(kind), group[-1].modified_ms)
            # From here on it may be all that is left of its group, whatever fails.
            is_handed_over = True
            log.replace_segments([cleaned], group, self._now_ms)
        finally:
            if not is_handed_over:
                cleaned.delete()


def _copy_chunk(
    chunk: bytes, batches: Sequence[tuple[int, BatchHeader]], batch_filter: BatchFilter, cleaned: LogSegment
) -> int:
    """Append what is left of some batches to the cleaned segment; the bytes that were."""
    view = memoryview(chunk)
    parts: list[Buffer] = []
    headers: list[BatchHeader] = []
    for at, header in batches:
        batch = view[at : at + header.size_bytes]
        left = batch_filter.apply(batch, header)
        if left is not None:
            parts.append(left)
            headers.append(header if left is batch else read_header(left))
    data = b"".join(parts)
    if headers:
        cleaned.append(data, headers)
    return len(data)


def _chunks(
    segment: LogSegment, position: int, chunk_bytes: int
) -> Iterator[tuple[bytes, list[tuple[int, BatchHeader]]]]:
    """Pieces of whole batches, each with the places of its batches; a batch larger than a piece is one by itself."""
    while position < segment.size_bytes:
        left_bytes = segment.size_bytes - position
        chunk = segment.file.read_at(position, min(chunk_bytes, left_bytes))
        batches = list(iterate_any(chunk))
        if not batches:
            (length,) = _LENGTH.unpack_from(segment.file.read_at(position, LOG_OVERHEAD_BYTES), _LENGTH_AT)
            if not len(chunk) < length + LOG_OVERHEAD_BYTES <= left_bytes:
                raise CorruptMessage(f"no whole batch at position {position} of segment {segment.base_offset}")
            chunk = segment.file.read_at(position, length + LOG_OVERHEAD_BYTES)
            batches = list(iterate_any(chunk))
        at, header = batches[-1]
        chunk = chunk[: at + header.size_bytes]
        yield chunk, batches
        position += len(chunk)
