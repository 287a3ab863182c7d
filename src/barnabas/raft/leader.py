"""The leading role: how far each replica has come, and what follows from that for the high watermark and the lead.

The high watermark is the offset that a majority of the voters has made durable, once that offset lies in the leader's
own epoch: a record of an earlier epoch on a majority can still be lost, and is committed only by one of this epoch
after it. The leader counts itself by what it has flushed, the others by what they fetch, which they do after flushing.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from barnabas.protocol.messages.fetch import FetchRequest
from barnabas.raft.events import Token
from barnabas.raft.majority import majority_size, offset_of_majority
from barnabas.raft.replica import Endpoints, ReplicaKey
from barnabas.raft.roles import NEVER_MS, Role
from barnabas.raft.voters import Voter, VoterSet

OBSERVER_SESSION_TIMEOUT_MS = 300_000
# Far more than a cluster has nodes; whoever fetches under ever new names must not fill the memory.
OBSERVERS_MAX = 5_000
# Some leeway over the followers' own fetch timeout, so that the network may take its time.
CHECK_QUORUM_FACTOR = 1.5


@dataclass(slots=True)
class Progress:
    """How far a replica has come, as its fetches tell."""

    key: ReplicaKey
    endpoints: Endpoints = field(default_factory=dict)
    end_offset: int | None = None
    last_fetch_ms: int = -1
    last_caught_up_ms: int = -1
    leader_end_at_last_fetch: int = -1
    has_acknowledged: bool = False

    def fetched(self, offset: int, leader_end_offset: int, now_ms: int) -> None:
        if offset >= leader_end_offset:
            self.last_caught_up_ms = max(self.last_caught_up_ms, now_ms)
        elif 0 < self.leader_end_at_last_fetch <= offset:
            self.last_caught_up_ms = max(self.last_caught_up_ms, self.last_fetch_ms)
        self.leader_end_at_last_fetch = leader_end_offset
        self.last_fetch_ms = max(self.last_fetch_ms, now_ms)
        self.end_offset = offset
        self.has_acknowledged = True


@dataclass(frozen=True, slots=True)
class WaitingFetch:
    """A Fetch that has nothing to get yet."""

    token: Token
    request: FetchRequest
    version: int
    listener: str
    deadline_ms: int


@dataclass(slots=True)
class PendingVoterChange:
    """The one voter change under way. An addition has no offset before the newcomer told what it supports."""

    token: Token | None
    deadline_ms: int
    added: ReplicaKey | None = None
    endpoints: Endpoints = field(default_factory=dict)
    ack_when_committed: bool = True
    offset: int | None = None


@dataclass(slots=True, kw_only=True)
class Leader(Role):
    local: Voter
    start_offset: int
    fetch_timeout_ms: int
    check_quorum_deadline_ms: int
    begin_quorum_deadline_ms: int
    granting_ids: list[int]
    has_begun: bool = False
    high_watermark: int | None = None
    voters: dict[int, Progress] = field(default_factory=dict)
    observers: dict[ReplicaKey, Progress] = field(default_factory=dict)
    fetched_voters: set[int] = field(default_factory=set)
    waiting: list[WaitingFetch] = field(default_factory=list)
    lingering: list[bytes] = field(default_factory=list)
    lingering_end_offset: int = 0
    linger_deadline_ms: int = NEVER_MS
    pending_change: PendingVoterChange | None = None
    # What the voters of a static quorum said about themselves, which kraft.version 1 would write to the log.
    reported_voters: VoterSet | None = None
    requested_kraft_version: int | None = None
    is_resigning: bool = False

    @property
    def leader_id(self) -> int | None:
        return self.local.id

    @property
    def leader_endpoints(self) -> Endpoints:
        return self.local.endpoints

    def can_grant_vote(self, candidate: ReplicaKey, *, is_log_up_to_date: bool, is_pre_vote: bool) -> bool:
        del candidate, is_log_up_to_date, is_pre_vote
        return False

    @property
    def check_quorum_timeout_ms(self) -> int:
        return int(self.fetch_timeout_ms * CHECK_QUORUM_FACTOR)

    @property
    def begin_quorum_period_ms(self) -> int:
        return self.fetch_timeout_ms // 2

    def is_voter(self, key: ReplicaKey) -> bool:
        progress = self.voters.get(key.id)
        return progress is not None and progress.key.admits(key)

    def progress_of(self, key: ReplicaKey) -> Progress | None:
        return self.voters[key.id] if self.is_voter(key) else self.observers.get(key)

    def follow_voters(self, voters: VoterSet) -> None:
        """Take a new voter set: who stays or joins keeps its progress, who leaves becomes an observer."""
        former = dict(self.voters)
        self.voters = {}
        for voter in voters:
            known = former.get(voter.id)
            if known is not None and known.key.admits(voter.key):
                progress = former.pop(voter.id)
            else:
                progress = self.observers.get(voter.key) or Progress(voter.key)
            self.observers.pop(voter.key, None)
            progress.key, progress.endpoints = voter.key, voter.endpoints
            self.voters[voter.id] = progress
        for progress in former.values():
            progress.endpoints = {}
            self.observers.setdefault(progress.key, progress)
        self.fetched_voters &= self.voters.keys()

    def local_flushed(self, end_offset: int) -> None:
        """Count the leader itself, by what it has on disk."""
        if self.is_voter(self.local.key):
            self.voters[self.local.id].end_offset = end_offset

    def replica_fetched(self, key: ReplicaKey, offset: int, leader_end_offset: int, now_ms: int) -> None:
        progress = self.progress_of(key)
        if progress is None:
            progress = self._observe(key, now_ms)
        progress.fetched(offset, leader_end_offset, now_ms)
        self.heard_from(key, now_ms)

    def _observe(self, key: ReplicaKey, now_ms: int) -> Progress:
        """Take up an observer, in the place of those that are gone or else of the one that was silent longest."""
        self.forget_silent_observers(now_ms)
        if len(self.observers) >= OBSERVERS_MAX:
            others = (other for other in self.observers if other != self.local.key)
            del self.observers[min(others, key=lambda other: self.observers[other].last_fetch_ms)]
        return self.observers.setdefault(key, Progress(key))

    def heard_from(self, key: ReplicaKey, now_ms: int) -> None:
        """A voter follows: enough of them within the time, and the leader may go on leading (check quorum)."""
        if self.is_voter(key):
            self.fetched_voters.add(key.id)
        if len(self.fetched_voters) >= self._followers_needed:
            self.fetched_voters.clear()
            self.check_quorum_deadline_ms = now_ms + self.check_quorum_timeout_ms

    @property
    def _followers_needed(self) -> int:
        return majority_size(len(self.voters)) - int(self.is_voter(self.local.key))

    def has_lost_quorum(self, now_ms: int) -> bool:
        """Whether too few have followed for too long. A leader that is a majority by itself cannot."""
        return now_ms >= self.quorum_lost_at_ms

    @property
    def quorum_lost_at_ms(self) -> int:
        return self.check_quorum_deadline_ms if self._followers_needed else NEVER_MS

    def advance_high_watermark(self) -> bool:
        """Whether a majority has come further, within the leader's own epoch."""
        offset = offset_of_majority(progress.end_offset for progress in self.voters.values())
        if offset is None or offset <= self.start_offset:
            return False
        if self.high_watermark is not None and offset <= self.high_watermark:
            return False
        self.high_watermark = offset
        return True

    def silent_voters(self, now_ms: int) -> list[ReplicaKey]:
        """The voters that have not fetched for a while and may not know who leads."""
        return [
            progress.key
            for progress in self.voters.values()
            if progress.key.id != self.local.id
            and (progress.last_fetch_ms < 0 or now_ms - progress.last_fetch_ms >= self.begin_quorum_period_ms)
        ]

    def successors(self) -> list[ReplicaKey]:
        """The other voters, those who have the most of the log first."""
        others = [progress for progress in self.voters.values() if progress.key.id != self.local.id]
        others.sort(key=lambda known: (known.end_offset is None, -(known.end_offset or 0), known.key))
        return [progress.key for progress in others]

    def is_caught_up(self, key: ReplicaKey, now_ms: int) -> bool:
        """Whether a newcomer has been at the end of the log and still fetches; one that is gone holds up commits."""
        progress = self.observers.get(key)
        return (
            progress is not None
            and progress.last_caught_up_ms >= 0
            and progress.last_fetch_ms > now_ms - self.check_quorum_timeout_ms
        )

    def forget_silent_observers(self, now_ms: int) -> None:
        for key in [key for key, progress in self.observers.items() if key != self.local.key]:
            if now_ms - self.observers[key].last_fetch_ms >= OBSERVER_SESSION_TIMEOUT_MS:
                del self.observers[key]
