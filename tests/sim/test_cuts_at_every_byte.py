"""A log whose writer is stopped at any byte it writes.

After a kill every append that was acknowledged is there: what was written outlives the process, and only the write that
was under way is torn. After a power cut everything that was flushed is there.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

from barnabas.log.log_config import LogConfig
from barnabas.log.partition_log import PartitionLog
from barnabas.log.producer_entry import AppendOrigin
from barnabas.records.build import build_batch
from barnabas.records.control import EndTransactionMarker, build_end_transaction_marker
from barnabas.sim.disk import PowerCut, SimDisk
from builders import TIMESTAMP, make_records
from log_checks import check_log, stored_batches

CONFIG = LogConfig(segment_bytes=400, segment_index_bytes=60, index_interval_bytes=100, file_delete_delay_ms=0)


class Writer:
    """A fixed run of a log's life. `acknowledged` grows only when a call has returned."""

    def __init__(self, bytes_until_cut: int | None = None) -> None:
        self.disk = SimDisk()
        self.disk.bytes_until_cut = bytes_until_cut
        self.acknowledged: list[int] = []
        self.flushed: list[int] = []
        self.sequence = 0

    def open(self, disk: SimDisk) -> PartitionLog:
        return PartitionLog(disk, "/t-0", CONFIG, rng=Random(0), now_ms=TIMESTAMP)

    def run(self) -> None:
        log = self.open(self.disk)
        for leader_epoch in (0, 1):
            for _ in range(4):
                self.append(log, leader_epoch)
            if leader_epoch == 0:
                log.flush(TIMESTAMP)
                self.flushed = self.acknowledged[:]
            self.abort(log, leader_epoch)
            self.append(log, leader_epoch)
        log.truncate_to(self.acknowledged.pop(), TIMESTAMP)
        self.sequence -= 1
        self.append(log, 2)
        log.close(TIMESTAMP)

    def append(self, log: PartitionLog, leader_epoch: int) -> None:
        batch = build_batch(
            make_records(1, value_bytes=30),
            producer_id=7,
            producer_epoch=0,
            base_sequence=self.sequence,
            is_transactional=True,
        )
        self.acknowledged.append(log.append_as_leader(batch, leader_epoch, TIMESTAMP).first_offset)
        self.sequence += 1

    def abort(self, log: PartitionLog, leader_epoch: int) -> None:
        marker = build_end_transaction_marker(
            EndTransactionMarker(is_commit=False, coordinator_epoch=0),
            producer_id=7,
            producer_epoch=0,
            timestamp=TIMESTAMP,
        )
        info = log.append_as_leader(
            marker, leader_epoch, TIMESTAMP, origin=AppendOrigin.COORDINATOR, transaction_version=1
        )
        self.acknowledged.append(info.first_offset)


def stopped_at_each_byte() -> Iterator[tuple[int, Writer]]:
    whole = Writer()
    whole.run()
    assert (len(whole.acknowledged), len(whole.flushed)) == (12, 4)
    for byte in range(whole.disk.bytes_written):
        writer = Writer(bytes_until_cut=byte)
        with pytest.raises(PowerCut):
            writer.run()
        yield byte, writer


def offsets_after(writer: Writer, disk: SimDisk) -> list[int]:
    disk.make_directory("/t-0")
    log = writer.open(disk)
    check_log(log)
    return [batch.header.base_offset for batch in stored_batches(log)]


def test_a_kill_at_any_byte_keeps_what_was_acknowledged() -> None:
    for byte, writer in stopped_at_each_byte():
        found = offsets_after(writer, writer.disk.after_kill())
        # A batch may be whole though its append was cut behind it, in what belongs to it.
        assert found[: len(writer.acknowledged)] == writer.acknowledged, f"killed at byte {byte}"
        assert len(found) <= len(writer.acknowledged) + 1, f"killed at byte {byte}"


def test_a_power_cut_at_any_byte_keeps_what_was_flushed() -> None:
    for byte, writer in stopped_at_each_byte():
        found = offsets_after(writer, writer.disk.after_power_cut(Random(byte)))
        assert found[: len(writer.flushed)] == writer.flushed, f"cut at byte {byte}"
        assert found == list(range(len(found))), f"cut at byte {byte}"
