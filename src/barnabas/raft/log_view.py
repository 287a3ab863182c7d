"""The log as the quorum's decisions see it: read only, its end as of the last effect that was carried out.

Appends and truncations are effects. The driver carries them out before it steps the node again, so that at the
beginning of a step the view shows every one of them. A driver that opens a log which a crash left behind its latest
snapshot lets the snapshot take the log's place first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

from barnabas.protocol.uuid import Uuid

METADATA_TOPIC = "__cluster_metadata"
METADATA_TOPIC_ID = Uuid(bytes(15) + b"\x01")
METADATA_PARTITION = 0


class OffsetAndEpoch(NamedTuple):
    """A place in the log; of two logs the one with the later epoch, then the larger offset, is the more complete."""

    offset: int
    epoch: int

    def is_at_least(self, other: OffsetAndEpoch) -> bool:
        return (self.epoch, self.offset) >= (other.epoch, other.offset)


# What `kafka-storage format` writes; it holds this node's start and is never given to others.
BOOTSTRAP_SNAPSHOT_ID = OffsetAndEpoch(0, 0)


class Region(Protocol):
    """Bytes of a file that are not read before they are sent; a memoryview is one too."""

    def __len__(self) -> int: ...

    def tobytes(self) -> bytes: ...


class LogView(Protocol):
    @property
    def start_offset(self) -> int: ...

    @property
    def end(self) -> OffsetAndEpoch:
        """The offset after the last record and that record's epoch; in an empty log the latest snapshot's, or 0."""
        ...

    def end_of_epoch(self, epoch: int) -> OffsetAndEpoch | None:
        """The largest known epoch up to `epoch` and where it ends; None where `epoch` is later than all known ones.

        An epoch earlier than all known ones is answered with itself and the start of the first known one.
        """
        ...

    def end_if_truncated(self, end_offset: int) -> OffsetAndEpoch:
        """What `end` would be if the log were cut at this offset."""
        ...

    @property
    def latest_snapshot_id(self) -> OffsetAndEpoch | None: ...

    @property
    def earliest_snapshot_id(self) -> OffsetAndEpoch | None: ...

    def read(self, offset: int, max_bytes: int) -> Region:
        """Whole batches from the one that holds `offset`, at least one if there is any, at most `max_bytes` then."""
        ...

    def snapshot_size(self, snapshot_id: OffsetAndEpoch) -> int | None:
        """The bytes of a snapshot, or None where there is none by this id."""
        ...

    def read_snapshot(self, snapshot_id: OffsetAndEpoch, position: int, max_bytes: int) -> Region: ...


@dataclass(frozen=True, slots=True)
class Continues:
    """The follower's log is a prefix of ours."""


@dataclass(frozen=True, slots=True)
class Diverges:
    """The follower must truncate: up to `end` ours and its epochs may agree."""

    end: OffsetAndEpoch


@dataclass(frozen=True, slots=True)
class NeedsSnapshot:
    """What the follower lacks is no longer in the log."""

    snapshot_id: OffsetAndEpoch


def compare_follower(log: LogView, follower: OffsetAndEpoch) -> Continues | Diverges | NeedsSnapshot:
    """Where a follower whose log ends at `follower` stands against this log (KIP-595, KIP-630)."""
    latest = log.latest_snapshot_id
    if follower.offset == 0 and latest is not None and latest != BOOTSTRAP_SNAPSHOT_ID:
        # An empty log is brought up faster by a snapshot than by everything that the snapshot summarizes.
        return NeedsSnapshot(latest)
    if follower.offset == 0 and log.start_offset == 0:
        return Continues()
    earliest = log.earliest_snapshot_id
    if earliest is not None and latest is not None:
        is_before = follower.offset < log.start_offset or follower.epoch < earliest.epoch
        is_fork = follower.offset == log.start_offset and follower.epoch != earliest.epoch
        if is_before or is_fork:
            return NeedsSnapshot(latest)
    end = end_of_epoch(log, follower.epoch)
    if end.epoch != follower.epoch or end.offset < follower.offset:
        return Diverges(end)
    return Continues()


def end_of_epoch(log: LogView, epoch: int) -> OffsetAndEpoch:
    """Where the largest epoch up to `epoch` ends, with the first snapshot standing for the epochs before the log."""
    end = log.end_of_epoch(epoch)
    if end is None:
        return log.end
    earliest = log.earliest_snapshot_id
    if earliest is not None and end.offset == earliest.offset and end.epoch == epoch:
        return earliest
    return end


def truncation_offset(log: LogView, leader_end: OffsetAndEpoch) -> int:
    """How far our log may agree with a leader whose largest epoch up to our last one ends at `leader_end`."""
    if leader_end.epoch == 0:
        return min(leader_end.offset, log.end.offset)
    local_end = end_of_epoch(log, leader_end.epoch)
    if local_end.epoch == leader_end.epoch:
        return min(local_end.offset, leader_end.offset)
    return local_end.offset
