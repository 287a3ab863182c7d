"""What happens to logs that nobody asks about, on a simulated disk and in virtual time."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from functools import partial
from random import Random

import pytest

from barnabas.log.checkpoint import TopicPartition, read_offsets
from barnabas.log.cleaner.log_cleaner import CleanerConfig, LogCleaner
from barnabas.log.directories import LogDirectories
from barnabas.log.log_config import LogConfig
from barnabas.log.partition_log import PartitionLog
from barnabas.records.build import build_batch
from barnabas.records.record import Record
from barnabas.runtime.log_keeping.keeping import LogKeeping
from barnabas.runtime.log_keeping.settings import KeepingSettings
from barnabas.sim.disk import SimDisk
from barnabas.sim.virtual_loop import VirtualClock, VirtualLoop, VirtualOffLoop
from barnabas.sim.world import World

ORDERS = TopicPartition("orders", 0)
BATCH_BYTES = len(build_batch([Record(0, 0, b"k", b"v")]))
SETTINGS = KeepingSettings(
    initial_task_delay_ms=1_000,
    retention_check_interval_ms=1_000,
    flush_offset_checkpoint_interval_ms=1_000,
    flush_start_offset_checkpoint_interval_ms=1_000,
    high_watermark_checkpoint_interval_ms=1_000,
    cleaner_backoff_ms=1_000,
)


class Keeper:
    """Two log directories on one disk, and their keeping."""

    def __init__(self) -> None:
        self.world = World(1)
        self.disk = SimDisk()
        self.directories = LogDirectories(self.disk, ["/a", "/b"], rng=Random(1))
        self.directories.load(lambda _: LogConfig(), now_ms=0)
        cleaner = LogCleaner(
            self.disk,
            CleanerConfig(dedupe_buffer_bytes=1024 * 1024),
            self.directories.logs,
            self.directories.take_offline,
            rng=Random(1),
        )
        self.clock = VirtualClock(self.world)
        self.loop = VirtualLoop(self.world, self.clock, lambda: None)  # type: ignore[abstract]
        self.keeping = LogKeeping(
            self.disk,
            self.directories,
            cleaner,
            lambda: SETTINGS,
            loop=self.loop,
            clock=self.clock,
            off_loop=VirtualOffLoop(self.loop, lambda: 5),
            failed=self.directories.take_offline,
        )
        self.keeping.start()

    def create(self, config: LogConfig, partition: TopicPartition = ORDERS, path: str = "/a") -> PartitionLog:
        return self.directories.create(partition, config, now_ms=self.clock.now_ms(), path=path)

    def append(self, log: PartitionLog, key: bytes = b"k") -> None:
        batch = build_batch([Record(0, self.clock.now_ms(), key, b"v")])
        log.append_as_leader(batch, 0, self.clock.now_ms())
        log.update_high_watermark(log.log_end_offset)

    def names(self, log: PartitionLog) -> list[str]:
        return [name for name in self.disk.names(log.directory) if ".log" in name]


@pytest.fixture
def keeper() -> Iterator[Keeper]:
    keeper = Keeper()
    yield keeper
    keeper.keeping.close()


def small(**settings: object) -> LogConfig:
    """Segments of one batch each."""
    return LogConfig(segment_bytes=BATCH_BYTES, segment_index_bytes=1024, **settings)  # type: ignore[arg-type]


def test_old_segments_go_and_their_files_a_while_later(keeper: Keeper) -> None:
    log = keeper.create(small(retention_ms=5_000, file_delete_delay_ms=60_000))
    for _ in range(3):
        keeper.append(log)
    keeper.world.run(4_000)
    assert log.log_start_offset == 0
    keeper.world.run(3_000)
    assert log.log_start_offset == 3
    assert len(keeper.names(log)) == 4
    assert all(name.endswith(".deleted") for name in keeper.names(log)[:3])
    keeper.world.run(61_000)
    assert len(keeper.names(log)) == 1


def test_old_segments_of_a_log_that_is_to_take_over_go_too(keeper: Keeper) -> None:
    config = small(retention_ms=5_000)
    keeper.create(config)
    future = keeper.directories.create(ORDERS, config, now_ms=keeper.clock.now_ms(), path="/b", is_future=True)
    for _ in range(3):
        keeper.append(future)
    keeper.world.run(4_000)
    assert len(future.segments) == 3
    keeper.world.run(3_000)
    assert len(future.segments) == 1


def test_the_directory_of_a_deleted_topic_goes_after_its_delay(keeper: Keeper) -> None:
    log = keeper.create(LogConfig(file_delete_delay_ms=60_000))
    keeper.append(log)
    keeper.directories.delete(ORDERS, now_ms=keeper.clock.now_ms())
    keeper.world.run(59_000)
    assert keeper.disk.exists(log.directory)
    keeper.world.run(2_000)
    assert not keeper.disk.exists(log.directory)


def test_a_complete_segment_is_flushed_soon_and_the_active_one_is_not(keeper: Keeper) -> None:
    log = keeper.create(small())
    for _ in range(3):
        keeper.append(log)
    keeper.world.run(100)
    assert log.recovery_point == 2
    keeper.world.run(2_000)
    assert read_offsets(keeper.disk, "/a/recovery-point-offset-checkpoint") == {ORDERS: 2}
    assert read_offsets(keeper.disk, "/a/replication-offset-checkpoint") == {ORDERS: 3}


def test_those_who_ask_during_a_flush_are_served_by_the_next_one_together(keeper: Keeper) -> None:
    log = keeper.create(LogConfig(flush_messages=1))
    told: list[tuple[str, int]] = []

    def note(name: str, error: OSError | None) -> None:
        assert error is None
        told.append((name, log.recovery_point))

    for name in ("first", "second", "third"):
        keeper.append(log)
        assert keeper.keeping.settle_flush(log, partial(note, name))
    assert told == []
    keeper.world.run(100)
    assert told == [("first", 1), ("second", 3), ("third", 3)]


def test_a_log_that_need_not_be_flushed_yet_keeps_nobody_waiting(keeper: Keeper) -> None:
    log = keeper.create(LogConfig(flush_messages=2))
    keeper.append(log)
    assert not keeper.keeping.settle_flush(log, lambda _: pytest.fail("nothing was to be waited for"))
    keeper.append(log)
    assert keeper.keeping.settle_flush(log, lambda _: None)


def test_a_failed_flush_takes_its_directory_offline_and_is_told_to_all_who_wait(keeper: Keeper) -> None:
    log = keeper.create(LogConfig(flush_messages=1))
    other = keeper.create(LogConfig(), TopicPartition("other", 0), "/b")
    told: list[OSError | None] = []
    keeper.disk.fail("flush", "orders-0/00000000000000000000.log", errno.EIO)
    for _ in range(2):
        keeper.append(log)
        keeper.keeping.settle_flush(log, told.append)
    keeper.world.run(100)
    assert [error is not None for error in told] == [True, True]
    assert list(keeper.directories.failures) == ["/a"]
    assert keeper.directories.logs == {TopicPartition("other", 0): other}
    keeper.append(other)
    keeper.world.run(5_000)
    assert read_offsets(keeper.disk, "/b/replication-offset-checkpoint") == {TopicPartition("other", 0): 1}


def test_compacted_logs_are_compacted(keeper: Keeper) -> None:
    log = keeper.create(small(cleanup_policy=frozenset({"compact"}), file_delete_delay_ms=0))
    for count in range(6):
        keeper.append(log, b"ab"[count % 2 :][:1])
    keeper.world.run(60_000)
    kept = [header.base_offset for segment in log.segments for _, header in segment.iterate(0)]
    assert kept == [3, 4, 5]
    assert log.log_end_offset == 6


def test_what_is_compacted_and_deleted_loses_its_old_segments_too(keeper: Keeper) -> None:
    log = keeper.create(small(cleanup_policy=frozenset({"compact", "delete"}), retention_ms=5_000))
    for _ in range(3):
        keeper.append(log)
    keeper.world.run(10_000)
    assert log.log_start_offset == 3


def test_an_idle_node_leaves_its_disks_alone(keeper: Keeper) -> None:
    keeper.append(keeper.create(LogConfig()))
    keeper.world.run(20_000)
    before = keeper.disk.operations
    keeper.world.run(60_000)
    assert keeper.disk.operations == before


def test_others_have_their_turn_while_many_logs_are_looked_at(keeper: Keeper) -> None:
    logs = [keeper.create(small(retention_ms=0), TopicPartition("many", number)) for number in range(250)]
    for log in logs:
        keeper.append(log)
    counts: list[int] = []

    def look() -> None:
        counts.append(sum(log.log_start_offset > 0 for log in logs))
        if counts[-1] < len(logs):
            keeper.loop.call_soon(look)

    keeper.world.run(999)
    keeper.loop.call_later(0.001, look)
    keeper.world.run(10)
    assert len({count for count in counts if 0 < count < len(logs)}) >= 2
