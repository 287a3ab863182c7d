"""The voter set as a value."""

from __future__ import annotations

import pytest

from barnabas.protocol.version_range import VersionRange
from barnabas.raft.replica import Endpoint, ReplicaKey
from barnabas.raft.voters import Voter, VoterSet
from unit.raft.driven import LISTENER, endpoint, key, voter


def members(*node_ids: int) -> VoterSet:
    return VoterSet.of(voter(node_id) for node_id in node_ids)


def test_a_static_voter_is_known_by_its_node_id_alone() -> None:
    voters = VoterSet.static(LISTENER, {1: endpoint(1)})
    assert voters.has_voter(key(1, disk=1))
    assert voters.has_voter(key(1, disk=2))
    assert not voters.has_voter(key(2))


def test_a_dynamic_voter_with_another_disk_is_another_replica() -> None:
    assert members(1, 2).has_voter(key(1))
    assert not members(1, 2).has_voter(key(1, disk=2))
    assert not members(1, 2).has_voter(ReplicaKey(1)), "who does not say which disk it has is not taken for a voter"


def test_a_voter_joins_once() -> None:
    joined = members(1).with_voter(voter(2))
    assert joined == members(1, 2)
    assert members(1, 2).with_voter(voter(2, disk=2)) is None


def test_only_the_very_replica_leaves_and_the_last_one_stays() -> None:
    assert members(1, 2).without_voter(key(2)) == members(1)
    assert members(1, 2).without_voter(key(2, disk=2)) is None
    assert members(1).without_voter(key(1)) is None


def test_an_update_keeps_the_disk_unless_it_was_never_known() -> None:
    moved = Voter(key(2), {LISTENER: Endpoint("elsewhere", 1)}, VersionRange(0, 1))
    assert members(1, 2).needs_update(moved)
    updated = members(1, 2).with_update(moved)
    assert updated is not None
    assert not updated.needs_update(moved)
    assert members(1, 2).with_update(voter(2, disk=2)) is None
    assert members(1, 2).with_update(voter(2, disk=2), ignoring_directory=True) is not None
    assert members(1).with_update(moved) is None


@pytest.mark.parametrize(
    ("one", "other", "overlap"),
    [
        ((1, 2, 3), (1, 2, 3, 4), True),
        ((1, 2, 3), (1, 2), True),
        ((1, 2, 3), (1, 4, 3), True),
        ((1, 2, 3), (1,), False),
    ],
)
def test_sets_overlap_that_differ_in_one_replica(one: tuple[int, ...], other: tuple[int, ...], overlap: bool) -> None:
    assert members(*one).overlaps(members(*other)) is overlap


def test_a_level_is_supported_by_all_or_not_at_all() -> None:
    old = Voter(key(3), {}, VersionRange(0, 0))
    assert members(1, 2).supports(1)
    assert not VoterSet.of([*members(1, 2), old]).supports(1)
