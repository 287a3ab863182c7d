"""The Disk port on a POSIX file system.

A write goes on until every byte is in, as the system may take fewer than it was given.
"""

from __future__ import annotations

import fcntl
import mmap
import os
from collections.abc import Sequence

from barnabas.ports.disk import Buffer

# What one pwritev may gather (IOV_MAX on Linux and macOS).
_GATHERED_PARTS_MAX = 1024


class PosixFile:
    """An open file; every call names its position."""

    __slots__ = ("_descriptor",)

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def size(self) -> int:
        return os.fstat(self._descriptor).st_size

    def read_at(self, position: int, size: int) -> bytes:
        data = os.pread(self._descriptor, size, position)
        if len(data) == size or not data:
            return data
        parts = [data]
        missing = size - len(data)
        position += len(data)
        while missing and (data := os.pread(self._descriptor, missing, position)):
            parts.append(data)
            missing -= len(data)
            position += len(data)
        return b"".join(parts)

    def write_at(self, position: int, data: Buffer) -> None:
        written = os.pwrite(self._descriptor, data, position)
        size = len(data)
        if written < size:
            rest = memoryview(data)
            while written < size:
                written += os.pwrite(self._descriptor, rest[written:], position + written)

    def write_gathered_at(self, position: int, parts: Sequence[Buffer]) -> None:
        pending = [memoryview(part) for part in parts if len(part)]
        while pending:
            written = os.pwritev(self._descriptor, pending[:_GATHERED_PARTS_MAX], position)
            position += written
            whole = 0
            while whole < len(pending) and written >= len(pending[whole]):
                written -= len(pending[whole])
                whole += 1
            del pending[:whole]
            if written:
                pending[0] = pending[0][written:]

    def truncate(self, size: int) -> None:
        os.ftruncate(self._descriptor, size)

    def map(self) -> mmap.mmap:
        return mmap.mmap(self._descriptor, 0)

    def flush(self) -> None:
        if self._descriptor < 0:
            return
        try:
            os.fsync(self._descriptor)
        except OSError:
            if self._descriptor >= 0:  # Otherwise another thread has closed it since.
                raise

    def fileno(self) -> int:
        return self._descriptor

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


class PosixLock:
    """A record lock over a whole file. Closing any descriptor of that file in this process would drop it."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def release(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


class PosixDisk:
    """The file system of this machine."""

    def open(self, path: str, *, create: bool = False) -> PosixFile:
        flags = os.O_RDWR | os.O_CLOEXEC | (os.O_CREAT if create else 0)
        return PosixFile(os.open(path, flags, 0o644))

    def names(self, directory: str) -> list[str]:
        return sorted(os.listdir(directory))

    def exists(self, path: str) -> bool:
        return os.path.exists(path)

    def is_directory(self, path: str) -> bool:
        return os.path.isdir(path)

    def make_directory(self, path: str) -> None:
        os.makedirs(path, exist_ok=True)

    def rename(self, source: str, target: str) -> None:
        os.rename(source, target)

    def remove(self, path: str) -> None:
        os.unlink(path)

    def remove_directory(self, path: str) -> None:
        os.rmdir(path)

    def flush_directory(self, path: str) -> None:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def modified_ms(self, path: str) -> int:
        return os.stat(path).st_mtime_ns // 1_000_000

    def set_modified_ms(self, path: str, modified_ms: int) -> None:
        modified_ns = modified_ms * 1_000_000
        os.utime(path, ns=(modified_ns, modified_ns))

    def lock(self, path: str) -> PosixLock:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(descriptor)
            if isinstance(error, PermissionError):  # Some systems answer EACCES where Linux answers EAGAIN.
                raise BlockingIOError(*error.args) from error
            raise
        return PosixLock(descriptor)
