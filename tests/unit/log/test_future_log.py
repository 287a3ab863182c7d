"""A future log beside the current one: whatever happens to that one, copying makes them the same."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from barnabas.log.future_log import append_chunk, cut_to_agreed, note_latest_epoch, read_chunk
from barnabas.log.log_config import LogConfig
from barnabas.log.partition_log import PartitionLog
from barnabas.records.build import build_batch
from barnabas.sim.disk import SimDisk
from builders import TIMESTAMP, make_batch, make_records
from log_checks import check_log, stored_batches

BATCH_BYTES = len(make_batch(2))
CONFIG = LogConfig(segment_bytes=3 * BATCH_BYTES, segment_index_bytes=1024)
NOW_MS = TIMESTAMP


class Pair:
    """A current log and its future one."""

    def __init__(self) -> None:
        disk = SimDisk()
        self.current = PartitionLog(disk, "/a/t-0", CONFIG, rng=Random(1), now_ms=NOW_MS)
        self.future = PartitionLog(disk, "/b/t-0.0-future", CONFIG, rng=Random(1), now_ms=NOW_MS)
        self.epoch = 0

    def append(self, count: int, *, producer_id: int = -1, sequence: int = -1) -> None:
        batch = build_batch(
            make_records(count, timestamp=NOW_MS),
            producer_id=producer_id,
            producer_epoch=0 if producer_id >= 0 else -1,
            base_sequence=sequence,
        )
        self.current.append_as_leader(batch, self.epoch, NOW_MS)

    def elect(self) -> None:
        """Another leader epoch begins, of which there is no record yet."""
        self.epoch += 1
        self.current.leader_epochs.note(self.epoch, self.current.log_end_offset)

    def truncate(self, batches: int) -> None:
        """Records that were not committed go, as on a follower, and a leader of a later epoch writes others."""
        stored = stored_batches(self.current)
        if stored:
            kept = stored[: max(0, len(stored) - batches)]
            end = kept[-1].header.next_offset if kept else stored[0].header.base_offset
            self.current.truncate_to(max(end, self.current.high_watermark), NOW_MS)
        self.epoch += 1

    def commit(self) -> None:
        self.current.update_high_watermark(self.current.log_end_offset)

    def step(self, max_bytes: int) -> int:
        cut_to_agreed(self.current, self.future, NOW_MS)
        chunk = read_chunk(self.current, self.future, max_bytes)
        append_chunk(self.current, self.future, chunk, NOW_MS)
        check_log(self.future)
        return len(chunk)

    def catch_up(self, max_bytes: int = 1 << 20) -> None:
        while self.step(max_bytes) or self.future.log_end_offset != self.current.log_end_offset:
            pass

    def check_same(self) -> None:
        current, future = self.current, self.future
        start = max(current.log_start_offset, current.segments.first.base_offset)
        first = [batch for batch in stored_batches(current) if batch.header.last_offset >= start]
        kept = [batch for batch in stored_batches(future) if batch.header.last_offset >= start]
        assert kept == first
        assert future.log_end_offset == current.log_end_offset
        assert future.log_start_offset == current.log_start_offset
        assert future.high_watermark == current.high_watermark


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("append"), st.integers(1, 3)),
        st.tuples(st.just("elect"), st.just(0)),
        st.tuples(st.just("truncate"), st.integers(1, 4)),
        st.tuples(st.just("commit"), st.just(0)),
        st.tuples(st.just("delete"), st.integers(0, 12)),
        st.tuples(st.just("retain"), st.just(0)),
        st.tuples(st.just("copy"), st.sampled_from([1, BATCH_BYTES, 2 * BATCH_BYTES, 1 << 20])),
    ),
    max_size=25,
)


@given(STEPS)
def test_whatever_happens_to_the_current_log_the_future_one_becomes_the_same(steps: list[tuple[str, int]]) -> None:
    pair = Pair()
    for what, number in steps:
        if what == "append":
            pair.append(number)
        elif what == "elect":
            pair.elect()
        elif what == "truncate":
            pair.truncate(number)
        elif what == "commit":
            pair.commit()
        elif what == "delete":
            pair.current.delete_records_before(min(number, pair.current.high_watermark))
        elif what == "retain":
            pair.current.delete_old_segments(NOW_MS)
        else:
            pair.step(number)
    pair.catch_up()
    pair.check_same()


def test_records_of_another_leader_in_the_place_of_copied_ones_are_found_by_their_epoch() -> None:
    pair = Pair()
    pair.append(2)
    pair.append(2)
    pair.catch_up()
    pair.truncate(1)
    pair.append(2)
    assert pair.future.log_end_offset == pair.current.log_end_offset
    pair.catch_up()
    pair.check_same()


def test_a_log_that_starts_in_the_middle_of_a_batch_is_copied_from_that_batch_on() -> None:
    pair = Pair()
    pair.append(3)
    pair.append(3)
    pair.commit()
    pair.current.delete_records_before(4)
    pair.catch_up()
    pair.check_same()
    assert stored_batches(pair.future)[0].header.base_offset == 3


def test_producers_are_known_to_the_copy() -> None:
    pair = Pair()
    pair.append(2, producer_id=7, sequence=0)
    pair.catch_up()
    assert pair.future.producer_state.producers.keys() == {7}


def test_an_epoch_without_records_is_noted_when_the_future_log_takes_over() -> None:
    pair = Pair()
    pair.append(2)
    pair.catch_up()
    pair.elect()
    note_latest_epoch(pair.current, pair.future)
    assert pair.future.leader_epochs.entries() == pair.current.leader_epochs.entries()


def test_an_epoch_of_which_the_current_log_has_nothing_left_is_dropped_alone() -> None:
    pair = Pair()
    pair.append(2)
    pair.truncate(0)
    pair.append(2)
    pair.catch_up()
    pair.truncate(1)
    assert cut_to_agreed(pair.current, pair.future, NOW_MS)
    assert pair.future.log_end_offset == pair.current.log_end_offset == 2
