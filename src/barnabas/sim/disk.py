"""A disk in memory that keeps only what a real one promises, for seeing what a power cut or a failing disk does.

Until a file is flushed each piece of at most 512 bytes of each write may or may not have reached the platter, may be
torn at any byte, or may have left zeros where the file grew; changes of size survive in order up to some point. Until a
directory is flushed its changes survive in the order they were made, up to some point. Memory that was written through
a mapping counts as any other write. Every call is numbered, so that a test can stop the world at each of them.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Sequence

from barnabas.ports.disk import Buffer
from barnabas.ports.rng import Rng

PIECE_BYTES = 512


class PowerCut(BaseException):
    """The world stopped. Not an Exception, so that no code under test handles it."""


class SimMapping(bytearray):
    """A file's cached bytes, which are at once the memory that a mapping shows."""

    inode: _Inode

    def flush(self) -> None:
        self.inode.disk.count("flush", self.inode.name)
        self.inode.flush()

    def close(self) -> None:
        self.inode.mappings -= 1


class _Inode:
    """A file's bytes: those that are safe, those in memory, and the changes between the two in order."""

    def __init__(self, disk: SimDisk, name: str, content: bytes = b"", modified_ms: int = 0) -> None:
        self.disk = disk
        self.name = name
        self.durable = content
        self.cached = SimMapping(content)
        self.cached.inode = self
        self.pending: list[tuple[int, bytes] | int] = []  # A write (position, data), or a new size.
        self.mappings = 0
        self.modified_ms = modified_ms

    def flush(self) -> None:
        self.durable = bytes(self.cached)
        self.pending.clear()

    def write(self, position: int, data: bytes) -> None:
        self.pending.append((position, data))
        _write(self.cached, position, data)
        self.modified_ms = self.disk.now_ms

    def resize(self, size: int) -> None:
        assert not self.mappings, f"{self.name} is mapped: the memory behind the new end would be gone"
        self.pending.append(size)
        _resize(self.cached, size)
        self.modified_ms = self.disk.now_ms

    def survive(self, rng: Rng) -> bytes:
        """What the platter may hold after a power cut."""
        if not self.pending and self.durable == bytes(self.cached):
            return self.durable
        written = bytearray(self.durable)
        for change in self.pending:
            if isinstance(change, int):
                _resize(written, change)
            else:
                _write(written, *change)
        changes = list(self.pending)
        if written != self.cached:  # Some memory was written through a mapping.
            changes += [
                (start, bytes(self.cached[start : start + PIECE_BYTES]))
                for start in range(0, len(written), PIECE_BYTES)
                if written[start : start + PIECE_BYTES] != self.cached[start : start + PIECE_BYTES]
            ]
        sizes_kept = rng.randrange(sum(isinstance(change, int) for change in changes) + 1)
        image = bytearray(self.durable)
        for change in changes:
            if isinstance(change, int):
                if sizes_kept:
                    sizes_kept -= 1
                    _resize(image, change)
            else:
                _tear(rng, image, *change)
        return bytes(image)


def _resize(image: bytearray, size: int) -> None:
    if size < len(image):
        del image[size:]
    else:
        image.extend(bytes(size - len(image)))


def _write(image: bytearray, position: int, data: bytes) -> None:
    if position > len(image):
        _resize(image, position)
    image[position : position + len(data)] = data


def _tear(rng: Rng, image: bytearray, position: int, data: bytes) -> None:
    """Write some of `data`: all, nothing, or piece by piece whatever chance takes."""
    fate = rng.randrange(4)
    if fate == 0:
        return
    if fate == 1:
        _write(image, position, data)
        return
    start = 0
    while start < len(data):
        end = min(len(data), start + PIECE_BYTES - (position + start) % PIECE_BYTES)
        match rng.randrange(4):
            case 0:
                _write(image, position + start, data[start:end])
            case 1:
                _write(image, position + start, data[start : start + rng.randrange(end - start)])
            case 2:
                _resize(image, max(len(image), position + end))
            case _:
                pass
        start = end


class _Directory:
    def __init__(self) -> None:
        self.durable: dict[str, _Inode | _Directory] = {}
        self.cached: dict[str, _Inode | _Directory] = {}

    def survive(self, disk: SimDisk, rng: Rng) -> _Directory:
        directory = _Directory()
        for name, node in self.durable.items():
            if isinstance(node, _Directory):
                directory.durable[name] = node.survive(disk, rng)
            else:
                directory.durable[name] = _Inode(disk, node.name, node.survive(rng), node.modified_ms)
        directory.cached = dict(directory.durable)
        return directory

    def as_written(self, disk: SimDisk) -> _Directory:
        directory = _Directory()
        for name, node in self.cached.items():
            if isinstance(node, _Directory):
                directory.durable[name] = node.as_written(disk)
            else:
                directory.durable[name] = _Inode(disk, node.name, bytes(node.cached), node.modified_ms)
        directory.cached = dict(directory.durable)
        return directory


# A change of directories that happens as a whole: (directory, name, what the name stands for now).
_Change = tuple[tuple[_Directory, str, "_Inode | _Directory | None"], ...]


class SimFile:
    def __init__(self, inode: _Inode) -> None:
        self._inode = inode
        self._disk = inode.disk
        self._is_open = True

    def _count(self, operation: str) -> None:
        assert self._is_open, f"{self._inode.name} is closed"
        self._disk.count(operation, self._inode.name)

    def size(self) -> int:
        self._count("size")
        return len(self._inode.cached)

    def read_at(self, position: int, size: int) -> bytes:
        self._count("read")
        return bytes(self._inode.cached[position : position + size])

    def write_at(self, position: int, data: Buffer) -> None:
        self.write_gathered_at(position, (data,))

    def write_gathered_at(self, position: int, parts: Sequence[Buffer]) -> None:
        data = b"".join(parts)
        self._count("write")
        allowed = self._disk.take_bytes(len(data))
        if allowed < len(data):
            self._inode.write(position, data[:allowed])
            raise PowerCut
        room = self._disk.take_room(position + len(data) - len(self._inode.cached))
        if room < 0:
            self._inode.write(position, data[: len(data) + room])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), self._inode.name)
        self._inode.write(position, data)

    def truncate(self, size: int) -> None:
        self._count("truncate")
        self._inode.resize(size)

    def map(self) -> SimMapping:
        self._count("map")
        if not self._inode.cached:
            raise ValueError("cannot mmap an empty file")
        self._inode.mappings += 1
        return self._inode.cached

    def flush(self) -> None:
        if self._is_open:
            self._count("flush")
            self._inode.flush()

    def fileno(self) -> int:
        raise OSError(errno.EBADF, "a simulated file has no descriptor", self._inode.name)

    def close(self) -> None:
        self._is_open = False


class SimLock:
    def __init__(self, locked: set[str], path: str) -> None:
        self._locked = locked
        self._path = path

    def release(self) -> None:
        self._locked.discard(self._path)


class SimDisk:
    """The whole tree. `after_power_cut` gives another disk with what survived, and may be asked many times."""

    def __init__(self) -> None:
        self.now_ms = 0
        self.operations = 0
        self.free_bytes: int | None = None
        self.bytes_until_cut: int | None = None  # The write that goes beyond is torn there, and the world stops.
        self.bytes_written = 0
        self.before_operation: Callable[[str, str], None] | None = None
        self._faults: list[tuple[str, str, int]] = []
        self._root = _Directory()
        self._pending: list[_Change] = []
        self._locked: set[str] = set()

    # What a test does to the disk.

    def after_power_cut(self, rng: Rng) -> SimDisk:
        """A disk with what a power cut in this moment leaves; chance decides about all that was not flushed."""
        disk = SimDisk()
        disk.now_ms = self.now_ms
        kept = rng.randrange(len(self._pending) + 1)
        saved = [(d, dict(d.durable)) for change in self._pending for d, _, _ in change]
        for change in self._pending[:kept]:
            _apply_durably(change)
        disk._root = self._root.survive(disk, rng)
        for directory, durable in reversed(saved):
            directory.durable = durable
        return disk

    def after_kill(self) -> SimDisk:
        """A disk with all that was written until this moment, as the end of a process leaves it."""
        disk = SimDisk()
        disk.now_ms = self.now_ms
        disk._root = self._root.as_written(disk)
        return disk

    def fail(self, operation: str, path_end: str, error: int) -> None:
        """Let the next such operation on a path that ends so raise an OSError with this number."""
        self._faults.append((operation, path_end, error))

    def count(self, operation: str, path: str) -> None:
        if self.before_operation is not None:
            self.before_operation(operation, path)
        self.operations += 1
        for fault in self._faults:
            if fault[0] == operation and path.endswith(fault[1]):
                self._faults.remove(fault)
                raise OSError(fault[2], os.strerror(fault[2]), path)

    def take_bytes(self, size: int) -> int:
        """Count a write; how much of it comes before the cut."""
        if self.bytes_until_cut is not None:
            size = min(size, self.bytes_until_cut - self.bytes_written)
        self.bytes_written += size
        return size

    def take_room(self, growth: int) -> int:
        """Take room for a file's growth; negative by as many bytes as there was no room for."""
        if self.free_bytes is None or growth <= 0:
            return 0
        self.free_bytes -= growth
        missing = min(self.free_bytes, 0)
        self.free_bytes -= missing
        return missing

    # The Disk port.

    def open(self, path: str, *, create: bool = False) -> SimFile:
        self.count("open", path)
        directory, name = self._parent(path)
        node = directory.cached.get(name)
        if node is None:
            if not create:
                raise _missing(path)
            node = _Inode(self, path, modified_ms=self.now_ms)
            self._change((directory, name, node))
        if isinstance(node, _Directory):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        return SimFile(node)

    def names(self, directory: str) -> list[str]:
        self.count("names", directory)
        return sorted(self._directory(directory).cached)

    def exists(self, path: str) -> bool:
        self.count("exists", path)
        return self._find(path) is not None

    def is_directory(self, path: str) -> bool:
        self.count("is_directory", path)
        return isinstance(self._find(path), _Directory)

    def make_directory(self, path: str) -> None:
        self.count("make_directory", path)
        directory = self._root
        for name in _parts(path):
            node = directory.cached.get(name)
            if node is None:
                node = _Directory()
                self._change((directory, name, node))
            if not isinstance(node, _Directory):
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)
            directory = node

    def rename(self, source: str, target: str) -> None:
        self.count("rename", source)
        node = self._find(source)
        if node is None:
            raise _missing(source)
        target_directory, target_name = self._parent(target)
        replaced = target_directory.cached.get(target_name)
        if isinstance(replaced, _Directory) and (replaced.cached or not isinstance(node, _Directory)):
            raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY), target)
        if isinstance(node, _Inode):
            node.name = target
        self._change((*self._parent(source), None), (target_directory, target_name, node))

    def remove(self, path: str) -> None:
        self.count("remove", path)
        if not isinstance(self._find(path), _Inode):
            raise _missing(path)
        self._change((*self._parent(path), None))

    def remove_directory(self, path: str) -> None:
        self.count("remove_directory", path)
        if self._directory(path).cached:
            raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY), path)
        self._change((*self._parent(path), None))

    def flush_directory(self, path: str) -> None:
        self.count("flush_directory", path)
        flushed = self._directory(path)
        waiting = []
        for change in self._pending:
            if any(directory is flushed for directory, _, _ in change):
                _apply_durably(change)
            else:
                waiting.append(change)
        self._pending = waiting

    def modified_ms(self, path: str) -> int:
        self.count("modified_ms", path)
        return self._file(path).modified_ms

    def set_modified_ms(self, path: str, modified_ms: int) -> None:
        self.count("set_modified_ms", path)
        self._file(path).modified_ms = modified_ms

    def lock(self, path: str) -> SimLock:
        self.open(path, create=True).close()
        if path in self._locked:
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN), path)
        self._locked.add(path)
        return SimLock(self._locked, path)

    # The tree.

    def _change(self, *change: tuple[_Directory, str, _Inode | _Directory | None]) -> None:
        for directory, name, node in change:
            if node is None:
                del directory.cached[name]
            else:
                directory.cached[name] = node
        self._pending.append(change)

    def _find(self, path: str) -> _Inode | _Directory | None:
        node: _Inode | _Directory | None = self._root
        for name in _parts(path):
            if not isinstance(node, _Directory):
                return None
            node = node.cached.get(name)
        return node

    def _directory(self, path: str) -> _Directory:
        node = self._find(path)
        if not isinstance(node, _Directory):
            raise _missing(path)
        return node

    def _file(self, path: str) -> _Inode:
        node = self._find(path)
        if not isinstance(node, _Inode):
            raise _missing(path)
        return node

    def _parent(self, path: str) -> tuple[_Directory, str]:
        parent, _, name = path.rpartition("/")
        return self._directory(parent), name


def _apply_durably(change: _Change) -> None:
    for directory, name, node in change:
        if node is None:
            directory.durable.pop(name, None)
        else:
            directory.durable[name] = node


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part]


def _missing(path: str) -> FileNotFoundError:
    return FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
