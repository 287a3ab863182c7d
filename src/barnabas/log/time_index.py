"""The sparse index from a timestamp to an offset before which no record is as new.

An entry is 12 bytes: the largest timestamp so far as int64, and the last offset of the batch that has it as its
distance from the segment's base offset, int32. Timestamps ascend strictly. One slot is kept free for the entry that a
segment writes when it is rolled or closed, so that its last entry tells the segment's largest timestamp.
"""

from __future__ import annotations

from struct import Struct
from typing import NamedTuple

from barnabas.log.index_file import CorruptIndexError, IndexFile

NO_TIMESTAMP = -1

_ENTRY = Struct(">qi")
_pack_entry_into = _ENTRY.pack_into
_unpack_entry_from = _ENTRY.unpack_from


class TimestampOffset(NamedTuple):
    timestamp: int
    offset: int


class TimeIndex(IndexFile):
    entry_bytes = _ENTRY.size

    last_entry: TimestampOffset

    def _entries_changed(self) -> None:
        if self.entries:
            self.last_entry = self.entry(self.entries - 1)
        else:
            self.last_entry = TimestampOffset(NO_TIMESTAMP, self.base_offset)

    @property
    def is_full(self) -> bool:
        return self.entries >= self.entries_max - 1

    def entry(self, slot: int) -> TimestampOffset:
        timestamp, distance = _unpack_entry_from(self._memory, slot * 12)
        return TimestampOffset(timestamp, self.base_offset + distance)

    def append_if_newer(self, newest: TimestampOffset) -> None:
        """Add an entry if its timestamp is beyond the last one's; room for it was reserved."""
        last = self.last_entry
        if newest.timestamp <= last.timestamp:
            return
        assert not self.entries or newest.offset >= last.offset, "offsets in a time index never go back"
        _pack_entry_into(self._memory, self.entries * 12, newest.timestamp, newest.offset - self.base_offset)
        self.entries += 1
        self.last_entry = newest

    def lookup(self, timestamp: int) -> TimestampOffset:
        """The last entry at or before `timestamp`, or the segment's beginning."""
        self.open()
        low, high = 0, self.entries
        while low < high:
            middle = (low + high) >> 1
            if _unpack_entry_from(self._memory, middle * 12)[0] <= timestamp:
                low = middle + 1
            else:
                high = middle
        return self.entry(low - 1) if low else TimestampOffset(NO_TIMESTAMP, self.base_offset)

    def truncate_to(self, offset: int) -> None:
        """Drop the entries of `offset` and beyond."""
        self.open()
        low, high = 0, self.entries
        while low < high:
            middle = (low + high) >> 1
            if self.entry(middle).offset < offset:
                low = middle + 1
            else:
                high = middle
        self.truncate_to_entries(low)

    def sanity_check(self) -> None:
        self.open()
        if self.entries:
            if self.last_entry.timestamp < self.entry(0).timestamp:
                raise CorruptIndexError(f"{self.path}: last timestamp {self.last_entry.timestamp} is below the first")
            if self.last_entry.offset < self.base_offset:
                raise CorruptIndexError(f"{self.path}: last offset {self.last_entry.offset} is below the base offset")
        if self.file().size() % self.entry_bytes:
            raise CorruptIndexError(f"{self.path}: size is not a multiple of {self.entry_bytes}")
