"""SyncGroup, Heartbeat and LeaveGroup to a classic group, and what becomes of groups that are loaded or not written.

SyncGroup v0-v5: from 5 on it says which protocol the member takes the group to use. Heartbeat v0-v4. LeaveGroup v0-v5:
from 3 on it names many members, by their ids or their instances (KIP-345).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from barnabas.coordinator.decision import CoordinatorRecord, Decision
from barnabas.coordinator.errors import (
    IllegalGeneration,
    InconsistentGroupProtocol,
    RebalanceInProgress,
    UnknownMemberId,
)
from barnabas.coordinator.events import RequestReceived
from barnabas.coordinator.group.classic import rebalancing
from barnabas.coordinator.group.classic.group import ClassicGroup, ClassicState, Member
from barnabas.coordinator.group.classic.joining import join
from barnabas.coordinator.group.state import GroupState, Operations, Replays
from barnabas.protocol.errors import ApiError, ErrorCode
from barnabas.protocol.group_records.group_metadata import GroupMetadataKey, GroupMetadataValue
from barnabas.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from barnabas.protocol.messages.join_group import JoinGroupRequest
from barnabas.protocol.messages.leave_group import (
    LeaveGroupRequest,
    LeaveGroupResponse,
    MemberIdentity,
    MemberResponse,
)
from barnabas.protocol.messages.sync_group import SyncGroupRequest, SyncGroupResponse


def _find(state: GroupState, group_id: str) -> ClassicGroup:
    group = state.groups.get(group_id)
    if group is None:
        raise UnknownMemberId(f"Group {group_id} not found.")
    assert isinstance(group, ClassicGroup), "other kinds of groups have tables of their own"
    return group


def _check_generation(group: ClassicGroup, member_id: str, instance_id: str | None, generation: int) -> Member:
    member = group.check_member(member_id, instance_id)
    if generation != group.generation:
        raise IllegalGeneration
    return member


# SyncGroup


def sync(state: GroupState, event: RequestReceived, decision: Decision) -> None:
    request: SyncGroupRequest = event.request
    group = _find(state, request.group_id)
    member = _check_generation(group, request.member_id, request.group_instance_id, request.generation_id)
    for told, own in ((request.protocol_type, group.protocol_type), (request.protocol_name, group.protocol_name)):
        if None not in (told, own) and told != own:
            raise InconsistentGroupProtocol
    if group.state is ClassicState.PREPARING_REBALANCE:
        raise RebalanceInProgress
    group.pending_sync.discard(member.member_id)
    if not group.pending_sync:
        decision.cancel_timer((rebalancing.SYNC, group.group_id))
    if group.state is ClassicState.STABLE:
        decision.respond(event.token, _synced(group, member.assignment))
        return
    earlier = group.syncing.pop(member.member_id, None)
    if earlier is not None:
        decision.respond(earlier, rebalancing.refused_sync(ErrorCode.REBALANCE_IN_PROGRESS))
    group.syncing[member.member_id] = event.token
    if group.leader_id == member.member_id:
        _assign(group, request, decision)


def _assign(group: ClassicGroup, request: SyncGroupRequest, decision: Decision) -> None:
    """Write the leader's assignment, and tell it to all who wait; it holds when the record is replayed."""
    handed_in = {assignment.member_id: assignment.assignment for assignment in request.assignments}
    assignments = {member_id: handed_in.get(member_id, b"") for member_id in group.members}
    group.write(decision, group.members.values(), assignments, group.leader_id)
    for member_id, token in group.syncing.items():
        decision.respond(token, _synced(group, assignments[member_id]))
        rebalancing.restart_session(group, group.members[member_id], decision)
    group.syncing.clear()


def _synced(group: ClassicGroup, assignment: bytes) -> SyncGroupResponse:
    return SyncGroupResponse(
        error_code=ErrorCode.NONE,
        protocol_type=group.protocol_type,
        protocol_name=group.protocol_name,
        assignment=assignment,
    )


# Heartbeat


def heartbeat(state: GroupState, event: RequestReceived, decision: Decision) -> None:
    request: HeartbeatRequest = event.request
    group = _find(state, request.group_id)
    member = _check_generation(group, request.member_id, request.group_instance_id, request.generation_id)
    rebalancing.restart_session(group, member, decision)
    is_rebalancing = group.state is ClassicState.PREPARING_REBALANCE
    code = ErrorCode.REBALANCE_IN_PROGRESS if is_rebalancing else ErrorCode.NONE
    decision.respond(event.token, HeartbeatResponse(error_code=code))


def keep_session(group: ClassicGroup, member_id: str, decision: Decision) -> None:
    """A commit shows as well that a member lives."""
    member = group.members.get(member_id)
    if member is not None and group.state in (ClassicState.STABLE, ClassicState.PREPARING_REBALANCE):
        rebalancing.restart_session(group, member, decision)


# LeaveGroup


def leave(state: GroupState, event: RequestReceived, decision: Decision) -> None:
    request: LeaveGroupRequest = event.request
    group = _find(state, request.group_id)
    answers = []
    for identity in request.members:
        try:
            _remove(group, identity, decision)
            code = ErrorCode.NONE
        except ApiError as error:
            code = error.code
        answers.append(
            MemberResponse(member_id=identity.member_id, group_instance_id=identity.group_instance_id, error_code=code)
        )
    if not group.is_empty and any(answer.error_code == ErrorCode.NONE for answer in answers):
        rebalancing.rebalance(state, group, decision)
    decision.respond(event.token, LeaveGroupResponse(error_code=ErrorCode.NONE, members=answers))


def _remove(group: ClassicGroup, identity: MemberIdentity, decision: Decision) -> None:
    member_id = identity.member_id
    if not member_id:
        # An administrator removes a static member by its instance.
        if identity.group_instance_id not in group.static_ids:
            raise UnknownMemberId
        member_id = group.static_ids[identity.group_instance_id]
    elif member_id not in group.pending:
        group.check_member(member_id, identity.group_instance_id)
    rebalancing.refuse_waiting(group, member_id, ErrorCode.UNKNOWN_MEMBER_ID, decision)
    decision.cancel_timer(rebalancing.session_timer(group, member_id))
    group.remove(member_id)


# Loading and writing


def replay(state: GroupState, key: GroupMetadataKey, value: GroupMetadataValue | None) -> None:
    group = state.groups.get(key.group)
    if value is None:
        if isinstance(group, ClassicGroup):
            state.groups.remove(key.group)
    elif state.is_active and isinstance(group, ClassicGroup):
        group.take(value)
    else:
        state.groups.put(ClassicGroup.of_record(key.group, value))


def on_loaded(state: GroupState, group: ClassicGroup, decision: Decision) -> None:
    for member in group.members.values():
        rebalancing.restart_session(group, member, decision)
    if len(group.members) > state.settings().group_max_size:
        rebalancing.prepare(state, group, decision)


def on_append_failed(
    state: GroupState, records: Sequence[CoordinatorRecord], code: ErrorCode, decision: Decision
) -> None:
    """Undo what groups have done in expectation of their record."""
    for record in records:
        if not isinstance(record.key, GroupMetadataKey):
            continue
        group = state.groups.get(record.key.group)
        if not isinstance(group, ClassicGroup):
            continue
        group.arriving.clear()
        if not group.is_written:
            _forget(state, group, code, decision)
        elif group.state is ClassicState.COMPLETING_REBALANCE:
            rebalancing.prepare(state, group, decision)


def _forget(state: GroupState, group: ClassicGroup, code: ErrorCode, decision: Decision) -> None:
    for member_id in (*group.members, *group.pending):
        decision.cancel_timer(rebalancing.session_timer(group, member_id))
        rebalancing.refuse_waiting(group, member_id, code, decision)
    decision.cancel_timer((rebalancing.JOIN, group.group_id))
    state.groups.remove(group.group_id)


OPERATIONS: Final[Operations] = {
    JoinGroupRequest: join,
    SyncGroupRequest: sync,
    HeartbeatRequest: heartbeat,
    LeaveGroupRequest: leave,
}
REPLAYS: Final[Replays] = {GroupMetadataKey: replay}
