"""The `.txnindex` of a segment: the aborted transactions whose markers are in it, by rising last offset.

The file appears with its first entry. An incomplete entry at its end is not read and is written over.
"""

from __future__ import annotations

from collections.abc import Iterable
from struct import Struct
from typing import NamedTuple

from barnabas.ports.disk import Disk, File

VERSION = 0
_ENTRY = Struct(">hqqqq")


class CorruptTransactionIndexError(Exception):
    """An index whose entries cannot belong to its segment; it is rebuilt from the log."""


class AbortedTransaction(NamedTuple):
    producer_id: int
    first_offset: int
    last_offset: int  # That of the marker.
    last_stable_offset: int  # As the marker left it: no transaction that ends later started before it.


class AbortedSearch(NamedTuple):
    transactions: list[AbortedTransaction]
    is_complete: bool  # False: the next segment's index may hold more.


class TransactionIndex:
    def __init__(self, disk: Disk, path: str, start_offset: int) -> None:
        self._disk = disk
        self._path = path
        self._start_offset = start_offset
        self._file: File | None = disk.open(path) if disk.exists(path) else None
        self._size_bytes = self._file.size() // _ENTRY.size * _ENTRY.size if self._file else 0
        entries = self.entries()
        self._last_offset = entries[-1].last_offset if entries else -1

    @property
    def path(self) -> str:
        return self._path

    @property
    def is_empty(self) -> bool:
        return self._size_bytes == 0

    def append(self, transactions: Iterable[AbortedTransaction]) -> None:
        data = bytearray()
        last_offset = self._last_offset
        for transaction in transactions:
            if transaction.last_offset <= last_offset:
                raise ValueError(f"{self._path}: {transaction} does not follow offset {last_offset}")
            last_offset = transaction.last_offset
            data += _ENTRY.pack(VERSION, *transaction)
        if not data:
            return
        if self._file is None:
            self._file = self._disk.open(self._path, create=True)
        self._file.write_at(self._size_bytes, data)
        self._size_bytes += len(data)
        self._last_offset = last_offset

    def entries(self) -> list[AbortedTransaction]:
        if self._file is None:
            return []
        data = self._file.read_at(0, self._size_bytes)
        entries = []
        for version, *fields in _ENTRY.iter_unpack(data):
            if version > VERSION:
                raise CorruptTransactionIndexError(f"{self._path}: unknown version {version} of an entry")
            entries.append(AbortedTransaction(*fields))
        return entries

    def search(self, fetch_offset: int, upper_bound_offset: int) -> AbortedSearch:
        """The aborted transactions that a read of [fetch_offset, upper_bound_offset) may meet."""
        found = []
        for entry in self.entries():
            if entry.last_offset >= fetch_offset and entry.first_offset < upper_bound_offset:
                found.append(entry)
            if entry.last_stable_offset >= upper_bound_offset:
                return AbortedSearch(found, is_complete=True)
        return AbortedSearch(found, is_complete=False)

    def check(self) -> None:
        """Raise CorruptTransactionIndexError where an entry cannot be of this segment."""
        for entry in self.entries():
            if entry.last_offset < self._start_offset:
                raise CorruptTransactionIndexError(f"{self._path}: {entry} ends before {self._start_offset}")

    def truncate_to(self, offset: int) -> None:
        """Drop the transactions whose markers are at `offset` or later."""
        entries = self.entries()
        kept = [entry for entry in entries if entry.last_offset < offset]
        if self._file is not None and len(kept) < len(entries):
            self._size_bytes = len(kept) * _ENTRY.size
            self._file.truncate(self._size_bytes)
            self._last_offset = kept[-1].last_offset if kept else -1

    def reset(self) -> None:
        """Drop every entry, to build the index anew."""
        if self._file is not None:
            self._file.truncate(0)
        self._size_bytes = 0
        self._last_offset = -1

    def flush(self) -> None:
        if self._file is not None:
            self._file.flush()

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def move_to(self, path: str) -> None:
        """The file was renamed, or its directory was."""
        self._path = path

    def rename(self, path: str) -> None:
        if self._disk.exists(self._path):
            self._disk.rename(self._path, path)
        self._path = path

    def delete(self) -> None:
        self.close()
        if self._disk.exists(self._path):
            self._disk.remove(self._path)
