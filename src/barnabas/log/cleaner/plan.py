"""Which part of which log to clean: from the first dirty offset up to where cleaning must stop.

Cleaning never reaches the active segment, an offset that is not stable, or a record that is too young to be compacted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from barnabas.log.log_config import LONG_MAX, LogConfig
from barnabas.log.producer_state import ProducerState
from barnabas.log.segment import LogSegment
from barnabas.log.segments import Segments

_INT_MAX = 2**31 - 1


class CleanableLog(Protocol):
    """What the cleaner asks of a partition's log."""

    @property
    def directory(self) -> str: ...
    @property
    def config(self) -> LogConfig: ...
    @property
    def segments(self) -> Segments: ...
    @property
    def producer_state(self) -> ProducerState: ...
    @property
    def log_start_offset(self) -> int: ...
    @property
    def log_end_offset(self) -> int: ...
    @property
    def last_stable_offset(self) -> int: ...

    def replace_segments(
        self, replacements: Sequence[LogSegment], originals: Sequence[LogSegment], now_ms: int
    ) -> None:
        """Let `.cleaned` segments take the place of their originals, so that a crash leaves the one or the other."""
        ...


@dataclass(frozen=True)
class CleaningPlan:
    first_dirty_offset: int
    first_uncleanable_offset: int  # The base offset of a segment.
    clean_bytes: int
    cleanable_bytes: int
    is_overdue: bool  # A record is older than max.compaction.lag.ms, so the ratio does not matter.
    is_checkpoint_stale: bool  # The checkpoint pointed outside the log and has to be corrected.

    @property
    def total_bytes(self) -> int:
        return self.clean_bytes + self.cleanable_bytes

    @property
    def dirty_ratio(self) -> float:
        return self.cleanable_bytes / self.total_bytes if self.total_bytes else 0.0

    def is_worthwhile(self, min_cleanable_dirty_ratio: float) -> bool:
        return self.dirty_ratio > min_cleanable_dirty_ratio or (self.is_overdue and self.cleanable_bytes > 0)


def plan_cleaning(log: CleanableLog, last_clean_offset: int | None, now_ms: int) -> CleaningPlan:
    """What cleaning this log would mean now; `last_clean_offset` is where the checkpoint says the last one ended."""
    start_offset = log.log_start_offset
    first_dirty = start_offset if last_clean_offset is None else last_clean_offset
    is_stale = not start_offset <= first_dirty <= log.log_end_offset
    if is_stale:
        first_dirty = start_offset
    dirty = _inactive_from(log.segments, first_dirty)
    stops = [log.last_stable_offset, log.segments.active.base_offset]
    if log.config.min_compaction_lag_ms > 0:
        oldest_ms = now_ms - log.config.min_compaction_lag_ms
        stops += [segment.base_offset for segment in dirty if segment.largest_timestamp > oldest_ms][:1]
    stop = max(first_dirty, min(stops))
    # A segment is cleaned whole or not at all.
    uncleanable = next(iter(_inactive_from(log.segments, stop)), log.segments.active).base_offset
    cleanable = log.segments.holding(min(first_dirty, uncleanable), uncleanable)
    return CleaningPlan(
        first_dirty_offset=first_dirty,
        first_uncleanable_offset=uncleanable,
        clean_bytes=sum(segment.size_bytes for segment in log.segments.holding(-1, first_dirty)),
        cleanable_bytes=sum(segment.size_bytes for segment in cleanable),
        is_overdue=_is_overdue(dirty, log.config.max_compaction_lag_ms, now_ms),
        is_checkpoint_stale=is_stale,
    )


def group_segments(
    segments: Sequence[LogSegment], *, segment_bytes: int, index_bytes: int, first_uncleanable_offset: int
) -> list[list[LogSegment]]:
    """Neighbours that fit into one segment by size, size of indexes, and span of offsets."""
    groups: list[list[LogSegment]] = []
    next_bases = [*(segment.base_offset for segment in segments), first_uncleanable_offset][1:]
    limits = (segment_bytes, index_bytes, index_bytes)
    sizes = [0, 0, 0]
    for segment, next_base in zip(segments, next_bases, strict=True):
        segment.offset_index.open()
        segment.time_index.open()
        own = [segment.size_bytes, segment.offset_index.size_bytes, segment.time_index.size_bytes]
        grown = [before + more for before, more in zip(sizes, own, strict=True)]
        fits = all(size <= limit for size, limit in zip(grown, limits, strict=True))
        if groups and fits and (not segment.size_bytes or next_base - 1 - groups[-1][0].base_offset <= _INT_MAX):
            groups[-1].append(segment)
            sizes = grown
        else:
            groups.append([segment])
            sizes = own
    return groups


def _inactive_from(segments: Segments, offset: int) -> list[LogSegment]:
    active_base = segments.active.base_offset
    return [] if offset > active_base else segments.holding(offset, active_base)


def _is_overdue(dirty: Sequence[LogSegment], max_compaction_lag_ms: int, now_ms: int) -> bool:
    if max_compaction_lag_ms == LONG_MAX:
        return False
    first_timestamps = [segment.first_timestamp or 0 for segment in dirty]
    oldest = min((timestamp for timestamp in first_timestamps if timestamp > 0), default=LONG_MAX)
    return oldest < now_ms - max(max_compaction_lag_ms, 0)
