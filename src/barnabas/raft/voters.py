"""The set of voters, as a value: adding, removing or updating one gives another set.

Two sets that follow each other in the log differ in at most one replica, which is why their majorities overlap.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from barnabas.protocol.version_range import VersionRange
from barnabas.raft.replica import Endpoint, Endpoints, Peer, ReplicaKey

STATIC_VERSIONS = VersionRange(0, 0)


@dataclass(frozen=True, slots=True)
class Voter:
    """A member of the quorum: which replica, where it listens, which levels of kraft.version it supports."""

    key: ReplicaKey
    endpoints: Endpoints
    kraft_versions: VersionRange = STATIC_VERSIONS

    @property
    def id(self) -> int:
        return self.key.id


@dataclass(frozen=True, slots=True)
class VoterSet:
    by_id: Mapping[int, Voter] = field(default_factory=dict)

    @classmethod
    def of(cls, voters: Iterable[Voter]) -> VoterSet:
        return cls({voter.id: voter for voter in sorted(voters, key=lambda voter: voter.key)})

    @classmethod
    def static(cls, listener: str, addresses: Mapping[int, Endpoint]) -> VoterSet:
        """The set that controller.quorum.voters names: directories unknown, no dynamic change possible."""
        return cls.of(Voter(ReplicaKey(node_id), {listener: address}) for node_id, address in addresses.items())

    def __iter__(self) -> Iterator[Voter]:
        return iter(self.by_id.values())

    def __len__(self) -> int:
        return len(self.by_id)

    @property
    def ids(self) -> frozenset[int]:
        return frozenset(self.by_id)

    @property
    def keys(self) -> frozenset[ReplicaKey]:
        return frozenset(voter.key for voter in self)

    def has_voter(self, key: ReplicaKey) -> bool:
        voter = self.by_id.get(key.id)
        return voter is not None and voter.key.admits(key)

    def is_only_voter(self, key: ReplicaKey) -> bool:
        return len(self) == 1 and self.has_voter(key)

    def endpoints(self, node_id: int) -> Endpoints:
        voter = self.by_id.get(node_id)
        return {} if voter is None else voter.endpoints

    def peer(self, node_id: int, listener: str) -> Peer | None:
        endpoint = self.endpoints(node_id).get(listener)
        return None if endpoint is None else Peer(node_id, endpoint)

    def needs_update(self, voter: Voter) -> bool:
        """Whether the set describes this member otherwise than the member does itself."""
        known = self.by_id.get(voter.id)
        return known is not None and known.key.admits(voter.key) and known != voter

    def supports(self, kraft_version: int) -> bool:
        return all(kraft_version in voter.kraft_versions for voter in self)

    def with_voter(self, voter: Voter) -> VoterSet | None:
        """The set with one more member, or None where its node id is a member already."""
        return None if voter.id in self.by_id else self._replacing(voter)

    def without_voter(self, key: ReplicaKey) -> VoterSet | None:
        """The set without this very replica, or None where it is no member or the only one."""
        voter = self.by_id.get(key.id)
        if voter is None or voter.key != key or len(self) == 1:
            return None
        return VoterSet.of(other for other in self if other.id != key.id)

    def with_update(self, voter: Voter, *, ignoring_directory: bool = False) -> VoterSet | None:
        """The set with this member described anew, or None where it is no member."""
        known = self.by_id.get(voter.id)
        if known is None or not (ignoring_directory or known.key.admits(voter.key)):
            return None
        return self._replacing(voter)

    def _replacing(self, voter: Voter) -> VoterSet:
        return VoterSet.of([*(other for other in self if other.id != voter.id), voter])

    def overlaps(self, other: VoterSet) -> bool:
        """Whether any majority of one shares a member with any majority of the other, by differing in one replica."""
        return len(self.keys - other.keys) <= 1 and len(other.keys - self.keys) <= 1
