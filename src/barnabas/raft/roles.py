"""The roles that a replica does not lead in, one type each; a change of role builds a new one and drops the old.

Every role knows its epoch, the leader it follows from or believes in, the vote it gave in that epoch, and whether it
would vote for somebody. What a role must remember across a crash is its QuorumState.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field

from barnabas.raft.ballot import Ballot
from barnabas.raft.log_view import OffsetAndEpoch
from barnabas.raft.replica import Endpoints, ReplicaKey

NEVER_MS = 1 << 62


@dataclass(slots=True, kw_only=True)
class Role(ABC):
    """What every role answers; the defaults are those of a replica that knows no leader and has not voted."""

    epoch: int

    @property
    def leader_id(self) -> int | None:
        return None

    @property
    def leader_endpoints(self) -> Endpoints:
        return {}

    @property
    def voted_key(self) -> ReplicaKey | None:
        return None

    @abstractmethod
    def can_grant_vote(self, candidate: ReplicaKey, *, is_log_up_to_date: bool, is_pre_vote: bool) -> bool:
        """Whether this replica would, or with `is_pre_vote` could, elect the candidate in this epoch."""


def _uncommitted_can_grant(role: Role, candidate: ReplicaKey, is_log_up_to_date: bool, is_pre_vote: bool) -> bool:
    """The rule of a replica that neither follows nor leads: one vote an epoch, and none against a known leader."""
    if is_pre_vote:
        return is_log_up_to_date
    if role.voted_key is not None:
        return role.voted_key.admits(candidate)
    return role.leader_id is None and is_log_up_to_date


@dataclass(slots=True, kw_only=True)
class Unattached(Role):
    """Knows the epoch but has no leader to fetch from: it looks for one and, as a voter, awaits its own turn."""

    election_deadline_ms: int
    known_leader_id: int | None = None
    vote: ReplicaKey | None = None

    @property
    def leader_id(self) -> int | None:
        return self.known_leader_id

    @property
    def voted_key(self) -> ReplicaKey | None:
        return self.vote

    def can_grant_vote(self, candidate: ReplicaKey, *, is_log_up_to_date: bool, is_pre_vote: bool) -> bool:
        return _uncommitted_can_grant(self, candidate, is_log_up_to_date, is_pre_vote)


@dataclass(slots=True, kw_only=True)
class Prospective(Role):
    """Asks whether it would be elected before it disturbs anybody by a new epoch (pre-vote, KIP-996)."""

    election_deadline_ms: int
    ballot: Ballot
    known_leader_id: int | None = None
    known_leader_endpoints: Endpoints = field(default_factory=dict)
    vote: ReplicaKey | None = None

    @property
    def leader_id(self) -> int | None:
        return self.known_leader_id

    @property
    def leader_endpoints(self) -> Endpoints:
        return self.known_leader_endpoints

    @property
    def voted_key(self) -> ReplicaKey | None:
        return self.vote

    def can_grant_vote(self, candidate: ReplicaKey, *, is_log_up_to_date: bool, is_pre_vote: bool) -> bool:
        return _uncommitted_can_grant(self, candidate, is_log_up_to_date, is_pre_vote)


@dataclass(slots=True, kw_only=True)
class Candidate(Role):
    """Has voted for itself in a new epoch and asks the others to."""

    election_deadline_ms: int
    ballot: Ballot
    local_key: ReplicaKey

    @property
    def voted_key(self) -> ReplicaKey | None:
        return self.local_key

    def can_grant_vote(self, candidate: ReplicaKey, *, is_log_up_to_date: bool, is_pre_vote: bool) -> bool:
        del candidate
        return is_pre_vote and is_log_up_to_date


@dataclass(slots=True)
class SnapshotDownload:
    """A snapshot on its way from the leader, written up to `position`."""

    snapshot_id: OffsetAndEpoch
    position: int = 0


@dataclass(slots=True, kw_only=True)
class Follower(Role):
    """Fetches from a leader; as a voter it takes long silence as a reason to stand for election."""

    leader: int
    endpoints: Endpoints
    fetch_deadline_ms: int
    update_voter_deadline_ms: int
    vote: ReplicaKey | None = None
    has_fetched: bool = False
    has_updated_leader: bool = False
    download: SnapshotDownload | None = None

    @property
    def leader_id(self) -> int | None:
        return self.leader

    @property
    def leader_endpoints(self) -> Endpoints:
        return self.endpoints

    @property
    def voted_key(self) -> ReplicaKey | None:
        return self.vote

    def can_grant_vote(self, candidate: ReplicaKey, *, is_log_up_to_date: bool, is_pre_vote: bool) -> bool:
        del candidate
        return is_pre_vote and is_log_up_to_date and not self.has_fetched


@dataclass(slots=True, kw_only=True)
class Resigned(Role):
    """Led in this epoch and will not again: it tells the voters so, with whom it would rather see lead."""

    local_id: int
    local_endpoints: Endpoints
    election_deadline_ms: int
    unacknowledged: set[int]
    preferred_successors: list[ReplicaKey]

    @property
    def leader_id(self) -> int | None:
        return self.local_id

    @property
    def leader_endpoints(self) -> Endpoints:
        return self.local_endpoints

    def can_grant_vote(self, candidate: ReplicaKey, *, is_log_up_to_date: bool, is_pre_vote: bool) -> bool:
        del candidate
        return is_pre_vote and is_log_up_to_date
