"""Checkpoint files: a version, a count, and one entry a line, replaced whole and never seen half-written.

A file is written beside its place, flushed, and renamed over it. So what is read back is the last write that
returned, or one that was under way: a malformed file is damage, and an OSError like any other failing read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, TypeVar

from barnabas.ports.disk import Buffer, Disk

VERSION = 0
TEMPORARY_SUFFIX = ".tmp"

RECOVERY_POINT_CHECKPOINT = "recovery-point-offset-checkpoint"
REPLICATION_CHECKPOINT = "replication-offset-checkpoint"
LOG_START_CHECKPOINT = "log-start-offset-checkpoint"
CLEANER_CHECKPOINT = "cleaner-offset-checkpoint"

_NUMBER = re.compile(r"[+-]?[0-9]+")

Entry = TypeVar("Entry")


class MalformedCheckpointError(OSError):
    """A checkpoint file that does not hold what its kind of file holds."""


class TopicPartition(NamedTuple):
    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


def read_whole(disk: Disk, path: str) -> bytes:
    file = disk.open(path)
    try:
        return file.read_at(0, file.size())
    finally:
        file.close()


def replace_file(disk: Disk, path: str, data: Buffer) -> None:
    """Write a whole file durably: afterwards the old content is there or the new, never a part of either."""
    temporary = path + TEMPORARY_SUFFIX
    write_flushed(disk, temporary, data)
    disk.rename(temporary, path)
    disk.flush_directory(path.rpartition("/")[0])


def write_flushed(disk: Disk, path: str, data: Buffer) -> None:
    """Give a file this content, durably; its name is not."""
    file = disk.open(path, create=True)
    try:
        file.truncate(0)
        file.write_at(0, data)
        file.flush()
    finally:
        file.close()


def parse_number(text: str) -> int:
    """A decimal number of 64 bits as Java's parser takes it; ValueError for what Python alone would accept."""
    number = int(text) if _NUMBER.fullmatch(text) else None
    if number is None or not -(2**63) <= number < 2**63:
        raise ValueError(f"not a number: {text!r}")
    return number


def read_entries(disk: Disk, path: str, parse: Callable[[list[str]], Entry]) -> list[Entry]:
    """The entries of a checkpoint file, each parsed from its words; none where the file is absent or empty."""
    try:
        text = read_whole(disk, path).decode()
    except FileNotFoundError:
        return []
    except UnicodeDecodeError as error:
        raise MalformedCheckpointError(f"{path}: not text: {error}") from error
    lines = text.splitlines()
    if len(lines) < 2:
        # An absent count counts nothing; this is how a file looks that was created and never written.
        for line in lines:
            _check_version(path, line)
        return []
    _check_version(path, lines[0])
    expected = _parse_line(path, lines[1], lambda words: parse_number(*words))
    entries = [_parse_line(path, line, parse) for line in lines[2:]]
    if len(entries) != expected:
        raise MalformedCheckpointError(f"{path}: {expected} entries announced, {len(entries)} found")
    return entries


def write_entries(disk: Disk, path: str, lines: Iterable[str]) -> None:
    replace_file(disk, path, _format_entries(lines))


def _format_entries(lines: Iterable[str]) -> bytes:
    entries = list(lines)
    return "\n".join([str(VERSION), str(len(entries)), *entries, ""]).encode()


def read_offsets(disk: Disk, path: str) -> dict[TopicPartition, int]:
    return dict(read_entries(disk, path, _parse_offset))


def write_offsets(disk: Disk, path: str, offsets: Mapping[TopicPartition, int]) -> None:
    replace_file(disk, path, format_offsets(offsets))


def format_offsets(offsets: Mapping[TopicPartition, int]) -> bytes:
    """The content of a checkpoint file."""
    return _format_entries(f"{topic} {partition} {offset}" for (topic, partition), offset in offsets.items())


def _parse_offset(words: list[str]) -> tuple[TopicPartition, int]:
    topic, partition, offset = words
    return TopicPartition(topic, parse_number(partition)), parse_number(offset)


def _check_version(path: str, line: str) -> None:
    version = _parse_line(path, line, lambda words: parse_number(*words))
    if version != VERSION:
        raise MalformedCheckpointError(f"{path}: version {version} where {VERSION} was expected")


def _parse_line(path: str, line: str, parse: Callable[[list[str]], Entry]) -> Entry:
    try:
        return parse(line.split())
    except (ValueError, TypeError) as error:
        raise MalformedCheckpointError(f"{path}: malformed line {line!r}") from error
