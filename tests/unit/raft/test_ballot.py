"""Counting votes."""

from __future__ import annotations

from barnabas.raft.ballot import Ballot
from barnabas.raft.voters import VoterSet
from unit.raft.driven import key, voter


def ballot_of(*node_ids: int) -> Ballot:
    return Ballot(VoterSet.of(voter(node_id) for node_id in node_ids))


def test_a_majority_wins() -> None:
    ballot = ballot_of(1, 2, 3)
    ballot.grant(1)
    assert not ballot.is_won
    ballot.grant(1)
    assert not ballot.is_won, "a voter counts once"
    ballot.grant(3)
    assert ballot.is_won
    assert ballot.granting_ids == [1, 3]


def test_a_non_voter_does_not_count() -> None:
    ballot = ballot_of(1, 2, 3)
    ballot.grant(1)
    ballot.grant(9)
    assert not ballot.is_won


def test_an_election_is_lost_when_the_rest_cannot_win_it() -> None:
    ballot = ballot_of(1, 2, 3, 4)
    ballot.reject(2)
    assert not ballot.is_lost
    ballot.reject(3)
    assert ballot.is_lost
    assert ballot.unheard == [key(1), key(4)]
