"""The sparse index from an offset to the place of its batch in the log file.

An entry is 8 bytes: the last offset of a batch as its distance from the segment's base offset, and the batch's
position, both int32. Offsets ascend strictly. The batch of an offset begins at or behind the entry that `lookup` finds.
"""

from __future__ import annotations

from struct import Struct
from typing import NamedTuple

from barnabas.log.index_file import CorruptIndexError, IndexFile

_ENTRY = Struct(">ii")
_pack_entry_into = _ENTRY.pack_into
_unpack_entry_from = _ENTRY.unpack_from


class OffsetPosition(NamedTuple):
    offset: int
    position: int


class OffsetIndex(IndexFile):
    entry_bytes = _ENTRY.size

    last_offset: int

    def _entries_changed(self) -> None:
        self.last_offset = self.entry(self.entries - 1).offset if self.entries else self.base_offset

    def entry(self, slot: int) -> OffsetPosition:
        distance, position = _unpack_entry_from(self._memory, slot * 8)
        return OffsetPosition(self.base_offset + distance, position)

    def append(self, offset: int, position: int) -> None:
        """Add an entry; room for it was reserved."""
        assert not self.entries or offset > self.last_offset, "offsets in an index ascend"
        _pack_entry_into(self._memory, self.entries * 8, offset - self.base_offset, position)
        self.entries += 1
        self.last_offset = offset

    def lookup(self, offset: int) -> OffsetPosition:
        """The last entry at or before `offset`, or the segment's beginning."""
        self.open()
        slot = self._slots_up_to(offset)
        return self.entry(slot - 1) if slot else OffsetPosition(self.base_offset, 0)

    def find_position(self, offset: int) -> int:
        """Where to start looking for `offset`: the position that `lookup` gives."""
        if self._file is None:
            if self.is_counted and not self.entries:
                return 0
            self.open()
        slot = self._slots_up_to(offset)
        return _unpack_entry_from(self._memory, slot * 8 - 8)[1] if slot else 0

    def first_behind(self, position: int) -> OffsetPosition | None:
        """The first entry whose position is behind `position`."""
        self.open()
        low, high = 0, self.entries
        while low < high:
            middle = (low + high) >> 1
            if self.entry(middle).position <= position:
                low = middle + 1
            else:
                high = middle
        return self.entry(low) if low < self.entries else None

    def truncate_to(self, offset: int) -> None:
        """Drop the entries of `offset` and beyond."""
        self.open()
        self.truncate_to_entries(self._slots_up_to(offset - 1))

    def sanity_check(self) -> None:
        self.open()
        if self.entries and self.last_offset < self.base_offset:
            raise CorruptIndexError(f"{self.path}: last offset {self.last_offset} is below the base offset")
        if self.file().size() % self.entry_bytes:
            raise CorruptIndexError(f"{self.path}: size is not a multiple of {self.entry_bytes}")

    def _slots_up_to(self, offset: int) -> int:
        """How many entries are at or before `offset`."""
        distance = offset - self.base_offset
        memory = self._memory
        low, high = 0, self.entries
        while low < high:
            middle = (low + high) >> 1
            if _unpack_entry_from(memory, middle * 8)[0] <= distance:
                low = middle + 1
            else:
                high = middle
        return low
