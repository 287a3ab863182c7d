"""The segments of a log in the order of their base offsets; the last one is active and takes the appends."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from barnabas.log.segment import LogSegment


class Segments:
    def __init__(self) -> None:
        self._bases: list[int] = []
        self._segments: list[LogSegment] = []

    def __len__(self) -> int:
        return len(self._segments)

    def __iter__(self) -> Iterator[LogSegment]:
        """A walk over the segments as they are now; it does not mind changes."""
        return iter(self._segments[:])

    def __reversed__(self) -> Iterator[LogSegment]:
        return iter(self._segments[::-1])

    @property
    def first(self) -> LogSegment:
        return self._segments[0]

    @property
    def active(self) -> LogSegment:
        return self._segments[-1]

    @property
    def base_offsets(self) -> list[int]:
        return self._bases[:]

    @property
    def size_bytes(self) -> int:
        return sum(segment.size_bytes for segment in self._segments)

    def add(self, segment: LogSegment) -> None:
        """Put a segment in its place; one with the same base offset is replaced."""
        index = bisect_left(self._bases, segment.base_offset)
        if index < len(self._bases) and self._bases[index] == segment.base_offset:
            self._segments[index] = segment
        else:
            self._bases.insert(index, segment.base_offset)
            self._segments.insert(index, segment)

    def remove(self, segment: LogSegment) -> None:
        index = self._segments.index(segment)
        del self._bases[index], self._segments[index]

    def floor(self, offset: int) -> LogSegment | None:
        """The segment that holds `offset` if any does: the last one that begins at or before it."""
        index = bisect_right(self._bases, offset)
        return self._segments[index - 1] if index else None

    def behind(self, segment: LogSegment) -> LogSegment | None:
        """The next segment."""
        index = bisect_right(self._bases, segment.base_offset)
        return self._segments[index] if index < len(self._segments) else None

    def holding(self, start_offset: int, end_offset: int | None = None) -> list[LogSegment]:
        """Those that may hold an offset in [start_offset, end_offset)."""
        first = max(0, bisect_right(self._bases, start_offset) - 1)
        end = len(self._bases) if end_offset is None else bisect_left(self._bases, end_offset)
        return self._segments[first:end]
