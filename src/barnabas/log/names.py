"""The names of a partition's files and directories, as Apache Kafka spells them.

A segment's files share the 20-digit base offset; a suffix behind the whole name says that a file is being cleaned,
swapped in or deleted. A partition's directory is `topic-partition`, or that with a unique part and a suffix.
"""

from __future__ import annotations

import re
from typing import NamedTuple

LOG = ".log"
OFFSET_INDEX = ".index"
TIME_INDEX = ".timeindex"
TRANSACTION_INDEX = ".txnindex"
PRODUCER_SNAPSHOT = ".snapshot"
METADATA_SNAPSHOT = ".checkpoint"
SEGMENT_FILES = (LOG, OFFSET_INDEX, TIME_INDEX, TRANSACTION_INDEX)

DELETED = ".deleted"
CLEANED = ".cleaned"
SWAP = ".swap"

DELETE_DIRECTORY = "-delete"
FUTURE_DIRECTORY = "-future"
STRAY_DIRECTORY = "-stray"

LEADER_EPOCH_CHECKPOINT = "leader-epoch-checkpoint"
PARTITION_METADATA = "partition.metadata"

NAME_BYTES_MAX = 255
_OFFSET_MAX = 2**63 - 1

_OFFSET_NAME = re.compile(r"([0-9]{20})(\.[a-z]+)(\.[a-z]+)?")
_MOVED_DIRECTORY = re.compile(r"(\S+-\S+)\.\S+(-delete|-future|-stray)")


class OffsetName(NamedTuple):
    """A file name taken apart: `00000000000000000042.log.swap` is (42, ".log", ".swap")."""

    offset: int
    kind: str
    suffix: str


class PartitionName(NamedTuple):
    """A partition directory's name taken apart; `suffix` is "" for a live partition."""

    topic: str
    partition: int
    suffix: str


def offset_name(offset: int, kind: str, suffix: str = "") -> str:
    return f"{offset:020d}{kind}{suffix}"


def parse_offset_name(name: str) -> OffsetName | None:
    """The parts of a file name that begins with an offset, or None for any other file."""
    match = _OFFSET_NAME.fullmatch(name)
    if match is None or int(match[1]) > _OFFSET_MAX:
        return None
    return OffsetName(int(match[1]), match[2], match[3] or "")


def partition_directory(topic: str, partition: int) -> str:
    return f"{topic}-{partition}"


def moved_directory(topic: str, partition: int, unique: str, suffix: str) -> str:
    """The name under which a partition waits to be deleted, to take over, or to be looked at by a person.

    `unique` is 32 hexadecimal digits. A long topic is cut where the file system could not hold the name, but never
    in a future directory, whose name must give the topic back.
    """
    tail = f"-{partition}.{unique}{suffix}"
    if suffix != FUTURE_DIRECTORY:
        topic = topic[: NAME_BYTES_MAX - len(tail)]
    return topic + tail


def parse_partition_directory(name: str) -> PartitionName | None:
    """The topic and partition that a directory holds, or None where the name is not a partition's."""
    suffix = next((s for s in (DELETE_DIRECTORY, FUTURE_DIRECTORY, STRAY_DIRECTORY) if name.endswith(s)), "")
    if suffix:
        match = _MOVED_DIRECTORY.fullmatch(name)
        if match is None:
            return None
        name = name[: name.rindex(".")]
    topic, dash, partition = name.rpartition("-")
    if not dash or not topic or not partition.isascii() or not partition.isdigit():
        return None
    return PartitionName(topic, int(partition), suffix)
