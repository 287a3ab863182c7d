"""Producer state against a naive list of everything that was appended, and its snapshots on disk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.log.producer_entry import SEQUENCE_MAX, AppendOrigin, EndMarker, ProducerEntry
from barnabas.log.producer_state import ProducerState
from barnabas.log.transaction_index import AbortedTransaction
from barnabas.protocol.errors import (
    ApiError,
    InvalidProducerEpoch,
    InvalidTxnState,
    OutOfOrderSequenceNumber,
    TransactionCoordinatorFenced,
)
from barnabas.records.batch import CONTROL_FLAG, TRANSACTIONAL_FLAG, BatchHeader
from barnabas.sim.disk import SimDisk

DIRECTORY = "/data/t-0"
DAY_MS = 24 * 60 * 60 * 1000


def make_state(disk: SimDisk | None = None) -> ProducerState:
    if disk is None:
        disk = SimDisk()
        disk.make_directory(DIRECTORY)
    return ProducerState(disk, DIRECTORY)


def make_header(
    offset: int,
    *,
    producer_id: int = 1,
    epoch: int = 0,
    sequence: int = 0,
    count: int = 1,
    timestamp: int = 1_000,
    attributes: int = 0,
) -> BatchHeader:
    return BatchHeader(
        offset, 100, 0, 2, 0, attributes, count - 1, timestamp, timestamp, producer_id, epoch, sequence, count
    )


def append(
    state: ProducerState,
    header: BatchHeader,
    marker: EndMarker | None = None,
    *,
    origin: AppendOrigin = AppendOrigin.CLIENT,
    transaction_version: int = 1,
) -> list[AbortedTransaction]:
    update = state.prepare(origin, transaction_version=transaction_version)
    update.add(header, marker)
    state.apply(update, header.next_offset)
    return update.aborted


def append_data(state: ProducerState, offset: int, **fields: int) -> None:
    append(state, make_header(offset, **fields))


def append_transactional(state: ProducerState, offset: int, **fields: int) -> None:
    append(state, make_header(offset, attributes=TRANSACTIONAL_FLAG, **fields))


def append_marker(
    state: ProducerState,
    offset: int,
    *,
    producer_id: int = 1,
    epoch: int = 0,
    is_abort: bool = False,
    coordinator_epoch: int = 0,
    transaction_version: int = 1,
    origin: AppendOrigin = AppendOrigin.COORDINATOR,
) -> list[AbortedTransaction]:
    header = make_header(
        offset, producer_id=producer_id, epoch=epoch, sequence=-1, attributes=TRANSACTIONAL_FLAG | CONTROL_FLAG
    )
    marker = EndMarker(is_abort, coordinator_epoch, 2_000)
    return append(state, header, marker, origin=origin, transaction_version=transaction_version)


# The model


@dataclass(frozen=True)
class Sent:
    producer_id: int
    epoch: int
    sequence: int
    count: int


class Written(NamedTuple):
    sent: Sent
    offset: int


def model_outcome(history: list[Written], sent: Sent) -> type[ApiError] | int | None:
    """The error, the offset of the batch that this one repeats, or None for a batch to be written."""
    mine = [written for written in history if written.sent.producer_id == sent.producer_id]
    if not mine:
        return None
    epoch = mine[-1].sent.epoch
    current = [written for written in mine if written.sent.epoch == epoch]
    for written in current[-5:]:
        if written.sent == sent:
            return written.offset
    if sent.epoch < epoch:
        return InvalidProducerEpoch
    last = current[-1].sent
    expected = 0 if sent.epoch > epoch else (last.sequence + last.count) % 2**31
    return None if sent.sequence == expected else OutOfOrderSequenceNumber


near_the_wrap = st.sampled_from([0, 1, 2, 3, 4, SEQUENCE_MAX - 1, SEQUENCE_MAX])
batches = st.builds(Sent, st.integers(1, 2), st.integers(0, 2), near_the_wrap, st.integers(1, 3))


@given(st.data(), st.lists(st.one_of(batches, st.just("next"), st.just("again")), max_size=30))
def test_sequences_are_judged_as_by_a_list_of_all_batches(data: st.DataObject, operations: list[Sent | str]) -> None:
    state = make_state()
    history: list[Written] = []
    offset = 0
    for operation in operations:
        if isinstance(operation, Sent):
            sent = operation
        elif not history:
            continue
        elif operation == "again":
            sent = history[-data.draw(st.integers(1, min(8, len(history))))].sent
        else:
            last = history[-1].sent
            following = (last.sequence + last.count) % 2**31
            sent = Sent(last.producer_id, last.epoch, following, data.draw(st.integers(1, 3)))
        header = make_header(
            offset, producer_id=sent.producer_id, epoch=sent.epoch, sequence=sent.sequence, count=sent.count
        )
        outcome = model_outcome(history, sent)
        entry = state.producers.get(sent.producer_id)
        duplicate = entry.find_duplicate(header) if entry else None
        if isinstance(outcome, int):
            assert duplicate is not None
            assert duplicate.first_offset == outcome
            assert duplicate.last_offset == outcome + sent.count - 1
            continue
        assert duplicate is None
        before = dict(state.producers)
        if outcome is not None:
            with pytest.raises(outcome):
                append(state, header)
            assert state.producers == before
        else:
            append(state, header)
            history.append(Written(sent, offset))
            offset += sent.count
    assert state.map_end_offset == offset


transaction_steps = st.tuples(st.integers(1, 3), st.sampled_from(["write", "commit", "abort"]))


@given(st.lists(transaction_steps, max_size=25), st.lists(st.integers(0, 25), max_size=3))
def test_the_first_unstable_offset_is_that_of_a_list_of_all_transactions(
    steps: list[tuple[int, str]], high_watermarks: list[int]
) -> None:
    state = make_state()
    open_at: dict[int, int] = {}
    ended: list[tuple[int, int]] = []
    sequences = dict.fromkeys(range(1, 4), 0)
    for offset, (producer_id, step) in enumerate(steps):
        if step == "write":
            append_transactional(state, offset, producer_id=producer_id, sequence=sequences[producer_id])
            sequences[producer_id] += 1
            open_at.setdefault(producer_id, offset)
        else:
            aborted = append_marker(state, offset, producer_id=producer_id, is_abort=step == "abort")
            first = open_at.pop(producer_id, None)
            if first is None:
                assert aborted == []
                continue
            ended.append((first, offset))
            last_stable = min(open_at.values(), default=offset + 1)
            expected = [AbortedTransaction(producer_id, first, offset, last_stable)] if step == "abort" else []
            assert aborted == expected
    high_watermark = 0
    for high_watermark in sorted(high_watermarks):
        state.advance_high_watermark(high_watermark)
    unstable = [*open_at.values(), *(first for first, last in ended if last >= high_watermark)]
    assert state.first_unstable_offset == min(unstable, default=None)
    assert state.first_undecided_offset == min(open_at.values(), default=None)


# Rules one by one


def test_a_producer_that_is_not_known_may_start_anywhere() -> None:
    state = make_state()
    append_data(state, 0, sequence=4711)
    assert state.producers[1].last_sequence == 4711


def test_the_last_five_batches_are_known_again_and_no_more() -> None:
    state = make_state()
    for offset in range(7):
        append_data(state, offset, sequence=offset)
    entry = state.producers[1]
    known = [offset for offset in range(7) if entry.find_duplicate(make_header(99, sequence=offset))]
    assert known == [2, 3, 4, 5, 6]
    assert entry.find_duplicate(make_header(99, sequence=5, count=2)) is None


def test_a_transaction_is_stable_once_the_high_watermark_has_passed_its_marker() -> None:
    state = make_state()
    append_transactional(state, 0)
    append_marker(state, 1)
    state.advance_high_watermark(1)
    assert state.first_unstable_offset == 0
    state.advance_high_watermark(2)
    assert state.first_unstable_offset is None


def test_a_batch_without_a_producer_changes_only_the_end() -> None:
    state = make_state()
    append(state, make_header(0, producer_id=-1, epoch=-1, sequence=-1, count=3))
    assert not state.producers
    assert state.map_end_offset == 3


def test_coordinators_write_without_sequences_but_not_in_an_old_epoch() -> None:
    state = make_state()
    for offset in range(2):
        header = make_header(offset, sequence=-1, epoch=1)
        append(state, header, origin=AppendOrigin.COORDINATOR)
    with pytest.raises(InvalidProducerEpoch):
        append(state, make_header(2, sequence=-1, epoch=0), origin=AppendOrigin.COORDINATOR)


def test_followers_take_what_the_leader_took() -> None:
    state = make_state()
    append_data(state, 0, sequence=0, epoch=3)
    append(state, make_header(1, sequence=90, epoch=2), origin=AppendOrigin.REPLICATION)
    assert state.producers[1].producer_epoch == 2
    assert [batch.last_sequence for batch in state.producers[1].batches] == [90]


def test_a_plain_batch_within_a_transaction_is_refused() -> None:
    state = make_state()
    append_transactional(state, 0, sequence=0)
    with pytest.raises(InvalidTxnState):
        append_data(state, 1, sequence=1)


def test_a_fenced_coordinator_ends_nothing_on_a_leader() -> None:
    state = make_state()
    append_transactional(state, 0, sequence=0)
    append_marker(state, 1, coordinator_epoch=5)
    append_transactional(state, 2, sequence=1)
    with pytest.raises(TransactionCoordinatorFenced):
        append_marker(state, 3, coordinator_epoch=4)
    assert state.first_undecided_offset == 2
    append_marker(state, 3, coordinator_epoch=4, origin=AppendOrigin.REPLICATION)
    assert state.first_undecided_offset is None


@pytest.mark.parametrize(
    ("transaction_version", "epoch", "is_taken"),
    [(1, 4, False), (1, 5, True), (1, 6, True), (2, 4, False), (2, 5, False), (2, 6, True)],
)
def test_a_marker_of_version_2_ends_a_transaction_in_a_later_epoch(
    transaction_version: int, epoch: int, is_taken: bool
) -> None:
    state = make_state()
    append_transactional(state, 0, sequence=0, epoch=5)
    if is_taken:
        append_marker(state, 1, epoch=epoch, transaction_version=transaction_version)
        assert state.first_undecided_offset is None
    else:
        with pytest.raises(InvalidProducerEpoch):
            append_marker(state, 1, epoch=epoch, transaction_version=transaction_version)


def test_a_marker_that_is_sent_again_is_taken_where_no_transaction_has_begun_since() -> None:
    state = make_state()
    append_transactional(state, 0, sequence=0, epoch=5)
    append_marker(state, 1, epoch=6, transaction_version=2)
    append_marker(state, 2, epoch=6, transaction_version=2)
    append_transactional(state, 3, sequence=0, epoch=6)
    with pytest.raises(InvalidProducerEpoch):
        append_marker(state, 4, epoch=6, transaction_version=2)


def test_the_last_epoch_of_all_may_end_in_itself() -> None:
    state = make_state()
    append_transactional(state, 0, sequence=0, epoch=2**15 - 1)
    append_marker(state, 1, epoch=2**15 - 1, transaction_version=2)
    assert state.first_undecided_offset is None


def test_a_marker_in_a_new_epoch_makes_sequences_start_again() -> None:
    state = make_state()
    append_transactional(state, 0, sequence=0, epoch=5)
    append_marker(state, 1, epoch=6, transaction_version=2)
    with pytest.raises(OutOfOrderSequenceNumber):
        append_transactional(state, 2, sequence=1, epoch=6)
    append_transactional(state, 2, sequence=0, epoch=6)


def test_a_control_batch_that_was_emptied_by_the_cleaner_changes_nothing() -> None:
    state = make_state()
    append_transactional(state, 0, sequence=0)
    append(state, make_header(1, attributes=TRANSACTIONAL_FLAG | CONTROL_FLAG, count=1), None)
    assert state.first_undecided_offset == 0


def test_one_update_may_end_a_transaction_and_open_the_next() -> None:
    state = make_state()
    update = state.prepare(AppendOrigin.REPLICATION)
    update.add(make_header(0, attributes=TRANSACTIONAL_FLAG))
    update.add(make_header(1, attributes=TRANSACTIONAL_FLAG | CONTROL_FLAG), EndMarker(True, 0, 0))
    update.add(make_header(2, sequence=1, attributes=TRANSACTIONAL_FLAG))
    assert state.first_undecided_offset is None
    state.apply(update, 3)
    assert update.aborted == [AbortedTransaction(1, 0, 1, 2)]
    assert state.first_undecided_offset == 2
    assert state.first_unstable_offset == 0


def test_idle_producers_expire_but_not_within_a_transaction() -> None:
    state = make_state()
    append_data(state, 0, producer_id=1, timestamp=1_000)
    append_transactional(state, 1, producer_id=2, timestamp=1_000)
    append_data(state, 2, producer_id=3, timestamp=1_001)
    state.remove_expired(1_000 + DAY_MS)
    assert sorted(state.producers) == [2, 3]


def test_a_transaction_is_late_after_the_longest_timeout_and_a_little_more() -> None:
    state = make_state()
    append_transactional(state, 0, timestamp=1_000)
    limit_ms = 1_000 + (15 + 5) * 60 * 1_000
    assert not state.has_late_transaction(limit_ms)
    assert state.has_late_transaction(limit_ms + 1)
    append_marker(state, 1)
    assert not state.has_late_transaction(limit_ms + 1)


# Snapshots


def test_a_snapshot_brings_back_producers_and_open_transactions_with_their_last_batch() -> None:
    disk = SimDisk()
    disk.make_directory(DIRECTORY)
    state = make_state(disk)
    append_transactional(state, 0, producer_id=2, sequence=7, count=3)
    append_data(state, 3, producer_id=1, sequence=0)
    append_data(state, 4, producer_id=1, sequence=1, count=2)
    assert state.take_snapshot() == f"{DIRECTORY}/00000000000000000006.snapshot"
    assert state.take_snapshot() is None

    reloaded = make_state(disk)
    assert reloaded.latest_snapshot_offset == 6
    reloaded.truncate_and_reload(0, 6, now_ms=2_000)
    assert reloaded.map_end_offset == 6
    assert reloaded.producers[2] == state.producers[2]
    assert reloaded.producers[1] == state.producers[1]._replace(batches=state.producers[1].batches[-1:])
    assert reloaded.first_undecided_offset == 0
    assert list(reloaded.ongoing) == [0]


def test_a_damaged_snapshot_is_deleted_and_an_older_one_taken() -> None:
    disk = SimDisk()
    disk.make_directory(DIRECTORY)
    state = make_state(disk)
    append_data(state, 0)
    state.take_snapshot()
    append_data(state, 1, sequence=1)
    path = state.take_snapshot()
    assert path is not None
    disk.open(path).write_at(12, b"\xff")
    reloaded = make_state(disk)
    reloaded.truncate_and_reload(0, 2, now_ms=2_000)
    assert reloaded.map_end_offset == 1
    assert not disk.exists(path)
    assert reloaded.producers[1].last_sequence == 0


def test_reloading_leaves_expired_producers_out() -> None:
    disk = SimDisk()
    disk.make_directory(DIRECTORY)
    state = make_state(disk)
    append_data(state, 0, timestamp=1_000)
    state.take_snapshot()
    reloaded = make_state(disk)
    reloaded.truncate_and_reload(0, 1, now_ms=1_000 + DAY_MS)
    assert not reloaded.producers


def test_truncation_deletes_snapshots_outside_the_log_and_goes_back_to_the_latest_left() -> None:
    state = make_state()
    for offset in range(4):
        append_data(state, offset, sequence=offset)
        state.take_snapshot()
    append_data(state, 4, sequence=4)
    state.truncate_and_reload(1, 3, now_ms=2_000)
    assert state.snapshot_offsets == [2, 3]
    assert state.map_end_offset == 3
    assert state.producers[1].last_sequence == 2


def test_a_state_that_ends_where_the_log_ends_is_kept() -> None:
    state = make_state()
    for offset in range(3):
        append_data(state, offset, sequence=offset)
    state.truncate_and_reload(0, 3, now_ms=2_000)
    assert len(state.producers[1].batches) == 3


def test_truncating_fully_forgets_everything() -> None:
    state = make_state()
    append_transactional(state, 0)
    state.take_snapshot()
    state.truncate_fully_and_start_at(50)
    assert state.is_empty
    assert state.first_unstable_offset is None
    assert state.snapshot_offsets == []
    assert state.map_end_offset == 50


def test_the_log_start_moves_the_end_but_keeps_producers() -> None:
    state = make_state()
    append_data(state, 0)
    state.advance_log_start(10)
    assert state.map_end_offset == 10
    assert 1 in state.producers
    assert state.take_snapshot() is None


@pytest.mark.parametrize(
    ("snapshots", "bases", "kept"),
    [
        ([1, 2, 5], [0, 2], [2, 5]),
        ([1, 5, 7], [0], [7]),
        ([1, 2], [0, 3], []),
        ([3, 4], [0, 3], [3, 4]),
        ([3, 4], [], [4]),
    ],
)
def test_stray_snapshots_go_but_for_the_one_at_the_end(snapshots: list[int], bases: list[int], kept: list[int]) -> None:
    disk = SimDisk()
    disk.make_directory(DIRECTORY)
    for offset in snapshots:
        disk.open(f"{DIRECTORY}/{offset:020d}.snapshot", create=True)
    state = make_state(disk)
    state.remove_stray_snapshots(bases)
    assert state.snapshot_offsets == kept
    assert len(disk.names(DIRECTORY)) == len(kept)


def test_snapshots_are_set_aside_with_their_segments() -> None:
    state = make_state()
    for offset in range(3):
        append_data(state, offset, sequence=offset)
        state.take_snapshot()
    assert state.set_snapshot_aside(1) == f"{DIRECTORY}/00000000000000000001.snapshot.deleted"
    assert state.set_snapshot_aside(1) is None
    assert state.snapshot_offsets == [2, 3]


def test_an_entry_without_batches_survives_a_snapshot() -> None:
    entry = ProducerEntry(5, 3, 2, 1_000)
    assert ProducerEntry.from_snapshot(entry.to_snapshot()) == entry
