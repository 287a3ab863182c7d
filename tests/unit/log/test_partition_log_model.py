"""Any sequence of appends, reads, truncations, deletions, rolls, retention and reopening, against a list of batches."""

from __future__ import annotations

from itertools import takewhile
from random import Random
from typing import NamedTuple

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from barnabas.log.log_config import LogConfig
from barnabas.log.partition_log import PartitionLog
from barnabas.log.read import Isolation
from barnabas.protocol.errors import OffsetOutOfRange
from barnabas.records.batch import read_header
from barnabas.records.legacy import iterate_any_records
from barnabas.sim.disk import SimDisk
from builders import TIMESTAMP, make_batch
from log_checks import check_log

CONFIG = LogConfig(
    segment_bytes=900,
    segment_ms=2_000,
    segment_index_bytes=48,
    index_interval_bytes=100,
    cleanup_policy=frozenset({"compact", "delete"}),  # Only then may batches have gaps between them.
    retention_bytes=1_500,
    retention_ms=5_000,
    file_delete_delay_ms=1_000,
)


class Batch(NamedTuple):
    base_offset: int
    last_offset: int
    data: bytes
    times: list[tuple[int, int]]  # (timestamp, offset) of each record.


def as_batch(data: bytes) -> Batch:
    header = read_header(data)
    times = [(record.timestamp, record.offset) for record in iterate_any_records(data)]
    return Batch(header.base_offset, header.last_offset, bytes(data), times)


class LogMachine(RuleBasedStateMachine):
    @initialize()
    def start(self) -> None:
        self.disk = SimDisk()
        self.now_ms = TIMESTAMP
        self.batches: list[Batch] = []
        self.log = PartitionLog(self.disk, "/t-0", CONFIG, rng=Random(1), now_ms=self.now_ms)

    @rule(count=st.integers(1, 4), age_ms=st.integers(0, 3_000), value_bytes=st.integers(0, 120))
    def append_as_leader(self, count: int, age_ms: int, value_bytes: int) -> None:
        data = make_batch(count, timestamp=self.now_ms - age_ms, value_bytes=value_bytes)
        end = self.log.log_end_offset
        info = self.log.append_as_leader(data, 1, self.now_ms)
        assert (info.first_offset, info.last_offset) == (end, end + count - 1)
        assert read_header(data)[0] == end
        self.batches.append(as_batch(bytes(data)))

    @rule(shape=st.lists(st.tuples(st.integers(0, 3), st.integers(1, 3)), min_size=1, max_size=4))
    def append_as_follower(self, shape: list[tuple[int, int]]) -> None:
        offset = self.log.log_end_offset
        chunk = bytearray()
        for gap, count in shape:
            batch = make_batch(count, base_offset=offset + gap, timestamp=self.now_ms)
            batch[12:16] = (1).to_bytes(4, "big")
            offset += gap + count
            chunk += batch
            self.batches.append(as_batch(bytes(batch)))
        info = self.log.append_as_follower(bytes(chunk) + b"\0" * 7, 1, self.now_ms)
        assert info is not None
        assert info.last_offset == self.log.log_end_offset - 1 == offset - 1

    @rule(ms=st.integers(0, 3_000))
    def let_time_pass(self, ms: int) -> None:
        self.now_ms += ms
        self.disk.now_ms = self.now_ms
        self.log.remove_deleted(self.now_ms)
        due_ms = self.log.deletion_due_ms
        assert due_ms is None or due_ms > self.now_ms

    @rule(data=st.data())
    def move_high_watermark(self, data: st.DataObject) -> None:
        self.log.increment_high_watermark(data.draw(st.integers(self.log.log_start_offset, self.log.log_end_offset)))

    @rule(data=st.data())
    def delete_records(self, data: st.DataObject) -> None:
        self.log.delete_records_before(data.draw(st.integers(0, self.log.high_watermark)))
        self.forget_before_log_start()

    @rule()
    def retain(self) -> None:
        size, end = self.log.size_bytes, self.log.log_end_offset
        self.log.delete_old_segments(self.now_ms)
        assert self.log.log_end_offset == end
        kept = self.log.size_bytes
        assert kept == size or self.log.log_start_offset <= self.log.high_watermark
        self.forget_before_log_start()

    def forget_before_log_start(self) -> None:
        self.batches = [batch for batch in self.batches if batch.last_offset >= self.log.log_start_offset]

    @rule(data=st.data())
    def truncate(self, data: st.DataObject) -> None:
        start, end = self.log.log_start_offset, self.log.log_end_offset
        offset = data.draw(st.integers(start, end + 2))
        assert self.log.truncate_to(offset, self.now_ms) is (offset < end)
        self.batches = [batch for batch in self.batches if batch.last_offset < offset]
        assert self.log.log_end_offset == min(offset, end)

    @rule(skip=st.integers(0, 5))
    def truncate_fully(self, skip: int) -> None:
        offset = self.log.log_end_offset + skip
        self.log.truncate_fully_and_start_at(offset, self.now_ms)
        self.batches = []
        assert self.log.log_start_offset == self.log.high_watermark == self.log.log_end_offset == offset

    @rule()
    def roll(self) -> None:
        self.log.roll(self.now_ms)

    @rule()
    def flush(self) -> None:
        self.log.flush(self.now_ms)
        assert self.log.recovery_point == self.log.log_end_offset

    @rule(is_clean=st.booleans())
    def reopen(self, is_clean: bool) -> None:
        old = self.log
        if is_clean:
            old.close(self.now_ms)
        else:
            old.release()
        self.log = PartitionLog(
            self.disk,
            "/t-0",
            CONFIG,
            rng=Random(1),
            now_ms=self.now_ms,
            log_start_offset=old.log_start_offset,
            recovery_point=old.recovery_point,
            had_clean_shutdown=is_clean,
        )
        # Offsets behind the last batch that nobody has written are not kept by the files.
        written_end = self.batches[-1].last_offset + 1 if self.batches else old.log_start_offset
        assert written_end <= self.log.log_end_offset <= old.log_end_offset
        assert self.log.log_start_offset == old.log_start_offset
        assert not any(name.endswith(".deleted") for name in self.disk.names("/t-0"))
        self.log.update_high_watermark(old.high_watermark)

    @rule(data=st.data(), isolation=st.sampled_from(Isolation), min_one=st.booleans())
    def read(self, data: st.DataObject, isolation: Isolation, min_one: bool) -> None:
        offset = data.draw(st.integers(self.log.log_start_offset, self.log.log_end_offset))
        sizes = [len(batch.data) for batch in self.visible(offset, isolation)]
        max_bytes = data.draw(st.sampled_from([*sizes, 10**6]) | st.integers(0, 400))
        self.check_read(offset, max_bytes, isolation, min_one)

    def visible(self, offset: int, isolation: Isolation) -> list[Batch]:
        """The batches from `offset` on that a reader may see. A bound within a batch hides the batch."""
        bound = self.log.log_end_offset if isolation is Isolation.LOG_END else self.log.high_watermark
        return list(takewhile(lambda b: b.last_offset < bound, (b for b in self.batches if b.last_offset >= offset)))

    def check_read(self, offset: int, max_bytes: int, isolation: Isolation, min_one: bool) -> None:
        visible = self.visible(offset, isolation)
        read = self.log.read(offset, max_bytes, isolation=isolation, min_one_batch=min_one)
        found = read.region.bytes()
        assert len(found) == read.region.size_bytes
        expected = b""
        if visible:
            # A region is of one segment, and all of that which there is room for.
            segment = self.log.segments.floor(visible[0].base_offset)
            assert segment is not None
            following = self.log.segments.behind(segment)
            end = self.log.log_end_offset if following is None else following.base_offset
            expected = b"".join(batch.data for batch in visible if batch.base_offset < end)
            expected = expected[: max(max_bytes, len(visible[0].data)) if min_one else max_bytes]
        assert found == expected
        assert read.aborted == ([] if isolation is Isolation.COMMITTED else None)

    @rule(data=st.data())
    def look_up_a_time(self, data: st.DataObject) -> None:
        near = [timestamp + step for timestamp, _ in self.times() for step in (-1, 0, 1)]
        self.check_time(data.draw(st.sampled_from([TIMESTAMP - 5_000, TIMESTAMP, self.now_ms, *near])))

    def times(self) -> list[tuple[int, int]]:
        return [time for batch in self.batches for time in batch.times if time[1] >= self.log.log_start_offset]

    def check_time(self, timestamp: int) -> None:
        found = self.log.offset_for_timestamp(timestamp)
        expected = next((time for time in self.times() if time[0] >= timestamp), None)
        assert (found and (found.timestamp, found.offset)) == expected

    @precondition(lambda self: self.log.log_start_offset > 0)
    @rule()
    def read_out_of_range(self) -> None:
        for offset in (self.log.log_start_offset - 1, self.log.log_end_offset + 1):
            with pytest.raises(OffsetOutOfRange):
                self.log.read(offset, 100)

    @invariant()
    def log_is_in_order(self) -> None:
        if hasattr(self, "log"):
            check_log(self.log)

    @invariant()
    def everything_is_read(self) -> None:
        if hasattr(self, "log"):
            for segment in self.log.segments:
                offset = max(segment.base_offset, self.log.log_start_offset)
                self.check_read(offset, 10**6, Isolation.LOG_END, min_one=True)

    @invariant()
    def the_ends_are_found_by_time(self) -> None:
        if hasattr(self, "log"):
            for timestamp, _ in [*self.times()[:1], *self.times()[-1:]]:
                self.check_time(timestamp)
                self.check_time(timestamp + 1)


TestLogMachine = LogMachine.TestCase
