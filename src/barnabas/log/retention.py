"""Which segments of a log have had their time.

They are always the first ones, and none of them holds a record above the high watermark.
"""

from __future__ import annotations

from collections.abc import Callable

from barnabas.log.log_config import LogConfig
from barnabas.log.segment import LogSegment
from barnabas.log.segments import Segments


def before_log_start(
    segments: Segments, log_start_offset: int, high_watermark: int, log_end_offset: int
) -> list[LogSegment]:
    """Those that end before the log starts."""

    def is_before(_: LogSegment, following: LogSegment | None) -> bool:
        return following is not None and following.base_offset <= log_start_offset

    return _leading(segments, high_watermark, log_end_offset, is_before)


def beyond_size(segments: Segments, config: LogConfig, high_watermark: int, log_end_offset: int) -> list[LogSegment]:
    """Those without which the log would still have retention.bytes."""
    excess = segments.size_bytes - config.retention_bytes
    if config.retention_bytes < 0 or excess < 0:
        return []

    def is_excess(segment: LogSegment, _: LogSegment | None) -> bool:
        nonlocal excess
        excess -= segment.size_bytes
        return excess >= 0

    return _leading(segments, high_watermark, log_end_offset, is_excess)


def beyond_time(
    segments: Segments, config: LogConfig, high_watermark: int, log_end_offset: int, now_ms: int
) -> list[LogSegment]:
    """Those whose newest record is older than retention.ms."""
    if config.retention_ms < 0:
        return []

    def is_old(segment: LogSegment, _: LogSegment | None) -> bool:
        return now_ms - segment.largest_timestamp > config.retention_ms

    return _leading(segments, high_watermark, log_end_offset, is_old)


def _leading(
    segments: Segments,
    high_watermark: int,
    log_end_offset: int,
    has_had_its_time: Callable[[LogSegment, LogSegment | None], bool],
) -> list[LogSegment]:
    """The segments from the first on for which it is true, up to the high watermark; an empty active one stays."""
    found = []
    for segment in segments:
        following = segments.behind(segment)
        end_offset = following.base_offset if following is not None else log_end_offset
        is_empty_active = following is None and not segment.size_bytes
        if is_empty_active or high_watermark < end_offset or not has_had_its_time(segment, following):
            break
        found.append(segment)
    return found
