"""The files that a node keeps: what it asks of a disk, and what a disk promises back.

Nothing is durable before `File.flush` (its bytes and size) or `Disk.flush_directory` (the names in it) has returned.
Every call may raise OSError; FileNotFoundError means that the path is not there. Paths are absolute, parts joined by
"/".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

Buffer = bytes | bytearray | memoryview


class Mapping(Protocol):
    """A file's bytes as writable memory, of the size the file had when it was mapped.

    `struct` reads and writes it in place. Close it before the file is truncated: touching what is gone kills a process.
    """

    def __buffer__(self, flags: int, /) -> memoryview: ...
    def __len__(self) -> int: ...
    def flush(self) -> None: ...
    def close(self) -> None: ...


class File(Protocol):
    """An open file. Positions are absolute; no call moves a cursor."""

    def size(self) -> int: ...

    def read_at(self, position: int, size: int) -> bytes:
        """`size` bytes from `position`; fewer only where the file ends."""
        ...

    def write_at(self, position: int, data: Buffer) -> None:
        """Write all of `data`. After an OSError any part of it may be there."""
        ...

    def write_gathered_at(self, position: int, parts: Sequence[Buffer]) -> None:
        """Write the parts one behind the other, as one operation where the system has one."""
        ...

    def truncate(self, size: int) -> None:
        """Cut to `size`, or extend to it with zeros that take no room."""
        ...

    def map(self) -> Mapping: ...

    def flush(self) -> None:
        """Make the bytes and the size durable. Of a file that was closed meanwhile nobody wants to know."""
        ...

    def fileno(self) -> int:
        """The descriptor, for sendfile. A simulated file has none and raises OSError."""
        ...

    def close(self) -> None: ...


class Lock(Protocol):
    """A lock on a file that no other process holds; the system releases it when the process ends."""

    def release(self) -> None: ...


class Disk(Protocol):
    """A tree of directories and files."""

    def open(self, path: str, *, create: bool = False) -> File:
        """Open for reading and writing. With `create` an absent file is made, empty."""
        ...

    def names(self, directory: str) -> list[str]:
        """The entries of a directory, sorted."""
        ...

    def exists(self, path: str) -> bool: ...

    def is_directory(self, path: str) -> bool: ...

    def make_directory(self, path: str) -> None:
        """Make it and the parents it lacks; no error where it is there already."""
        ...

    def rename(self, source: str, target: str) -> None:
        """Rename a file or a directory; a file at `target` is replaced in the same instant."""
        ...

    def remove(self, path: str) -> None:
        """Remove a file."""
        ...

    def remove_directory(self, path: str) -> None:
        """Remove an empty directory."""
        ...

    def flush_directory(self, path: str) -> None:
        """Make creations, renames and removals in this directory durable."""
        ...

    def modified_ms(self, path: str) -> int: ...

    def set_modified_ms(self, path: str, modified_ms: int) -> None: ...

    def lock(self, path: str) -> Lock:
        """Take the POSIX record lock that Java's FileChannel takes; BlockingIOError where another process has it."""
        ...
