"""Leader epochs: what is assigned, cut from either end, asked for and written down."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.log.checkpoint import MalformedCheckpointError, read_whole, replace_file
from barnabas.log.leader_epochs import EpochEnd, EpochStart, LeaderEpochs
from barnabas.sim.disk import SimDisk

PATH = "/data/t-0/leader-epoch-checkpoint"


def make_disk() -> SimDisk:
    disk = SimDisk()
    disk.make_directory("/data/t-0")
    return disk


def make_epochs(*entries: tuple[int, int]) -> LeaderEpochs:
    epochs = LeaderEpochs(make_disk(), PATH)
    for epoch, start_offset in entries:
        epochs.assign(epoch, start_offset)
    return epochs


def test_the_file_is_kafkas() -> None:
    disk = make_disk()
    epochs = LeaderEpochs(disk, PATH)
    epochs.assign(0, 0)
    epochs.assign(3, 17)
    assert read_whole(disk, PATH) == b"0\n2\n0 0\n3 17\n"


def test_an_assigned_epoch_survives_a_restart_and_a_truncated_one_comes_back_until_it_is_flushed() -> None:
    disk = make_disk()
    epochs = LeaderEpochs(disk, PATH)
    epochs.assign(1, 0)
    epochs.assign(2, 10)
    epochs.truncate_from_end(10)
    assert LeaderEpochs(disk, PATH).entries() == [EpochStart(1, 0), EpochStart(2, 10)]
    epochs.flush()
    assert LeaderEpochs(disk, PATH).entries() == [EpochStart(1, 0)]


def test_flush_without_a_truncation_writes_nothing() -> None:
    disk = make_disk()
    epochs = LeaderEpochs(disk, PATH)
    epochs.assign(1, 0)
    before = disk.operations
    epochs.flush()
    assert epochs.assign(1, 5) is False
    assert disk.operations == before


def test_an_epoch_keeps_its_first_start_and_contradicted_entries_go() -> None:
    epochs = make_epochs((1, 0), (3, 10), (4, 20))
    assert epochs.assign(4, 30) is False
    assert epochs.assign(5, 10) is True  # Epochs 3 and 4 never wrote what is there now.
    assert epochs.entries() == [EpochStart(1, 0), EpochStart(5, 10)]
    assert epochs.assign(2, 12) is True
    assert epochs.entries() == [EpochStart(1, 0), EpochStart(2, 12)]


@pytest.mark.parametrize("entry", [(-1, 0), (0, -1)])
def test_negative_epochs_and_offsets_are_refused(entry: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="cannot start"):
        make_epochs(entry)


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        (-1, EpochEnd(-1, -1)),
        (0, EpochEnd(0, 5)),  # Older than all: its records are gone, the follower starts where the log does.
        (1, EpochEnd(1, 10)),
        (2, EpochEnd(1, 10)),
        (3, EpochEnd(3, 20)),
        (6, EpochEnd(6, 33)),
        (7, EpochEnd(-1, -1)),
    ],
)
def test_end_offsets_are_those_of_the_largest_known_epoch(asked: int, answer: EpochEnd) -> None:
    epochs = make_epochs((1, 5), (3, 10), (6, 20))
    assert epochs.end_offset_for(asked, log_end_offset=33) == answer


def test_no_epochs_know_no_end() -> None:
    assert make_epochs().end_offset_for(0, 10) == EpochEnd(-1, -1)
    assert make_epochs().latest_epoch is None


@pytest.mark.parametrize(
    ("start_offset", "left"),
    [(9, [(1, 9), (3, 10)]), (10, [(3, 10)]), (11, [(3, 11)]), (0, [(1, 5), (3, 10)])],
)
def test_the_epoch_that_holds_the_new_start_begins_there(start_offset: int, left: list[tuple[int, int]]) -> None:
    epochs = make_epochs((1, 5), (3, 10))
    epochs.truncate_from_start(start_offset)
    assert epochs.entries() == left


@pytest.mark.parametrize(
    ("end_offset", "left"), [(11, [(1, 5), (3, 10)]), (10, [(1, 5)]), (5, []), (-1, [(1, 5), (3, 10)])]
)
def test_an_epoch_that_starts_at_the_new_end_goes(end_offset: int, left: list[tuple[int, int]]) -> None:
    epochs = make_epochs((1, 5), (3, 10))
    epochs.truncate_from_end(end_offset)
    assert epochs.entries() == left


def test_clearing_is_durable() -> None:
    disk = make_disk()
    epochs = LeaderEpochs(disk, PATH)
    epochs.assign(1, 0)
    epochs.clear()
    assert LeaderEpochs(disk, PATH).entries() == []


@pytest.mark.parametrize("content", [b"0\n1\n1\n", b"0\n1\n1 -5\n", b"0\n2\n1 5\n", b"1\n0\n"])
def test_a_malformed_file_is_an_error_of_the_disk(content: bytes) -> None:
    disk = make_disk()
    replace_file(disk, PATH, content)
    with pytest.raises(MalformedCheckpointError):
        LeaderEpochs(disk, PATH)


steps = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 6)), max_size=8)


@given(steps, st.integers(0, 30), st.integers(0, 30))
def test_epochs_answer_as_a_list_of_every_offsets_epoch_does(
    growth: list[tuple[int, int]], start: int, end: int
) -> None:
    """The model writes down the epoch of each offset, one by one."""
    epochs = make_epochs()
    written: list[int] = []
    epoch = 0
    for epoch_step, records in growth:
        epoch += epoch_step
        epochs.assign(epoch, len(written))
        written += [epoch] * records
    log_end = len(written)
    start, end = min(start, log_end), min(end, log_end)
    epochs.truncate_from_end(end)
    epochs.truncate_from_start(min(start, end))
    for offset in range(min(start, end), end):
        assert epochs.epoch_for(offset) == written[offset]
    for asked in set(written[:end]):
        found, found_end = epochs.end_offset_for(asked, end)
        if asked in written[min(start, end) : end]:
            assert found == asked
            assert found_end == end - written[:end][::-1].index(asked)


def test_an_epoch_that_is_only_noted_becomes_durable_when_it_is_assigned() -> None:
    disk = make_disk()
    epochs = LeaderEpochs(disk, PATH)
    epochs.assign(1, 0)
    operations = disk.operations
    epochs.note(4, 10)
    assert disk.operations == operations
    assert epochs.entries() == [EpochStart(1, 0), EpochStart(4, 10)]
    assert LeaderEpochs(disk, PATH).entries() == [EpochStart(1, 0)]
    assert not epochs.assign(4, 10)
    assert LeaderEpochs(disk, PATH).entries() == [EpochStart(1, 0), EpochStart(4, 10)]
    operations = disk.operations
    assert not epochs.assign(4, 12)
    assert disk.operations == operations
