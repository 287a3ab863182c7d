"""The files that a dump looks at: opened for reading only, read in pieces, and taken as they are.

A segment is walked by the sizes that its batches state. Nothing else is believed, because a dump is wanted most where a
file is damaged.
"""

from __future__ import annotations

import mmap
import os
import re
from collections.abc import Iterator
from struct import Struct
from types import TracebackType
from typing import NamedTuple, Self

from barnabas.runtime.disk import PosixDisk, PosixFile

LOG_OVERHEAD_BYTES = 12
_SMALLEST_RECORD_BYTES = 14
_HEAD = Struct(">qiib")  # Offset and size, which every format has, and what stands before and at the magic.
_WINDOW_BYTES = 1 << 20
SEGMENT_BYTES_MAX = 2**31 - 1


class DumpError(Exception):
    """A file that cannot be dumped any further; the text says where and why."""


class ReadOnlyFile(PosixFile):
    __slots__ = ()

    def map(self) -> mmap.mmap:
        return mmap.mmap(self.fileno(), 0, access=mmap.ACCESS_READ)


class ReadOnlyDisk(PosixDisk):
    """A disk on which nothing is changed or made, so that the files of a running broker can be looked at."""

    def open(self, path: str, *, create: bool = False) -> ReadOnlyFile:  # noqa: ARG002 (what is absent stays absent)
        return ReadOnlyFile(os.open(path, os.O_RDONLY | os.O_CLOEXEC))


class RawBatch(NamedTuple):
    """A piece of a segment between two stated sizes: a record batch, or a message of the formats before it."""

    position: int
    offset: int  # The first one of a batch, the last one of an older message.
    magic: int
    data: bytes


class SegmentFile:
    """A `.log` or `.checkpoint` file."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._file = open(path, "rb", buffering=_WINDOW_BYTES)  # noqa: SIM115 (closed by __exit__)
        self.size_bytes = os.fstat(self._file.fileno()).st_size
        if self.size_bytes > SEGMENT_BYTES_MAX:
            raise DumpError(f"{path} has {self.size_bytes} bytes, more than a segment can have")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def batches(self, position: int = 0, limit_bytes: int = SEGMENT_BYTES_MAX) -> Iterator[RawBatch]:
        """The whole batches in at most `limit_bytes` from `position` on; what follows the last of them is left out."""
        if not 0 <= position <= self.size_bytes:
            raise DumpError(f"position {position} is outside of {self.path}, which has {self.size_bytes} bytes")
        if limit_bytes < 0:
            raise DumpError(f"{limit_bytes} is no number of bytes to read from {self.path}")
        end = min(position + limit_bytes, self.size_bytes)
        while position < end - _HEAD.size:
            self._file.seek(position)
            head = self._file.read(_HEAD.size)
            offset, length, _, magic = _HEAD.unpack(head)
            if length < _SMALLEST_RECORD_BYTES:
                raise DumpError(f"a record of {length} bytes at position {position} of {self.path} cannot be")
            size = LOG_OVERHEAD_BYTES + length
            if position + size > end:
                return
            yield RawBatch(position, offset, magic, head + self._file.read(size - _HEAD.size))
            position += size

    def read_at(self, position: int, size: int) -> bytes:
        return os.pread(self._file.fileno(), size, position)


def offset_in_name(path: str) -> int:
    """The number before the first dot of a file's name."""
    digits = os.path.basename(path).split(".")[0]
    if not re.fullmatch(r"[+-]?[0-9]+", digits):
        raise DumpError(f"{path} is not named after an offset")
    return int(digits)


def sibling(path: str, suffix: str) -> str:
    """The file of the same segment with another suffix."""
    directory, name = os.path.split(os.path.abspath(path))
    return os.path.join(directory, name.split(".")[0] + suffix)
