"""What a node does of its own accord: timers, shutting down, and the limits of what it accepts."""

from __future__ import annotations

import pytest

from barnabas.protocol.messages.fetch import FetchRequest
from barnabas.protocol.messages.produce import ProduceRequest
from barnabas.raft import control, effects, events
from barnabas.raft.history import QuorumChange
from barnabas.raft.log_view import OffsetAndEpoch
from barnabas.raft.quorum import QuorumViolation
from barnabas.raft.roles import Resigned
from unit.raft.driven import LISTENER, Driven


def test_a_timer_is_set_for_the_next_thing_to_do_and_only_when_it_changes() -> None:
    node = Driven(1, 2, 3)
    (first, *_) = node.all(effects.SetTimer)
    assert first.at_ms > node.now_ms
    node.clear()
    node.step(events.SnapshotGenerated(OffsetAndEpoch(0, 0)))
    assert not node.all(effects.SetTimer)
    node.step(events.TimerFired())
    assert node.all(effects.SetTimer), "a timer that fired early is set again"


def test_time_does_not_go_back() -> None:
    node = Driven(1, 2, 3)
    before = node.now_ms
    node.now_ms -= 500
    node.step(events.TimerFired())
    assert node.quorum.now_ms == before


def test_a_node_without_a_leader_asks_the_bootstrap_servers() -> None:
    node = Driven(1, 2, 3)
    assert [sent.peer.id for sent in node.sent(FetchRequest)] in ([-2], [-3])


def test_a_follower_may_stop_at_once_and_a_leader_hands_over_first() -> None:
    follower = Driven(1, 2, 3)
    follower.follow(2, 1)
    follower.step(events.ShutdownRequested(5_000))
    assert follower.all(effects.CompleteShutdown) == [effects.CompleteShutdown(is_graceful=True)]
    leader = Driven(1, 2, 3)
    leader.win()
    leader.step(events.ShutdownRequested(5_000))
    assert isinstance(leader.role, Resigned)
    assert not leader.all(effects.CompleteShutdown)
    leader.follow(2, 2)
    assert leader.all(effects.CompleteShutdown) == [effects.CompleteShutdown(is_graceful=True)]


def test_a_leader_that_finds_no_successor_stops_when_its_time_is_up() -> None:
    node = Driven(1, 2, 3)
    node.win()
    node.step(events.ShutdownRequested(5_000))
    node.wait(4_999)
    assert not node.all(effects.CompleteShutdown)
    node.wait(1)
    assert node.all(effects.CompleteShutdown) == [effects.CompleteShutdown(is_graceful=False)]
    node.wait(1)
    assert len(node.all(effects.CompleteShutdown)) == 1


def test_a_leader_resigns_when_its_state_machine_asks_it_to_in_this_epoch() -> None:
    node = Driven(1, 2, 3)
    node.win()
    node.step(events.ResignationRequested(0))
    assert not node.all(effects.Resigned)
    node.step(events.ResignationRequested(1))
    assert node.all(effects.Resigned) == [effects.Resigned(1)]


def test_a_level_of_a_later_release_stops_the_node() -> None:
    node = Driven(1, 2, 3)
    with pytest.raises(QuorumViolation):
        node.quorum.apply_changes([QuorumChange(5, kraft_version=2)])


def test_a_snapshot_forgets_older_voters_but_not_those_at_its_end() -> None:
    node = Driven(1, 2, 3)
    voters = node.quorum.voters
    for offset in (3, 6):
        node.quorum.history.apply(control.changes_of([control.voters(voters)], offset)[0])
    node.step(events.SnapshotGenerated(OffsetAndEpoch(6, 1)))
    assert node.quorum.history.voters_at(2) is None
    assert node.quorum.history.voters_at(5) == voters


def test_a_request_that_is_none_of_the_quorums_is_a_bug_of_the_driver() -> None:
    node = Driven(1, 2, 3)
    request = ProduceRequest(acks=1, timeout_ms=0, topic_data=[])
    with pytest.raises(TypeError):
        node.step(events.RequestReceived("token", request, 13, LISTENER))
