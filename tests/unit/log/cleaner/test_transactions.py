"""Which transactional batches and markers may go, while a pass walks a log in offset order."""

from __future__ import annotations

from barnabas.log.cleaner.transactions import CleanedTransactions
from barnabas.log.transaction_index import AbortedTransaction
from barnabas.records.batch import CONTROL_FLAG, TRANSACTIONAL_FLAG, BatchHeader


def make_header(offset: int, producer_id: int = 1, *, is_control: bool = False, count: int = 1) -> BatchHeader:
    attributes = TRANSACTIONAL_FLAG | (CONTROL_FLAG if is_control else 0)
    return BatchHeader(offset, 100, 0, 2, 0, attributes, 0, 0, 0, producer_id, 0, 0, count)


def make_marker(offset: int, producer_id: int = 1, count: int = 1) -> BatchHeader:
    return make_header(offset, producer_id, is_control=True, count=count)


ABORTED = AbortedTransaction(producer_id=1, first_offset=2, last_offset=5, last_stable_offset=6)


def test_aborted_data_may_go_and_its_marker_stays_for_as_long_as_there_was_some() -> None:
    transactions = CleanedTransactions()
    transactions.add_aborted([ABORTED])
    assert transactions.can_drop_data(make_header(2))
    assert transactions.can_drop_marker(make_marker(5), is_abort=True) == (False, ABORTED)


def test_an_abort_marker_without_data_may_go() -> None:
    transactions = CleanedTransactions()
    transactions.add_aborted([ABORTED])
    assert transactions.can_drop_marker(make_marker(5), is_abort=True) == (True, None)


def test_committed_data_stays_and_its_marker_with_it() -> None:
    transactions = CleanedTransactions()
    assert not transactions.can_drop_data(make_header(2))
    assert transactions.can_drop_marker(make_marker(3), is_abort=False) == (False, None)
    assert transactions.can_drop_marker(make_marker(4), is_abort=False) == (True, None)


def test_a_transaction_told_twice_is_one() -> None:
    transactions = CleanedTransactions()
    transactions.add_aborted([ABORTED])
    assert transactions.can_drop_data(make_header(2))
    transactions.add_aborted([ABORTED])
    assert transactions.can_drop_data(make_header(4))
    assert transactions.can_drop_marker(make_marker(5), is_abort=True) == (False, ABORTED)
    assert not transactions.can_drop_data(make_header(6))


def test_only_the_aborting_producer_is_dropped_and_only_from_its_first_offset_on() -> None:
    transactions = CleanedTransactions()
    transactions.add_aborted([ABORTED])
    assert not transactions.can_drop_data(make_header(1))
    assert not transactions.can_drop_data(make_header(3, producer_id=2))
    assert transactions.can_drop_data(make_header(4))


def test_data_outside_transactions_stays() -> None:
    transactions = CleanedTransactions()
    transactions.add_aborted([ABORTED])
    plain = make_header(3)._replace(attributes=0)
    assert not transactions.can_drop_data(plain)
    assert transactions.can_drop_marker(make_marker(5), is_abort=True) == (True, None)


def test_control_batches_that_end_nothing_stay_and_emptied_ones_may_go() -> None:
    transactions = CleanedTransactions()
    assert transactions.can_drop_marker(make_marker(1), is_abort=None) == (False, None)
    assert transactions.can_drop_marker(make_marker(2, count=0), is_abort=None) == (True, None)
