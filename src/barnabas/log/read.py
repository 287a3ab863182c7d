"""Reading a log: the region from an offset on, the offset of a time, and the aborted transactions of a range.

Nothing here changes a log. A reader gets whole batches up to its bound, and none that begins at or behind it.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from barnabas.log.segment import FileRegion, LogSegment
from barnabas.log.segments import Segments
from barnabas.log.transaction_index import AbortedTransaction
from barnabas.records.batch import NO_LEADER_EPOCH, BatchHeader
from barnabas.records.legacy import iterate_any_records


class Isolation(Enum):
    """How far a reader may see."""

    LOG_END = "log end"  # Replicas.
    HIGH_WATERMARK = "high watermark"  # Consumers that read uncommitted transactions.
    COMMITTED = "committed"  # Consumers that do not: up to the last stable offset.


class LogRead(NamedTuple):
    """What a fetch finds. The region begins with the batch that holds the offset; its last batch may be cut."""

    region: FileRegion
    is_first_batch_cut: bool
    aborted: list[AbortedTransaction] | None  # None where the reader does not want them.


class TimestampedOffset(NamedTuple):
    """The answer to a look-up by time; the leader epoch is None where it is not known."""

    timestamp: int
    offset: int
    leader_epoch: int | None


class OffsetSpec:
    """The timestamps that mean something else in ListOffsets."""

    LATEST = -1
    EARLIEST = -2
    MAX_TIMESTAMP = -3
    EARLIEST_LOCAL = -4
    LATEST_TIERED = -5
    EARLIEST_PENDING_UPLOAD = -6


def read_region(
    segments: Segments,
    offset: int,
    max_bytes: int,
    *,
    bound: tuple[LogSegment, int],
    min_one_batch: bool,
) -> tuple[LogSegment, FileRegion, bool] | None:
    """The segment and the region with the batch of `offset`, and whether that batch is cut; None where there is none.

    `bound` is the place in the last readable segment up to which may be read.
    """
    bound_segment, bound_position = bound
    segment = segments.floor(offset)
    while segment is not None and segment.base_offset <= bound_segment.base_offset:
        end = bound_position if segment is bound_segment else segment.size_bytes
        found = segment.read(offset, max_bytes, end, min_one_batch=min_one_batch)
        if found is not None:
            place, region = found
            return segment, region, max_bytes < place.size_bytes and not min_one_batch
        segment = segments.behind(segment)
    return None


def aborted_transactions(
    segments: Segments, segment: LogSegment, offset: int, region: FileRegion, log_end_offset: int
) -> list[AbortedTransaction]:
    """The aborted transactions that a reader of the region may meet."""
    behind = segment.offset_index.first_behind(region.position + region.size_bytes)
    if behind is not None:
        upper_bound = behind.offset
    else:
        following = segments.behind(segment)
        upper_bound = following.base_offset if following is not None else log_end_offset
    return collect_aborted(segments, segment, offset, upper_bound)


def collect_aborted(segments: Segments, segment: LogSegment, offset: int, upper_bound: int) -> list[AbortedTransaction]:
    """The aborted transactions that touch [offset, upper_bound), from the indexes of `segment` and those behind it."""
    found: list[AbortedTransaction] = []
    for later in segments.holding(segment.base_offset):
        search = later.transaction_index.search(offset, upper_bound)
        found += search.transactions
        if search.is_complete:
            break
    return found


def find_offset_by_timestamp(segments: Segments, timestamp: int, start_offset: int) -> TimestampedOffset | None:
    """The first record from `start_offset` on that is not older than `timestamp`."""
    for segment in segments:
        if segment.largest_timestamp >= timestamp:
            found = _find_in_segment(segment, timestamp, start_offset)
            if found is not None:
                return found
    return None


def _find_in_segment(segment: LogSegment, timestamp: int, start_offset: int) -> TimestampedOffset | None:
    entry = segment.time_index.lookup(timestamp)
    position = segment.offset_index.lookup(max(entry.offset, start_offset)).position
    for at, header in segment.iterate(position):
        if header.max_timestamp >= timestamp:
            batch = segment.file.read_at(at, header.size_bytes)
            for record in iterate_any_records(batch, 0, header):
                if record.timestamp >= timestamp and record.offset >= start_offset:
                    return TimestampedOffset(record.timestamp, record.offset, _leader_epoch(header))
    return None


def find_max_timestamp(segments: Segments) -> TimestampedOffset | None:
    """The first record that has the newest timestamp of all."""
    newest = max(segments, key=lambda segment: segment.largest.timestamp)
    timestamp, last_offset = newest.largest
    for at, header in newest.iterate(newest.offset_index.lookup(last_offset).position):
        if header.max_timestamp == timestamp:
            batch = newest.file.read_at(at, header.size_bytes)
            for record in iterate_any_records(batch, 0, header):
                if record.timestamp == timestamp:
                    return TimestampedOffset(timestamp, record.offset, _leader_epoch(header))
    return None


def _leader_epoch(header: BatchHeader) -> int | None:
    return header.leader_epoch if header.leader_epoch > NO_LEADER_EPOCH else None
