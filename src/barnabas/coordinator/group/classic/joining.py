"""JoinGroup to a classic group.

v0-v9: from 1 on the rebalance has a time-out of its own, from 4 on a member without an id is given one and told to
come back with it (KIP-394), from 5 on it may be a static one (KIP-345), from 9 on a static leader that comes back is
told to leave the assignment as it is (KIP-814).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from barnabas.coordinator.decision import Decision
from barnabas.coordinator.errors import InconsistentGroupProtocol, InvalidSessionTimeout, UnknownMemberId
from barnabas.coordinator.events import RequestReceived
from barnabas.coordinator.group.classic import rebalancing
from barnabas.coordinator.group.classic.group import ClassicGroup, ClassicState, Member
from barnabas.coordinator.group.member_ids import new_member_id
from barnabas.coordinator.group.settings import GroupSettings
from barnabas.coordinator.group.state import GroupState
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.join_group import JoinGroupRequest

REBALANCE_TIMEOUT_SINCE: Final = 1
MEMBER_ID_REQUIRED_SINCE: Final = 4
SKIP_ASSIGNMENT_SINCE: Final = 9


def join(state: GroupState, event: RequestReceived, decision: Decision) -> None:
    request: JoinGroupRequest = event.request
    check_session_timeout(state.settings(), request)
    known = state.groups.get(request.group_id)
    if known is None and request.member_id:
        raise UnknownMemberId
    group = ClassicGroup(request.group_id) if known is None else known
    assert isinstance(group, ClassicGroup), "other kinds of groups have tables of their own"
    if not _has_room(state, group, request.member_id):
        group.remove(request.member_id)
        if group.state is ClassicState.PREPARING_REBALANCE:
            rebalancing.rebalance(state, group, decision)
        decision.respond(event.token, rebalancing.refused_join(ErrorCode.GROUP_MAX_SIZE_REACHED))
        return
    if not group.supports(request.protocol_type, _protocols(request)):
        raise InconsistentGroupProtocol
    if known is None:
        group.state_timestamp_ms = decision.now_ms
        state.groups.put(group)
    if request.member_id:
        _join_known(state, group, event, decision)
    else:
        _join_unknown(state, group, event, decision)
    if not group.is_written and not decision.records:
        group.write_new(decision)


def check_session_timeout(settings: GroupSettings, request: JoinGroupRequest) -> None:
    if not settings.min_session_timeout_ms <= request.session_timeout_ms <= settings.max_session_timeout_ms:
        raise InvalidSessionTimeout


def _has_room(state: GroupState, group: ClassicGroup, member_id: str) -> bool:
    if group.is_empty:
        return True
    group_max_size = state.settings().group_max_size
    if group.state is ClassicState.PREPARING_REBALANCE:
        # Those who came back first stay, where the limit was lowered below what the group had.
        return member_id in group.joining or len(group.joining) < group_max_size
    return member_id in group.members or len(group.members) < group_max_size


def _join_unknown(state: GroupState, group: ClassicGroup, event: RequestReceived, decision: Decision) -> None:
    request: JoinGroupRequest = event.request
    member_id = new_member_id(event.context.client_id, request.group_instance_id, state.rng)
    if request.group_instance_id is None:
        if event.context.version >= MEMBER_ID_REQUIRED_SINCE:
            group.pending.add(member_id)
            decision.set_timer(rebalancing.session_timer(group, member_id), request.session_timeout_ms)
            decision.respond(event.token, rebalancing.refused_join(ErrorCode.MEMBER_ID_REQUIRED, member_id))
            return
    elif request.group_instance_id in group.static_ids:
        _rejoin_static(state, group, member_id, event, decision)
        return
    _add(state, group, member_id, event, decision)


def _join_known(state: GroupState, group: ClassicGroup, event: RequestReceived, decision: Decision) -> None:
    request: JoinGroupRequest = event.request
    member_id = request.member_id
    if member_id in group.pending:
        if request.group_instance_id is not None:
            raise UnknownMemberId("an id that was handed out to a dynamic member")
        _add(state, group, member_id, event, decision)
        return
    member = group.check_member(member_id, request.group_instance_id)
    has_changed = list(member.protocols.items()) != list(_protocols(request).items())
    is_leader = group.leader_id == member_id
    if group.is_empty:
        raise UnknownMemberId
    if group.state is ClassicState.COMPLETING_REBALANCE and not has_changed:
        # It may have missed the answer.
        decision.respond(event.token, rebalancing.joined(group, member_id))
    elif group.state is ClassicState.STABLE and not is_leader and not has_changed:
        decision.respond(event.token, rebalancing.joined(group, member_id))
    else:
        # A leader that joins again while the group is stable wants to assign anew.
        _take_terms(group, member, request, event)
        _wait(group, member_id, event, decision)
        rebalancing.rebalance(state, group, decision)


def _add(state: GroupState, group: ClassicGroup, member_id: str, event: RequestReceived, decision: Decision) -> None:
    request: JoinGroupRequest = event.request
    if not group.members:
        group.protocol_type = request.protocol_type
    if group.initial_remaining_ms is not None:
        group.has_new_member = True
    group.add(
        Member(
            member_id=member_id,
            instance_id=request.group_instance_id,
            client_id=event.context.client_id,
            client_host=event.context.client_host,
            rebalance_timeout_ms=rebalance_timeout_of(request, event),
            session_timeout_ms=request.session_timeout_ms,
            protocols=_protocols(request),
            is_new=True,
        )
    )
    group.joining[member_id] = event.token
    # A client that goes away while its request waits is not noticed, and it does not know its id to ask again with.
    decision.set_timer(rebalancing.session_timer(group, member_id), state.settings().new_member_join_timeout_ms)
    rebalancing.rebalance(state, group, decision)


def _rejoin_static(
    state: GroupState, group: ClassicGroup, member_id: str, event: RequestReceived, decision: Decision
) -> None:
    """A static member was restarted. Unless the group would choose another protocol for it, nobody else notices."""
    request: JoinGroupRequest = event.request
    instance_id = request.group_instance_id
    assert instance_id is not None, "a static member has an instance id"
    old = group.members[group.static_ids[instance_id]]
    if group.state is ClassicState.STABLE and _keeps_protocol(group, old, _protocols(request)):
        _swap_quietly(group, old, member_id, event, decision)
        return
    rebalancing.refuse_waiting(group, old.member_id, ErrorCode.FENCED_INSTANCE_ID, decision)
    decision.cancel_timer(rebalancing.session_timer(group, old.member_id))
    member = group.replace_static(old, member_id)
    _take_terms(group, member, request, event)
    group.joining[member_id] = event.token
    rebalancing.restart_session(group, member, decision)
    rebalancing.rebalance(state, group, decision)


def _keeps_protocol(group: ClassicGroup, old: Member, protocols: Mapping[str, bytes]) -> bool:
    before = old.protocols
    group.update(old, protocols)
    try:
        return group.select_protocol() == group.protocol_name
    finally:
        group.update(old, before)


def _swap_quietly(group: ClassicGroup, old: Member, member_id: str, event: RequestReceived, decision: Decision) -> None:
    """Write the generation as it is with the member's new id; it takes the old one's place when that is replayed."""
    request: JoinGroupRequest = event.request
    arriving = Member(
        member_id=member_id,
        instance_id=old.instance_id,
        client_id=old.client_id,
        client_host=old.client_host,
        rebalance_timeout_ms=rebalance_timeout_of(request, event),
        session_timeout_ms=request.session_timeout_ms,
        protocols=_protocols(request),
        assignment=old.assignment,
    )
    group.arriving = {member_id: arriving}
    members = [arriving if member is old else member for member in group.members.values()]
    was_leader = group.leader_id == old.member_id
    leader_id = member_id if was_leader else group.leader_id
    group.write(decision, members, {member.member_id: member.assignment for member in members}, leader_id)
    response = rebalancing.joined(group, old.member_id)
    response.member_id = member_id
    if event.context.version < SKIP_ASSIGNMENT_SINCE:
        # Such a leader would assign anew, against a generation that goes on: it is told that the old one leads.
        response.members = []
    elif was_leader:
        response.leader = member_id
        response.skip_assignment = True
        for told in response.members:
            if told.member_id == old.member_id:
                told.member_id = member_id
                told.metadata = arriving.protocols[group.protocol_name or ""]
    decision.respond(event.token, response)
    decision.cancel_timer(rebalancing.session_timer(group, old.member_id))
    rebalancing.restart_session(group, arriving, decision)


def _take_terms(group: ClassicGroup, member: Member, request: JoinGroupRequest, event: RequestReceived) -> None:
    member.rebalance_timeout_ms = rebalance_timeout_of(request, event)
    member.session_timeout_ms = request.session_timeout_ms
    group.update(member, _protocols(request))


def _wait(group: ClassicGroup, member_id: str, event: RequestReceived, decision: Decision) -> None:
    """Let a member wait; a request of its own that waits already, on a connection it has left, is answered."""
    earlier = group.joining.pop(member_id, None)
    if earlier is not None:
        decision.respond(earlier, rebalancing.refused_join(ErrorCode.UNKNOWN_MEMBER_ID, member_id))
    group.joining[member_id] = event.token


def rebalance_timeout_of(request: JoinGroupRequest, event: RequestReceived) -> int:
    """In milliseconds."""
    has_own = event.context.version >= REBALANCE_TIMEOUT_SINCE
    return request.rebalance_timeout_ms if has_own else request.session_timeout_ms


def _protocols(request: JoinGroupRequest) -> dict[str, bytes]:
    return {protocol.name: protocol.metadata for protocol in request.protocols}
