"""A broker's logs at its start: what is opened, what is set aside, and what becomes of a move that was under way."""

from __future__ import annotations

import errno
from random import Random

import pytest

from barnabas.log.checkpoint import TopicPartition
from barnabas.log.clean_shutdown import write_clean_shutdown
from barnabas.log.directories import LogDirectories
from barnabas.log.log_config import LogConfig
from barnabas.metadata.delta import MetadataDelta
from barnabas.metadata.image import EMPTY_IMAGE, MetadataImage, Provenance
from barnabas.metadata.topics import UNASSIGNED_DIRECTORY
from barnabas.protocol.metadata_records.partition import PartitionRecord
from barnabas.protocol.metadata_records.topic import TopicRecord
from barnabas.protocol.uuid import Uuid
from barnabas.runtime.broker.log_loading import load_logs, previous_broker_epoch
from barnabas.runtime.clock import SystemClock
from barnabas.sim.disk import SimDisk
from unit.broker.hosting import NODE, Hosting, directory_id
from unit.runtime.scripted import VirtualClock

BROKER = 1
PATHS = ("/a", "/b")
NAME = TopicPartition("t", 0)


def topic_id(name: str) -> Uuid:
    return Uuid(name.encode().ljust(16, b"."))


def image_with(**replicas: list[int]) -> MetadataImage:
    delta = MetadataDelta(EMPTY_IMAGE)
    for name, brokers in replicas.items():
        delta.replay(TopicRecord(name=name, topic_id=topic_id(name)))
        delta.replay(
            PartitionRecord(
                partition_id=0,
                topic_id=topic_id(name),
                replicas=brokers,
                isr=brokers,
                removing_replicas=[],
                adding_replicas=[],
                leader=brokers[0],
                leader_epoch=0,
                partition_epoch=0,
                directories=[UNASSIGNED_DIRECTORY] * len(brokers),
            )
        )
    return delta.apply(Provenance())


def opened(disk: SimDisk) -> LogDirectories:
    return LogDirectories(disk, PATHS, rng=Random(0))


def test_logs_that_are_not_assigned_to_this_broker_are_set_aside() -> None:
    disk = SimDisk()
    directories = opened(disk)
    directories.load(lambda _: LogConfig(), now_ms=0)
    for name in ("kept", "moved", "gone"):
        directories.create(TopicPartition(name, 0), LogConfig(), now_ms=0, topic_id=topic_id(name), path="/a")
    directories.create(TopicPartition("nameless", 0), LogConfig(), now_ms=0, path="/a")
    directories.close(broker_epoch=5, now_ms=0)
    again = opened(disk)
    image = image_with(kept=[BROKER, 2], moved=[2])
    load_logs(disk, again, lambda _: LogConfig(), image, BROKER, VirtualClock())
    assert list(again.logs) == [TopicPartition("kept", 0)]
    strays = [name.split("-")[0].split(".")[0] for name in disk.names("/a") if name.endswith("-stray")]
    assert sorted(strays) == ["gone", "moved", "nameless"]


@pytest.mark.parametrize(
    ("epochs", "expected"), [((7, 7), 7), ((7, 8), -1), ((7, None), -1), ((None, None), -1), ((0, 0), 0)]
)
def test_the_last_stop_was_clean_if_all_directories_agree(epochs: tuple[int | None, ...], expected: int) -> None:
    disk = SimDisk()
    for path, epoch in zip(PATHS, epochs, strict=True):
        disk.make_directory(path)
        if epoch is not None:
            write_clean_shutdown(disk, path, epoch)
    assert previous_broker_epoch(disk, opened(disk)) == expected


def test_the_last_stop_was_not_clean_where_a_directory_is_missing() -> None:
    disk = SimDisk()
    for path in PATHS:
        disk.make_directory(path)
        write_clean_shutdown(disk, path, 7)
    directories = opened(disk)
    directories.take_offline("/b", OSError(errno.EIO, "gone"))
    assert previous_broker_epoch(disk, directories) == -1


def stopped_in_a_move(assigned: str) -> Hosting:
    """A broker that has stopped while t-0 moved from /a to /b, when the metadata had it in `assigned`."""
    hosting = Hosting(directories=("/a", "/b"))
    hosting.create("t", directory=directory_id("/a"))
    hosting.append(3)
    hosting.directories.create(
        NAME, LogConfig(), now_ms=0, topic_id=hosting.directories.topic_ids[NAME], path="/b", is_future=True
    )
    hosting.change(directories=[directory_id(assigned)])
    hosting.directories.close(broker_epoch=1, now_ms=0)
    return hosting


def load(hosting: Hosting) -> LogDirectories:
    directories = LogDirectories(hosting.disk, ("/a", "/b"), rng=Random(1))
    load_logs(hosting.disk, directories, lambda _: LogConfig(), hosting.image, NODE, SystemClock())
    return directories


@pytest.mark.parametrize("assigned", ["/a", "/b"])
def test_a_move_whose_source_is_there_is_left_to_go_on(assigned: str) -> None:
    directories = load(stopped_in_a_move(assigned))
    assert directories.logs[NAME].directory == "/a/t-0"
    assert NAME in directories.future_logs


@pytest.mark.parametrize("assigned", ["/a", "/b"])
def test_a_future_log_serves_where_its_source_is_gone_and_the_controller_takes_it_for_the_replica(
    assigned: str,
) -> None:
    hosting = stopped_in_a_move(assigned)
    hosting.disk.fail("names", "/a", errno.EIO)
    directories = load(hosting)
    assert list(directories.failures) == ["/a"]
    if assigned == "/b":
        assert directories.logs[NAME].directory == "/b/t-0"
        assert not directories.future_logs
    else:
        assert not directories.logs
        assert NAME in directories.future_logs


def test_a_move_that_was_cut_off_between_its_two_renames_ends_with_what_was_moved() -> None:
    hosting = stopped_in_a_move("/b")
    (future,) = [name for name in hosting.disk.names("/b") if name.endswith("-future")]
    hosting.disk.rename(f"/b/{future}", "/b/t-0")
    directories = load(hosting)
    assert directories.logs[NAME].directory == "/b/t-0"
    assert [name for name in hosting.disk.names("/a") if name.startswith("t-0.") and name.endswith("-stray")]
