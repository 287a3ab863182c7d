"""A file of equal-sized entries that is written through memory, under both sparse indexes of a segment.

The active segment's file is as large as it may become, zeros behind the last entry; `trim` cuts it to its entries
when the segment is rolled or closed. Room on the disk is taken by an ordinary write before memory is touched, as a full
disk answers a write with an error but kills a process that touches a hole. A file that nobody asks is not held open: a
node may have ten thousand partitions, and descriptors for few of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from barnabas.ports.disk import Disk, File, Mapping

INT_MAX = 2**31 - 1

# Room is taken in pieces of this size; a file system's block is not larger where sparse files matter.
_ROOM_BYTES = 4096


class CorruptIndexError(Exception):
    """The index cannot belong to its segment; it is rebuilt from the log."""


class IndexFile(ABC):
    """Entries 0 to `entries` - 1 in ascending order. Opened on first use, as most segments are never asked."""

    entry_bytes: ClassVar[int]

    def __init__(self, disk: Disk, path: str, base_offset: int, max_bytes: int) -> None:
        self.path = path
        self.base_offset = base_offset
        self.entries = 0
        self.entries_max = 0
        self.entries_with_room = 0  # As many fit the room that is taken on the disk.
        self._disk = disk
        # The settings allow less than the one entry that a closed segment has.
        self._max_bytes = max(max_bytes, self.entry_bytes)
        self._is_counted = False
        self._file: File | None = None
        self._mapping: Mapping | None = None
        self._memory: Mapping | bytearray = bytearray()  # The mapping, or nothing where the file is empty.

    def create(self) -> None:
        """Make the file at full size, without entries; it is mapped when the first one is added."""
        size = self._rounded(self._max_bytes)
        file = self._disk.open(self.path, create=True)
        try:
            file.truncate(size)
        finally:
            file.close()
        self.entries_max = size // self.entry_bytes
        self._count(0)

    def open(self) -> None:
        """Map the file. Where its entries are not known it is taken to be full of them, and made where it is not."""
        if self._file is not None:
            return
        if not self._is_counted and not self._disk.exists(self.path):
            self.create()
        self._file = self._disk.open(self.path, create=True)
        size = self._file.size()
        self._map(size)
        if not self._is_counted:
            self._count(size // self.entry_bytes)

    def rest(self) -> None:
        """Let go of the file until somebody asks it again, and remember how many entries it has.

        Not while it is flushed: that would go on without it.
        """
        if self._file is not None:
            self._unmap()
            self._file.close()
            self._file = None
            # Whoever appends next reserves room first, which opens it.
            self.entries_with_room = self.entries

    @property
    def is_counted(self) -> bool:
        """Whether its entries are known: it was made or opened, and not closed since."""
        return self._is_counted

    @property
    def is_full(self) -> bool:
        return self.entries >= self.entries_max

    @property
    def size_bytes(self) -> int:
        """The bytes that hold entries; the file may be larger."""
        return self.entries * self.entry_bytes

    def can_hold(self, offset: int) -> bool:
        """Whether the distance from the base offset fits an entry."""
        return 0 <= offset - self.base_offset <= INT_MAX

    def reserve(self, entries: int = 1) -> None:
        """Take room on the disk for that many entries more."""
        wanted = self.entries + entries
        if wanted > self.entries_with_room:
            self.open()
            assert self._file is not None
            room = self.entries_with_room * self.entry_bytes
            end = min(-(-wanted * self.entry_bytes // _ROOM_BYTES) * _ROOM_BYTES, len(self._memory))
            self._file.write_at(room, bytes(end - room))
            self.entries_with_room = end // self.entry_bytes

    def truncate_to_entries(self, entries: int) -> None:
        """Forget the entries from that one on and leave zeros where they were."""
        self.open()
        start, end = entries * self.entry_bytes, self.entries * self.entry_bytes
        memoryview(self._memory)[start:end] = bytes(end - start)
        self.entries = entries
        self._entries_changed()

    def reset(self) -> None:
        """Drop every entry and make the file as large as it may become, to be built anew.

        What it held is not touched: after a crash most of it is a hole, which a full disk cannot fill.
        """
        self.close()
        file = self._disk.open(self.path, create=True)
        try:
            file.truncate(0)
        finally:
            file.close()
        self.open()
        self.grow()

    def resize(self, max_bytes: int) -> None:
        """Make the file this large, rounded down to whole entries; never smaller than its entries."""
        self.open()
        assert self._file is not None
        size = max(self._rounded(max_bytes), self.entries * self.entry_bytes)
        if size == self._file.size():
            return
        self._unmap()
        try:
            self._file.truncate(size)
            self.entries_with_room = min(self.entries_with_room, size // self.entry_bytes)
        finally:
            self._map(self._file.size())

    def grow(self) -> None:
        """Make room for all the entries that an active segment may want."""
        self.resize(self._max_bytes)

    def trim(self) -> None:
        self.open()
        self.resize(self.entries * self.entry_bytes)

    def file(self) -> File:
        """The file to flush: flushing it takes what was written through memory along."""
        self.open()
        assert self._file is not None
        return self._file

    def moved(self, path: str) -> None:
        """The file has another name now."""
        self.path = path

    def close(self) -> None:
        self.rest()
        self._is_counted = False

    def _count(self, entries: int) -> None:
        self.entries = self.entries_with_room = entries
        self._is_counted = True
        self._entries_changed()

    @abstractmethod
    def _entries_changed(self) -> None:
        """Read the last entry again."""

    def _rounded(self, size: int) -> int:
        return size // self.entry_bytes * self.entry_bytes

    def _map(self, size: int) -> None:
        assert self._file is not None
        if size:
            self._memory = self._mapping = self._file.map()
        self.entries_max = size // self.entry_bytes

    def _unmap(self) -> None:
        if self._mapping is not None:
            self._mapping.close()
            self._mapping = None
        self._memory = bytearray()
