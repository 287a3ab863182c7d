"""`partition.metadata`: Kafka's two lines, and damage that is an error of the disk."""

from __future__ import annotations

import pytest

from barnabas.log.checkpoint import read_whole
from barnabas.log.partition_metadata import MalformedPartitionMetadataError, read_topic_id, write_topic_id
from barnabas.protocol.uuid import Uuid
from barnabas.sim.disk import SimDisk

TOPIC_ID = Uuid.parse("-hKEJHYRRPuZ8E5dCWlsVw")
PATH = "/t-0/partition.metadata"


@pytest.fixture
def disk() -> SimDisk:
    disk = SimDisk()
    disk.make_directory("/t-0")
    return disk


def test_the_file_is_kafkas(disk: SimDisk) -> None:
    assert read_topic_id(disk, "/t-0") is None
    write_topic_id(disk, "/t-0", TOPIC_ID)
    assert read_whole(disk, PATH) == b"version: 0\ntopic_id: -hKEJHYRRPuZ8E5dCWlsVw"
    assert read_topic_id(disk, "/t-0") == TOPIC_ID


def test_a_later_version_is_read_as_this_one(disk: SimDisk) -> None:
    disk.open(PATH, create=True).write_at(0, b"version: 9\ntopic_id: -hKEJHYRRPuZ8E5dCWlsVw\nmore: 1\n")
    assert read_topic_id(disk, "/t-0") == TOPIC_ID


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"version: 0",
        b"version: -1\ntopic_id: -hKEJHYRRPuZ8E5dCWlsVw",
        b"version: x\ntopic_id: -hKEJHYRRPuZ8E5dCWlsVw",
        b"version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAA",
        b"version: 0\ntopic_id: short",
        b"\xff\xfe",
    ],
)
def test_anything_else_is_damage(disk: SimDisk, content: bytes) -> None:
    disk.open(PATH, create=True).write_at(0, content)
    with pytest.raises(MalformedPartitionMetadataError):
        read_topic_id(disk, "/t-0")
