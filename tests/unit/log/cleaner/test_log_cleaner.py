"""The cleaner as a whole: which log is next, what is remembered, and what others may do to a log meanwhile."""

from __future__ import annotations

import errno
from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest

from barnabas.log.checkpoint import TopicPartition, read_offsets, write_offsets
from barnabas.log.cleaner.log_cleaner import CleanerConfig, LogCleaner
from barnabas.log.partition_log import PartitionLog
from barnabas.sim.disk import SimDisk
from unit.log.cleaner.logs import append, append_at, make_config, read_records

CHECKPOINT = "/a/cleaner-offset-checkpoint"
FIRST = TopicPartition("t", 0)
SECOND = TopicPartition("t", 1)
SMALL = CleanerConfig(dedupe_buffer_bytes=100_000, io_buffer_bytes=512)


def make_log(disk: SimDisk, partition: TopicPartition, *, dirty: int, directory: str = "/a") -> PartitionLog:
    """A log of which everything but the active segment is dirty."""
    log = PartitionLog(disk, f"{directory}/{partition}", make_config(), rng=Random(0), now_ms=0)
    for index in range(dirty):
        append(log, (b"k", b"%d" % index))
    log.roll(0)
    return log


def clean_all(cleaner: LogCleaner) -> None:
    while (step := cleaner.step()) is not None:
        for file in step.to_flush:
            file.flush()


def make_cleaner(disk: SimDisk, *, dirty: int = 10) -> tuple[LogCleaner, dict[TopicPartition, PartitionLog]]:
    logs = {FIRST: make_log(disk, FIRST, dirty=dirty)}
    return LogCleaner(disk, SMALL, logs, fail, rng=Random(0)), logs


def fail(path: str, error: OSError) -> None:
    raise AssertionError(f"{path} was taken offline: {error}")


def values(log: PartitionLog) -> list[bytes | None]:
    return [record.value for record in read_records(log)]


def test_a_dirty_log_is_cleaned_once_and_the_checkpoint_says_how_far() -> None:
    disk = SimDisk()
    cleaner, logs = make_cleaner(disk)
    cleaning = cleaner.begin(0)
    assert cleaning is not None
    assert cleaning.partition == FIRST
    clean_all(cleaner)
    assert cleaning.result is not None
    assert values(logs[FIRST]) == [b"9"]
    assert read_offsets(disk, CHECKPOINT) == {FIRST: 10}
    assert cleaner.begin(0) is None
    assert LogCleaner(disk, SMALL, logs, fail, rng=Random(0)).begin(0) is None


def test_changed_settings_are_taken_at_once_and_the_cleaning_under_way_begins_anew() -> None:
    disk = SimDisk()
    cleaner, logs = make_cleaner(disk)
    assert cleaner.begin(0) is not None
    step = cleaner.step()
    assert step is not None
    assert cleaner.rest_ms(step, 0) == 0
    cleaner.reconfigure(SMALL)
    assert cleaner.step() is not None
    cleaner.reconfigure(replace(SMALL, io_max_bytes_per_second=1))
    assert cleaner.step() is None
    assert cleaner.begin(0) is not None
    step = cleaner.step()
    assert step is not None
    assert cleaner.rest_ms(step, 0) >= 1000 * step.io_bytes > 0
    clean_all(cleaner)
    assert values(logs[FIRST]) == [b"9"]


def test_the_filthiest_log_is_first() -> None:
    disk = SimDisk()
    logs = {FIRST: make_log(disk, FIRST, dirty=10), SECOND: make_log(disk, SECOND, dirty=10)}
    write_offsets(disk, CHECKPOINT, {FIRST: 10})
    append(logs[FIRST], (b"k", b"x"))
    logs[FIRST].roll(0)
    cleaner = LogCleaner(disk, SMALL, logs, fail, rng=Random(0))
    cleaning = cleaner.begin(0)
    assert cleaning is not None
    assert cleaning.partition == SECOND
    clean_all(cleaner)
    assert cleaner.begin(0) is None  # Of the first log a tenth is dirty, and half would have to be.


def test_logs_that_are_not_compacted_are_left_alone() -> None:
    disk = SimDisk()
    cleaner, logs = make_cleaner(disk)
    logs[FIRST].config = make_config(cleanup_policy=frozenset({"delete"}))
    assert cleaner.begin(0) is None
    logs[FIRST].config = make_config(cleanup_policy=frozenset({"delete", "compact"}))
    assert list(cleaner.idle_partitions()) == [FIRST]
    assert cleaner.begin(0) is not None
    assert list(cleaner.idle_partitions()) == []


def test_a_stale_checkpoint_is_corrected() -> None:
    disk = SimDisk()
    cleaner, logs = make_cleaner(disk, dirty=0)
    write_offsets(disk, CHECKPOINT, {FIRST: 99})
    assert cleaner.begin(0) is None
    assert read_offsets(disk, CHECKPOINT) == {FIRST: logs[FIRST].log_start_offset}


def test_an_aborted_cleaning_leaves_the_log_as_it_was() -> None:
    disk = SimDisk()
    cleaner, logs = make_cleaner(disk)
    before = values(logs[FIRST])
    for steps in range(8):
        cleaner.begin(0)
        for _ in range(steps):
            if cleaner.step() is None:
                break
        cleaner.abort(FIRST)
        assert not any("cleaned" in name for name in disk.names("/a/t-0"))
        assert values(logs[FIRST]) in (before, [b"9"])
    assert cleaner.step() is None


def test_a_paused_log_is_not_cleaned_until_every_pause_is_over() -> None:
    cleaner, _ = make_cleaner(SimDisk())
    cleaner.begin(0)
    cleaner.pause(FIRST)
    cleaner.pause(FIRST)
    assert cleaner.step() is None
    assert cleaner.begin(0) is None
    cleaner.resume(FIRST)
    assert cleaner.begin(0) is None
    cleaner.resume(FIRST)
    assert cleaner.begin(0) is not None


def test_a_log_that_cannot_be_read_is_not_tried_again() -> None:
    disk = SimDisk()
    cleaner, logs = make_cleaner(disk)
    logs[FIRST].segments.first.file.write_at(61, b"\xff" * 10)
    cleaner.begin(0)
    clean_all(cleaner)
    assert "malformed" in cleaner.uncleanable[FIRST]
    assert cleaner.begin(0) is None
    assert not any("cleaned" in name for name in disk.names("/a/t-0"))


def test_a_log_on_which_cleaning_stumbles_does_not_keep_the_others_dirty(monkeypatch: pytest.MonkeyPatch) -> None:
    def stumble(*_: object) -> None:
        raise ValueError("unforeseen")

    cleaner, _ = make_cleaner(SimDisk())
    cleaner.begin(0)
    monkeypatch.setattr("barnabas.log.cleaner.clean.BatchFilter.apply", stumble)
    clean_all(cleaner)
    assert cleaner.uncleanable == {FIRST: "unforeseen"}
    assert cleaner.begin(0) is None


def test_a_batch_with_more_keys_than_the_map_holds_is_reported() -> None:
    disk = SimDisk()
    log = PartitionLog(disk, "/a/t-0", make_config(), rng=Random(0), now_ms=0)
    append_at(log, 0, *((b"%d" % index, b"v") for index in range(20)))
    log.roll(0)
    cleaner = LogCleaner(disk, CleanerConfig(dedupe_buffer_bytes=20 * 24), {FIRST: log}, fail, rng=Random(0))
    cleaner.begin(0)
    clean_all(cleaner)
    assert "dedupe.buffer" in cleaner.uncleanable[FIRST]


@pytest.mark.parametrize(
    ("operation", "path_end"),
    [
        ("write", ".log.cleaned"),
        ("rename", ".index.cleaned"),
        ("open", "cleaner-offset-checkpoint"),
        ("flush", "cleaner-offset-checkpoint.tmp"),
    ],
)
def test_a_failing_disk_takes_the_directory_offline_and_spares_the_others(operation: str, path_end: str) -> None:
    disk = SimDisk()
    logs = {FIRST: make_log(disk, FIRST, dirty=10), SECOND: make_log(disk, SECOND, dirty=10, directory="/b")}
    failed: list[str] = []

    def take_offline(path: str, _error: OSError) -> None:
        failed.append(path)
        del logs[FIRST]

    disk.fail(operation, path_end, errno.EIO)
    cleaner = LogCleaner(disk, SMALL, logs, take_offline, rng=Random(0))
    cleaner.begin(0)
    clean_all(cleaner)
    assert failed == ["/a"]
    assert cleaner.uncleanable == {}
    cleaner.begin(0)
    clean_all(cleaner)
    assert values(logs[SECOND]) == [b"9"]


def test_a_full_disk_ends_a_cleaning_and_another_may_follow() -> None:
    disk = SimDisk()
    cleaner, logs = make_cleaner(disk)
    cleaner.begin(0)
    disk.free_bytes = 0
    clean_all(cleaner)
    assert not any("cleaned" in name for name in disk.names("/a/t-0"))
    disk.free_bytes = None
    cleaner.begin(0)
    clean_all(cleaner)
    assert values(logs[FIRST]) == [b"9"]


def test_a_directory_that_is_lost_during_a_cleaning_is_let_go() -> None:
    disk = SimDisk()
    cleaner, logs = make_cleaner(disk)
    cleaner.begin(0)
    cleaner.step()
    cleaner.step()
    disk.fail("remove", ".cleaned", errno.EIO)
    cleaner.drop_directory("/a")
    logs.clear()
    assert cleaner.begin(0) is None


def test_a_damaged_checkpoint_makes_the_log_dirty_from_its_start() -> None:
    disk = SimDisk()
    cleaner, _ = make_cleaner(disk)
    disk.open(CHECKPOINT, create=True).write_at(0, b"not a checkpoint")
    cleaner.begin(0)
    clean_all(cleaner)
    assert read_offsets(disk, CHECKPOINT) == {FIRST: 10}


def test_cutting_a_log_cuts_what_is_known_to_be_clean() -> None:
    disk = SimDisk()
    cleaner, _ = make_cleaner(disk)
    cleaner.begin(0)
    clean_all(cleaner)
    cleaner.truncate_checkpoint(FIRST, "/a", 12)
    assert read_offsets(disk, CHECKPOINT) == {FIRST: 10}
    cleaner.truncate_checkpoint(FIRST, "/a", 4)
    assert read_offsets(disk, CHECKPOINT) == {FIRST: 4}


def test_a_log_that_moves_takes_its_clean_offset_along_and_one_that_goes_is_forgotten() -> None:
    disk = SimDisk()
    disk.make_directory("/b")
    cleaner, logs = make_cleaner(disk)
    cleaner.begin(0)
    clean_all(cleaner)
    cleaner.move_checkpoint(FIRST, "/a", "/b")
    assert read_offsets(disk, CHECKPOINT) == {}
    assert read_offsets(disk, "/b/cleaner-offset-checkpoint") == {FIRST: 10}
    del logs[FIRST]
    cleaner.forget(FIRST, "/b")
    assert read_offsets(disk, "/b/cleaner-offset-checkpoint") == {}


@pytest.mark.parametrize(
    "change",
    [
        lambda cleaner: cleaner.forget(FIRST, "/a"),
        lambda cleaner: cleaner.truncate_checkpoint(FIRST, "/a", 4),
        lambda cleaner: cleaner.move_checkpoint(FIRST, "/a", "/b"),
    ],
    ids=["forget", "truncate", "move"],
)
def test_a_checkpoint_that_cannot_be_written_takes_its_directory_offline(change: Callable[[LogCleaner], None]) -> None:
    disk = SimDisk()
    disk.make_directory("/b")
    lost: list[str] = []
    logs = {FIRST: make_log(disk, FIRST, dirty=10)}
    cleaner = LogCleaner(disk, SMALL, logs, lambda directory, _: lost.append(directory), rng=Random(0))
    cleaner.begin(0)
    clean_all(cleaner)
    disk.fail("write", "/a/cleaner-offset-checkpoint.tmp", errno.EIO)
    change(cleaner)
    assert lost == ["/a"]


def test_the_time_to_rest_follows_from_what_was_read_and_written() -> None:
    disk = SimDisk()
    logs = {FIRST: make_log(disk, FIRST, dirty=10)}
    config = CleanerConfig(dedupe_buffer_bytes=100_000, io_buffer_bytes=512, io_max_bytes_per_second=1_000)
    cleaner = LogCleaner(disk, config, logs, fail, rng=Random(0))
    cleaner.begin(0)
    step = cleaner.step()
    assert step is not None
    assert cleaner.rest_ms(step, 0) == step.io_bytes
