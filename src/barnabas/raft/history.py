"""What the log says about the quorum itself: the voter set and kraft.version at each offset.

A replica acts on the newest entry as soon as it is in its log, committed or not; truncating the log brings the entry
before it back. A snapshot stands for everything before its end: its entries lie at the last offset it contains.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import Generic, NamedTuple, TypeVar

from barnabas.raft.voters import VoterSet

T = TypeVar("T")

# The checkpoint that `kafka-storage format` writes ends at offset 0, so that its last contained offset is -1.
BOOTSTRAP_OFFSET = -1


class LogHistory(Generic[T]):
    """Values by the offset of the record that set them, in ascending order."""

    def __init__(self) -> None:
        self._offsets: list[int] = []
        self._values: list[T] = []

    def add(self, offset: int, value: T) -> None:
        if offset < BOOTSTRAP_OFFSET or (self._offsets and offset <= self._offsets[-1]):
            raise ValueError(f"offset {offset} does not follow {self._offsets[-1:] or [BOOTSTRAP_OFFSET - 1]}")
        self._offsets.append(offset)
        self._values.append(value)

    def at(self, offset: int) -> T | None:
        """The value that holds after the record at `offset`."""
        following = bisect_right(self._offsets, offset)
        return self._values[following - 1] if following else None

    @property
    def last(self) -> T | None:
        return self._values[-1] if self._values else None

    @property
    def last_offset(self) -> int | None:
        return self._offsets[-1] if self._offsets else None

    def truncate_to(self, end_offset: int) -> None:
        """Forget what was set at `end_offset` or later."""
        keep = bisect_left(self._offsets, end_offset)
        del self._offsets[keep:], self._values[keep:]

    def forget_before(self, start_offset: int) -> None:
        """Forget what no longer holds at `start_offset`; the value that holds there stays."""
        drop = bisect_right(self._offsets, start_offset) - 1
        if drop > 0:
            del self._offsets[:drop], self._values[:drop]

    def clear(self) -> None:
        self._offsets.clear()
        self._values.clear()

    def __len__(self) -> int:
        return len(self._offsets)


class QuorumChange(NamedTuple):
    """A control record that changes the quorum: exactly one of the two is set."""

    offset: int
    voters: VoterSet | None = None
    kraft_version: int | None = None


class QuorumHistory:
    """Voter sets and kraft.version by offset, with the configured voters beneath them."""

    def __init__(self, static_voters: VoterSet | None = None) -> None:
        self._static = static_voters or VoterSet()
        self._voters: LogHistory[VoterSet] = LogHistory()
        self._kraft_versions: LogHistory[int] = LogHistory()

    @property
    def voters(self) -> VoterSet:
        """The set that this replica acts on: the newest in its log, or the configured one where there is none."""
        last = self._voters.last
        return self._static if last is None else last

    @property
    def voters_offset(self) -> int | None:
        """Where the newest set was written; None for the configured one."""
        return self._voters.last_offset

    @property
    def kraft_version(self) -> int:
        return self._kraft_versions.last or 0

    @property
    def is_dynamic(self) -> bool:
        """Whether voters may come and go (KIP-853)."""
        return self.kraft_version >= 1

    def voters_at(self, offset: int) -> VoterSet | None:
        return self._voters.at(offset)

    def kraft_version_at(self, offset: int) -> int:
        return self._kraft_versions.at(offset) or 0

    def apply(self, change: QuorumChange) -> None:
        if change.voters is not None:
            self._voters.add(change.offset, change.voters)
        if change.kraft_version is not None:
            self._kraft_versions.add(change.offset, change.kraft_version)

    def truncate_to(self, end_offset: int) -> None:
        self._voters.truncate_to(end_offset)
        self._kraft_versions.truncate_to(end_offset)

    def forget_before(self, start_offset: int) -> None:
        self._voters.forget_before(start_offset)
        self._kraft_versions.forget_before(start_offset)

    def clear(self) -> None:
        """Forget the log; the configured voters stay beneath whatever follows."""
        self._voters.clear()
        self._kraft_versions.clear()
