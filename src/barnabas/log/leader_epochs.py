"""Which leader epoch wrote which offsets: each epoch with its first offset, both strictly increasing.

The file never lacks an epoch that has records: a new epoch is durable before its first batch is written.
It may hold stale epochs after a truncation, whose write may wait; opening the log truncates them again.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import NamedTuple

from barnabas.log.checkpoint import parse_number, read_entries, write_entries
from barnabas.ports.disk import Disk

UNDEFINED_EPOCH = -1
UNDEFINED_OFFSET = -1


class EpochStart(NamedTuple):
    epoch: int
    start_offset: int


class EpochEnd(NamedTuple):
    epoch: int
    end_offset: int


UNDEFINED_END = EpochEnd(UNDEFINED_EPOCH, UNDEFINED_OFFSET)


class LeaderEpochs:
    def __init__(self, disk: Disk, path: str) -> None:
        self._disk = disk
        self._path = path
        self._epochs: list[int] = []
        self._starts: list[int] = []
        self._is_dirty = False  # Whether the file holds entries that a truncation has removed.
        for entry in read_entries(disk, path, _parse_entry):
            self._insert(entry)
        # The latest epoch, where the file is known to have it.
        self.durable_epoch = self.latest_epoch

    @property
    def latest_epoch(self) -> int | None:
        return self._epochs[-1] if self._epochs else None

    def entries(self) -> list[EpochStart]:
        return [EpochStart(*pair) for pair in zip(self._epochs, self._starts, strict=True)]

    def assign(self, epoch: int, start_offset: int) -> bool:
        """Note that `epoch` starts at `start_offset`, durably; false where this was known already.

        An epoch keeps its first start. Entries that a smaller epoch or offset contradicts are dropped: the log
        was truncated there, or the earlier epoch never wrote.
        """
        if epoch < 0 or start_offset < 0:
            raise ValueError(f"leader epoch {epoch} cannot start at offset {start_offset}")
        is_new = self._insert(EpochStart(epoch, start_offset))
        if is_new or epoch != self.durable_epoch:
            self._write()
        return is_new

    def note(self, epoch: int, start_offset: int) -> None:
        """The same for an epoch without records: it becomes durable when it is assigned, or not at all."""
        if self._insert(EpochStart(epoch, start_offset)):
            self.durable_epoch = None

    def end_offset_for(self, epoch: int, log_end_offset: int) -> EpochEnd:
        """The largest known epoch up to `epoch`, and where it ends (KIP-320); undefined where nothing is known.

        An epoch older than all known ones is answered with itself and the start of the first known one, since
        what it wrote is gone from the log.
        """
        if epoch == UNDEFINED_EPOCH or not self._epochs or epoch > self._epochs[-1]:
            return UNDEFINED_END
        if epoch == self._epochs[-1]:
            return EpochEnd(epoch, log_end_offset)
        following = bisect_right(self._epochs, epoch)
        known = self._epochs[following - 1] if following else epoch
        return EpochEnd(known, self._starts[following])

    def epoch_for(self, offset: int) -> int | None:
        """The epoch that wrote `offset`; None before the first known one."""
        following = bisect_right(self._starts, offset)
        return self._epochs[following - 1] if following else None

    def truncate_from_end(self, end_offset: int) -> None:
        """Forget epochs that start at `end_offset` or later; the file follows with the next write."""
        keep = bisect_left(self._starts, end_offset)
        if end_offset >= 0 and keep < len(self._starts):
            del self._epochs[keep:], self._starts[keep:]
            self._is_dirty = True
            self.durable_epoch = None

    def truncate_from_start(self, start_offset: int) -> None:
        """Let the epoch that holds `start_offset` begin there and forget earlier ones; the file follows later."""
        drop = bisect_right(self._starts, start_offset) - 1
        if drop >= 0:
            del self._epochs[:drop], self._starts[:drop]
            self._starts[0] = start_offset
            self._is_dirty = True

    def clear(self) -> None:
        """Forget every epoch, durably."""
        self._epochs.clear()
        self._starts.clear()
        self._write()

    def flush(self) -> None:
        """Bring the file up to date after truncations. The log needs no fsync on their path (KAFKA-15046)."""
        if self._is_dirty:
            self._write()

    def move_to(self, path: str) -> None:
        """The directory was renamed; the file went along."""
        self._path = path

    def _insert(self, entry: EpochStart) -> bool:
        if self._epochs and entry.epoch == self._epochs[-1] and entry.start_offset >= self._starts[-1]:
            return False
        keep = min(bisect_left(self._epochs, entry.epoch), bisect_left(self._starts, entry.start_offset))
        del self._epochs[keep:], self._starts[keep:]
        self._epochs.append(entry.epoch)
        self._starts.append(entry.start_offset)
        return True

    def _write(self) -> None:
        write_entries(self._disk, self._path, (f"{epoch} {start}" for epoch, start in self.entries()))
        self._is_dirty = False
        self.durable_epoch = self.latest_epoch


def _parse_entry(words: list[str]) -> EpochStart:
    epoch, start_offset = map(parse_number, words)
    if epoch < 0 or start_offset < 0:
        raise ValueError(f"leader epoch {epoch} cannot start at offset {start_offset}")
    return EpochStart(epoch, start_offset)
