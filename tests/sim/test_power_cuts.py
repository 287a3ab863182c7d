"""A power cut between any two disk operations, and at any byte of what was not flushed, of a random history of a log.

After each cut the log opens; everything that was flushed is there; what else is there is a beginning of what was
written, in one piece; the indexes, the aborted transactions and the producers agree with it.
"""

from __future__ import annotations

import os
from random import Random

import pytest

from barnabas.log.log_config import LogConfig
from barnabas.log.partition_log import PartitionLog
from barnabas.log.producer_entry import AppendOrigin
from barnabas.log.recovery import replay
from barnabas.log.scan import end_marker
from barnabas.records.batch import read_header
from barnabas.records.build import build_batch
from barnabas.records.control import EndTransactionMarker, build_end_transaction_marker
from barnabas.sim.disk import PowerCut, SimDisk
from builders import TIMESTAMP, make_records
from log_checks import check_log, stored_batches

CONFIG = LogConfig(
    segment_bytes=1_000,
    segment_index_bytes=60,
    index_interval_bytes=150,
    retention_bytes=3_000,
    retention_ms=-1,
    file_delete_delay_ms=1,
)
CHANGES = {"write", "truncate", "rename", "remove", "flush", "flush_directory", "open", "map", "make_directory"}
HISTORIES = int(os.environ.get("POWER_CUT_HISTORIES", "12"))


class History:
    """A log on a disk, what was promised about it, and the states that a power cut may take it back to."""

    def __init__(self, seed: int) -> None:
        self.rng = Random(seed)
        self.disk = SimDisk()
        self.now_ms = TIMESTAMP
        self.written: list[bytes] = []  # The batches of the log, also those before its start.
        self.reachable: list[list[bytes]] = [[]]
        self.flushed_offset = 0
        self.log_start_offset = 0
        self.recovery_point = 0  # As the checkpoint has it.
        self.is_clean = False
        self.sequences: dict[int, int] = {}
        self.open_transactions: set[int] = set()
        self.cuts = 0
        self.stop_at = -1
        self.disk.make_directory("/t-0")
        self.disk.flush_directory("/")
        self.log = self.open_log(self.disk)

    def open_log(self, disk: SimDisk) -> PartitionLog:
        return PartitionLog(
            disk,
            "/t-0",
            CONFIG,
            rng=Random(0),
            now_ms=self.now_ms,
            log_start_offset=self.log_start_offset,
            recovery_point=self.recovery_point,
            had_clean_shutdown=self.is_clean,
        )

    # Cutting the power

    def run(self, steps: int) -> None:
        for _ in range(steps):
            self.stop_at = self.disk.operations + self.rng.randrange(60) if self.rng.random() < 0.1 else -1
            self.disk.before_operation = self.before_operation
            try:
                self.step()
            except PowerCut:
                self.disk.before_operation = None
                self.go_on_after_cut()

    def before_operation(self, operation: str, _path: str) -> None:
        if operation in CHANGES:
            self.cuts += 1
            self.check(self.open_log(self.disk.after_power_cut(Random(self.rng.random()))))
        if self.disk.operations == self.stop_at:
            raise PowerCut

    def go_on_after_cut(self) -> None:
        self.disk = self.disk.after_power_cut(self.rng)
        self.log = self.open_log(self.disk)
        self.is_clean = False
        self.check(self.log)
        self.written = [batch.data for batch in stored_batches(self.log)]
        self.reachable = [self.written[:]]
        self.go_on()

    def check(self, log: PartitionLog) -> None:
        check_log(log)
        found = [batch.data for batch in stored_batches(log)]
        promised = [
            batch
            for batch in self.written
            if read_header(batch).last_offset < self.flushed_offset
            and read_header(batch).last_offset >= self.log_start_offset
        ]
        assert not promised or promised[0] in found, "a flushed batch is lost"
        if promised:
            assert found[found.index(promised[0]) :][: len(promised)] == promised, "a flushed batch is lost"
        assert any(is_within(found, state) for state in self.reachable), "what is there was never there together"
        self.check_producers(log)

    def check_producers(self, log: PartitionLog) -> None:
        """Where the log is whole, reading it from the start gives the state and the indexes that it has."""
        if log.segments.first.base_offset or log.log_start_offset:
            return
        fresh = type(log.producer_state)(SimDisk(), "/nowhere")
        aborted = []
        for header, batch in stored_batches(log):
            aborted += replay(fresh, header, end_marker(batch, header) if header.is_control else None)
        known = {
            pid: (entry.producer_epoch, entry.last_sequence, entry.current_txn_first_offset)
            for pid, entry in log.producer_state.producers.items()
        }
        assert known == {
            pid: (entry.producer_epoch, entry.last_sequence, entry.current_txn_first_offset)
            for pid, entry in fresh.producers.items()
        }
        assert [entry for segment in log.segments for entry in segment.transaction_index.entries()] == aborted

    # What a node does

    def step(self) -> None:
        actions = [self.append] * 8 + [self.end_transaction] * 2 + [self.append_chunk, self.flush, self.flush_late]
        actions += [self.truncate, self.delete_records, self.retain, self.roll, self.checkpoint, self.restart]
        self.now_ms += 1
        self.rng.choice(actions)()

    def append(self) -> None:
        count = 1 + self.rng.randrange(3)
        records = make_records(count, timestamp=self.now_ms, value_bytes=self.rng.randrange(200))
        producer_id = self.rng.randrange(-1, 3)
        if producer_id < 0:
            batch = build_batch(records)
        else:
            batch = build_batch(
                records,
                producer_id=producer_id,
                producer_epoch=0,
                base_sequence=self.sequences.get(producer_id, 0),
                is_transactional=producer_id > 0,
            )
        self.append_batch(batch, AppendOrigin.CLIENT)
        if producer_id >= 0:
            self.sequences[producer_id] = self.sequences.get(producer_id, 0) + count
        if producer_id > 0:
            self.open_transactions.add(producer_id)

    def end_transaction(self) -> None:
        if not self.open_transactions:
            return
        producer_id = self.rng.choice(sorted(self.open_transactions))
        marker = EndTransactionMarker(self.rng.random() < 0.5, 0)
        batch = build_end_transaction_marker(marker, producer_id=producer_id, producer_epoch=0, timestamp=self.now_ms)
        self.append_batch(batch, AppendOrigin.COORDINATOR)
        self.open_transactions.discard(producer_id)

    def append_batch(self, batch: bytearray, origin: AppendOrigin) -> None:
        # The stamped bytes may be on the disk before the call returns.
        stamped = bytearray(batch)
        stamped[:8] = self.log.log_end_offset.to_bytes(8, "big")
        stamped[12:16] = (3).to_bytes(4, "big")
        self.reachable.append([*self.written, bytes(stamped)])
        self.log.append_as_leader(batch, 3, self.now_ms, origin=origin, transaction_version=1)
        self.written.append(bytes(stamped))

    def append_chunk(self) -> None:
        chunk, offset = bytearray(), self.log.log_end_offset
        for _ in range(1 + self.rng.randrange(4)):
            batch = build_batch(make_records(2, offset, self.now_ms, self.rng.randrange(60)), leader_epoch=3)
            chunk += batch
            offset += 2
            self.written.append(bytes(batch))
        self.reachable.append(self.written[:])
        self.log.append_as_follower(chunk, 3, self.now_ms)

    def flush(self) -> None:
        end = self.log.log_end_offset
        self.log.flush(self.now_ms)
        self.flushed_offset = end
        self.reachable = [self.written[:]]

    def flush_late(self) -> None:
        """Appends come between what is to be flushed and the flush."""
        flush = self.log.prepare_flush()
        self.append()
        if flush is not None:
            flush.run()
            self.log.mark_flushed(flush, self.now_ms)
            self.flushed_offset = self.log.recovery_point

    def truncate(self) -> None:
        start, end = self.log.log_start_offset, self.log.log_end_offset
        ends = [read_header(b).next_offset for b in self.written if start <= read_header(b).next_offset <= end]
        # Replicas differ by whole batches. A cut inside one leaves a gap, and with it no way to tell a later loss.
        offset = self.rng.choice([*ends[-6:], end])
        kept = [batch for batch in self.written if read_header(batch).last_offset < offset]
        self.flushed_offset = min(self.flushed_offset, offset)
        self.recovery_point = min(self.recovery_point, offset)
        if self.rng.random() < 0.1:
            self.log_start_offset = offset
            kept = []
            self.reachable.append(kept)
            self.log.truncate_fully_and_start_at(offset, self.now_ms)
        else:
            self.log.truncate_to(offset, self.now_ms)
        self.written = kept
        self.reachable = [kept[:]]
        self.ask_producers()

    def delete_records(self) -> None:
        self.log.update_high_watermark(self.log.log_end_offset)
        offset = self.rng.randrange(self.log.log_start_offset, self.log.high_watermark + 1)
        self.log.delete_records_before(offset)
        self.log_start_offset = max(self.log_start_offset, offset)

    def retain(self) -> None:
        self.log.update_high_watermark(self.log.log_end_offset)
        # What retention drops was promised only until now.
        excess = self.log.size_bytes - CONFIG.retention_bytes
        start = self.log.log_start_offset
        for segment in self.log.segments:
            excess -= segment.size_bytes
            following = self.log.segments.behind(segment)
            if excess >= 0 and following is not None:
                start = max(start, following.base_offset)
        self.log_start_offset = max(start, self.log_start_offset)
        self.log.delete_old_segments(self.now_ms)
        self.log_start_offset = max(self.log.log_start_offset, self.log_start_offset)
        self.log.remove_deleted(self.now_ms + self.rng.randrange(5))

    def roll(self) -> None:
        self.log.roll(self.now_ms)

    def checkpoint(self) -> None:
        self.recovery_point = self.log.recovery_point

    def restart(self) -> None:
        if self.rng.random() < 0.5:
            self.log.release()
            self.log = self.open_log(self.disk)
        else:
            end = self.log.log_end_offset
            self.log.close(self.now_ms)
            self.flushed_offset = self.recovery_point = end
            self.reachable = [self.written[:]]
            self.is_clean = True
            self.check(self.open_log(self.disk.after_power_cut(self.rng)))
            # The mark of a clean stop is removed before logs are opened.
            self.disk.before_operation = None
            self.log = self.open_log(self.disk)
            self.is_clean = False
        self.reachable = [self.written[:]]
        self.go_on()

    def go_on(self) -> None:
        """Opening has made durable what is there; producers go on with what the log knows of them."""
        self.flushed_offset = self.log.recovery_point
        self.ask_producers()

    def ask_producers(self) -> None:
        self.sequences = {pid: entry.last_sequence + 1 for pid, entry in self.log.producer_state.producers.items()}
        self.open_transactions = set(self.log.producer_state.ongoing.values())


def is_within(found: list[bytes], state: list[bytes]) -> bool:
    """Whether `found` lies in `state` in one piece. Only its beginning may be cut off: that is retention's doing."""
    if not found:
        return True
    return found[0] in state and state[state.index(found[0]) :][: len(found)] == found


@pytest.mark.parametrize("seed", range(HISTORIES))
def test_a_power_cut_at_any_operation_loses_nothing_that_was_flushed(seed: int) -> None:
    history = History(seed)
    history.run(60)
    assert history.cuts > 100
