"""Which transactional batches and markers a pass over the log may drop.

Data of an aborted transaction may go at once. A marker may go only when the pass has met no data of its transaction
before it: while any is left, readers need the marker to judge it.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass

from barnabas.log.transaction_index import AbortedTransaction
from barnabas.records.batch import BatchHeader


@dataclass
class _OpenAborted:
    transaction: AbortedTransaction
    has_data: bool = False


class CleanedTransactions:
    """Fed with every batch in offset order; carried from segment to segment, as transactions span them."""

    def __init__(self) -> None:
        self._ahead: list[tuple[int, AbortedTransaction]] = []  # A heap by first offset.
        self._open_aborted: dict[int, _OpenAborted] = {}
        self._open_committed: set[int] = set()

    def add_aborted(self, transactions: Iterable[AbortedTransaction]) -> None:
        """Learn what the transaction index says of the segment to come; a transaction may be told several times."""
        for transaction in transactions:
            heapq.heappush(self._ahead, (transaction.first_offset, transaction))

    def can_drop_data(self, header: BatchHeader) -> bool:
        """Whether a data batch belongs to an aborted transaction."""
        self._open_up_to(header.last_offset)
        if not header.is_transactional:
            return False
        aborted = self._open_aborted.get(header.producer_id)
        if aborted is None:
            self._open_committed.add(header.producer_id)
            return False
        aborted.has_data = True
        return True

    def can_drop_marker(self, header: BatchHeader, is_abort: bool | None) -> tuple[bool, AbortedTransaction | None]:
        """Whether a control batch has nothing left to end, and the index entry that it needs otherwise.

        `is_abort` is None for a control batch that was emptied before, or that ends no transaction.
        """
        self._open_up_to(header.last_offset)
        if header.record_count == 0:
            return True, None
        if is_abort is None:
            return False, None
        if not is_abort:
            has_data = header.producer_id in self._open_committed
            self._open_committed.discard(header.producer_id)
            return not has_data, None
        aborted = self._open_aborted.pop(header.producer_id, None)
        if aborted is None or not aborted.has_data:
            return True, None
        return False, aborted.transaction

    def _open_up_to(self, offset: int) -> None:
        while self._ahead and self._ahead[0][0] <= offset:
            _, transaction = heapq.heappop(self._ahead)
            self._open_aborted.setdefault(transaction.producer_id, _OpenAborted(transaction))
