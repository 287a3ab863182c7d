"""What a simulated quorum node has on its disk: a log whose unflushed tail a power cut takes, snapshots, quorum-state.

The log is a list of whole batches. Appends and truncations since the last flush may be undone by a power cut, from
any one of them on. quorum-state and snapshots are written and flushed in one go, as a driver must do it.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple

from barnabas.protocol.uuid import Uuid
from barnabas.raft.log_view import OffsetAndEpoch
from barnabas.raft.quorum_state import QuorumState
from barnabas.records.batch import iterate_batches


class StoredBatch(NamedTuple):
    base_offset: int
    next_offset: int
    epoch: int
    data: bytes


@dataclass(slots=True)
class SimLog:
    """A LogView that can be written to."""

    start_offset: int = 0
    batches: list[StoredBatch] = field(default_factory=list)
    snapshots: dict[OffsetAndEpoch, bytes] = field(default_factory=dict)

    @property
    def latest_snapshot_id(self) -> OffsetAndEpoch | None:
        return max(self.snapshots, default=None)

    @property
    def earliest_snapshot_id(self) -> OffsetAndEpoch | None:
        return min(self.snapshots, default=None)

    @property
    def end(self) -> OffsetAndEpoch:
        return self._end_after(len(self.batches))

    def end_if_truncated(self, end_offset: int) -> OffsetAndEpoch:
        return self._end_after(self.count_before(end_offset))

    def _end_after(self, count: int) -> OffsetAndEpoch:
        if count:
            last = self.batches[count - 1]
            return OffsetAndEpoch(last.next_offset, last.epoch)
        epochs = [snapshot_id.epoch for snapshot_id in self.snapshots if snapshot_id.offset == self.start_offset]
        return OffsetAndEpoch(self.start_offset, max(epochs, default=0))

    def count_before(self, offset: int) -> int:
        """How many batches lie wholly before `offset`."""
        return bisect_right(self.batches, offset, key=lambda batch: batch.next_offset)

    def end_of_epoch(self, epoch: int) -> OffsetAndEpoch | None:
        if not self.batches or epoch > self.batches[-1].epoch:
            return None
        following = bisect_right(self.batches, epoch, key=lambda batch: batch.epoch)
        if following == 0:
            return OffsetAndEpoch(self.batches[0].base_offset, epoch)
        last = self.batches[following - 1]
        return OffsetAndEpoch(last.next_offset, last.epoch)

    def read(self, offset: int, max_bytes: int) -> memoryview:
        parts: list[bytes] = []
        size = 0
        for batch in self.batches[self.count_before(offset) :]:
            if parts and size + len(batch.data) > max_bytes:
                break
            parts.append(batch.data)
            size += len(batch.data)
        return memoryview(b"".join(parts))

    def snapshot_size(self, snapshot_id: OffsetAndEpoch) -> int | None:
        data = self.snapshots.get(snapshot_id)
        return None if data is None else len(data)

    def read_snapshot(self, snapshot_id: OffsetAndEpoch, position: int, max_bytes: int) -> memoryview:
        return memoryview(self.snapshots[snapshot_id])[position : position + max_bytes]

    def append(self, data: bytes) -> list[StoredBatch]:
        added = [
            StoredBatch(
                header.base_offset,
                header.next_offset,
                header.leader_epoch,
                data[position : position + header.size_bytes],
            )
            for position, header in iterate_batches(data)
        ]
        assert added, "an append has batches"
        assert added[0].base_offset == self.end.offset, "an append continues the log"
        self.batches += added
        return added

    def truncate(self, end_offset: int) -> None:
        del self.batches[self.count_before(end_offset) :]

    def delete_before(self, snapshot_id: OffsetAndEpoch) -> None:
        """Let the log begin where a snapshot ends; earlier snapshots go, too."""
        del self.batches[: self.count_before(snapshot_id.offset)]
        self.start_offset = snapshot_id.offset
        for older in [other for other in self.snapshots if other < snapshot_id]:
            del self.snapshots[older]


class _Operation(NamedTuple):
    """One change of the log since the last flush: either batches at its end or a new end."""

    appended: list[StoredBatch]
    truncated_to: int | None = None


@dataclass(slots=True)
class Storage:
    """One disk. A node that loses its disk gets another, with another directory id."""

    directory_id: Uuid
    log: SimLog = field(default_factory=SimLog)
    quorum_state: QuorumState | None = None
    downloads: dict[OffsetAndEpoch, bytearray] = field(default_factory=dict)
    _durable: list[StoredBatch] = field(default_factory=list)
    _unsynced: list[_Operation] = field(default_factory=list)
    _syncing: tuple[int, list[StoredBatch]] | None = None

    @property
    def durable_end(self) -> int:
        """Up to where the log is both durable and still part of the log."""
        durable, present = self._durable, self.log.batches
        count = min(len(durable), len(present))
        while count and durable[count - 1] != present[count - 1]:
            count -= 1
        return durable[count - 1].next_offset if count else self.log.start_offset

    def append(self, data: bytes) -> list[StoredBatch]:
        added = self.log.append(data)
        self._unsynced.append(_Operation(added))
        return added

    def truncate(self, end_offset: int) -> None:
        self.log.truncate(end_offset)
        self._unsynced.append(_Operation([], end_offset))

    def begin_flush(self) -> None:
        assert self._syncing is None, "one flush at a time"
        self._syncing = len(self._unsynced), list(self.log.batches)

    def complete_flush(self) -> None:
        if self._syncing is not None:
            count, self._durable = self._syncing
            del self._unsynced[:count]
            self._syncing = None
            self._durable = self._durable[self._skipped(self._durable) :]

    def _skipped(self, batches: list[StoredBatch]) -> int:
        """How many of these batches lie before the start of the log."""
        return bisect_right(batches, self.log.start_offset, key=lambda batch: batch.next_offset)

    def delete_before(self, snapshot_id: OffsetAndEpoch) -> None:
        self.log.delete_before(snapshot_id)
        del self._durable[: self._skipped(self._durable)]

    def install_snapshot(self, snapshot_id: OffsetAndEpoch, data: bytes) -> None:
        self.downloads.clear()
        self.log.snapshots = {snapshot_id: data}
        self.log.batches = []
        self.log.start_offset = snapshot_id.offset
        self._durable, self._unsynced = [], []
        if self._syncing is not None:
            self._syncing = 0, []

    def recover(self) -> None:
        """What opening the log does: a snapshot that is ahead of what is left of the log takes its place."""
        snapshot_id = self.log.latest_snapshot_id
        if snapshot_id is not None and not self.log.end.is_at_least(snapshot_id):
            self.install_snapshot(snapshot_id, self.log.snapshots[snapshot_id])

    def stop(self) -> None:
        """The process is gone; what it wrote is still with the system, flushed or not."""
        self._syncing = None
        self.downloads.clear()

    def cut_power(self, rng: Random) -> None:
        """Keep what was flushed and a part, from the first on, of what was done since."""
        self.stop()
        kept = self._unsynced[: rng.randrange(len(self._unsynced) + 1)]
        self._unsynced = []
        log = self.log
        log.batches = list(self._durable)
        for operation in kept:
            if operation.truncated_to is not None:
                log.truncate(operation.truncated_to)
            # Part of what a truncation or a deletion refers to may never have reached the disk.
            for batch in operation.appended:
                if batch.base_offset == log.end.offset:
                    log.batches.append(batch)
        log.batches = log.batches[self._skipped(log.batches) :]
        self._durable = list(log.batches)
