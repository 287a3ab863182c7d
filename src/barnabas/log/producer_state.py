"""What a partition knows of its producers: sequences to check, transactions that are open, snapshots on disk.

An append is prepared, written, and only then applied; one that fails in between has left no trace here.
Every change at an offset below `map_end_offset` is in this state and none at or above it is.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Collection, Iterable, Mapping

from barnabas.log.names import DELETED, PRODUCER_SNAPSHOT, offset_name, parse_offset_name
from barnabas.log.producer_entry import AppendOrigin, CompletedTransaction, EndMarker, ProducerEntry
from barnabas.log.producer_snapshot import CorruptSnapshotError, read_snapshot, write_snapshot
from barnabas.log.transaction_index import AbortedTransaction
from barnabas.ports.disk import Disk
from barnabas.records.batch import BatchHeader

LATE_TRANSACTION_BUFFER_MS = 5 * 60 * 1000
LATEST_TRANSACTION_VERSION = 2


class ProducerUpdate:
    """What appending some batches will change, gathered batch by batch before any of them is written."""

    __slots__ = ("_ongoing", "_origin", "_state", "_transaction_version", "aborted", "completed", "entries")

    def __init__(self, state: ProducerState, origin: AppendOrigin, transaction_version: int) -> None:
        self._state = state
        self._origin = origin
        self._transaction_version = transaction_version
        self.entries: dict[int, ProducerEntry] = {}
        self.completed: list[CompletedTransaction] = []
        self.aborted: list[AbortedTransaction] = []  # To be written to the transaction index before `apply`.
        self._ongoing: dict[int, int] | None = None

    def add(self, header: BatchHeader, marker: EndMarker | None = None) -> None:
        """Take a batch whose offsets are assigned, with its marker where it is a control batch that holds one.

        A batch without a producer changes nothing, nor does a control batch that the cleaner has emptied.
        """
        producer_id = header.producer_id
        if producer_id < 0:
            return
        entry = self.entries.get(producer_id)
        if entry is None:
            entry = self._state.producers.get(producer_id)
        if entry is None:
            entry = ProducerEntry(producer_id)
        if not header.is_control:
            updated = entry.with_batch(header, self._origin)
            if entry.current_txn_first_offset is None and updated.current_txn_first_offset is not None:
                self._ongoing_transactions()[header.base_offset] = producer_id
            self.entries[producer_id] = updated
        elif marker is not None:
            updated = entry.with_marker(header.producer_epoch, marker, self._origin, self._transaction_version)
            if entry.current_txn_first_offset is not None:
                self._complete(
                    CompletedTransaction(
                        producer_id, entry.current_txn_first_offset, header.base_offset, marker.is_abort
                    )
                )
            self.entries[producer_id] = updated

    @property
    def ongoing(self) -> dict[int, int] | None:
        """The open transactions after this update, or None where it opens and ends none."""
        return self._ongoing

    def _complete(self, transaction: CompletedTransaction) -> None:
        ongoing = self._ongoing_transactions()
        del ongoing[transaction.first_offset]
        self.completed.append(transaction)
        if transaction.is_aborted:
            last_stable_offset = next(iter(ongoing), transaction.last_offset + 1)
            self.aborted.append(
                AbortedTransaction(
                    transaction.producer_id,
                    transaction.first_offset,
                    transaction.last_offset,
                    last_stable_offset,
                )
            )

    def _ongoing_transactions(self) -> dict[int, int]:
        if self._ongoing is None:
            self._ongoing = dict(self._state.ongoing)
        return self._ongoing


class ProducerState:
    def __init__(
        self,
        disk: Disk,
        directory: str,
        *,
        producer_id_expiration_ms: int = 24 * 60 * 60 * 1000,
        max_transaction_timeout_ms: int = 15 * 60 * 1000,
    ) -> None:
        self._disk = disk
        self._directory = directory
        self.producer_id_expiration_ms = producer_id_expiration_ms
        self._max_transaction_timeout_ms = max_transaction_timeout_ms
        self._producers: dict[int, ProducerEntry] = {}
        # Producer by first offset. Transactions open at rising offsets, so the first key is the least.
        self._ongoing: dict[int, int] = {}
        # (first offset, offset of the marker) of transactions whose end is not known to be replicated; sorted.
        self._unreplicated: list[tuple[int, int]] = []
        self._snapshots = self._find_snapshots()
        self._last_snapshot_offset = 0
        self.map_end_offset = 0

    # What is known

    @property
    def producers(self) -> Mapping[int, ProducerEntry]:
        return self._producers

    @property
    def ongoing(self) -> Mapping[int, int]:
        """Producer ids of the open transactions, by first offset, the earliest first."""
        return self._ongoing

    @property
    def is_empty(self) -> bool:
        return not self._producers and not self._unreplicated

    @property
    def first_unstable_offset(self) -> int | None:
        """Where the earliest transaction starts that is open, or ended above the high watermark."""
        undecided = self.first_undecided_offset
        if not self._unreplicated:
            return undecided
        unreplicated = self._unreplicated[0][0]
        return unreplicated if undecided is None else min(undecided, unreplicated)

    @property
    def first_undecided_offset(self) -> int | None:
        """Where the earliest open transaction starts."""
        return next(iter(self._ongoing), None)

    def has_late_transaction(self, now_ms: int) -> bool:
        """Whether the oldest transaction is open for longer than any producer may ask for."""
        producer_id = next(iter(self._ongoing.values()), None)
        if producer_id is None or producer_id not in self._producers:
            return False
        last_timestamp = self._producers[producer_id].last_timestamp
        limit_ms = self._max_transaction_timeout_ms + LATE_TRANSACTION_BUFFER_MS
        return last_timestamp > 0 and now_ms - last_timestamp > limit_ms

    # Appends

    def prepare(self, origin: AppendOrigin, *, transaction_version: int = LATEST_TRANSACTION_VERSION) -> ProducerUpdate:
        """Begin an append. `transaction_version` is that of a marker's request; replicas go by the log alone."""
        return ProducerUpdate(self, origin, transaction_version)

    def apply(self, update: ProducerUpdate, end_offset: int) -> None:
        """Take over what was prepared, after its batches were written up to `end_offset`."""
        self._producers.update(update.entries)
        if update.ongoing is not None:
            self._ongoing = update.ongoing
        for transaction in update.completed:
            insort(self._unreplicated, (transaction.first_offset, transaction.last_offset))
        self.map_end_offset = end_offset

    def put(self, entry: ProducerEntry) -> None:
        """Take over what became of a producer after its batch was written, where that concerns no transaction."""
        self._producers[entry.producer_id] = entry

    def advance_high_watermark(self, high_watermark: int) -> None:
        """Transactions whose markers are below it are stable."""
        if self._unreplicated:
            self._unreplicated = [txn for txn in self._unreplicated if txn[1] >= high_watermark]

    def advance_log_start(self, log_start_offset: int) -> None:
        """Records before it are gone; what is known of their producers stays until it expires."""
        self.advance_high_watermark(log_start_offset)
        self.map_end_offset = max(self.map_end_offset, log_start_offset)
        self._last_snapshot_offset = self._snapshots[-1] if self._snapshots else log_start_offset

    def remove_expired(self, now_ms: int) -> None:
        """Forget producers that are idle for too long; an open transaction keeps its producer."""
        for entry in [entry for entry in self._producers.values() if self._is_expired(entry, now_ms)]:
            del self._producers[entry.producer_id]

    # Truncation

    def truncate_and_reload(self, log_start_offset: int, log_end_offset: int, now_ms: int) -> None:
        """Go back to the latest usable snapshot of a log that was cut, up to `map_end_offset`.

        The caller then adds what the log holds from there on. A state that ends where the log ends is kept.
        """
        for offset in list(self._snapshots):
            if offset > log_end_offset or offset <= log_start_offset:
                self._delete_snapshot(offset)
        if log_end_offset == self.map_end_offset:
            self.advance_log_start(log_start_offset)
            return
        self._forget_all()
        while self._snapshots:
            offset = self._snapshots[-1]
            try:
                saved = read_snapshot(self._disk, self._snapshot_path(offset))
            except CorruptSnapshotError:
                self._delete_snapshot(offset)
                continue
            self._load(map(ProducerEntry.from_snapshot, saved), now_ms)
            self.map_end_offset = self._last_snapshot_offset = offset
            return
        self.map_end_offset = self._last_snapshot_offset = log_start_offset

    def truncate_fully_and_start_at(self, offset: int) -> None:
        self._forget_all()
        for snapshot in list(self._snapshots):
            self._delete_snapshot(snapshot)
        self._last_snapshot_offset = 0
        self.map_end_offset = offset

    # Snapshots

    @property
    def snapshot_offsets(self) -> list[int]:
        return list(self._snapshots)

    @property
    def latest_snapshot_offset(self) -> int | None:
        return self._snapshots[-1] if self._snapshots else None

    def take_snapshot(self, *, flush: bool = True) -> str | None:
        """Save the state at `map_end_offset` and give the file's path; None where that offset is saved already.

        Without `flush` the caller makes the file durable later, off the path of appends.
        """
        offset = self.map_end_offset
        if offset <= self._last_snapshot_offset:
            return None
        path = self._snapshot_path(offset)
        write_snapshot(self._disk, path, (entry.to_snapshot() for entry in self._producers.values()), flush=flush)
        if offset not in self._snapshots:
            insort(self._snapshots, offset)
        self._last_snapshot_offset = offset
        return path

    def remove_stray_snapshots(self, segment_base_offsets: Collection[int]) -> None:
        """Delete snapshots that belong to no segment, but the last one where it lies beyond all of them.

        A clean shutdown writes that one, at the log's end.
        """
        self._snapshots = self._find_snapshots()
        bases = set(segment_base_offsets)
        strays = [offset for offset in self._snapshots if offset not in bases]
        if strays and (not bases or strays[-1] >= max(bases)):
            strays.pop()
        for offset in strays:
            self._delete_snapshot(offset)

    def set_snapshot_aside(self, offset: int) -> str | None:
        """Rename a snapshot to be deleted together with its segment; the new path, or None where there was none."""
        if offset not in self._snapshots:
            return None
        self._snapshots.remove(offset)
        path = self._snapshot_path(offset)
        try:
            self._disk.rename(path, path + DELETED)
        except FileNotFoundError:
            return None
        return path + DELETED

    def move_to(self, directory: str) -> None:
        """The partition's directory was renamed; the snapshots went along."""
        self._directory = directory

    def _load(self, entries: Iterable[ProducerEntry], now_ms: int) -> None:
        open_transactions = []
        for entry in entries:
            if self._is_expired(entry, now_ms):
                continue
            self._producers[entry.producer_id] = entry
            if entry.current_txn_first_offset is not None:
                open_transactions.append((entry.current_txn_first_offset, entry.producer_id))
        self._ongoing = dict(sorted(open_transactions))

    def _is_expired(self, entry: ProducerEntry, now_ms: int) -> bool:
        is_idle = now_ms - entry.last_timestamp >= self.producer_id_expiration_ms
        return is_idle and entry.current_txn_first_offset is None

    def _forget_all(self) -> None:
        self._producers.clear()
        self._ongoing = {}
        # A log is never cut above what is replicated, so no completed transaction is left to wait for.
        self._unreplicated.clear()

    def _snapshot_path(self, offset: int) -> str:
        return f"{self._directory}/{offset_name(offset, PRODUCER_SNAPSHOT)}"

    def _find_snapshots(self) -> list[int]:
        if not self._disk.is_directory(self._directory):
            return []
        names = map(parse_offset_name, self._disk.names(self._directory))
        return sorted(name.offset for name in names if name and name[1:] == (PRODUCER_SNAPSHOT, ""))

    def _delete_snapshot(self, offset: int) -> None:
        self._snapshots.remove(offset)
        path = self._snapshot_path(offset)
        if self._disk.exists(path):
            self._disk.remove(path)
