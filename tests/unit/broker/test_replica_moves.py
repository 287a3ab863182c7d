"""Replicas that move between two directories of a simulated disk, with the controller's part played by the test."""

from __future__ import annotations

import errno
from collections.abc import Callable
from random import Random

import pytest

from barnabas.broker.directory_assignments import ReplicaId
from barnabas.broker.errors import LogDirNotFound, ReplicaNotAvailable
from barnabas.broker.replica_moves import RETRY_MS, ReplicaMoves
from barnabas.controller.errors import InvalidReplicaAssignment, InvalidTopic
from barnabas.log.checkpoint import TopicPartition
from barnabas.log.cleaner.log_cleaner import CleanerConfig, LogCleaner
from barnabas.log.directories import LogDirectories
from barnabas.log.log_config import LogConfig
from barnabas.log.partition_log import PartitionLog
from barnabas.protocol.errors import KafkaStorageError
from barnabas.protocol.uuid import Uuid
from barnabas.runtime.broker.log_loading import load_logs
from barnabas.runtime.clock import SystemClock
from barnabas.sim.disk import PowerCut, SimDisk
from log_checks import stored_batches
from unit.broker.hosting import NODE, OTHER, Hosting, directory_id, topic_id

PATHS = ("/a", "/b", "/c")
NAME = TopicPartition("t", 0)
ID = ReplicaId(topic_id("t"), 0)


class Moving:
    """A broker that hosts t-0 in /a, and its moves."""

    def __init__(self, disk: SimDisk | None = None) -> None:
        self.hosting = Hosting(directories=PATHS, disk=disk)
        self.directories = self.hosting.directories
        self.directories.cleaner = self.cleaner = LogCleaner(
            self.hosting.disk,
            CleanerConfig(dedupe_buffer_bytes=1024 * 1024),
            self.directories.logs,
            self.directories.take_offline,
            rng=Random(1),
        )
        self.assigned: list[tuple[ReplicaId, Uuid]] = []
        self.accept: Callable[[], object] | None = None
        self.flushes: list[tuple[PartitionLog, Callable[[OSError | None], object]]] = []
        self.wakes = 0
        self.moves = ReplicaMoves(
            self.hosting.replicas,
            self.directories,
            assign=self._assign,
            flush=lambda log, then: self.flushes.append((log, then)),
            wake=self._wake,
        )
        self.hosting.create("t", directory=directory_id("/a"), configs={"segment.index.bytes": "1024"})
        self.moves.follow()

    def _assign(self, replica: ReplicaId, directory: Uuid, accepted: Callable[[], object] | None) -> None:
        self.assigned.append((replica, directory))
        self.accept = accepted

    def _wake(self) -> None:
        self.wakes += 1

    @property
    def current(self) -> PartitionLog:
        return self.hosting.replicas.find("t", 0).log

    @property
    def future(self) -> PartitionLog | None:
        return self.directories.future_logs.get(NAME)

    def alter(self, path: str, name: TopicPartition = NAME) -> None:
        self.moves.alter(name, path, self.hosting.now_ms)

    def step(self) -> int:
        return self.moves.step(self.hosting.now_ms)

    def steps(self) -> None:
        """Whatever can be done without the controller or a thread."""
        while (due_ms := self.moves.due_ms(self.hosting.now_ms)) is not None and due_ms <= self.hosting.now_ms:
            self.step()

    def let_controller_know(self) -> None:
        assert self.accept is not None
        self.accept()

    def flush(self) -> None:
        flushes, self.flushes = self.flushes, []
        for log, then in flushes:
            log.flush(self.hosting.now_ms)
            then(None)

    def finish(self) -> None:
        self.steps()
        self.let_controller_know()
        self.steps()
        self.flush()
        self.steps()

    def is_cleaned(self) -> bool:
        """Whether the cleaner may look at the partition."""
        return NAME in self.cleaner.idle_partitions()


def path_of(log: PartitionLog) -> str:
    return log.directory.rpartition("/")[0]


@pytest.fixture
def moving() -> Moving:
    return Moving()


def test_a_replica_moves_with_all_its_records_and_goes_on_being_led(moving: Moving) -> None:
    moving.hosting.append(3)
    before = stored_batches(moving.current)
    moving.alter("/b")
    assert moving.wakes == 1
    moving.finish()
    assert moving.assigned == [(ID, directory_id("/b"))]
    assert path_of(moving.current) == "/b"
    assert stored_batches(moving.current) == before
    assert moving.current.high_watermark == 3
    assert moving.current.recovery_point == 3
    assert moving.future is None
    assert moving.directories.logs[NAME] is moving.current
    moving.hosting.append(1)
    assert moving.current.log_end_offset == 4


def test_the_swap_waits_for_the_controller_and_for_what_is_appended_meanwhile(moving: Moving) -> None:
    moving.alter("/b")
    moving.steps()
    assert moving.moves.due_ms(moving.hosting.now_ms) is None
    moving.hosting.append(2)
    assert path_of(moving.current) == "/a"
    moving.let_controller_know()
    assert moving.wakes == 2
    moving.steps()
    assert moving.future is not None
    assert moving.future.log_end_offset == 2
    # While it is made durable, more comes.
    moving.hosting.append(2)
    moving.flush()
    assert path_of(moving.current) == "/a"
    moving.steps()
    assert path_of(moving.current) == "/b"
    assert moving.current.log_end_offset == moving.current.recovery_point == 4


def test_moves_take_turns(moving: Moving) -> None:
    moving.hosting.create("u", directory=directory_id("/a"))
    for name in ("t", "u"):
        for _ in range(3):
            moving.hosting.append(1, name, value_bytes=700_000)
    moving.alter("/b")
    moving.alter("/b", TopicPartition("u", 0))
    moving.step()
    moving.step()
    ends = {name.topic: log.log_end_offset for name, log in moving.directories.future_logs.items()}
    assert ends == {"t": 1, "u": 1}


def test_a_move_to_where_the_replica_is_changes_nothing(moving: Moving) -> None:
    moving.alter("/a")
    assert moving.future is None
    assert moving.moves.due_ms(0) is None
    moving.alter("/b")
    future = moving.future
    moving.alter("/b")
    assert moving.future is future


@pytest.mark.parametrize("is_assigned", [False, True])
def test_moving_back_gives_a_move_up_and_tells_the_controller_if_it_was_told(moving: Moving, is_assigned: bool) -> None:
    moving.alter("/b")
    if is_assigned:
        moving.steps()
    moving.alter("/a")
    assert moving.future is None
    assert [directory for _, directory in moving.assigned] == (
        [directory_id("/b"), directory_id("/a")] if is_assigned else []
    )
    assert not moving.moves.is_handed_over(NAME)


def test_another_target_takes_the_place_of_the_first(moving: Moving) -> None:
    moving.hosting.append(2)
    moving.alter("/b")
    moving.steps()
    late = moving.accept
    moving.alter("/c")
    assert late is not None
    late()
    moving.finish()
    assert path_of(moving.current) == "/c"
    assert moving.assigned[-1] == (ID, directory_id("/c"))


def test_a_partition_is_not_cleaned_while_it_moves(moving: Moving) -> None:
    moving.hosting.configure("t", "cleanup.policy", "compact")
    assert moving.is_cleaned()
    moving.alter("/b")
    assert not moving.is_cleaned()
    moving.finish()
    assert moving.is_cleaned()
    moving.alter("/a")
    moving.alter("/b")
    assert moving.is_cleaned()


def test_a_move_goes_on_after_a_restart(moving: Moving) -> None:
    moving.hosting.append(2)
    moving.alter("/b")
    moving.step()
    moving.hosting.append(2)
    moving.directories.close(broker_epoch=1, now_ms=moving.hosting.now_ms)
    again = Moving(moving.hosting.disk)
    assert again.wakes == 1
    again.finish()
    assert path_of(again.current) == "/b"
    assert again.current.log_end_offset == 4


def test_a_deleted_topic_takes_its_future_log_along(moving: Moving) -> None:
    moving.alter("/b")
    moving.steps()
    moving.hosting.delete()
    moving.moves.follow()
    assert moving.future is None
    assert moving.moves.due_ms(0) is None
    assert moving.assigned == [(ID, directory_id("/b"))]
    assert [name for name in moving.hosting.disk.names("/b") if name.endswith("-future")] == []


def test_settings_of_the_topic_reach_the_future_log(moving: Moving) -> None:
    moving.alter("/b")
    moving.hosting.configure("t", "segment.bytes", "2000000")
    assert moving.future is not None
    assert moving.future.config.segment_bytes == 2_000_000


# Refusals


def test_a_target_that_is_none_is_refused(moving: Moving) -> None:
    with pytest.raises(LogDirNotFound):
        moving.alter("/d")
    moving.directories.cordoned = frozenset({"/b"})
    with pytest.raises(InvalidReplicaAssignment):
        moving.alter("/b")
    moving.directories.take_offline("/c", OSError(errno.EIO, "gone"))
    with pytest.raises(KafkaStorageError):
        moving.alter("/c")


def test_no_move_begins_while_a_directory_is_offline_that_may_have_the_future_log(moving: Moving) -> None:
    moving.directories.take_offline("/c", OSError(errno.EIO, "gone"))
    with pytest.raises(KafkaStorageError):
        moving.alter("/b")


def test_a_topic_whose_name_leaves_no_room_for_another_is_refused(moving: Moving) -> None:
    with pytest.raises(InvalidTopic):
        moving.alter("/b", TopicPartition("t" * 249, 0))


def test_a_replica_that_is_still_to_come_is_made_where_it_was_wanted(moving: Moving) -> None:
    moving.hosting.create("u", replicas=(OTHER,))
    name = TopicPartition("u", 0)
    with pytest.raises(ReplicaNotAvailable):
        moving.alter("/c", name)
    moving.hosting.change("u", replicas=[OTHER, NODE], directories=[directory_id("/x"), directory_id("/a")])
    assert path_of(moving.directories.logs[name]) == "/c"


def test_nothing_is_remembered_of_a_replica_that_never_came(moving: Moving) -> None:
    moving.hosting.create("u", replicas=(OTHER,))
    with pytest.raises(ReplicaNotAvailable):
        moving.alter("/c", TopicPartition("u", 0))
    moving.moves.follow()
    assert moving.directories.preferred
    moving.hosting.delete("u")
    moving.moves.follow()
    assert not moving.directories.preferred


# Failing disks


def test_a_full_target_holds_a_move_up_until_there_is_room(moving: Moving) -> None:
    moving.hosting.append(2)
    moving.alter("/b")
    moving.hosting.disk.free_bytes = 0
    assert moving.step() == 0
    assert moving.moves.due_ms(moving.hosting.now_ms) == moving.hosting.now_ms + RETRY_MS
    assert not moving.hosting.failed
    moving.hosting.disk.free_bytes = None
    moving.hosting.now_ms += RETRY_MS
    moving.finish()
    assert path_of(moving.current) == "/b"


def test_a_target_that_fails_ends_the_move_and_the_replica_stays(moving: Moving) -> None:
    moving.alter("/b")
    moving.steps()
    moving.let_controller_know()
    moving.hosting.append(2)
    moving.hosting.disk.fail("write", f"{0:020}.log", errno.EIO)
    moving.steps()
    assert moving.hosting.failed == ["/b"]
    assert path_of(moving.current) == "/a"
    assert moving.assigned[-1] == (ID, directory_id("/a"))
    assert moving.moves.due_ms(0) is None


def test_a_source_that_fails_takes_the_replica_offline_and_leaves_its_future_log_alone(moving: Moving) -> None:
    moving.hosting.append(2)
    moving.alter("/b")
    moving.hosting.disk.fail("read", "/a/t-0/00000000000000000000.log", errno.EIO)
    moving.step()
    assert moving.hosting.failed == ["/a"]
    with pytest.raises(KafkaStorageError):
        moving.hosting.replicas.find("t", 0)
    assert moving.future is not None
    assert moving.moves.due_ms(0) is None
    moving.hosting.delete()
    assert moving.future is None


def test_a_source_that_fails_in_the_swap_is_offline_and_the_replica_is_served_from_its_target(moving: Moving) -> None:
    moving.hosting.append(2)
    moving.alter("/b")
    moving.steps()
    moving.let_controller_know()
    moving.steps()
    moving.hosting.disk.fail("rename", "/a/t-0", errno.EIO)
    moving.flush()
    moving.steps()
    assert moving.hosting.failed == ["/a"]
    assert path_of(moving.current) == "/b"
    moving.hosting.append(1)


# Power cuts


def test_no_power_cut_in_a_swap_loses_what_was_durable_or_keeps_the_broker_from_starting() -> None:
    def cut_at(operation: int) -> bool:
        """Move with the power cut in that operation of the disk in the swap; whether the swap was over before."""
        moving = Moving()
        disk = moving.hosting.disk
        for path in ("/", *PATHS):
            disk.flush_directory(path)
        moving.hosting.append(3)
        moving.alter("/b")
        moving.steps()
        moving.let_controller_know()
        moving.steps()
        moving.flush()
        # This is durable in the current log, and not in the future one.
        moving.hosting.append(2)
        moving.current.flush(moving.hosting.now_ms)
        left = operation

        def count(_operation: str, _path: str) -> None:
            nonlocal left
            left -= 1
            if left < 0:
                raise PowerCut

        disk.before_operation = count
        try:
            moving.steps()
            is_over = True
        except PowerCut:
            is_over = False
        disk.before_operation = None
        moving.hosting.change(directories=[directory_id("/b")])
        after = disk.after_power_cut(Random(operation))
        directories = LogDirectories(after, PATHS, rng=Random(1))
        load_logs(
            after, directories, lambda _: LogConfig(segment_index_bytes=1024), moving.hosting.image, NODE, SystemClock()
        )
        assert not directories.failures
        assert [batch.header.last_offset for batch in stored_batches(directories.logs[NAME])] == [2, 4]
        return is_over

    operation = 0
    while not cut_at(operation):
        operation += 1
    assert operation > 20
