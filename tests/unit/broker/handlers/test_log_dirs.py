"""DescribeLogDirs: what directories hold, how full they are, and which have failed."""

from __future__ import annotations

import errno

import pytest

from barnabas.broker.handlers.log_dirs import DescribeLogDirs, Room
from barnabas.protocol.api import APIS, ApiKey
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.describe_log_dirs import DescribableLogDirTopic, DescribeLogDirsRequest
from unit.broker.handlers.asking import serve
from unit.broker.hosting import Hosting, directory_id

PATHS = ("/a", "/b")


@pytest.fixture
def hosting() -> Hosting:
    hosting = Hosting(directories=PATHS)
    handler = DescribeLogDirs(hosting.directories, PATHS, lambda _: Room(1000, 10), lambda: ("/b",))
    serve(hosting, handler)
    hosting.create("t", partitions=2, directory=directory_id("/a"))
    hosting.create("u", directory=directory_id("/b"))
    return hosting


@pytest.mark.parametrize("version", APIS[ApiKey.DESCRIBE_LOG_DIRS].versions)
def test_every_directory_is_told_with_its_logs(hosting: Hosting, version: int) -> None:
    hosting.append(3)
    first, second = hosting.ask(DescribeLogDirsRequest(topics=None), version).results
    assert [first.log_dir, second.log_dir] == list(PATHS)
    (topic,) = first.topics
    assert topic.name == "t"
    size = hosting.replicas.find("t", 0).log.size_bytes
    assert size > 0
    assert [(each.partition_index, each.partition_size) for each in topic.partitions] == [(0, size), (1, 0)]
    assert [(each.offset_lag, each.is_future_key) for each in topic.partitions] == [(0, False)] * 2
    assert (first.total_bytes, first.usable_bytes) == ((1000, 10) if version >= 4 else (-1, -1))
    assert (first.is_cordoned, second.is_cordoned) == (False, version >= 5)


def test_only_what_is_asked_for_is_told(hosting: Hosting) -> None:
    asked = [DescribableLogDirTopic(topic="t", partitions=[1, 5]), DescribableLogDirTopic(topic="x", partitions=[0])]
    first, second = hosting.ask(DescribeLogDirsRequest(topics=asked)).results
    assert [(topic.name, [each.partition_index for each in topic.partitions]) for topic in first.topics] == [("t", [1])]
    assert second.topics == []


def test_a_directory_that_is_offline_is_told_as_such(hosting: Hosting) -> None:
    hosting.directories.take_offline("/b", OSError(errno.EIO, "gone"))
    first, second = hosting.ask(DescribeLogDirsRequest(topics=None)).results
    assert first.error_code == 0
    assert (second.error_code, second.topics) == (ErrorCode.KAFKA_STORAGE_ERROR, [])
