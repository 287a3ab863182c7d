"""Several log directories: what is opened, where partitions go, and what a failing disk takes along."""

from __future__ import annotations

import errno
from collections.abc import Callable
from random import Random
from unittest import mock

import pytest

from barnabas.log.checkpoint import (
    LOG_START_CHECKPOINT,
    RECOVERY_POINT_CHECKPOINT,
    TopicPartition,
    read_offsets,
    read_whole,
    write_offsets,
)
from barnabas.log.directories import LogDirectories, remove_tree
from barnabas.log.directory_opening import LogDirectoryError
from barnabas.log.log_config import LogConfig
from barnabas.log.log_directory import CHECKPOINTED, NewLog
from barnabas.log.meta_properties import MetaProperties, write_meta_properties
from barnabas.log.names import parse_partition_directory
from barnabas.log.partition_log import PartitionLog
from barnabas.log.partition_metadata import read_topic_id
from barnabas.log.producer_entry import AppendOrigin
from barnabas.protocol.errors import InconsistentTopicId, KafkaStorageError
from barnabas.protocol.uuid import Uuid
from barnabas.records.build import build_batch
from barnabas.records.record import Record
from barnabas.sim.disk import SimDisk, SimFile

CONFIG = LogConfig(segment_index_bytes=1024, file_delete_delay_ms=60_000)
TOPIC_ID = Uuid.parse("-hKEJHYRRPuZ8E5dCWlsVw")
ORDERS = TopicPartition("orders", 0)


def open_directories(disk: SimDisk, *paths: str, load: bool = True) -> LogDirectories:
    directories = LogDirectories(disk, paths or ("/a", "/b"), rng=Random(1))
    if load:
        directories.load(lambda _topic: CONFIG, now_ms=0)
    return directories


def create(directories: LogDirectories, topic: str, partition: int = 0, **options: object) -> PartitionLog:
    return directories.create(TopicPartition(topic, partition), CONFIG, now_ms=0, **options)  # type: ignore[arg-type]


def append(log: PartitionLog, value: bytes = b"v") -> None:
    log.append_as_leader(build_batch([Record(0, 1, None, value)]), 0, 1, origin=AppendOrigin.REPLICATION)
    log.update_high_watermark(log.log_end_offset)


def remove_due(directories: LogDirectories, disk: SimDisk, now_ms: int) -> None:
    for path in directories.take_due(now_ms):
        remove_tree(disk, path)


def parent(log: PartitionLog) -> str:
    return log.directory.rpartition("/")[0]


# Opening


def test_directories_are_made_locked_and_told_apart_by_their_ids() -> None:
    disk = SimDisk()
    disk.make_directory("/a")
    write_meta_properties(disk, "/a", MetaProperties(cluster_id="c", node_id=1, directory_id=TOPIC_ID), 0)
    directories = open_directories(disk)
    assert disk.is_directory("/b")
    assert directories.directory_ids == {"/a": TOPIC_ID}
    with pytest.raises(LogDirectoryError, match="in use"):
        open_directories(disk, "/c", "/b")
    open_directories(disk, "/c")  # The failed attempt let go of the lock that it had.


def test_one_directory_cannot_be_given_twice() -> None:
    with pytest.raises(LogDirectoryError, match="twice"):
        open_directories(SimDisk(), "/a", "/a")


def test_a_directory_with_unreadable_meta_properties_is_refused_and_let_go() -> None:
    disk = SimDisk()
    disk.make_directory("/a")
    disk.open("/a/meta.properties", create=True).write_at(0, b"version=9\n")
    with pytest.raises(LogDirectoryError, match="version 9"):
        open_directories(disk, "/a")
    disk.remove("/a/meta.properties")
    open_directories(disk, "/a")


def test_a_directory_that_cannot_be_opened_is_offline_and_the_others_are_not() -> None:
    disk = SimDisk()
    disk.fail("make_directory", "/a", errno.EIO)
    directories = open_directories(disk)
    assert [directory.path for directory in directories.online] == ["/b"]
    assert directories.failures["/a"].errno == errno.EIO


def test_logs_come_back_after_a_clean_stop_with_the_brokers_epoch() -> None:
    disk = SimDisk()
    directories = open_directories(disk)
    append(create(directories, "orders"))
    create(directories, "a-b.c", 11)
    directories.close(broker_epoch=77, now_ms=0)
    assert read_whole(disk, "/a/.kafka_cleanshutdown") == b'{"version":0,"brokerEpoch":77}'

    reopened = open_directories(disk)
    assert sorted(reopened.logs) == [TopicPartition("a-b.c", 11), ORDERS]
    assert reopened.logs[ORDERS].log_end_offset == 1
    assert {directory.previous_broker_epoch for directory in reopened.online} == {77}
    assert not disk.exists("/a/.kafka_cleanshutdown")


def test_a_start_that_is_cut_off_makes_the_next_one_unclean() -> None:
    disk = SimDisk()
    open_directories(disk).close(broker_epoch=1, now_ms=0)
    open_directories(disk)
    survivor = disk.after_power_cut(Random(0))
    assert open_directories(survivor).online[0].previous_broker_epoch is None


@pytest.mark.parametrize("content", [b"", b"{}", b"[1]", b'{"brokerEpoch": "x"}', b"[" * 100_000])
def test_a_marker_without_an_epoch_still_means_a_clean_stop(content: bytes) -> None:
    disk = SimDisk()
    disk.make_directory("/a")
    disk.open("/a/.kafka_cleanshutdown", create=True).write_at(0, content)
    assert open_directories(disk, "/a").online[0].previous_broker_epoch == -1


def test_the_metadata_log_and_other_known_directories_are_left_alone() -> None:
    disk = SimDisk()
    for name in ("__cluster_metadata-0", "remote-log-index-cache"):
        disk.make_directory(f"/a/{name}")
    disk.open("/a/bootstrap.checkpoint", create=True)
    assert open_directories(disk, "/a").logs == {}
    assert disk.names("/a/__cluster_metadata-0") == []


def test_a_directory_that_is_no_partitions_is_refused() -> None:
    disk = SimDisk()
    disk.make_directory("/a/lost+found")
    with pytest.raises(LogDirectoryError, match=r"lost\+found"):
        open_directories(disk, "/a")


def test_a_partition_in_two_directories_is_refused() -> None:
    disk = SimDisk()
    for path in ("/a", "/b"):
        directories = open_directories(disk, path)
        create(directories, "orders")
        directories.close(broker_epoch=1, now_ms=0)
    with pytest.raises(LogDirectoryError, match="orders-0"):
        open_directories(disk)


def test_the_checkpoints_tell_where_a_log_starts_and_from_where_to_recover() -> None:
    disk = SimDisk()
    directories = open_directories(disk, "/a")
    log = create(directories, "orders")
    for _ in range(5):
        append(log)
    log.delete_records_before(2)
    log.flush(0)
    append(log)
    directories.checkpoint(*CHECKPOINTED)
    assert read_offsets(disk, "/a/recovery-point-offset-checkpoint") == {ORDERS: 5}
    assert read_offsets(disk, "/a/log-start-offset-checkpoint") == {ORDERS: 2}
    assert directories.read_high_watermarks(directories.online[0]) == {ORDERS: 6}
    log.flush(0)
    survivor = disk.after_power_cut(Random(0))
    assert open_directories(survivor, "/a").logs[ORDERS].log_start_offset == 2


def test_a_log_that_starts_with_its_first_segment_needs_no_checkpoint() -> None:
    disk = SimDisk()
    directories = open_directories(disk, "/a")
    create(directories, "orders")
    directories.checkpoint(LOG_START_CHECKPOINT)
    assert read_offsets(disk, "/a/log-start-offset-checkpoint") == {}


def test_damaged_checkpoints_take_the_directory_offline() -> None:
    disk = SimDisk()
    disk.make_directory("/a")
    disk.open("/a/recovery-point-offset-checkpoint", create=True).write_at(0, b"7\n")
    directories = open_directories(disk)
    assert [directory.path for directory in directories.online] == ["/b"]


# Creating


def test_a_new_partition_goes_where_the_fewest_are() -> None:
    directories = open_directories(SimDisk(), "/a", "/b", "/c")
    logs = [create(directories, "orders", partition) for partition in range(4)]
    assert [parent(log) for log in logs] == ["/a", "/b", "/c", "/a"]
    directories.delete(TopicPartition("orders", 1), now_ms=0)
    assert parent(create(directories, "other")) == "/b"


def test_many_logs_are_made_at_once_where_one_by_one_would_have_been() -> None:
    disk = SimDisk()
    directories = open_directories(disk, "/a", "/b")
    create(directories, "t", 0, path="/a")
    partitions = [TopicPartition("t", index) for index in range(4)]
    disk.fail("flush", "/t-2/partition.metadata.tmp", errno.EIO)
    new = [
        NewLog(partition, LogConfig(), TOPIC_ID, "/b" if partition.partition == 3 else None) for partition in partitions
    ]
    directories.create_all(new, now_ms=0)
    # What could not be made is left without a trace to whoever makes it one by one, and finds out why.
    assert [parent(directories.logs[partition]) for partition in partitions if partition.partition != 2] == [
        "/a",
        "/b",
        "/b",
    ]
    assert not any(name.startswith("t-2") for path in ("/a", "/b") for name in disk.names(path))
    assert [directory.path for directory in directories.online] == ["/a", "/b"]
    again = open_directories(disk.after_power_cut(Random(0)), "/a", "/b")
    assert set(again.logs) == set(directories.logs)
    assert again.topic_ids[partitions[1]] == TOPIC_ID


def test_a_log_that_is_there_is_given_again_unless_its_topic_is_another() -> None:
    disk = SimDisk()
    directories = open_directories(disk)
    log = create(directories, "orders", topic_id=TOPIC_ID)
    assert read_topic_id(disk, "/a/orders-0") == TOPIC_ID
    assert create(directories, "orders", topic_id=TOPIC_ID) is log
    with pytest.raises(InconsistentTopicId):
        create(directories, "orders", topic_id=Uuid(bytes(16)))
    directories.close(broker_epoch=1, now_ms=0)
    assert open_directories(disk).topic_ids == {ORDERS: TOPIC_ID}


def test_a_directory_that_cannot_take_a_partition_goes_offline_and_the_next_takes_it() -> None:
    disk = SimDisk()
    directories = open_directories(disk)
    disk.fail("make_directory", "/a/orders-0", errno.EROFS)
    assert parent(create(directories, "orders")) == "/b"
    assert list(directories.failures) == ["/a"]


def test_a_partition_that_a_full_disk_had_no_room_for_is_only_where_there_was_room() -> None:
    disk = SimDisk()
    directories = open_directories(disk)
    disk.fail("write", "/a/orders-0/partition.metadata.tmp", errno.ENOSPC)
    assert parent(create(directories, "orders", topic_id=TOPIC_ID)) == "/b"
    assert not disk.exists("/a/orders-0")
    assert not directories.failures
    directories.close(broker_epoch=1, now_ms=0)
    assert list(open_directories(disk).logs) == [ORDERS]


def test_a_partition_that_no_directory_takes_is_refused_with_the_reasons() -> None:
    disk = SimDisk()
    directories = open_directories(disk)
    disk.fail("make_directory", "/a/orders-0", errno.ENOSPC)
    disk.fail("make_directory", "/b/orders-0", errno.EROFS)
    with pytest.raises(KafkaStorageError, match=r"No space left.*Read-only"):
        create(directories, "orders")
    assert not directories.logs


def test_a_partition_that_is_not_new_is_not_made_again_while_a_directory_is_offline() -> None:
    directories = open_directories(SimDisk())
    directories.take_offline("/a", OSError(errno.EIO, "broken"))
    with pytest.raises(KafkaStorageError, match="/a"):
        create(directories, "orders", is_new=False)
    assert parent(create(directories, "orders")) == "/b"


# Failing


def test_a_failing_directory_goes_offline_and_the_others_carry_on() -> None:
    disk = SimDisk()
    directories = open_directories(disk)
    first, second = create(directories, "orders", 0), create(directories, "orders", 1)
    disk.fail("write", "00000000000000000000.log", errno.EIO)
    with pytest.raises(KafkaStorageError), directories.guard("/a"):
        append(first)
    assert list(directories.logs) == [TopicPartition("orders", 1)]
    append(second)
    assert list(directories.failures) == ["/a"]
    directories.checkpoint(RECOVERY_POINT_CHECKPOINT)
    assert not disk.exists("/a/recovery-point-offset-checkpoint")
    directories.close(broker_epoch=1, now_ms=0)
    assert not disk.exists("/a/.kafka_cleanshutdown")
    assert disk.exists("/b/.kafka_cleanshutdown")


def test_a_full_disk_leaves_the_directory_online() -> None:
    disk = SimDisk()
    directories = open_directories(disk)
    log = create(directories, "orders")
    disk.free_bytes = 0
    with pytest.raises(KafkaStorageError), directories.guard("/a"):
        append(log)
    directories.checkpoint(RECOVERY_POINT_CHECKPOINT)
    disk.free_bytes = None
    append(log)
    assert not directories.failures
    assert log.log_end_offset == 1


def test_a_disk_that_is_full_at_the_start_takes_its_directory_offline() -> None:
    disk = SimDisk()
    append(create(open_directories(disk, "/a"), "orders"))
    disk.flush_directory("/a/orders-0")
    disk = disk.after_power_cut(Random(0))
    disk.fail("open", "00000000000000000000.index", errno.ENOSPC)
    directories = open_directories(disk)
    assert list(directories.failures) == ["/a"]
    assert not directories.logs
    # Otherwise it would be opened as if nothing had to be recovered.
    with pytest.raises(KafkaStorageError, match="may be in"):
        create(directories, "orders", is_new=False)


def _noting(opened: list[SimFile], open_file: Callable[..., SimFile]) -> Callable[..., SimFile]:
    def note(*arguments: object, **options: object) -> SimFile:
        file = open_file(*arguments, **options)
        opened.append(file)
        return file

    return note


def test_a_log_that_cannot_be_opened_keeps_no_file_open() -> None:
    disk = SimDisk()
    directories = open_directories(disk, "/a")
    log = create(directories, "orders")
    for _ in range(3):
        append(log)
        log.roll(1)
    log.release()
    directories.take_offline("/a", OSError())
    disk.fail("open", "00000000000000000002.log", errno.EMFILE)
    opened: list[SimFile] = []
    with mock.patch.object(disk, "open", side_effect=_noting(opened, disk.open)):
        assert list(open_directories(disk, "/a").failures) == ["/a"]
    assert opened
    for file in opened:
        with pytest.raises(AssertionError, match="closed"):
            file.size()
    assert open_directories(disk, "/a").logs[ORDERS].log_end_offset == 3


@pytest.mark.parametrize("error", [errno.EIO, errno.ENOSPC])
def test_a_log_that_cannot_be_closed_keeps_its_directory_from_being_clean(error: int) -> None:
    disk = SimDisk()
    directories = open_directories(disk)
    append(create(directories, "orders"))
    disk.fail("flush", "/a/orders-0/00000000000000000000.log", error)
    directories.close(broker_epoch=1, now_ms=0)
    assert not disk.exists("/a/.kafka_cleanshutdown")
    assert disk.exists("/b/.kafka_cleanshutdown")


# Moving and deleting


def test_a_deleted_log_is_out_of_service_at_once_and_gone_after_the_delay() -> None:
    disk = SimDisk()
    directories = open_directories(disk, "/a")
    append(create(directories, "orders", topic_id=TOPIC_ID))
    directories.checkpoint(RECOVERY_POINT_CHECKPOINT)
    directories.delete(ORDERS, now_ms=1_000)
    assert ORDERS not in directories.logs
    (waiting,) = [name for name in disk.names("/a") if disk.is_directory(f"/a/{name}")]
    assert waiting.startswith("orders-0.")
    assert waiting.endswith("-delete")
    # A topic of the same name starts anew.
    assert read_offsets(disk, "/a/recovery-point-offset-checkpoint") == {}
    assert create(directories, "orders", topic_id=Uuid(bytes(15) + b"\x01")).log_end_offset == 0
    assert directories.deletion_due_ms == 61_000
    remove_due(directories, disk, 60_999)
    assert disk.exists(f"/a/{waiting}")
    remove_due(directories, disk, 61_000)
    assert not disk.exists(f"/a/{waiting}")
    assert directories.deletion_due_ms is None


def test_a_checkpoint_written_elsewhere_takes_effect_unless_a_newer_one_is_there() -> None:
    disk = SimDisk()
    directories = open_directories(disk, "/a")
    log = create(directories, "orders")
    append(log)
    log.flush(0)
    (overtaken,) = directories.prepare_checkpoints(RECOVERY_POINT_CHECKPOINT)
    overtaken.run()
    append(log)
    log.flush(0)
    directories.checkpoint(RECOVERY_POINT_CHECKPOINT)
    directories.put_in_place(overtaken)
    assert read_offsets(disk, "/a/recovery-point-offset-checkpoint") == {ORDERS: 2}
    append(log)
    log.flush(0)
    (newest,) = directories.prepare_checkpoints(RECOVERY_POINT_CHECKPOINT)
    newest.run()
    assert read_offsets(disk, "/a/recovery-point-offset-checkpoint") == {ORDERS: 2}
    directories.put_in_place(newest)
    assert read_offsets(disk, "/a/recovery-point-offset-checkpoint") == {ORDERS: 3}
    assert [name for name in disk.names("/a") if "tmp" in name] == []


def test_what_awaited_deletion_at_the_last_stop_is_deleted_after_the_next_start() -> None:
    disk = SimDisk()
    directories = open_directories(disk, "/a")
    append(create(directories, "orders"))
    directories.delete(ORDERS, now_ms=0)
    directories.close(broker_epoch=1, now_ms=0)
    reopened = open_directories(disk, "/a")
    assert reopened.logs == {}
    remove_due(reopened, disk, 60_000)
    assert [name for name in disk.names("/a") if "orders" in name] == []


def test_a_stray_is_renamed_and_never_deleted() -> None:
    disk = SimDisk()
    directories = open_directories(disk, "/a")
    append(create(directories, "orders", topic_id=TOPIC_ID))
    append(create(directories, "kept"))
    directories.close(broker_epoch=1, now_ms=0)
    reopened = open_directories(disk, "/a", load=False)
    reopened.load(lambda _: CONFIG, now_ms=0, is_stray=lambda found: found.topic_id == TOPIC_ID)
    assert list(reopened.logs) == [TopicPartition("kept", 0)]
    stray = reopened.set_aside(TopicPartition("kept", 0))
    assert stray.startswith("/a/kept-0.")
    assert len([name for name in disk.names("/a") if name.endswith("-stray")]) == 2
    reopened.close(broker_epoch=2, now_ms=0)
    again = open_directories(disk, "/a")
    remove_due(again, disk, 10**12)
    assert again.logs == {}
    assert len([name for name in disk.names("/a") if name.endswith("-stray")]) == 2


def test_a_future_log_whose_topic_is_gone_is_a_stray_too() -> None:
    disk = SimDisk()
    directories = open_directories(disk)
    create(directories, "orders", topic_id=TOPIC_ID)
    create(directories, "orders", topic_id=TOPIC_ID, path="/b", is_future=True)
    directories.close(broker_epoch=1, now_ms=0)
    reopened = open_directories(disk, load=False)
    reopened.load(lambda _: CONFIG, now_ms=0, is_stray=lambda found: found.topic_id == TOPIC_ID)
    assert (reopened.logs, reopened.future_logs) == ({}, {})
    for path in ("/a", "/b"):
        (stray,) = [name for name in disk.names(path) if disk.is_directory(f"{path}/{name}")]
        assert parse_partition_directory(stray) == ("orders", 0, "-stray")


def test_a_long_topic_is_cut_in_the_name_of_a_deleted_log() -> None:
    disk = SimDisk()
    directories = open_directories(disk, "/a")
    create(directories, "t" * 249)
    directories.delete(TopicPartition("t" * 249, 0), now_ms=0)
    (waiting,) = [name for name in disk.names("/a") if name.endswith("-delete")]
    assert len(waiting) == 255


def test_a_future_log_takes_over() -> None:
    disk = SimDisk()
    directories = open_directories(disk)
    current = create(directories, "orders", topic_id=TOPIC_ID)
    append(current)
    future = create(directories, "orders", path="/b", is_future=True)
    append(future)
    assert future.directory.endswith("-future")
    directories.close(broker_epoch=1, now_ms=0)

    reopened = open_directories(disk)
    assert parent(reopened.logs[ORDERS]) == "/a"
    assert parent(reopened.future_logs[ORDERS]) == "/b"
    reopened.logs[ORDERS].update_high_watermark(1)
    promoted = reopened.promote_future(ORDERS, now_ms=0)
    assert promoted.directory == "/b/orders-0"
    assert promoted.high_watermark == 1
    assert reopened.logs[ORDERS] is promoted
    assert not reopened.future_logs
    assert reopened.topic_ids == {ORDERS: TOPIC_ID}
    append(promoted)
    assert promoted.log_end_offset == 2
    assert next(name for name in disk.names("/a") if name.startswith("orders")).endswith("-delete")


def test_a_future_log_takes_over_from_a_directory_that_fails_at_that_moment() -> None:
    disk = SimDisk()
    directories = open_directories(disk)
    create(directories, "orders", topic_id=TOPIC_ID)
    future = create(directories, "orders", path="/b", is_future=True)
    disk.fail("rename", "/a/orders-0", errno.EIO)
    assert directories.promote_future(ORDERS, now_ms=0) is future
    assert directories.logs == {ORDERS: future}
    assert directories.topic_ids == {ORDERS: TOPIC_ID}
    assert list(directories.failures) == ["/a"]


def test_a_log_that_cannot_be_renamed_goes_offline_with_its_directory() -> None:
    disk = SimDisk()
    directories = open_directories(disk)
    log = create(directories, "orders")
    disk.fail("rename", "/a/orders-0", errno.EIO)
    with pytest.raises(KafkaStorageError):
        directories.delete(ORDERS, now_ms=0)
    assert not directories.logs
    assert directories.deletion_due_ms is None
    with pytest.raises(AssertionError, match="closed"):
        log.segments.active.file.size()


def test_recovery_points_outlive_a_crash() -> None:
    disk = SimDisk()
    directories = open_directories(disk, "/a")
    log = create(directories, "orders")
    for _ in range(3):
        append(log)
    log.flush(0)
    directories.checkpoint(RECOVERY_POINT_CHECKPOINT)
    for seed in range(20):
        survivor = disk.after_power_cut(Random(seed))
        assert open_directories(survivor, "/a").logs[ORDERS].log_end_offset == 3


def test_entries_of_unknown_partitions_in_a_checkpoint_do_no_harm() -> None:
    disk = SimDisk()
    disk.make_directory("/a")
    write_offsets(disk, "/a/recovery-point-offset-checkpoint", {TopicPartition("gone", 3): 9})
    assert open_directories(disk, "/a").logs == {}
