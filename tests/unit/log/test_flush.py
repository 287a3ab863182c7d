"""A prepared flush: what it makes durable, and what it says when the log has moved or the disk has failed meanwhile."""

from __future__ import annotations

import errno
from random import Random

import pytest

from barnabas.log.flush import Flush
from barnabas.log.log_config import LogConfig
from barnabas.log.partition_log import PartitionLog
from barnabas.sim.disk import SimDisk
from builders import TIMESTAMP, make_batch

CONFIG = LogConfig(segment_bytes=300, segment_index_bytes=1_000)


def open_log(disk: SimDisk, recovery_point: int = 0) -> PartitionLog:
    return PartitionLog(disk, "/t-0", CONFIG, rng=Random(0), now_ms=TIMESTAMP, recovery_point=recovery_point)


def rolled_log(disk: SimDisk) -> tuple[PartitionLog, Flush]:
    """A log of several segments, and what it has to flush: files, a snapshot and the names of all of them."""
    log = open_log(disk)
    for sequence in range(4):
        log.append_as_leader(make_batch(2, value_bytes=50), 0, TIMESTAMP)
        assert log.log_end_offset == 2 * sequence + 2
    flush = log.prepare_flush()
    assert flush is not None
    assert flush.snapshots
    assert flush.directory
    return log, flush


def test_what_was_flushed_is_there_after_every_power_cut() -> None:
    disk = SimDisk()
    log, flush = rolled_log(disk)
    flush.run()
    log.mark_flushed(flush, TIMESTAMP)
    for seed in range(20):
        again = open_log(disk.after_power_cut(Random(seed)), log.recovery_point)
        assert again.log_end_offset == log.log_end_offset == 8
        assert again.segments.base_offsets == log.segments.base_offsets


def test_a_flush_minds_neither_that_the_log_is_renamed_nor_that_it_is_deleted() -> None:
    disk = SimDisk()
    log, flush = rolled_log(disk)
    log.move_to("/t-0.0-delete")
    flush.run()
    log.delete()
    flush.run()


def test_the_names_in_a_log_that_was_renamed_during_a_flush_are_flushed_by_the_next() -> None:
    log, flush = rolled_log(SimDisk())
    log.move_to("/u-0")
    flush.run()
    log.mark_flushed(flush, TIMESTAMP)
    following = log.prepare_flush()
    assert following is not None
    assert following.directory == "/u-0"


@pytest.mark.parametrize("operation", ["flush", "flush_directory"])
def test_a_full_disk_is_no_excuse_for_a_failed_flush(operation: str) -> None:
    """What an append has no room for can be sent again; what was acknowledged and is not durable cannot."""
    disk = SimDisk()
    log, flush = rolled_log(disk)
    disk.fail(operation, "", errno.ENOSPC)
    with pytest.raises(OSError, match="No space left") as raised:
        flush.run()
    assert raised.value.errno == errno.EIO
    assert log.recovery_point == 0
