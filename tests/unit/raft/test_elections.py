"""Votes, the beginning and the end of a leader's epoch: who is answered what, and what is on disk before that."""

from __future__ import annotations

import pytest

from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.end_quorum_epoch import EndQuorumEpochRequest
from barnabas.protocol.messages.fetch import FetchRequest
from barnabas.protocol.messages.vote import VoteRequest
from barnabas.raft import effects, events
from barnabas.raft.elections import succession_delay_ms
from barnabas.raft.leader import Leader
from barnabas.raft.log_view import OffsetAndEpoch
from barnabas.raft.quorum_state import QuorumState
from barnabas.raft.replica import ReplicaKey
from barnabas.raft.requests import end_quorum_epoch_request
from barnabas.raft.responses import LeaderHint, end_quorum_epoch_response, fetch_response, vote_response
from barnabas.raft.roles import Candidate, Follower, Prospective, Resigned, Unattached
from unit.raft.driven import CLUSTER, LISTENER, Driven, begin_request, endpoint, key, vote_from

EMPTY = OffsetAndEpoch(0, 0)


def granted(response: object) -> bool:
    (answer,) = response.topics[0].partitions  # type: ignore[attr-defined]
    assert answer.error_code == ErrorCode.NONE
    return bool(answer.vote_granted)


def error_of(response: object) -> ErrorCode:
    return ErrorCode(response.topics[0].partitions[0].error_code)  # type: ignore[attr-defined]


def test_a_vote_is_given_once_an_epoch_and_persisted_before_it_is_answered() -> None:
    node = Driven(1, 2, 3)
    node.clear()
    assert granted(node.ask(vote_from(key(2), 1, EMPTY, to=key(1))))
    kinds = [type(effect) for effect in node.effects]
    last_persist = max(at for at, kind in enumerate(kinds) if kind is effects.Persist)
    assert last_persist < kinds.index(effects.Respond)
    assert node.persisted().voted_key == key(2)
    assert not granted(node.ask(vote_from(key(3), 1, EMPTY, to=key(1))))
    assert granted(node.ask(vote_from(key(2), 1, EMPTY, to=key(1)))), "the same one may ask again"
    assert not granted(node.ask(vote_from(key(2, disk=2), 1, EMPTY, to=key(1)))), "not with another disk"
    assert granted(node.ask(vote_from(key(3), 2, EMPTY, to=key(1)))), "another epoch, another vote"


def test_a_vote_survives_a_restart() -> None:
    node = Driven(1, 2, 3, saved=QuorumState(4, voted_key=key(2)))
    assert not granted(node.ask(vote_from(key(3), 4, EMPTY, to=key(1))))
    assert granted(node.ask(vote_from(key(2), 4, EMPTY, to=key(1))))


@pytest.mark.parametrize(
    ("end", "is_granted"),
    [
        (OffsetAndEpoch(3, 2), True),
        (OffsetAndEpoch(2, 2), False),
        (OffsetAndEpoch(1, 3), True),
        (OffsetAndEpoch(9, 1), False),
    ],
    ids=str,
)
@pytest.mark.parametrize("is_pre_vote", [False, True])
def test_nobody_with_a_lesser_log_is_voted_for(end: OffsetAndEpoch, is_granted: bool, is_pre_vote: bool) -> None:
    node = Driven(1, 2, 3, log=[(1, 1), (2, 2)])
    assert granted(node.ask(vote_from(key(2), 7, end, to=key(1), is_pre_vote=is_pre_vote))) is is_granted


def test_a_pre_vote_costs_neither_the_vote_nor_a_write() -> None:
    node = Driven(1, 2, 3)
    node.clear()
    assert granted(node.ask(vote_from(key(2), 0, EMPTY, to=key(1), is_pre_vote=True)))
    assert not node.all(effects.Persist)
    assert node.persisted().voted_key is None


def test_a_follower_grants_a_pre_vote_only_until_it_has_fetched() -> None:
    node = Driven(1, 2, 3)
    node.follow(2, 1)
    assert granted(node.ask(vote_from(key(3), 1, EMPTY, to=key(1), is_pre_vote=True)))
    node.role.has_fetched = True
    assert not granted(node.ask(vote_from(key(3), 1, EMPTY, to=key(1), is_pre_vote=True)))
    assert not granted(node.ask(vote_from(key(3), 1, EMPTY, to=key(1)))), "and no vote at all in its leader's epoch"


def test_requests_of_the_past_or_of_nobody_are_refused() -> None:
    node = Driven(1, 2, 3, saved=QuorumState(5))
    assert error_of(node.ask(vote_from(key(2), 4, EMPTY, to=key(1)))) is ErrorCode.FENCED_LEADER_EPOCH
    assert error_of(node.ask(vote_from(ReplicaKey(-1), 6, EMPTY, to=key(1)))) is ErrorCode.INVALID_REQUEST
    assert error_of(node.ask(vote_from(key(1, disk=2), 6, EMPTY, to=key(1)))) is ErrorCode.INVALID_REQUEST
    illegal = vote_from(key(2), 6, OffsetAndEpoch(3, 6), to=key(1))
    assert error_of(node.ask(illegal)) is ErrorCode.INVALID_REQUEST, "a log cannot end in the epoch that is stood for"
    assert error_of(node.ask(begin_request(2, 4, key(1)))) is ErrorCode.FENCED_LEADER_EPOCH


def test_an_epoch_without_a_successor_is_not_believed() -> None:
    node = Driven(1, 2, 3, saved=QuorumState(5))
    last = 2**31 - 1
    assert error_of(node.ask(vote_from(key(2), last, EMPTY, to=key(1)))) is ErrorCode.INVALID_REQUEST
    assert error_of(node.ask(begin_request(2, last, key(1)))) is ErrorCode.INVALID_REQUEST
    assert node.quorum.epoch == 5
    assert granted(node.ask(vote_from(key(2), last - 1, EMPTY, to=key(1))))


def test_a_vote_meant_for_another_disk_is_not_given() -> None:
    node = Driven(1, 2, 3)
    response = node.ask(vote_from(key(2), 3, EMPTY, to=key(1, disk=2)))
    assert error_of(response) is ErrorCode.INVALID_VOTER_KEY
    assert node.node.epoch == 3, "the epoch is news all the same"
    assert node.persisted().voted_key is None


def test_another_cluster_is_told_so() -> None:
    node = Driven(1, 2, 3)
    request = vote_from(key(2), 1, EMPTY, to=key(1))
    request.cluster_id = "another"
    assert node.ask(request).error_code == ErrorCode.INCONSISTENT_CLUSTER_ID
    request.cluster_id, request.topics = CLUSTER, []
    assert node.ask(request).error_code == ErrorCode.INVALID_REQUEST


def test_an_election_asks_for_pre_votes_before_it_raises_the_epoch() -> None:
    node = Driven(1, 2, 3)
    node.stand()
    assert isinstance(node.role, Prospective)
    assert node.node.epoch == 0
    asked = node.sent(VoteRequest)
    assert {sent.peer.id for sent in asked} == {2, 3}
    assert all(sent.request.topics[0].partitions[0].pre_vote for sent in asked)
    node.answer(asked[0], vote_response(LeaderHint(0), 2, ErrorCode.NONE, is_granted=True))
    assert isinstance(node.role, Candidate)
    assert node.persisted() == QuorumState(1, voted_key=key(1))


def test_a_majority_of_votes_makes_a_leader() -> None:
    node = Driven(1, 2, 3)
    node.win()
    assert isinstance(node.role, Leader)
    assert node.all(effects.BecameLeader) == [effects.BecameLeader(1, 0)]
    assert node.persisted().leader_id == 1
    (leader_change,) = [batch for batch in node.storage.log.batches if batch.epoch == 1]
    assert leader_change.next_offset == 3, "leader change, kraft.version and voters in one batch"


def test_votes_of_another_epoch_do_not_count() -> None:
    node = Driven(1, 2, 3)
    node.stand()
    stale = node.sent(VoteRequest)[0]
    node.answer(stale, vote_response(LeaderHint(9), 2, ErrorCode.FENCED_LEADER_EPOCH))
    assert isinstance(node.role, Unattached)
    assert node.node.epoch == 9


def test_the_only_voter_elects_itself_at_once() -> None:
    node = Driven(1)
    assert isinstance(node.role, Leader)
    assert node.node.high_watermark == 3


def test_a_voter_from_before_pre_votes_is_asked_without() -> None:
    node = Driven(1, 2, 3)
    node.stand()
    sent = node.sent(VoteRequest)[0]
    node.step(events.RequestFailed(sent.correlation_id, ErrorCode.UNSUPPORTED_VERSION))
    assert isinstance(node.role, Candidate)


def test_a_voter_whose_disk_is_another_now_is_not_asked_again_at_once() -> None:
    node = Driven(1, 2, 3)
    node.stand()
    asked = node.sent(VoteRequest)[0]
    node.clear()
    node.answer(asked, vote_response(LeaderHint(node.node.epoch), 2, ErrorCode.INVALID_VOTER_KEY))
    assert not node.sent(VoteRequest)
    node.wait(30)
    assert [sent.peer for sent in node.sent(VoteRequest)] == [asked.peer]


def test_a_lost_pre_vote_leads_back_to_the_leader() -> None:
    node = Driven(1, 2, 3)
    node.follow(2, 1)
    node.stand()
    for sent in node.sent(VoteRequest):
        node.answer(sent, vote_response(LeaderHint(1, 2, endpoint(2)), 2, ErrorCode.NONE))
    assert isinstance(node.role, Follower)
    assert node.node.epoch == 1


def test_the_beginning_of_an_epoch_makes_a_follower_and_is_persisted() -> None:
    node = Driven(1, 2, 3)
    response = node.follow(2, 3)
    assert error_of(response) is ErrorCode.NONE
    assert isinstance(node.role, Follower)
    assert node.persisted() == QuorumState(3, leader_id=2)
    assert error_of(node.ask(begin_request(3, 3, key(1)))) is ErrorCode.INVALID_REQUEST, "an epoch has one leader"
    assert error_of(node.ask(begin_request(2, 3, key(1, disk=2)))) is ErrorCode.INVALID_VOTER_KEY


def test_a_candidate_that_lost_keeps_its_vote_as_a_follower() -> None:
    node = Driven(1, 2, 3, saved=QuorumState(4, voted_key=key(1)))
    node.follow(2, 4)
    assert node.persisted() == QuorumState(4, leader_id=2, voted_key=key(1))


def test_a_restarted_leader_resigns_and_leaves_its_epoch_to_others() -> None:
    node = Driven(1, 2, 3, saved=QuorumState(4, leader_id=1))
    assert isinstance(node.role, Resigned)
    assert not granted(node.ask(vote_from(key(2), 4, EMPTY, to=key(1))))
    asked = node.sent(EndQuorumEpochRequest)
    assert {sent.peer.id for sent in asked} == {2, 3}
    node.answer(asked[0], end_quorum_epoch_response(LeaderHint(4, 1, endpoint(1)), 1, ErrorCode.NONE))
    assert node.role.unacknowledged == {3}
    node.wait(5_000)
    assert isinstance(node.role, Prospective)
    assert node.node.epoch == 5


def test_a_restarted_candidate_does_not_ask_in_its_old_epoch_again() -> None:
    """Who voted for it then was shown a log whose unflushed end may be gone, and would vote again without looking."""
    node = Driven(1, 2, 3, saved=QuorumState(4, voted_key=key(1)))
    assert isinstance(node.role, Unattached)
    assert not node.sent(VoteRequest)
    node.stand()
    assert node.sent(VoteRequest)[0].request.topics[0].partitions[0].pre_vote


def test_a_log_of_a_later_epoch_than_quorum_state_counts() -> None:
    node = Driven(1, 2, 3, saved=QuorumState(1, leader_id=2), log=[(6, 1)])
    assert isinstance(node.role, Unattached)
    assert node.node.epoch == 6


def test_a_voter_that_lost_its_quorum_state_does_not_vote_while_its_lost_vote_may_count() -> None:
    node = Driven(1, 2, 3, log=[(2, 1)], has_quorum_state=False)
    end = OffsetAndEpoch(1, 2)
    assert node.node.epoch == 2
    assert granted(node.ask(vote_from(key(2), 2, end, to=key(1), is_pre_vote=True)))
    assert not granted(node.ask(vote_from(key(2), 3, end, to=key(1))))
    node.wait(1_999)
    assert not granted(node.ask(vote_from(key(2), 4, end, to=key(1))))
    assert not node.all(effects.Persist), "one that stops now has still lost its vote"
    node.wait(1)
    assert node.all(effects.Persist) == [effects.Persist(QuorumState(4))]
    assert granted(node.ask(vote_from(key(2), 5, end, to=key(1))))


def test_a_voter_that_lost_its_quorum_state_does_not_stand_while_its_lost_vote_may_count() -> None:
    node = Driven(1, 2, 3, log=[(2, 1)], has_quorum_state=False)
    node.wait(1_998)
    assert isinstance(node.role, Prospective)
    asked = node.sent(VoteRequest)
    assert asked
    for sent in asked:
        node.answer(sent, vote_response(LeaderHint(2), 2, ErrorCode.NONE, is_granted=True))
    assert isinstance(node.role, Prospective)
    node.step(events.RequestFailed(asked[0].correlation_id, ErrorCode.UNSUPPORTED_VERSION))
    assert isinstance(node.role, Prospective)
    node.win()
    assert node.node.epoch == 3


def test_a_leader_that_lost_its_quorum_state_learns_from_others_that_it_led_and_resigns() -> None:
    """They refuse to count as its voters in an epoch whose leader it was, and nobody else may have its records."""
    node = Driven(1, 2, 3, log=[(2, 1)], has_quorum_state=False)
    node.wait(1_998)
    node.answer(node.sent(VoteRequest)[0], vote_response(LeaderHint(2, 1, endpoint(1)), 2, ErrorCode.NONE))
    assert isinstance(node.role, Resigned)
    node.wait(2)
    assert node.persisted() == QuorumState(2, leader_id=1)
    assert not granted(node.ask(vote_from(key(3), 2, OffsetAndEpoch(9, 1), to=key(1))))
    node.win()
    assert node.node.epoch == 4, "the epoch that it led in, one to leave it, one to lead again"


def test_the_only_voter_leads_without_its_quorum_state_too() -> None:
    assert isinstance(Driven(1, log=[(2, 1)], has_quorum_state=False).role, Leader)


def test_one_that_is_no_voter_does_not_believe_to_have_led() -> None:
    """The lead was that of an earlier disk."""
    node = Driven(2, 3)
    sent = node.sent(FetchRequest)[-1]
    hint = LeaderHint(2, 1, endpoint(1))
    node.answer(sent, fetch_response(hint, 18, ErrorCode.NOT_LEADER_OR_FOLLOWER, log_start_offset=0))
    assert isinstance(node.role, Unattached)


def test_that_nobody_leads_is_said_once_however_often_one_stands_in_vain() -> None:
    node = Driven(1, 2, 3)
    node.follow(2, 1)
    node.clear()
    node.ask(vote_from(key(3), 4, EMPTY, to=key(1)))
    for _ in range(20):
        node.wait(1_000)
    assert node.all(effects.LeaderChanged) == [effects.LeaderChanged(4, None)]


def test_the_preferred_successor_stands_at_once_and_the_others_later() -> None:
    node = Driven(1, 2, 3, 4, 5)
    for place, delay_ms in enumerate([0, 125, 250, 500]):
        successors = [key(2), key(3), key(4)]
        successors.insert(place, key(1))
        assert succession_delay_ms(node.quorum, successors) == delay_ms
    assert succession_delay_ms(node.quorum, [key(2), key(1, disk=2)]) == 1_000


def test_the_end_of_an_epoch_lets_the_preferred_successor_stand() -> None:
    node = Driven(1, 2, 3)
    node.follow(2, 1)
    node.clear()
    request = end_quorum_epoch_request(CLUSTER, 1, 2, {LISTENER: endpoint(2)}, [key(1), key(3)])
    assert error_of(node.ask(request)) is ErrorCode.NONE
    assert isinstance(node.role, Prospective)
