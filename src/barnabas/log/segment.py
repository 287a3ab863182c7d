"""One segment of a partition's log: a file of batches and the indexes that find an offset or a time in it.

The first `size_bytes` of the file are whole batches whose offsets ascend; what the file may hold behind them (room
taken in advance, or what a failed write left) is never read. An append that raises has changed nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from barnabas.log.flush import Flushable
from barnabas.log.index_file import INT_MAX
from barnabas.log.log_config import LogConfig
from barnabas.log.names import LOG, OFFSET_INDEX, SEGMENT_FILES, TIME_INDEX, TRANSACTION_INDEX, offset_name
from barnabas.log.offset_index import OffsetIndex
from barnabas.log.scan import iterate_headers
from barnabas.log.time_index import NO_TIMESTAMP, TimeIndex, TimestampOffset
from barnabas.log.transaction_index import TransactionIndex
from barnabas.ports.disk import Buffer, Disk, File
from barnabas.protocol.errors import CorruptMessage
from barnabas.records.batch import HEADER, HEADER_BYTES, LOG_OVERHEAD_BYTES, MAGIC, BatchHeader

_LARGE_BYTES = 2048
unpack_header_from = HEADER.unpack_from


@dataclass(frozen=True, slots=True)
class FileRegion:
    """Some bytes of a file, to be sent without being read, or read. Its length is theirs, as a response counts it."""

    file: File
    position: int
    size_bytes: int

    def __len__(self) -> int:
        return self.size_bytes

    def bytes(self) -> bytes:
        return self.file.read_at(self.position, self.size_bytes)


class BatchPlace(NamedTuple):
    """Where a batch lies in its segment."""

    base_offset: int
    position: int
    size_bytes: int


class SegmentMark(NamedTuple):
    """The end of a segment before an append, to go back to."""

    size_bytes: int
    offset_entries: int
    time_entries: int
    largest: TimestampOffset
    first_timestamp: int | None
    unindexed_bytes: int


class LogSegment:
    """Constructed on files that are there; `create` makes new ones."""

    def __init__(
        self,
        disk: Disk,
        directory: str,
        base_offset: int,
        config: LogConfig,
        *,
        now_ms: int,
        roll_jitter_ms: int = 0,
        suffix: str = "",
    ) -> None:
        self.base_offset = base_offset
        self.roll_jitter_ms = roll_jitter_ms
        self.created_ms = now_ms
        self.suffix = suffix
        self._disk = disk
        self._directory = directory
        self._index_interval_bytes = config.index_interval_bytes
        self._unindexed_bytes = 0
        self._first_timestamp: int | None = None
        self._largest: TimestampOffset | None = None
        index_bytes = config.segment_index_bytes
        self.offset_index = OffsetIndex(disk, self.path(OFFSET_INDEX), base_offset, index_bytes)
        self.time_index = TimeIndex(disk, self.path(TIME_INDEX), base_offset, index_bytes)
        self.transaction_index = TransactionIndex(disk, self.path(TRANSACTION_INDEX), base_offset)
        self.file = disk.open(self.path(LOG), create=True)
        self.size_bytes = self.file.size()

    @classmethod
    def create(
        cls,
        disk: Disk,
        directory: str,
        base_offset: int,
        config: LogConfig,
        *,
        now_ms: int,
        roll_jitter_ms: int = 0,
        suffix: str = "",
    ) -> LogSegment:
        """Make an empty segment; files that an interrupted attempt left under its names go first."""
        for kind in SEGMENT_FILES:
            path = f"{directory}/{offset_name(base_offset, kind, suffix)}"
            if disk.exists(path):
                disk.remove(path)
        segment = cls(disk, directory, base_offset, config, now_ms=now_ms, roll_jitter_ms=roll_jitter_ms, suffix=suffix)
        try:
            if config.preallocate:
                segment.file.truncate(config.segment_bytes)
            segment.offset_index.create()
            segment.time_index.create()
        except OSError:
            segment.release()
            raise
        return segment

    def path(self, kind: str) -> str:
        return f"{self._directory}/{offset_name(self.base_offset, kind, self.suffix)}"

    @property
    def paths(self) -> list[str]:
        """Where its files are, as far as it has them."""
        return [self.path(kind) for kind in SEGMENT_FILES]

    # What is in it

    @property
    def largest(self) -> TimestampOffset:
        """The newest timestamp of all batches, with the last offset of the first batch that has it."""
        if self._largest is None:
            if not self.time_index.is_counted:
                self.time_index.open()
            self._largest = self.time_index.last_entry
        return self._largest

    @property
    def largest_timestamp(self) -> int:
        """The newest record's timestamp, or the file's age where records have none."""
        timestamp = self.largest.timestamp
        return timestamp if timestamp >= 0 else self.modified_ms

    @property
    def modified_ms(self) -> int:
        return self._disk.modified_ms(self.path(LOG))

    @property
    def first_timestamp(self) -> int | None:
        """The timestamp of the first batch, from which the segment's age is counted; None while it is empty."""
        if self._first_timestamp is None and self.size_bytes:
            for _, header in self.iterate():
                self._first_timestamp = header.max_timestamp
                break
        return self._first_timestamp

    def iterate(self, position: int = 0) -> Iterator[tuple[int, BatchHeader]]:
        """(position, header) of the batches from `position` on, where a batch begins."""
        return iterate_headers(self.file, position, self.size_bytes)

    def find(self, offset: int) -> BatchPlace | None:
        """The first batch that holds `offset` or a later one; None where the segment ends before."""
        position = self.offset_index.find_position(offset)
        # An index entry stands before each large batch, so that two short reads tell; small ones take a walk.
        while self.size_bytes - position >= HEADER_BYTES:
            fields = unpack_header_from(self.file.read_at(position, HEADER_BYTES))
            if fields[3] != MAGIC or fields[1] < _LARGE_BYTES:
                break
            if fields[0] + fields[6] >= offset:
                return BatchPlace(fields[0], position, fields[1] + LOG_OVERHEAD_BYTES)
            position += fields[1] + LOG_OVERHEAD_BYTES
        for at, header in self.iterate(position):
            if header.base_offset + header.last_offset_delta >= offset:
                return BatchPlace(header.base_offset, at, header.size_bytes)
        return None

    def find_next_offset(self) -> int:
        """The offset behind the last batch, found in the file."""
        if not self.size_bytes:
            return self.base_offset
        self.offset_index.open()
        next_offset = self.base_offset
        for _, header in self.iterate(self.offset_index.lookup(self.offset_index.last_offset).position):
            next_offset = header.next_offset
        return next_offset

    def read(
        self, offset: int, max_bytes: int, end_position: int, *, min_one_batch: bool
    ) -> tuple[BatchPlace, FileRegion] | None:
        """The place of the batch with `offset`, and a region from there; None where the segment ends before.

        With `min_one_batch` the first batch is whole whatever its size, or a large one would stall its reader. The
        last may be cut: whoever reads the region skips a partial batch.
        """
        place = self.find(offset)
        if place is None:
            return None
        size = max(max_bytes, place.size_bytes) if min_one_batch else max_bytes
        size = max(0, min(size, end_position - place.position))
        return place, FileRegion(self.file, place.position, size)

    # Appending

    def should_roll(
        self, size_bytes: int, last_offset: int, max_timestamp: int, config: LogConfig, now_ms: int
    ) -> bool:
        """Whether batches of this size, last offset and timestamp belong into a new segment."""
        size = self.size_bytes
        offsets, times = self.offset_index, self.time_index
        return (
            (size > 0 and size + size_bytes > config.segment_bytes)
            or (size > 0 and self._waited_ms(max_timestamp, now_ms) > config.roll_ms - self.roll_jitter_ms)
            or last_offset - self.base_offset > INT_MAX
            or offsets.entries >= offsets.entries_max
            or times.entries >= times.entries_max - 1
        )

    def _waited_ms(self, max_timestamp: int, now_ms: int) -> int:
        first = self._first_timestamp
        if first is None:
            first = self.first_timestamp
        if first is not None and first >= 0:
            return max_timestamp - first
        return now_ms - self.created_ms

    def append(self, data: Buffer, batches: Sequence[BatchHeader]) -> None:
        """Write whole batches in one piece and index them; `batches` are their headers."""
        size_bytes = len(data)
        assert self.offset_index.can_hold(batches[-1].last_offset), "the log rolls before offsets leave the segment"
        if self._unindexed_bytes + size_bytes > self._index_interval_bytes:
            entries = min(len(batches), size_bytes // (self._index_interval_bytes + 1) + 1)
            self.offset_index.reserve(entries)
            self.time_index.reserve(entries)
        try:
            self.file.write_at(self.size_bytes, data)
        except OSError:
            self.file.truncate(self.size_bytes)
            raise
        for header in batches:
            self._take(header.last_offset, header.max_timestamp, header.size_bytes)

    def append_batch(self, parts: Sequence[Buffer], size_bytes: int, last_offset: int, max_timestamp: int) -> None:
        """Write one batch, whose bytes may come in several parts, and index it."""
        assert last_offset - self.base_offset <= INT_MAX, "the log rolls before offsets leave the segment"
        if self._unindexed_bytes > self._index_interval_bytes:
            if self.offset_index.entries == self.offset_index.entries_with_room:
                self.offset_index.reserve()
            if self.time_index.entries == self.time_index.entries_with_room:
                self.time_index.reserve()
        try:
            if len(parts) == 1:
                self.file.write_at(self.size_bytes, parts[0])
            else:
                self.file.write_gathered_at(self.size_bytes, parts)
        except OSError:
            self.file.truncate(self.size_bytes)
            raise
        self._take(last_offset, max_timestamp, size_bytes)

    def _take(self, last_offset: int, max_timestamp: int, batch_bytes: int) -> None:
        """Count a batch that now lies at the end, and index it if it is far enough behind the last entry."""
        largest = self._largest or self.largest
        if max_timestamp > largest[0]:
            self._largest = largest = TimestampOffset(max_timestamp, last_offset)
        unindexed = self._unindexed_bytes
        if unindexed > self._index_interval_bytes:
            offsets, times = self.offset_index, self.time_index
            # Many batches in one append may find an index full in their middle: they go without an entry.
            if offsets.entries < offsets.entries_max and times.entries < times.entries_max - 1:
                offsets.append(last_offset, self.size_bytes)
                if largest[0] > times.last_entry[0]:
                    times.append_if_newer(largest)
            unindexed = 0
        self.size_bytes += batch_bytes
        self._unindexed_bytes = unindexed + batch_bytes
        if self._first_timestamp is None:
            self._first_timestamp = max_timestamp

    def mark(self) -> SegmentMark:
        return SegmentMark(
            self.size_bytes,
            self.offset_index.entries,
            self.time_index.entries,
            self.largest,
            self._first_timestamp if self.size_bytes else None,
            self._unindexed_bytes,
        )

    def undo(self, mark: SegmentMark) -> None:
        """Go back to where `mark` was taken, after what belongs to the append failed elsewhere."""
        self.file.truncate(mark.size_bytes)
        self.size_bytes = mark.size_bytes
        self.offset_index.truncate_to_entries(mark.offset_entries)
        self.time_index.truncate_to_entries(mark.time_entries)
        self._largest = mark.largest
        self._first_timestamp = mark.first_timestamp
        self._unindexed_bytes = mark.unindexed_bytes

    # Cutting and closing

    def truncate_to(self, offset: int, now_ms: int) -> int:
        """Drop the batch that holds `offset` and all behind it, and be ready to append; the bytes that went."""
        place = self.find(offset)
        self.offset_index.truncate_to(offset)
        self.time_index.truncate_to(offset)
        self.transaction_index.truncate_to(offset)
        self.offset_index.grow()
        self.time_index.grow()
        dropped = 0
        if place is not None:
            dropped = self.size_bytes - place.position
            self.file.truncate(place.position)
            self.size_bytes = place.position
        if not self.size_bytes:
            self.created_ms = now_ms
            self._first_timestamp = None
        self._unindexed_bytes = 0
        self._largest = self._find_largest()
        return dropped

    def _find_largest(self) -> TimestampOffset:
        """The largest timestamp from the batch of the last index entry on, which knows of all before it."""
        largest = TimestampOffset(NO_TIMESTAMP, self.base_offset)
        for _, header in self.iterate(self.offset_index.lookup(self.time_index.last_entry.offset).position):
            if header.max_timestamp > largest.timestamp:
                largest = TimestampOffset(header.max_timestamp, header.last_offset)
        return largest

    def ends_properly(self) -> bool:
        """Whether the ends of file and indexes agree, as they do in a segment that is not active."""
        self.offset_index.open()
        self.time_index.open()
        try:
            if self.offset_index.entries:
                last = self.offset_index.entry(self.offset_index.entries - 1)
                found = next(self.iterate(last.position), None)
                # The first batch has no entry, so no entry says position 0.
                if not last.position or found is None or found[1].last_offset != last.offset:
                    return False
            return self._find_largest() == self.time_index.last_entry
        except CorruptMessage:
            return False

    def rebuild(self, batches: Iterable[BatchHeader]) -> int:
        """Build the indexes anew from the batches that are found sound, one behind the other, and cut what follows.

        Gives the number of bytes that went.
        """
        self.offset_index.reset()
        self.time_index.reset()
        self.transaction_index.reset()
        file_bytes, self.size_bytes = self.size_bytes, 0
        self._largest = TimestampOffset(NO_TIMESTAMP, self.base_offset)
        self._first_timestamp = None
        self._unindexed_bytes = 0
        for header in batches:
            if self._unindexed_bytes > self._index_interval_bytes:
                self.offset_index.reserve()
                self.time_index.reserve()
            self._take(header.last_offset, header.max_timestamp, header.size_bytes)
        self._unindexed_bytes = 0
        self.become_inactive()
        return file_bytes - self.size_bytes

    def become_inactive(self) -> None:
        """Write the last time index entry and cut all files to what they hold."""
        self._append_largest()
        self.offset_index.trim()
        self.time_index.trim()
        self.file.truncate(self.size_bytes)

    def _append_largest(self) -> None:
        if self.largest.timestamp > self.time_index.last_entry.timestamp:
            self.time_index.reserve()
            self.time_index.append_if_newer(self.largest)

    def files_to_flush(self) -> list[Flushable]:
        return [self.file, self.offset_index.file(), self.time_index.file(), self.transaction_index]

    def flush(self) -> None:
        for file in self.files_to_flush():
            file.flush()

    def close(self) -> None:
        """Write what a clean stop writes, durably, and let go of the files; what they hold was flushed before."""
        if self.offset_index.is_counted:
            self.become_inactive()
            self.flush()
        self.release()

    def rest(self) -> None:
        """Let go of the indexes until somebody asks them; nothing is being flushed."""
        self.offset_index.rest()
        self.time_index.rest()

    def release(self) -> None:
        """Let go of the files as they are."""
        self.offset_index.close()
        self.time_index.close()
        self.transaction_index.close()
        self.file.close()

    # Names

    def rename_suffix(self, suffix: str) -> None:
        """Give all files another suffix, the log first: indexes that a power cut leaves behind are known as orphans."""
        old = {kind: self.path(kind) for kind in SEGMENT_FILES}
        self.suffix = suffix
        for kind, path in old.items():
            if kind == TRANSACTION_INDEX:
                self.transaction_index.rename(self.path(kind))
            elif self._disk.exists(path):
                self._disk.rename(path, self.path(kind))
        self._moved()

    def move_to(self, directory: str) -> None:
        """The directory was renamed; the files went along."""
        self._directory = directory
        self.transaction_index.move_to(self.path(TRANSACTION_INDEX))
        self._moved()

    def _moved(self) -> None:
        self.offset_index.moved(self.path(OFFSET_INDEX))
        self.time_index.moved(self.path(TIME_INDEX))

    def delete(self) -> None:
        """Let go of the files and remove them."""
        self.release()
        for path in self.paths:
            if self._disk.exists(path):
                self._disk.remove(path)
