"""`partition.metadata` of a partition's directory: the id of the topic that its log was created for."""

from __future__ import annotations

import re

from barnabas.log.checkpoint import parse_number, read_whole, replace_file
from barnabas.log.names import PARTITION_METADATA
from barnabas.ports.disk import Disk
from barnabas.protocol.uuid import ZERO_UUID, Uuid

VERSION = 0
_SEPARATOR = re.compile(r":\s+")


class MalformedPartitionMetadataError(OSError):
    """A file that does not name a topic; like any unreadable file, damage to its log directory."""


def read_topic_id(disk: Disk, directory: str) -> Uuid | None:
    """The topic's id; None where the file is absent, as in logs from before topics had ids."""
    path = f"{directory}/{PARTITION_METADATA}"
    try:
        text = read_whole(disk, path).decode()
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise MalformedPartitionMetadataError(f"{path}: not text") from error
    try:
        version_line, topic_line, *_ = text.splitlines()
        _, version = _SEPARATOR.split(version_line)
        # A later version is read as this one, so that a downgraded broker still finds its topics.
        if parse_number(version) < VERSION:
            raise ValueError(f"version {version}")
        _, topic_id = _SEPARATOR.split(topic_line)
        parsed = Uuid.parse(topic_id)
        if parsed == ZERO_UUID:
            raise ValueError("the zero id names no topic")
    except ValueError as error:
        raise MalformedPartitionMetadataError(f"{path}: {error}") from error
    return parsed


def write_topic_id(disk: Disk, directory: str, topic_id: Uuid) -> None:
    text = f"version: {VERSION}\ntopic_id: {topic_id}"
    replace_file(disk, f"{directory}/{PARTITION_METADATA}", text.encode())
