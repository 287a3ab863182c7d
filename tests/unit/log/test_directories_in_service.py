"""Log directories while a broker runs: where new partitions are put, and what the log cleaner hears of moves."""

from __future__ import annotations

import errno
from random import Random

import pytest

from barnabas.log.checkpoint import (
    CLEANER_CHECKPOINT,
    RECOVERY_POINT_CHECKPOINT,
    TopicPartition,
    read_offsets,
    write_offsets,
)
from barnabas.log.cleaner.log_cleaner import CleanerConfig, LogCleaner
from barnabas.log.directories import LogDirectories
from barnabas.log.log_config import LogConfig
from barnabas.protocol.errors import KafkaStorageError
from barnabas.records.build import build_batch
from barnabas.records.record import Record
from barnabas.sim.disk import SimDisk

CONFIG = LogConfig(segment_index_bytes=1024)
ORDERS = TopicPartition("orders", 0)
IDLE_MS = 1_000


class Service:
    """Two directories of one disk, with a cleaner."""

    def __init__(self) -> None:
        self.disk = SimDisk()
        self.directories = LogDirectories(self.disk, ("/a", "/b"), rng=Random(1))
        self.directories.load(lambda _: CONFIG, now_ms=0)
        self.directories.cleaner = self.cleaner = LogCleaner(
            self.disk,
            CleanerConfig(dedupe_buffer_bytes=1024 * 1024),
            self.directories.logs,
            self.directories.take_offline,
            rng=Random(1),
        )

    def create(self, partition: TopicPartition, path: str | None = None, *, is_future: bool = False) -> str:
        """The path that it is put in."""
        log = self.directories.create(partition, CONFIG, now_ms=0, path=path, is_future=is_future)
        return log.directory.rpartition("/")[0]

    def clean_offsets(self, path: str) -> dict[TopicPartition, int]:
        return read_offsets(self.disk, f"{path}/{CLEANER_CHECKPOINT}")


def partitions(count: int) -> list[TopicPartition]:
    return [TopicPartition("orders", index) for index in range(count)]


def test_a_cordoned_directory_gets_no_new_partition_while_there_is_another() -> None:
    service = Service()
    service.directories.cordoned = frozenset({"/a"})
    assert [service.create(partition) for partition in partitions(3)] == ["/b"] * 3
    service.directories.cordoned = frozenset({"/a", "/b"})
    assert service.create(TopicPartition("late", 0)) == "/a"


def test_a_cordoned_directory_takes_what_is_assigned_to_it() -> None:
    service = Service()
    service.directories.cordoned = frozenset({"/a"})
    assert service.create(ORDERS, "/a") == "/a"


def test_a_partition_is_made_where_somebody_wants_it_to_be_once() -> None:
    service = Service()
    service.directories.preferred[ORDERS] = "/b"
    assert service.create(ORDERS, "/a") == "/b"
    assert not service.directories.preferred


def test_a_deleted_log_is_forgotten_by_the_cleaner() -> None:
    service = Service()
    service.create(ORDERS, "/a")
    write_offsets(service.disk, f"/a/{CLEANER_CHECKPOINT}", {ORDERS: 5})
    service.directories.delete(ORDERS, now_ms=0)
    assert service.clean_offsets("/a") == {}


def test_a_log_that_takes_over_is_clean_as_far_as_the_one_before() -> None:
    service = Service()
    service.create(ORDERS, "/a")
    write_offsets(service.disk, f"/a/{CLEANER_CHECKPOINT}", {ORDERS: 5})
    service.create(ORDERS, "/b", is_future=True)
    service.directories.promote_future(ORDERS, now_ms=0)
    assert service.clean_offsets("/a") == {}
    assert service.clean_offsets("/b") == {ORDERS: 5}


def test_a_log_that_takes_over_is_recovered_from_where_it_was_durable() -> None:
    service = Service()
    service.create(ORDERS, "/a")
    service.create(ORDERS, "/b", is_future=True)
    future = service.directories.future_logs[ORDERS]
    future.append_as_leader(build_batch([Record(0, 0, None, b"v")]), 0, 0)
    future.flush(0)
    service.directories.promote_future(ORDERS, now_ms=0)
    assert read_offsets(service.disk, f"/b/{RECOVERY_POINT_CHECKPOINT}") == {ORDERS: 1}


@pytest.mark.parametrize("failing", ["/a", "/b"])
def test_a_directory_that_fails_while_the_cleaner_is_told_leaves_the_other_in_service(failing: str) -> None:
    service = Service()
    service.create(ORDERS, "/a")
    write_offsets(service.disk, f"/a/{CLEANER_CHECKPOINT}", {ORDERS: 5})
    service.create(ORDERS, "/b", is_future=True)
    service.disk.fail("flush", f"{failing}/{CLEANER_CHECKPOINT}.tmp", errno.EIO)
    if failing == "/a":
        service.directories.promote_future(ORDERS, now_ms=0)
    else:
        with pytest.raises(KafkaStorageError):
            service.directories.promote_future(ORDERS, now_ms=0)
    assert list(service.directories.failures) == [failing]
    (log,) = service.directories.logs.values()
    assert log.directory == ("/b/orders-0" if failing == "/a" else "/a/orders-0")
    assert not service.directories.future_logs


def test_the_cleaner_reads_nothing_more_of_a_directory_that_is_offline() -> None:
    service = Service()
    service.create(ORDERS, "/a")
    write_offsets(service.disk, f"/a/{CLEANER_CHECKPOINT}", {ORDERS: 5})
    service.directories.take_offline("/a", OSError(errno.EIO, "gone"))
    service.cleaner.forget(ORDERS, "/a")
    assert service.clean_offsets("/a") == {ORDERS: 5}


def test_idle_producers_are_forgotten_after_the_time_that_is_set_in_logs_old_and_new() -> None:
    service = Service()
    first, second = partitions(2)
    service.create(first)
    service.directories.expire_producers_after(IDLE_MS)
    service.create(second)
    for log in service.directories.logs.values():
        log.append_as_leader(
            build_batch([Record(0, 0, None, b"v")], producer_id=7, producer_epoch=0, base_sequence=0), 0, 0
        )
        log.remove_expired_producers(IDLE_MS - 1)
        assert log.producer_state.producers
        log.remove_expired_producers(IDLE_MS)
        assert not log.producer_state.producers
