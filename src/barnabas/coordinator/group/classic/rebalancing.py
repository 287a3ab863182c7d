"""How a classic group gets from one generation to the next, and the timers that keep it moving.

A rebalance is prepared until all members have joined again or its time is up; those who have not are dropped, unless
they are static. Then it is completed: the leader hands in the assignments, everybody fetches theirs. Each member has a
session timer. The first rebalance of a group waits a little for more members, again for each that comes.
"""

from __future__ import annotations

from typing import Final

from barnabas.coordinator.decision import Decision, TimerKey
from barnabas.coordinator.group.classic.group import ClassicGroup, ClassicState, Member
from barnabas.coordinator.group.state import GroupState, Timers
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.join_group import JoinGroupResponse, JoinGroupResponseMember
from barnabas.protocol.messages.sync_group import SyncGroupResponse

SESSION: Final = "classic-session"
JOIN: Final = "classic-join"
SYNC: Final = "classic-sync"


def session_timer(group: ClassicGroup, member_id: str) -> TimerKey:
    return (SESSION, group.group_id, member_id)


def restart_session(group: ClassicGroup, member: Member, decision: Decision) -> None:
    decision.set_timer(session_timer(group, member.member_id), member.session_timeout_ms)


# Answers


def joined(group: ClassicGroup, member_id: str, *, skip_assignment: bool = False) -> JoinGroupResponse:
    """What a member of the present generation is told; the leader is told of all members."""
    members = []
    if group.leader_id == member_id:
        assert group.protocol_name is not None, "a generation with members has a protocol"
        members = [
            JoinGroupResponseMember(
                member_id=member.member_id,
                group_instance_id=member.instance_id,
                metadata=member.protocols[group.protocol_name],
            )
            for member in group.members.values()
        ]
    return JoinGroupResponse(
        error_code=ErrorCode.NONE,
        generation_id=group.generation,
        protocol_type=group.protocol_type,
        protocol_name=group.protocol_name,
        leader=group.leader_id or "",
        skip_assignment=skip_assignment,
        member_id=member_id,
        members=members,
    )


def refused_join(code: ErrorCode, member_id: str = "") -> JoinGroupResponse:
    return JoinGroupResponse(error_code=code, protocol_name=None, leader="", member_id=member_id, members=[])


def refused_sync(code: ErrorCode) -> SyncGroupResponse:
    return SyncGroupResponse(error_code=code, assignment=b"")


def refuse_waiting(group: ClassicGroup, member_id: str, code: ErrorCode, decision: Decision) -> None:
    """Answer a member that loses its place; it learns no id that it could come back with."""
    if member_id in group.joining:
        decision.respond(group.joining.pop(member_id), refused_join(code))
    if member_id in group.syncing:
        decision.respond(group.syncing.pop(member_id), refused_sync(code))


def refuse_syncing(group: ClassicGroup, code: ErrorCode, decision: Decision) -> None:
    """Answer all who wait for an assignment that will not come."""
    for member_id in tuple(group.syncing):
        decision.respond(group.syncing.pop(member_id), refused_sync(code))
        restart_session(group, group.members[member_id], decision)


# Rebalances


def rebalance(state: GroupState, group: ClassicGroup, decision: Decision) -> None:
    """Begin a rebalance, or go on with the one that is under way."""
    if group.state is not ClassicState.PREPARING_REBALANCE:
        prepare(state, group, decision)
    elif group.initial_remaining_ms is None and group.have_all_joined:
        complete_join(group, decision)


def prepare(state: GroupState, group: ClassicGroup, decision: Decision) -> None:
    if group.state is ClassicState.COMPLETING_REBALANCE:
        for member in group.members.values():
            member.assignment = b""
        refuse_syncing(group, ErrorCode.REBALANCE_IN_PROGRESS, decision)
    stop_waiting_for_syncs(group, decision)
    is_initial = group.is_empty
    group.enter(ClassicState.PREPARING_REBALANCE, decision.now_ms)
    if is_initial:
        delay_ms = state.settings().initial_rebalance_delay_ms
        group.has_new_member = False
        group.initial_remaining_ms = max(group.rebalance_timeout_ms - delay_ms, 0)
        decision.set_timer((JOIN, group.group_id), delay_ms)
    elif group.have_all_joined:
        complete_join(group, decision)
    else:
        decision.set_timer((JOIN, group.group_id), group.rebalance_timeout_ms)


def complete_join(group: ClassicGroup, decision: Decision) -> None:
    """Form the next generation of those who have joined."""
    decision.cancel_timer((JOIN, group.group_id))
    group.initial_remaining_ms = None
    for member in tuple(group.members.values()):
        if member.member_id not in group.joining and member.instance_id is None:
            group.remove(member.member_id)
            decision.cancel_timer(session_timer(group, member.member_id))
    if group.members and not _has_joined_leader(group):
        # Static members only, of whom none has come back: their sessions decide what becomes of them.
        decision.set_timer((JOIN, group.group_id), group.rebalance_timeout_ms)
        return
    group.begin_generation(decision.now_ms)
    if group.is_empty:
        group.write(decision, (), {}, None)
        return
    for member_id, token in group.joining.items():
        decision.respond(token, joined(group, member_id))
    group.joining.clear()
    for member in group.members.values():
        restart_session(group, member, decision)
        member.is_new = False
    group.pending_sync.update(group.members)
    decision.set_timer((SYNC, group.group_id), group.rebalance_timeout_ms)


def _has_joined_leader(group: ClassicGroup) -> bool:
    """Whether the leader has joined; where it has not, another who has takes its place."""
    if group.leader_id not in group.joining:
        successor = next((member_id for member_id in group.members if member_id in group.joining), None)
        if successor is None:
            return False
        group.leader_id = successor
    return True


def stop_waiting_for_syncs(group: ClassicGroup, decision: Decision) -> None:
    group.pending_sync.clear()
    decision.cancel_timer((SYNC, group.group_id))


def drop_member(state: GroupState, group: ClassicGroup, member_id: str, decision: Decision) -> None:
    """Remove one that has failed and let the others go on."""
    refuse_waiting(group, member_id, ErrorCode.UNKNOWN_MEMBER_ID, decision)
    group.remove(member_id)
    if group.state is not ClassicState.PREPARING_REBALANCE:
        rebalance(state, group, decision)
    elif group.have_all_joined:
        complete_join(group, decision)


# Timers


def _session_expired(state: GroupState, key: TimerKey, decision: Decision) -> None:
    group = state.groups.get(key[1])
    if not isinstance(group, ClassicGroup):
        return
    member_id = key[2]
    if member_id in group.pending:
        group.remove(member_id)
        if group.state is ClassicState.PREPARING_REBALANCE and group.have_all_joined:
            complete_join(group, decision)
        return
    member = group.members.get(member_id)
    if member is None:
        return
    is_waiting = member_id in group.joining or member_id in group.syncing
    if member.is_new or not is_waiting:
        drop_member(state, group, member_id, decision)


def _join_expired(state: GroupState, key: TimerKey, decision: Decision) -> None:
    group = state.groups.get(key[1])
    if not isinstance(group, ClassicGroup) or group.state is not ClassicState.PREPARING_REBALANCE:
        return
    remaining_ms = group.initial_remaining_ms
    if group.has_new_member and remaining_ms:
        group.has_new_member = False
        delay_ms = min(state.settings().initial_rebalance_delay_ms, remaining_ms)
        group.initial_remaining_ms = remaining_ms - delay_ms
        decision.set_timer(key, delay_ms)
    else:
        complete_join(group, decision)


def _sync_expired(state: GroupState, key: TimerKey, decision: Decision) -> None:
    group = state.groups.get(key[1])
    is_due = isinstance(group, ClassicGroup) and group.state in (
        ClassicState.COMPLETING_REBALANCE,
        ClassicState.STABLE,
    )
    if not is_due or not isinstance(group, ClassicGroup) or not group.pending_sync:
        return
    for member_id in tuple(group.pending_sync):
        refuse_waiting(group, member_id, ErrorCode.UNKNOWN_MEMBER_ID, decision)
        group.remove(member_id)
        decision.cancel_timer(session_timer(group, member_id))
    prepare(state, group, decision)


TIMERS: Final[Timers] = {SESSION: _session_expired, JOIN: _join_expired, SYNC: _sync_expired}
