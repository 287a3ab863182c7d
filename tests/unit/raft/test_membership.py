"""Voters that come and go: one change at a time, each after the one before it is committed, with Kafka's errors."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.add_raft_voter import AddRaftVoterRequest, AddRaftVoterResponse
from barnabas.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse, SupportedFeatureKey
from barnabas.protocol.messages.fetch import FetchRequest
from barnabas.protocol.messages.remove_raft_voter import RemoveRaftVoterRequest, RemoveRaftVoterResponse
from barnabas.protocol.messages.update_raft_voter import UpdateRaftVoterRequest
from barnabas.protocol.schema import ZERO_UUID
from barnabas.protocol.version_range import VersionRange
from barnabas.raft import control, effects, events
from barnabas.raft.leader import Leader
from barnabas.raft.log_view import Continues
from barnabas.raft.requests import add_voter_request, remove_voter_request, update_voter_request
from barnabas.raft.responses import LeaderHint, add_voter_response, fetch_response, update_voter_response
from barnabas.raft.roles import Resigned
from barnabas.raft.voters import Voter, VoterSet
from unit.raft.driven import CLUSTER, LISTENER, Driven, endpoint, key, voter


def leader_of(*voter_ids: int, is_committed: bool = True, **options: Any) -> Driven:
    node = Driven(*voter_ids, **options)
    if not isinstance(node.role, Leader):
        node.win()
    if is_committed:
        for voter_id in voter_ids[1:]:
            node.fetch_as(key(voter_id), node.storage.log.end.offset, node.node.epoch, wait_ms=0)
        assert node.node.high_watermark == node.storage.log.end.offset
    node.clear()
    return node


def answered(node: Driven) -> ErrorCode | None:
    """The error of the change that was asked for, or None while it is pending."""
    kinds = (AddRaftVoterResponse, RemoveRaftVoterResponse)
    codes = [e.response.error_code for e in node.all(effects.Respond) if isinstance(e.response, kinds)]
    return ErrorCode(codes[-1]) if codes else None


def catch_up(node: Driven, node_id: int, disk: int = 1) -> None:
    node.fetch_as(key(node_id, disk), node.storage.log.end.offset, node.node.epoch, wait_ms=0)


def ask_to_add(node: Driven, joiner: Voter, *, ack_when_committed: bool = True) -> None:
    request = add_voter_request(CLUSTER, joiner, timeout_ms=1_000)
    request.ack_when_committed = ack_when_committed
    node.ask(request)


def tell_versions(node: Driven, lowest: int = 0, highest: int = 1) -> None:
    feature = SupportedFeatureKey(name="kraft.version", min_version=lowest, max_version=highest)
    (sent,) = node.sent(ApiVersionsRequest)
    node.answer(sent, ApiVersionsResponse(error_code=0, api_keys=[], supported_features=[feature]))


def test_a_newcomer_is_asked_what_it_supports_then_counts_then_is_committed() -> None:
    node = leader_of(1)
    catch_up(node, 2)
    ask_to_add(node, voter(2))
    assert node.quorum.voters.ids == {1}
    tell_versions(node)
    assert node.quorum.voters.ids == {1, 2}
    assert answered(node) is None
    before = node.node.high_watermark
    assert before is not None
    catch_up(node, 2)
    assert node.node.high_watermark == before + 1, "the newcomer's own word is needed for its commit"
    assert answered(node) is ErrorCode.NONE
    assert node.role.pending_change is None


def test_a_joiner_that_does_not_wait_for_the_commit_is_answered_before() -> None:
    node = leader_of(1)
    catch_up(node, 2)
    ask_to_add(node, voter(2), ack_when_committed=False)
    tell_versions(node)
    assert answered(node) is ErrorCode.NONE
    node.clear()
    node.ask(remove_voter_request(CLUSTER, key(2)))
    assert answered(node) is ErrorCode.REQUEST_TIMED_OUT, "the addition is still under way"


def test_who_cannot_join_is_told_why() -> None:
    def refusal(node: Driven, request: AddRaftVoterRequest) -> ErrorCode | None:
        node.clear()
        node.ask(request)
        return answered(node)

    def request_for(joiner: Voter, **changes: Any) -> AddRaftVoterRequest:
        request = add_voter_request(CLUSTER, joiner, timeout_ms=1_000)
        for name, value in changes.items():
            setattr(request, name, value)
        return request

    node = leader_of(1, 2)
    assert refusal(node, request_for(voter(2, disk=2))) is ErrorCode.DUPLICATE_VOTER
    assert refusal(node, request_for(voter(3), cluster_id="another")) is ErrorCode.INCONSISTENT_CLUSTER_ID
    assert refusal(node, request_for(voter(3), voter_directory_id=ZERO_UUID)) is ErrorCode.INVALID_REQUEST
    assert refusal(node, request_for(voter(3), voter_id=-1)) is ErrorCode.INVALID_REQUEST
    assert refusal(node, request_for(voter(3), listeners=[])) is ErrorCode.INVALID_REQUEST
    fresh = leader_of(1, 2, is_committed=False)
    assert refusal(fresh, request_for(voter(3))) is ErrorCode.REQUEST_TIMED_OUT
    static = leader_of(1, 2, is_dynamic=False)
    assert refusal(static, request_for(voter(3))) is ErrorCode.UNSUPPORTED_VERSION
    follower = Driven(1, 2)
    follower.follow(2, 1)
    assert refusal(follower, request_for(voter(3))) is ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_a_newcomer_that_lags_or_is_too_old_or_does_not_answer_does_not_join() -> None:
    lagging = leader_of(1)
    ask_to_add(lagging, voter(2))
    tell_versions(lagging)
    assert answered(lagging) is ErrorCode.REQUEST_TIMED_OUT
    old = leader_of(1)
    catch_up(old, 2)
    ask_to_add(old, voter(2))
    tell_versions(old, highest=0)
    assert answered(old) is ErrorCode.INVALID_REQUEST
    silent = leader_of(1)
    catch_up(silent, 2)
    ask_to_add(silent, voter(2))
    silent.wait(2_000)
    assert answered(silent) is ErrorCode.REQUEST_TIMED_OUT
    broken = leader_of(1)
    ask_to_add(broken, voter(2))
    (sent,) = broken.sent(ApiVersionsRequest)
    broken.step(events.RequestFailed(sent.correlation_id))
    assert answered(broken) is ErrorCode.REQUEST_TIMED_OUT
    assert {each.quorum.voters.ids for each in (lagging, old, silent, broken)} == {frozenset({1})}


def test_a_voter_leaves_and_the_next_change_waits_for_its_commit() -> None:
    node = leader_of(1, 2, 3)
    node.ask(remove_voter_request(CLUSTER, key(3)))
    assert node.quorum.voters.ids == {1, 2}
    assert answered(node) is None
    node.clear()
    node.ask(remove_voter_request(CLUSTER, key(2)))
    assert answered(node) is ErrorCode.REQUEST_TIMED_OUT
    node.clear()
    node.wait(2_000)
    assert answered(node) is ErrorCode.REQUEST_TIMED_OUT, "the first one has waited long enough"
    node.clear()
    node.ask(remove_voter_request(CLUSTER, key(2)))
    assert answered(node) is ErrorCode.REQUEST_TIMED_OUT, "but it still is not committed"
    catch_up(node, 2)
    node.clear()
    node.ask(remove_voter_request(CLUSTER, key(2)))
    assert node.quorum.voters.ids == {1}


@pytest.mark.parametrize("leaver", [key(9), key(2, disk=2)], ids=["no voter", "another disk"])
def test_only_a_voter_can_be_removed(leaver: Any) -> None:
    node = leader_of(1, 2)
    node.ask(remove_voter_request(CLUSTER, leaver))
    assert answered(node) is ErrorCode.VOTER_NOT_FOUND


def test_the_last_voter_stays() -> None:
    node = leader_of(1)
    node.ask(remove_voter_request(CLUSTER, key(1)))
    assert answered(node) is ErrorCode.VOTER_NOT_FOUND


def test_a_leader_that_is_removed_leads_until_that_is_committed() -> None:
    node = leader_of(1, 2)
    node.ask(remove_voter_request(CLUSTER, key(1)))
    assert isinstance(node.role, Leader)
    assert not node.quorum.is_voter
    catch_up(node, 2)
    assert answered(node) is ErrorCode.NONE
    assert isinstance(node.role, Resigned)


def test_a_lost_lead_ends_the_change_that_was_under_way() -> None:
    node = leader_of(1, 2, 3)
    node.ask(remove_voter_request(CLUSTER, key(3)))
    node.follow(2, 5)
    assert answered(node) is ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_one_that_was_removed_may_stand_while_nobody_else_may_know() -> None:
    node = Driven(1, 2)
    node.follow(2, 1)
    record = control.build([control.voters(VoterSet.of([voter(2)]))], base_offset=0, epoch=1, timestamp_ms=0)
    response = fetch_response(
        LeaderHint(1, 2, endpoint(2)), 18, ErrorCode.NONE, log_start_offset=0, records=record, standing=Continues()
    )
    node.answer(node.sent(FetchRequest)[-1], response)
    assert not node.quorum.is_voter
    assert node.quorum.may_stand
    node.quorum.advance_high_watermark(1)
    assert not node.quorum.may_stand


def update(node: Driven, described: Voter, epoch: int | None = None) -> ErrorCode:
    request = update_voter_request(CLUSTER, node.node.epoch if epoch is None else epoch, described)
    return ErrorCode(node.ask(request).error_code)


def test_a_voter_that_moved_is_written_down_anew() -> None:
    node = leader_of(1, 2)
    moved = Voter(key(2), {LISTENER: endpoint(7)}, VersionRange(0, 1))
    assert update(node, moved) is ErrorCode.NONE
    assert node.quorum.voters.by_id[2] == moved
    assert update(node, moved) is ErrorCode.REQUEST_TIMED_OUT, "one change after the other"
    catch_up(node, 2)
    assert update(node, voter(9)) is ErrorCode.VOTER_NOT_FOUND
    assert update(node, voter(2, disk=2)) is ErrorCode.VOTER_NOT_FOUND
    assert update(node, Voter(key(2), {}, VersionRange(0, 1))) is ErrorCode.INVALID_REQUEST
    assert update(node, Voter(key(2), {LISTENER: endpoint(2)}, VersionRange(0, 0))) is ErrorCode.INVALID_REQUEST
    assert update(node, voter(2), epoch=0) is ErrorCode.FENCED_LEADER_EPOCH


def upgrade(node: Driven, level: int = 1, *, validate_only: bool = False) -> Any:
    event = events.KRaftVersionUpgradeRequested("upgrade", node.node.epoch, level, validate_only)
    return next(e for e in node.step(event) if isinstance(e, effects.Confirm | effects.Refuse))


def test_a_static_quorum_is_raised_once_every_voter_has_told_of_itself() -> None:
    node = leader_of(1, 2, is_dynamic=False)
    refused = upgrade(node)
    assert isinstance(refused, effects.Refuse)
    assert refused.error is ErrorCode.INVALID_UPDATE_VERSION
    assert update(node, voter(2)) is ErrorCode.NONE
    end = node.storage.log.end
    assert isinstance(upgrade(node, validate_only=True), effects.Confirm)
    assert node.storage.log.end == end, "asking changes nothing"
    assert isinstance(upgrade(node), effects.Confirm)
    assert node.quorum.history.is_dynamic
    assert node.quorum.voters == VoterSet.of([voter(1), voter(2)])
    assert isinstance(upgrade(node), effects.Confirm), "what holds already is no change"
    lowered = upgrade(node, level=0)
    assert isinstance(lowered, effects.Refuse)
    assert lowered.error is ErrorCode.INVALID_UPDATE_VERSION


def test_a_voter_of_a_static_quorum_tells_its_leader_of_itself_once() -> None:
    node = Driven(1, 2, is_dynamic=False)
    node.follow(2, 1)
    node.quorum.connections.reset()
    node.role.fetch_deadline_ms += 10_000
    node.wait(2_000)
    (sent,) = node.sent(UpdateRaftVoterRequest)
    assert sent.request.voter_directory_id == key(1).directory_id
    node.answer(sent, update_voter_response(LeaderHint(1, 2, endpoint(2)), ErrorCode.NONE))
    node.clear()
    node.quorum.connections.reset()
    node.role.fetch_deadline_ms += 10_000
    node.wait(2_000)
    assert not node.sent(UpdateRaftVoterRequest)


def joining(*voter_ids: int, **options: Any) -> Driven:
    """A controller that is no voter, follows node 2, and has waited long enough to ask for a change."""
    node = Driven(*voter_ids, **options)
    node.follow(2, 1)
    node.quorum.connections.reset()
    node.wait(2_000)
    return node


def test_a_controller_joins_by_itself_where_it_is_told_to() -> None:
    node = joining(2, 3, auto_join_enable="true")
    (sent,) = node.sent(AddRaftVoterRequest)
    assert (sent.peer.id, sent.request.voter_id) == (2, 1)
    node.answer(sent, add_voter_response(ErrorCode.NONE))
    assert node.role.update_voter_deadline_ms == node.now_ms + 2_000
    assert not joining(2, 3).sent(AddRaftVoterRequest)


def test_a_controller_with_a_new_disk_first_has_its_former_self_removed() -> None:
    node = joining(2, 3, auto_join_enable="true")
    former = VoterSet.of([voter(1, disk=2), voter(2), voter(3)])
    node.quorum.history.apply(control.changes_of([control.voters(former)], 5)[0])
    node.clear()
    node.quorum.connections.reset()
    node.wait(2_000)
    (sent,) = node.sent(RemoveRaftVoterRequest)
    assert sent.request.voter_directory_id == key(1, disk=2).directory_id
