"""Members of a classic group: assignments, heartbeats, leaving, and what the log keeps of them."""

from __future__ import annotations

from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.leave_group import MemberIdentity
from unit.coordinator.group.driven_shard import REBALANCE_MS, SESSION_MS, DrivenShard


def test_followers_wait_until_the_leader_has_handed_in_the_assignment() -> None:
    shard = DrivenShard(initial_rebalance_delay_ms=1_000)
    leader, _ = shard.new_member()
    follower, _ = shard.new_member()
    shard.pass_time(2_000)
    waiting = shard.sync(follower)
    assert waiting not in shard.answers
    token = shard.sync(leader, {leader: b"1", follower: b"2"})
    assert (shard.answers[token].assignment, shard.answers[waiting].assignment) == (b"1", b"2")
    assert shard.group().state_name == "Stable"
    assert {each.assignment for each in shard.reloaded().group().members.values()} == {b"1", b"2"}


def test_a_member_that_the_leader_forgot_gets_nothing() -> None:
    shard = DrivenShard()
    leader, _ = shard.new_member()
    shard.pass_time(0)
    assert shard.answers[shard.sync(leader, {"nobody": b"x"})].assignment == b""


def test_an_assignment_that_cannot_be_written_is_told_to_nobody() -> None:
    shard = DrivenShard(initial_rebalance_delay_ms=1_000)
    leader, _ = shard.new_member()
    follower, _ = shard.new_member()
    shard.pass_time(2_000)
    waiting = shard.sync(follower)
    shard.failure = ErrorCode.COORDINATOR_NOT_AVAILABLE
    token = shard.sync(leader, {leader: b"1", follower: b"2"})
    codes = {shard.answers[each].error_code for each in (waiting, token)}
    assert codes == {ErrorCode.COORDINATOR_NOT_AVAILABLE}
    assert shard.heartbeat(leader) is ErrorCode.REBALANCE_IN_PROGRESS
    shard.failure = None
    shard.join(follower)
    assert shard.joined(shard.join(leader)).generation_id == 2


def test_a_sync_that_waits_is_refused_when_the_group_rebalances() -> None:
    shard = DrivenShard(initial_rebalance_delay_ms=1_000)
    leader, _ = shard.new_member()
    follower, _ = shard.new_member()
    shard.pass_time(2_000)
    waiting = shard.sync(follower)
    shard.join(leader, metadata=b"changed")
    assert shard.answers[waiting].error_code == ErrorCode.REBALANCE_IN_PROGRESS
    assert shard.answers[shard.sync(follower)].error_code == ErrorCode.REBALANCE_IN_PROGRESS


def test_a_member_that_never_asks_for_its_assignment_is_dropped() -> None:
    shard = DrivenShard(initial_rebalance_delay_ms=1_000)
    leader, _ = shard.new_member(session_timeout_ms=600_000)
    silent, _ = shard.new_member(session_timeout_ms=600_000)
    shard.pass_time(2_000)
    shard.sync(leader, {leader: b"1", silent: b"2"})
    shard.pass_time(REBALANCE_MS)
    assert shard.heartbeat(leader) is ErrorCode.REBALANCE_IN_PROGRESS
    assert set(shard.group().members) == {leader}


def test_a_sync_names_the_generation_and_the_protocol_of_the_group() -> None:
    shard = DrivenShard()
    (member_id,) = shard.stable_group()
    codes = [
        shard.answers[shard.sync(member_id, **fields)].error_code
        for fields in (
            {"protocol_type": "consumer", "protocol_name": "range"},
            {"generation_id": 7},
            {"protocol_type": "consumer", "protocol_name": "other"},
            {"group_instance_id": "none"},
        )
    ]
    assert codes == [
        ErrorCode.NONE,
        ErrorCode.ILLEGAL_GENERATION,
        ErrorCode.INCONSISTENT_GROUP_PROTOCOL,
        ErrorCode.UNKNOWN_MEMBER_ID,
    ]


def test_a_silent_member_is_dropped_after_its_session_and_heartbeats_prevent_that() -> None:
    shard = DrivenShard()
    first, second = shard.stable_group(2)
    shard.pass_time(SESSION_MS - 1)
    assert shard.heartbeat(first) is ErrorCode.NONE
    shard.pass_time(1)
    assert shard.heartbeat(first) is ErrorCode.REBALANCE_IN_PROGRESS
    assert shard.heartbeat(second) is ErrorCode.UNKNOWN_MEMBER_ID
    assert shard.joined(shard.join(first)).generation_id == 3


def test_members_are_given_a_whole_session_by_a_coordinator_that_has_just_loaded() -> None:
    shard = DrivenShard()
    (member_id,) = shard.stable_group()
    loaded = shard.reloaded()
    loaded.pass_time(SESSION_MS - 1)
    assert loaded.heartbeat(member_id) is ErrorCode.NONE
    loaded.pass_time(SESSION_MS)
    assert loaded.group().state_name == "Empty"
    assert loaded.reloaded().group().state_name == "Empty"


def test_the_last_member_leaves_an_empty_group_behind() -> None:
    shard = DrivenShard()
    (member_id,) = shard.stable_group()
    assert shard.leave(MemberIdentity(member_id=member_id)) == [ErrorCode.NONE]
    assert (shard.group().state_name, shard.group().generation) == ("Empty", 2)
    loaded = shard.reloaded().group()
    assert (loaded.state_name, loaded.generation, loaded.protocol_type) == ("Empty", 2, "consumer")
    assert shard.heartbeat(member_id) is ErrorCode.UNKNOWN_MEMBER_ID
    assert not shard.has_timer("classic-session", "g", member_id)


def test_members_leave_by_id_and_by_instance_and_while_they_are_pending() -> None:
    shard = DrivenShard()
    token = shard.join(instance_id="one")
    shard.pass_time(0)
    static = shard.joined(token).member_id
    shard.sync(static, {}, group_instance_id="one")
    pending = shard.answers[shard.join()].member_id
    codes = shard.leave(
        MemberIdentity(member_id="", group_instance_id="none"),
        MemberIdentity(member_id="other", group_instance_id="one"),
        MemberIdentity(member_id="nobody"),
        MemberIdentity(member_id=pending),
        MemberIdentity(member_id="", group_instance_id="one"),
    )
    assert codes == [
        ErrorCode.UNKNOWN_MEMBER_ID,
        ErrorCode.FENCED_INSTANCE_ID,
        ErrorCode.UNKNOWN_MEMBER_ID,
        ErrorCode.NONE,
        ErrorCode.NONE,
    ]
    assert shard.group().state_name == "Empty"


def test_a_group_that_is_not_there_has_no_members_to_leave() -> None:
    shard = DrivenShard()
    assert shard.leave(MemberIdentity(member_id="m")) == [ErrorCode.UNKNOWN_MEMBER_ID]


def test_the_others_go_on_without_one_that_leaves_during_a_rebalance() -> None:
    shard = DrivenShard()
    first, second = shard.stable_group(2)
    token = shard.join(first)
    shard.leave(MemberIdentity(member_id=second))
    assert [member.member_id for member in shard.joined(token).members] == [first]
