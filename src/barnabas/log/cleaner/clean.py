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
from barnabas.records.batch import LOG_OVERHEAD_BYTES, BatchHeader, iterate_batches, read_header

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
    stats = CleaningStats()
    yield from _map_keys(log, plan, offsets, chunk_bytes, stats)
    end_offset = offsets.latest_offset + 1
    transactions = CleanedTransactions()
    groups = group_segments(
        log.segments.holding(0, end_offset),
        segment_bytes=log.config.segment_bytes,
        index_bytes=log.config.segment_index_bytes,
        first_uncleanable_offset=plan.first_uncleanable_offset,
    )
    for group in groups:
        batch_filter = BatchFilter(
            offsets,
            transactions,
            dict(log.producer_state.producers),
            stats,
            round_end_offset=plan.first_uncleanable_offset,
            delete_retention_ms=log.config.delete_retention_ms,
            now_ms=now_ms,
        )
        yield from _clean_group(disk, log, group, batch_filter, transactions, chunk_bytes, stats, now_ms)
    # The checkpoint that follows must not outlive the renames that it speaks of.
    yield CleaningStep(0, [_Names(disk, log.directory)])
    return CleaningResult(end_offset, stats)


class _Names(NamedTuple):
    """The names in a directory, which are flushed as files are."""

    disk: Disk
    directory: str

    def flush(self) -> None:
        self.disk.flush_directory(self.directory)


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


def _map_keys(
    log: CleanableLog, plan: CleaningPlan, offsets: OffsetMap, chunk_bytes: int, stats: CleaningStats
) -> Iterator[CleaningStep]:
    offsets.clear()
    start, end = plan.first_dirty_offset, plan.first_uncleanable_offset
    dirty = log.segments.holding(start, end)
    if not dirty:
        return
    transactions = CleanedTransactions()
    transactions.add_aborted(collect_aborted(log.segments, dirty[0], start, end))
    for segment, next_base in zip(dirty, [*(s.base_offset for s in dirty[1:]), end], strict=True):
        position = segment.offset_index.lookup(start).position
        for chunk, batches in _chunks(segment, position, chunk_bytes):
            view = memoryview(chunk)
            for at, header in batches:
                if not _map_batch(view[at : at + header.size_bytes], header, offsets, start, transactions):
                    return
                if header.last_offset >= start:
                    offsets.latest_offset = header.last_offset
            stats.mapped_bytes += len(chunk)
            yield CleaningStep(len(chunk))
        # Offsets that are missing behind the last batch hold nothing that could be superseded.
        offsets.latest_offset = max(offsets.latest_offset, next_base - 1)


def _map_batch(
    batch: memoryview, header: BatchHeader, offsets: OffsetMap, start: int, transactions: CleanedTransactions
) -> bool:
    if header.is_control:
        transactions.can_drop_marker(header, read_is_abort(*read_records(batch, header)))
        return True
    if transactions.can_drop_data(header):
        return True
    data, rows = read_records(batch, header)
    return offsets.add_batch(data, rows, header.base_offset, start)


def _clean_group(
    disk: Disk,
    log: CleanableLog,
    group: list[LogSegment],
    batch_filter: BatchFilter,
    transactions: CleanedTransactions,
    chunk_bytes: int,
    stats: CleaningStats,
    now_ms: int,
) -> Iterator[CleaningStep]:
    cleaned = LogSegment.create(disk, log.directory, group[0].base_offset, log.config, now_ms=now_ms, suffix=CLEANED)
    is_done = False
    try:
        for segment in group:
            following = log.segments.behind(segment)
            end = following.base_offset if following is not None else log.log_end_offset
            transactions.add_aborted(collect_aborted(log.segments, segment, segment.base_offset, end))
            for chunk, batches in _chunks(segment, 0, chunk_bytes):
                written = _copy_chunk(chunk, batches, batch_filter, cleaned)
                stats.written_bytes += written
                yield CleaningStep(len(chunk) + written)
        cleaned.transaction_index.append(batch_filter.aborted)
        cleaned.become_inactive()
        yield CleaningStep(0, [*cleaned.files_to_flush(), cleaned.transaction_index])
        for kind in (LOG, OFFSET_INDEX, TIME_INDEX):  # Retention without timestamps goes by the files' age.
            disk.set_modified_ms(cleaned.path(kind), group[-1].modified_ms)
        log.replace_segments([cleaned], group, now_ms)
        is_done = True
    finally:
        if not is_done:
            cleaned.delete()


def _copy_chunk(
    chunk: bytes, batches: Sequence[tuple[int, BatchHeader]], batch_filter: BatchFilter, cleaned: LogSegment
) -> int:
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
        batches = list(iterate_batches(chunk))
        if not batches:
            (length,) = _LENGTH.unpack_from(segment.file.read_at(position, LOG_OVERHEAD_BYTES), _LENGTH_AT)
            if not len(chunk) < length + LOG_OVERHEAD_BYTES <= left_bytes:
                raise CorruptMessage(f"no whole batch at position {position} of segment {segment.base_offset}")
            chunk = segment.file.read_at(position, length + LOG_OVERHEAD_BYTES)
            batches = list(iterate_batches(chunk))
        at, header = batches[-1]
        chunk = chunk[: at + header.size_bytes]
        yield chunk, batches
        position += len(chunk)
