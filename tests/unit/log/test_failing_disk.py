"""Every disk operation of every change of several files fails once, and the log is opened again afterwards."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from random import Random

import pytest

from barnabas.log.log_config import LogConfig
from barnabas.log.partition_log import PartitionLog
from barnabas.records.build import build_batch
from barnabas.records.record import Record
from barnabas.sim.disk import SimDisk
from unit.log.cleaner.logs import clean_log, read_records

NOW = 1_000
CONFIG = LogConfig(
    segment_bytes=400,
    segment_index_bytes=240,
    index_interval_bytes=50,
    cleanup_policy=frozenset({"compact"}),
    file_delete_delay_ms=0,
)
Change = Callable[[SimDisk, PartitionLog], object]
Expected = Callable[[list[Record], list[Record]], bool]


def open_log(disk: SimDisk) -> PartitionLog:
    return PartitionLog(disk, "/t-0", CONFIG, rng=Random(0), now_ms=NOW)


def fill(log: PartitionLog) -> None:
    """Five segments of idempotent batches under three leaders."""
    for i in range(15):
        records = [Record(0, i, b"k%d" % (i % 4), b"v%d" % i + bytes(20)), Record(1, i, b"twice", b"%d" % i)]
        batch = build_batch(records, producer_id=7, producer_epoch=0, base_sequence=2 * i)
        log.append_as_leader(batch, i // 5, NOW)
    log.update_high_watermark(log.log_end_offset)


def delete_old(_: SimDisk, log: PartitionLog) -> None:
    log.config = replace(CONFIG, cleanup_policy=frozenset({"delete"}), retention_bytes=500)
    log.delete_old_segments(NOW)
    log.remove_deleted(NOW)


def is_prefix(after: list[Record], before: list[Record]) -> bool:
    return after == before[: len(after)]


def is_suffix(after: list[Record], before: list[Record]) -> bool:
    return bool(after) and after == before[-len(after) :]


def has_same_values(after: list[Record], before: list[Record]) -> bool:
    return {record.key: record for record in after} == {record.key: record for record in before}


CHANGES: dict[str, tuple[Change, Expected]] = {
    "roll": (lambda _, log: log.roll(NOW), list.__eq__),
    "truncate": (lambda _, log: log.truncate_to(9, NOW), is_prefix),
    "truncate fully": (lambda _, log: log.truncate_fully_and_start_at(100, NOW), is_prefix),
    "delete old segments": (delete_old, is_suffix),
    "clean": (lambda disk, log: clean_log(disk, log, now_ms=NOW), has_same_values),
    "close": (lambda _, log: log.close(NOW), list.__eq__),
}
# Operations that take no room.
NEVER_FULL = {"exists", "names", "size", "map", "read", "modified_ms"}


@pytest.mark.parametrize("error", [errno.EIO, errno.ENOSPC])
@pytest.mark.parametrize("name", CHANGES)
def test_a_change_that_fails_anywhere_loses_nothing(name: str, error: int) -> None:
    change, is_expected = CHANGES[name]
    for number in count():
        disk = SimDisk()
        log = open_log(disk)
        fill(log)
        before = read_records(log)
        fault = Fault(disk, number, error)
        try:
            change(disk, log)
        except OSError as caught:
            if caught.errno == errno.ENOSPC and name != "close":
                # The directory stays online, so the log must be fit for use.
                assert is_expected(read_records(log), before)
                fill_more(log)
                assert is_expected(without_more(log), before)
        if not fault.has_come:
            break
        log.release()
        log = open_log(disk)
        assert is_expected(without_more(log), before)
        fill_more(log)
        log.close(NOW)


class Fault:
    """Lets the operation with this number fail, counted from here on, unless it is one that cannot fail so."""

    def __init__(self, disk: SimDisk, number: int, error: int) -> None:
        self.has_come = False
        self._left = number
        self._error = error
        disk.before_operation = self._count

    def _count(self, operation: str, path: str) -> None:
        if self._error == errno.ENOSPC and operation in NEVER_FULL:
            return
        self._left -= 1
        if self._left == -1:
            self.has_come = True
            raise OSError(self._error, os.strerror(self._error), path)


def fill_more(log: PartitionLog) -> None:
    for _ in range(5):
        log.append_as_leader(build_batch([Record(0, 99, b"more", b"more")]), 9, NOW)


def without_more(log: PartitionLog) -> list[Record]:
    return [record for record in read_records(log) if record.value != b"more"]
