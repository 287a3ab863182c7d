"""What a partition remembers of one producer, and which batch or marker may follow.

An entry is a value: appending gives another one or raises, so that an append that fails has changed nothing.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from barnabas.log.producer_snapshot import SnapshotEntry
from barnabas.protocol.errors import (
    InvalidProducerEpoch,
    InvalidTxnState,
    OutOfOrderSequenceNumber,
    TransactionCoordinatorFenced,
)
from barnabas.records.batch import CONTROL_FLAG, TRANSACTIONAL_FLAG, BatchHeader

BATCHES_KEPT = 5
NO_EPOCH = -1
NO_SEQUENCE = -1
NO_TIMESTAMP = -1
EPOCH_MAX = 2**15 - 1
SEQUENCE_MAX = 2**31 - 1
_OF_TRANSACTIONS = TRANSACTIONAL_FLAG | CONTROL_FLAG


class AppendOrigin(Enum):
    """Who appends, which decides how much is checked."""

    REPLICATION = "replication"  # The leader has checked; complaints only delay the follower.
    COORDINATOR = "coordinator"  # Epochs are checked; offset commits carry no sequence.
    CLIENT = "client"  # Epochs and sequences are checked, duplicates found.
    RAFT_LEADER = "raft leader"  # Offsets are assigned already.


class EndMarker(NamedTuple):
    """The control record that ends a transaction in a partition."""

    is_abort: bool
    coordinator_epoch: int
    timestamp: int


class CompletedTransaction(NamedTuple):
    producer_id: int
    first_offset: int
    last_offset: int
    is_aborted: bool


class BatchMetadata(NamedTuple):
    last_sequence: int
    last_offset: int
    offset_delta: int
    timestamp: int

    @property
    def first_offset(self) -> int:
        return self.last_offset - self.offset_delta

    @property
    def first_sequence(self) -> int:
        first = self.last_sequence - self.offset_delta
        return first if first >= 0 else first + SEQUENCE_MAX + 1


class ProducerEntry(NamedTuple):
    producer_id: int
    producer_epoch: int = NO_EPOCH
    coordinator_epoch: int = -1
    last_timestamp: int = NO_TIMESTAMP
    current_txn_first_offset: int | None = None
    batches: tuple[BatchMetadata, ...] = ()  # Of this epoch, oldest first, at most BATCHES_KEPT.

    @property
    def last_sequence(self) -> int:
        return self.batches[-1].last_sequence if self.batches else NO_SEQUENCE

    @property
    def last_data_offset(self) -> int:
        return self.batches[-1].last_offset if self.batches else -1

    def find_duplicate(self, header: BatchHeader) -> BatchMetadata | None:
        """The batch among the last five that has exactly these sequences."""
        first = header.base_sequence
        if header.producer_epoch != self.producer_epoch or first == self.last_sequence + 1:
            return None  # What is next in sequence repeats nothing, and that is the usual case.
        last = header.last_sequence
        for batch in self.batches:
            if batch.last_sequence == last and batch.first_sequence == first:
                return batch
        return None

    def with_next(self, header: BatchHeader, last_offset: int) -> ProducerEntry | None:
        """The entry after a batch that is next in sequence and of no transaction; None for any other.

        It is what idempotent producers send all the time, and is spared what the rest goes through.
        """
        delta = header.last_offset_delta
        last_sequence = header.base_sequence + delta
        if (
            header.producer_epoch != self.producer_epoch
            or not self.batches
            or header.base_sequence != self.batches[-1].last_sequence + 1
            or last_sequence > SEQUENCE_MAX
            or header.attributes & _OF_TRANSACTIONS
            or self.current_txn_first_offset is not None
        ):
            return None
        timestamp = header.max_timestamp
        batch = BatchMetadata(last_sequence, last_offset, delta, timestamp)
        kept = self.batches[1 - BATCHES_KEPT :]
        return ProducerEntry(
            self.producer_id, self.producer_epoch, self.coordinator_epoch, timestamp, None, (*kept, batch)
        )

    def with_batch(self, header: BatchHeader, origin: AppendOrigin) -> ProducerEntry:
        """The entry after a data batch, whose offsets are already assigned."""
        epoch = header.producer_epoch
        if origin is not AppendOrigin.REPLICATION and epoch < self.producer_epoch:
            raise InvalidProducerEpoch(
                f"producer {self.producer_id} wrote with epoch {epoch}, but is at epoch {self.producer_epoch}"
            )
        if origin is AppendOrigin.CLIENT:
            self._check_sequence(header)
        is_transactional = header.is_transactional
        first_offset = self.current_txn_first_offset
        if is_transactional and first_offset is None:
            first_offset = header.base_offset
        elif first_offset is not None and not is_transactional:
            raise InvalidTxnState(f"producer {self.producer_id} wrote outside the transaction that it has open")
        batch = BatchMetadata(
            header.last_sequence,
            header.base_offset + header.last_offset_delta,
            header.last_offset_delta,
            header.max_timestamp,
        )
        kept = self.batches[1 - BATCHES_KEPT :] if epoch == self.producer_epoch else ()
        return ProducerEntry(
            self.producer_id, epoch, self.coordinator_epoch, header.max_timestamp, first_offset, (*kept, batch)
        )

    def with_marker(
        self, producer_epoch: int, marker: EndMarker, origin: AppendOrigin, transaction_version: int
    ) -> ProducerEntry:
        """The entry after the marker that ends its transaction, or that ends one which wrote nothing here."""
        if origin is not AppendOrigin.REPLICATION:
            self._check_marker_epoch(producer_epoch, transaction_version)
            if marker.coordinator_epoch < self.coordinator_epoch:
                raise TransactionCoordinatorFenced(
                    f"a coordinator of epoch {marker.coordinator_epoch} ended a transaction of producer "
                    f"{self.producer_id}, whose coordinator is at epoch {self.coordinator_epoch}"
                )
        batches = self.batches if producer_epoch == self.producer_epoch else ()
        return ProducerEntry(
            self.producer_id, producer_epoch, marker.coordinator_epoch, marker.timestamp, None, batches
        )

    def _check_sequence(self, header: BatchHeader) -> None:
        if self.producer_epoch == NO_EPOCH:
            # Nothing is known, perhaps because retention took the producer's records: any sequence may come.
            return
        if header.producer_epoch != self.producer_epoch:
            expected = 0
        else:
            last = self.last_sequence
            expected = 0 if last == SEQUENCE_MAX else last + 1
        if header.base_sequence != expected:
            raise OutOfOrderSequenceNumber(
                f"producer {self.producer_id} sent sequence {header.base_sequence} in epoch "
                f"{header.producer_epoch} where {expected} was to follow"
            )

    def _check_marker_epoch(self, epoch: int, transaction_version: int) -> None:
        if epoch > self.producer_epoch or (epoch == self.producer_epoch and transaction_version < 2):
            return
        # From version 2 on each transaction ends in an epoch of its own (KIP-890). The epoch seen already is a
        # marker sent again, unless a transaction has begun in it since; the last epoch of all has no successor.
        is_repeated = epoch == self.producer_epoch and (self.current_txn_first_offset is None or epoch == EPOCH_MAX)
        if not is_repeated:
            raise InvalidProducerEpoch(
                f"a marker of epoch {epoch} came for producer {self.producer_id}, which is at epoch "
                f"{self.producer_epoch}, under transaction version {transaction_version}"
            )

    def to_snapshot(self) -> SnapshotEntry:
        last = self.batches[-1] if self.batches else BatchMetadata(NO_SEQUENCE, -1, 0, NO_TIMESTAMP)
        return SnapshotEntry(
            self.producer_id,
            self.producer_epoch,
            last.last_sequence,
            last.last_offset,
            last.offset_delta,
            self.last_timestamp,
            self.coordinator_epoch,
            -1 if self.current_txn_first_offset is None else self.current_txn_first_offset,
        )

    @classmethod
    def from_snapshot(cls, saved: SnapshotEntry) -> ProducerEntry:
        """The entry as saved, with the last of its batches: a snapshot keeps no more."""
        batches: tuple[BatchMetadata, ...] = ()
        if saved.last_offset >= 0:
            batches = (BatchMetadata(saved.last_sequence, saved.last_offset, saved.offset_delta, saved.timestamp),)
        return cls(
            saved.producer_id,
            saved.producer_epoch,
            saved.coordinator_epoch,
            saved.timestamp,
            saved.current_txn_first_offset if saved.current_txn_first_offset >= 0 else None,
            batches,
        )
