"""A power cut before every change that a cleaning makes to the disk leaves a log that opens and means what it meant.

Whatever the cleaner had flushed, renamed or removed by then, the latest value of every key is the right one, no
record has changed, and cleaning again brings the log to the same end.
"""

from __future__ import annotations

from random import Random

import pytest

from barnabas.log.checkpoint import TopicPartition, read_offsets
from barnabas.log.cleaner.log_cleaner import CleanerConfig, LogCleaner
from barnabas.log.partition_log import PartitionLog
from barnabas.records.record import Record
from barnabas.sim.disk import SimDisk
from unit.log.cleaner.logs import (
    DIRECTORY,
    append,
    end_transaction,
    make_config,
    make_disk,
    open_log,
    read_committed,
)

PARTITION = TopicPartition("t", 0)
CHECKPOINT = "/data/cleaner-offset-checkpoint"
CONFIG = make_config(segment_bytes=700, delete_retention_ms=100)
CLEANER = CleanerConfig(dedupe_buffer_bytes=50_000, io_buffer_bytes=512)
CUTS_AT_EACH_CHANGE = 2
CHANGES = {"write", "truncate", "rename", "remove", "flush", "flush_directory", "open", "map"}


def write_history(log: PartitionLog, rng: Random, *, batches: int) -> None:
    """Random writes with tombstones and transactions of which all have ended, over several segments."""
    open_producers: set[int] = set()
    for _ in range(batches):
        pairs = [
            (b"key%d" % rng.randrange(6), None if rng.randrange(5) == 0 else b"value%d" % rng.randrange(1000))
            for _ in range(rng.randrange(1, 4))
        ]
        producer = rng.randrange(3)
        if producer == 0:
            append(log, *pairs)
            continue
        known = log.producer_state.producers.get(producer)
        sequence = 0 if known is None else known.last_sequence + 1
        append(log, *pairs, producer_id=producer, epoch=0, sequence=sequence, is_transactional=True)
        open_producers.add(producer)
        if rng.randrange(2):
            end_transaction(log, producer, is_commit=bool(rng.randrange(2)))
            open_producers.discard(producer)
    for producer in open_producers:
        end_transaction(log, producer, is_commit=False)
    log.roll(0)


def view(records: list[Record]) -> dict[bytes | None, bytes]:
    latest: dict[bytes | None, bytes] = {}
    for record in records:
        if record.value is None:
            latest.pop(record.key, None)
        else:
            latest[record.key] = record.value
    return latest


def fail(path: str, error: OSError) -> None:
    raise AssertionError(f"{path} was taken offline: {error}")


def clean_and_remove(disk: SimDisk, log: PartitionLog, now_ms: int) -> None:
    cleaner = LogCleaner(disk, CLEANER, {PARTITION: log}, take_offline=fail, rng=Random(0))
    while cleaner.begin(now_ms) is not None:
        while (step := cleaner.step()) is not None:
            for file in step.to_flush:
                file.flush()
    log.remove_deleted(now_ms)


def make_dirty_log(seed: int) -> tuple[SimDisk, PartitionLog]:
    """A log that was cleaned once and is dirty again, all of it durable."""
    disk = make_disk()
    rng = Random(seed)
    log = open_log(disk, CONFIG)
    write_history(log, rng, batches=12)
    clean_and_remove(disk, log, now_ms=0)
    write_history(log, rng, batches=12)
    log.flush(0)
    disk.flush_directory("/data")
    return disk, log


def open_survivor(disk: SimDisk, recovery_point: int) -> PartitionLog:
    log = PartitionLog(disk, DIRECTORY, CONFIG, rng=Random(0), now_ms=200, recovery_point=recovery_point)
    log.update_high_watermark(log.log_end_offset)
    return log


@pytest.mark.parametrize("seed", range(3))
def test_no_moment_of_a_cleaning_is_a_bad_one_for_a_power_cut(seed: int) -> None:
    disk, log = make_dirty_log(seed)
    originals = {record.offset: record for record in read_committed(log)}
    expected = view(read_committed(log))
    end_offset, recovery_point = log.log_end_offset, log.recovery_point
    rng = Random(seed)
    survivors: list[tuple[SimDisk, PartitionLog]] = []

    def cut_power(operation: str, _path: str) -> None:
        if operation not in CHANGES:
            return
        for _ in range(CUTS_AT_EACH_CHANGE):
            survivor_disk = disk.after_power_cut(rng)
            survivor = open_survivor(survivor_disk, recovery_point)
            found = read_committed(survivor)
            assert survivor.log_end_offset == end_offset
            assert view(found) == expected
            assert all(originals[record.offset] == record for record in found)
            assert not [name for name in survivor_disk.names(DIRECTORY) if name.endswith((".cleaned", ".swap"))]
            survivors.append((survivor_disk, survivor))

    disk.before_operation = cut_power
    clean_and_remove(disk, log, now_ms=200)
    disk.before_operation = None

    final = read_committed(log)
    assert len(final) < len(originals)
    assert len(survivors) > 100
    for survivor_disk, survivor in survivors:
        if read_offsets(survivor_disk, CHECKPOINT).get(PARTITION) == end_offset:
            # The checkpoint never outlives the renames that it speaks of.
            assert read_committed(survivor) == final
        clean_and_remove(survivor_disk, survivor, now_ms=200)
        assert view(read_committed(survivor)) == expected
