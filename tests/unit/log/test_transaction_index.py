"""The transaction index: entries as Kafka writes them, searches, cuts, and torn ends."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.log.checkpoint import read_whole
from barnabas.log.transaction_index import AbortedTransaction, CorruptTransactionIndexError, TransactionIndex
from barnabas.sim.disk import SimDisk

PATH = "/t-0/00000000000000000000.txnindex"


def make_disk() -> SimDisk:
    disk = SimDisk()
    disk.make_directory("/t-0")
    return disk


def make_index(*transactions: AbortedTransaction) -> TransactionIndex:
    index = TransactionIndex(make_disk(), PATH, 0)
    index.append(transactions)
    return index


FIRST = AbortedTransaction(producer_id=7, first_offset=0, last_offset=10, last_stable_offset=11)
SECOND = AbortedTransaction(producer_id=8, first_offset=5, last_offset=15, last_stable_offset=13)
THIRD = AbortedTransaction(producer_id=9, first_offset=18, last_offset=35, last_stable_offset=25)


def test_the_file_appears_with_its_first_entry_in_kafkas_layout() -> None:
    disk = make_disk()
    index = TransactionIndex(disk, PATH, 0)
    index.append([])
    assert not disk.exists(PATH)
    assert index.is_empty
    index.append([FIRST])
    assert read_whole(disk, PATH).hex() == "0000" + "".join(f"{n:016x}" for n in (7, 0, 10, 11))


def test_entries_survive_reopening_and_must_rise() -> None:
    disk = make_disk()
    TransactionIndex(disk, PATH, 0).append([FIRST, SECOND])
    index = TransactionIndex(disk, PATH, 0)
    assert index.entries() == [FIRST, SECOND]
    with pytest.raises(ValueError, match="does not follow"):
        index.append([SECOND])
    index.append([THIRD])
    assert index.entries() == [FIRST, SECOND, THIRD]


def test_a_torn_entry_is_not_read_and_is_written_over() -> None:
    disk = make_disk()
    TransactionIndex(disk, PATH, 0).append([FIRST, SECOND])
    disk.open(PATH).truncate(50)
    index = TransactionIndex(disk, PATH, 0)
    assert index.entries() == [FIRST]
    index.append([THIRD])
    assert TransactionIndex(disk, PATH, 0).entries() == [FIRST, THIRD]


@pytest.mark.parametrize(
    ("fetch_offset", "upper_bound", "found", "is_complete"),
    [
        (0, 100, [FIRST, SECOND, THIRD], False),
        (0, 11, [FIRST], True),  # The LSO of the first is the bound: nothing later starts below it.
        (0, 12, [FIRST, SECOND], True),
        (11, 18, [SECOND], True),
        (11, 19, [SECOND, THIRD], True),
        (16, 26, [THIRD], False),
        (36, 40, [], False),
    ],
)
def test_a_search_finds_what_a_read_may_meet(
    fetch_offset: int, upper_bound: int, found: list[AbortedTransaction], is_complete: bool
) -> None:
    index = make_index(FIRST, SECOND, THIRD)
    search = index.search(fetch_offset, upper_bound)
    assert search.transactions == found
    assert search.is_complete is is_complete


@given(st.integers(0, 40))
def test_truncation_drops_the_markers_from_an_offset_on(offset: int) -> None:
    index = make_index(FIRST, SECOND, THIRD)
    index.truncate_to(offset)
    kept = [entry for entry in (FIRST, SECOND, THIRD) if entry.last_offset < offset]
    assert index.entries() == kept
    index.append([AbortedTransaction(1, 0, 40, 41)])
    assert len(index.entries()) == len(kept) + 1


def test_a_reset_index_takes_earlier_offsets_again() -> None:
    index = make_index(THIRD)
    index.reset()
    assert index.is_empty
    index.append([FIRST])
    assert index.entries() == [FIRST]


def test_an_entry_before_the_segment_is_corruption() -> None:
    disk = make_disk()
    index = TransactionIndex(disk, PATH, 11)
    index.append([FIRST])
    with pytest.raises(CorruptTransactionIndexError):
        index.check()


def test_an_unknown_version_is_corruption() -> None:
    disk = make_disk()
    TransactionIndex(disk, PATH, 0).append([FIRST])
    disk.open(PATH).write_at(0, b"\x00\x01")
    with pytest.raises(CorruptTransactionIndexError):
        TransactionIndex(disk, PATH, 0)


def test_renaming_and_deleting_take_an_absent_file() -> None:
    disk = make_disk()
    index = TransactionIndex(disk, PATH, 0)
    index.rename(PATH + ".deleted")
    index.append([FIRST])
    assert disk.names("/t-0") == ["00000000000000000000.txnindex.deleted"]
    index.delete()
    index.delete()
    assert disk.names("/t-0") == []
