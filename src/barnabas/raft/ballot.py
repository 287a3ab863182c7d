"""The votes of one election: who is asked, who granted, who rejected; a non-voter's word does not count."""

from __future__ import annotations

from barnabas.raft.majority import majority_size
from barnabas.raft.replica import ReplicaKey
from barnabas.raft.voters import VoterSet


class Ballot:
    def __init__(self, voters: VoterSet) -> None:
        self._keys = {voter.id: voter.key for voter in voters}
        self._granted: set[int] = set()
        self._rejected: set[int] = set()

    def grant(self, voter_id: int) -> None:
        self._record(voter_id, self._granted, self._rejected)

    def reject(self, voter_id: int) -> None:
        self._record(voter_id, self._rejected, self._granted)

    def _record(self, voter_id: int, said: set[int], unsaid: set[int]) -> None:
        if voter_id in self._keys:
            said.add(voter_id)
            unsaid.discard(voter_id)

    @property
    def is_won(self) -> bool:
        return len(self._granted) >= majority_size(len(self._keys))

    @property
    def is_lost(self) -> bool:
        """Whether even the votes still to come cannot make a majority."""
        return len(self._keys) - len(self._rejected) < majority_size(len(self._keys))

    @property
    def granting_ids(self) -> list[int]:
        return sorted(self._granted)

    @property
    def unheard(self) -> list[ReplicaKey]:
        """The voters that have not answered."""
        return [key for voter_id, key in self._keys.items() if voter_id not in self._granted | self._rejected]
