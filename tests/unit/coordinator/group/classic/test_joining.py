"""Joining a classic group: generations, protocols, ids that are handed out, static members, limits."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.leave_group import MemberIdentity
from unit.coordinator.group.driven_shard import REBALANCE_MS, SESSION_MS, DrivenShard, join_request


def test_the_first_member_leads_and_learns_of_all_members() -> None:
    shard = DrivenShard()
    first, token = shard.new_member()
    shard.pass_time(0)
    answer = shard.joined(token)
    assert (answer.error_code, answer.generation_id, answer.leader) == (0, 1, first)
    second, second_token = shard.new_member()
    again = shard.join(first)
    assert shard.joined(again).generation_id == shard.joined(second_token).generation_id == 2
    assert [member.member_id for member in shard.joined(again).members] == [first, second]
    assert shard.joined(second_token).members == []
    assert shard.joined(second_token).leader == first


def test_the_first_rebalance_waits_a_while_for_each_that_comes() -> None:
    shard = DrivenShard(initial_rebalance_delay_ms=3_000)
    _, first = shard.new_member()
    shard.pass_time(2_000)
    _, second = shard.new_member()
    shard.pass_time(1_000)
    assert not {first, second} & shard.answers.keys()
    shard.pass_time(3_000)
    assert shard.joined(first).generation_id == shard.joined(second).generation_id == 1


def test_the_first_rebalance_is_not_put_off_beyond_its_time() -> None:
    shard = DrivenShard(initial_rebalance_delay_ms=3_000)
    tokens = [shard.new_member(rebalance_timeout_ms=7_000)[1]]
    for _ in range(6):
        shard.pass_time(1_000)
        tokens.append(shard.new_member(rebalance_timeout_ms=7_000)[1])
    assert tokens[0] not in shard.answers
    shard.pass_time(1_000)
    assert {shard.joined(token).generation_id for token in tokens} == {1}


def test_a_member_that_does_not_come_back_is_dropped_when_the_rebalance_has_taken_its_time() -> None:
    shard = DrivenShard()
    first, second = shard.stable_group(2, session_timeout_ms=60_000)
    token = shard.join(first, session_timeout_ms=60_000)
    shard.pass_time(REBALANCE_MS - 1)
    assert token not in shard.answers
    shard.pass_time(1)
    assert [member.member_id for member in shard.joined(token).members] == [first]
    assert shard.heartbeat(second) is ErrorCode.UNKNOWN_MEMBER_ID


def test_another_leads_where_a_static_leader_does_not_come_back() -> None:
    shard = DrivenShard()
    first = shard.joined(_static(shard, "one", session_timeout_ms=60_000)).member_id
    shard.sync(first, {})
    second, token = shard.new_member(session_timeout_ms=60_000)
    shard.pass_time(REBALANCE_MS)
    assert shard.joined(token).leader == second
    assert set(shard.group().members) == {first, second}


def test_static_members_who_all_stay_away_keep_the_group_waiting() -> None:
    shard = DrivenShard()
    first = shard.joined(_static(shard, "one", session_timeout_ms=60_000)).member_id
    shard.sync(first, {})
    member_id, token = shard.new_member(session_timeout_ms=60_000)
    shard.leave(MemberIdentity(member_id=member_id))
    assert shard.answers[token].error_code == ErrorCode.UNKNOWN_MEMBER_ID
    shard.pass_time(REBALANCE_MS)
    assert shard.group().state_name == "PreparingRebalance"
    shard.pass_time(60_000)
    assert shard.group().state_name == "Empty"


def _static(shard: DrivenShard, instance_id: str, version: int = 9, **terms: Any) -> int:
    token = shard.join(version=version, instance_id=instance_id, **terms)
    shard.pass_time(0)
    return token


@pytest.mark.parametrize("is_leader", [True, False])
def test_a_static_member_that_is_restarted_gets_its_place_back_without_a_rebalance(is_leader: bool) -> None:
    shard = DrivenShard()
    first = shard.joined(_static(shard, "one")).member_id
    token = shard.join(instance_id="two")
    shard.join(first, instance_id="one")
    second = shard.joined(token).member_id
    shard.sync(first, {first: b"1", second: b"2"}, group_instance_id="one")
    shard.sync(second, group_instance_id="two")
    records = len(shard.log)
    old, name, part = (first, "one", b"1") if is_leader else (second, "two", b"2")
    answer = shard.joined(shard.join(instance_id=name))
    assert (answer.generation_id, answer.skip_assignment) == (2, is_leader)
    assert answer.member_id != old
    assert (answer.leader == answer.member_id) == is_leader
    assert {member.member_id for member in answer.members} == ({second, answer.member_id} if is_leader else set())
    assert len(shard.log) == records + 1
    synced = shard.answers[shard.sync(answer.member_id, group_instance_id=name)]
    assert (synced.error_code, synced.assignment) == (0, part)
    assert shard.heartbeat(old, group_instance_id=name) is ErrorCode.FENCED_INSTANCE_ID
    reloaded = shard.reloaded().group()
    assert set(reloaded.members) == set(shard.group().members)
    assert reloaded.leader_id == shard.group().leader_id


def test_an_old_client_that_led_is_not_told_that_it_leads_again() -> None:
    shard = DrivenShard()
    old = shard.joined(_static(shard, "one", version=8)).member_id
    shard.sync(old, {}, group_instance_id="one")
    answer = shard.joined(shard.join(version=8, instance_id="one"))
    assert (answer.leader, answer.members, answer.skip_assignment) == (old, [], False)
    assert shard.group().leader_id == answer.member_id


def test_a_static_member_with_another_protocol_causes_a_rebalance() -> None:
    shard = DrivenShard()
    old = shard.joined(_static(shard, "one")).member_id
    shard.sync(old, {}, group_instance_id="one")
    answer = shard.joined(shard.join(instance_id="one", protocols=["sticky", "range"]))
    assert (answer.generation_id, answer.protocol_name) == (2, "sticky")


def test_a_static_member_that_cannot_be_written_leaves_the_old_one_its_place() -> None:
    shard = DrivenShard()
    old = shard.joined(_static(shard, "one")).member_id
    shard.sync(old, {old: b"1"}, group_instance_id="one")
    shard.failure = ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert shard.joined(shard.join(instance_id="one")).error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert shard.heartbeat(old, group_instance_id="one") is ErrorCode.NONE
    assert shard.has_timer("classic-session", "g", old)


def test_a_static_member_that_waits_is_fenced_by_the_one_that_takes_its_place() -> None:
    shard = DrivenShard(initial_rebalance_delay_ms=3_000)
    first = shard.join(instance_id="one")
    second = shard.join(instance_id="one")
    assert shard.joined(first).error_code == ErrorCode.FENCED_INSTANCE_ID
    shard.pass_time(3_000)
    assert shard.joined(second).generation_id == 1


def test_the_protocol_that_most_like_best_among_those_that_all_know_is_chosen() -> None:
    shard = DrivenShard(initial_rebalance_delay_ms=1_000)
    tokens = [
        shard.new_member(protocols=names)[1] for names in (("a", "b", "c"), ("c", "b"), ("d", "b", "c"), ("b", "c"))
    ]
    shard.pass_time(5_000)
    assert {shard.joined(token).protocol_name for token in tokens} == {"b"}


def test_a_member_that_shares_no_protocol_is_refused() -> None:
    shard = DrivenShard()
    shard.stable_group()
    for request in (
        join_request(protocols=["other"]),
        join_request(protocol_type="connect"),
        join_request(protocols=[]),
    ):
        assert shard.told(request, 9).error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert shard.heartbeat(next(iter(shard.group().members))) is ErrorCode.NONE


def test_a_follower_that_joins_again_unchanged_is_told_what_it_knows() -> None:
    shard = DrivenShard()
    first, second = shard.stable_group(2)
    assert shard.joined(shard.join(second)).generation_id == 2
    assert shard.group().state_name == "Stable"
    token = shard.join(second, metadata=b"other")
    assert shard.heartbeat(first) is ErrorCode.REBALANCE_IN_PROGRESS
    shard.join(first)
    assert shard.joined(token).generation_id == 3


def test_a_leader_that_joins_again_assigns_anew() -> None:
    shard = DrivenShard()
    (leader,) = shard.stable_group()
    assert shard.joined(shard.join(leader)).generation_id == 2


def test_an_id_that_nobody_comes_back_with_is_forgotten_and_holds_up_a_rebalance_only_so_long() -> None:
    shard = DrivenShard()
    (leader,) = shard.stable_group(session_timeout_ms=60_000)
    shard.join()
    token = shard.join(leader, session_timeout_ms=60_000)
    assert token not in shard.answers
    shard.pass_time(SESSION_MS)
    assert shard.joined(token).generation_id == 2
    assert not shard.group().pending


def test_old_clients_join_without_coming_back() -> None:
    shard = DrivenShard()
    token = shard.join(version=3)
    shard.pass_time(0)
    assert shard.joined(token).generation_id == 1


def test_an_id_of_another_group_is_no_member() -> None:
    shard = DrivenShard()
    assert shard.joined(shard.join("c-1")).error_code == ErrorCode.UNKNOWN_MEMBER_ID
    shard.stable_group()
    assert shard.joined(shard.join("c-1")).error_code == ErrorCode.UNKNOWN_MEMBER_ID


def test_a_full_group_takes_no_more_members() -> None:
    shard = DrivenShard(group_max_size=2)
    shard.stable_group(2)
    assert shard.joined(shard.join()).error_code == ErrorCode.GROUP_MAX_SIZE_REACHED


def test_those_who_come_back_first_stay_in_a_group_that_has_become_too_large() -> None:
    shard = DrivenShard()
    members = shard.stable_group(3)
    smaller = DrivenShard(log=shard.log, group_max_size=2)
    tokens = [smaller.join(member_id) for member_id in members]
    assert smaller.joined(tokens[2]).error_code == ErrorCode.GROUP_MAX_SIZE_REACHED
    assert {smaller.joined(token).generation_id for token in tokens[:2]} == {4}


@pytest.mark.parametrize("session_timeout_ms", [5_999, 1_800_001])
def test_session_timeouts_have_bounds(session_timeout_ms: int) -> None:
    request = join_request(session_timeout_ms=session_timeout_ms)
    assert DrivenShard().told(request, 9).error_code == ErrorCode.INVALID_SESSION_TIMEOUT


def test_a_group_that_cannot_be_written_is_not_there() -> None:
    shard = DrivenShard()
    shard.failure = ErrorCode.NOT_COORDINATOR
    for version in (3, 9):
        assert shard.joined(shard.join(version=version)).error_code == ErrorCode.NOT_COORDINATOR
    assert len(shard.shard.state.groups) == 0
    shard.failure = None
    shard.pass_time(SESSION_MS)
    assert len(shard.shard.state.groups) == 0


def test_a_new_member_that_waits_too_long_is_let_go() -> None:
    shard = DrivenShard(new_member_join_timeout_ms=5_000)
    shard.stable_group(session_timeout_ms=60_000)
    _, token = shard.new_member()
    shard.pass_time(5_000)
    assert shard.joined(token).error_code == ErrorCode.UNKNOWN_MEMBER_ID
