"""Members that speak the classic protocol in a consumer group: JoinGroup, SyncGroup, Heartbeat, LeaveGroup.

The coordinator assigns for them, too. To such a member its epoch is a generation, it leads nobody, and each step of
its own towards its target is a rebalance: it is told to join again, gives up what it has to, and joins once more for
what it is to have.
"""

from __future__ import annotations

from dataclasses import replace

from barnabas.coordinator.decision import Decision
from barnabas.coordinator.errors import (
    GroupMaxSizeReached,
    IllegalGeneration,
    InconsistentGroupProtocol,
    UnknownMemberId,
)
from barnabas.coordinator.events import RequestReceived
from barnabas.coordinator.group.assignors.spec import Assignment
from barnabas.coordinator.group.classic.joining import (
    MEMBER_ID_REQUIRED_SINCE,
    check_session_timeout,
    rebalance_timeout_of,
)
from barnabas.coordinator.group.classic.joining import join as join_classic
from barnabas.coordinator.group.classic.rebalancing import refused_join, refused_sync
from barnabas.coordinator.group.consumer import timers
from barnabas.coordinator.group.consumer.assigning import Target, assign, settle
from barnabas.coordinator.group.consumer.embedded import (
    MalformedEmbeddedProtocol,
    by_topic_id,
    read_subscription,
    write_assignment,
)
from barnabas.coordinator.group.consumer.group import PROTOCOL_TYPE, ConsumerGroup
from barnabas.coordinator.group.consumer.heartbeating import replace_static
from barnabas.coordinator.group.consumer.leaving import remove_members
from barnabas.coordinator.group.consumer.members import ClassicTerms, ConsumerMember, MemberState
from barnabas.coordinator.group.consumer.migration import downgrade, may_downgrade
from barnabas.coordinator.group.consumer.subscribing import subscribe
from barnabas.coordinator.group.member_ids import random_id
from barnabas.coordinator.group.state import GroupState
from barnabas.protocol.embedded.consumer_protocol_subscription import ConsumerProtocolSubscription
from barnabas.protocol.errors import ApiError, ErrorCode
from barnabas.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from barnabas.protocol.messages.join_group import JoinGroupRequest, JoinGroupResponse
from barnabas.protocol.messages.leave_group import (
    LeaveGroupRequest,
    LeaveGroupResponse,
    MemberIdentity,
    MemberResponse,
)
from barnabas.protocol.messages.sync_group import SyncGroupRequest, SyncGroupResponse

# JoinGroup


def join(state: GroupState, event: RequestReceived, decision: Decision) -> None:
    request: JoinGroupRequest = event.request
    group = _group(state, request.group_id)
    if group.is_empty:
        _join_emptied(state, group, event, decision)
        return
    _check_joining(state, group, request)
    member_id = request.member_id or random_id(state.rng)
    is_static = request.group_instance_id is not None
    if not request.member_id and not is_static and event.context.version >= MEMBER_ID_REQUIRED_SINCE:
        decision.respond(event.token, refused_join(ErrorCode.MEMBER_ID_REQUIRED, member_id))
        return
    subscription = _subscription(request)
    replaced = group.static_member(request.group_instance_id)
    is_downgraded = replaced is not None and not replaced.is_classic and _may_downgrade(state, group, replaced)
    was = _find_member(group, request, member_id, decision)
    protocols = tuple((protocol.name, protocol.metadata) for protocol in request.protocols)
    rebalance_timeout_ms = rebalance_timeout_of(request, event)
    now = replace(
        was,
        instance_id=request.group_instance_id or was.instance_id,
        rack_id=subscription.rack_id or was.rack_id,
        rebalance_timeout_ms=rebalance_timeout_ms,
        topic_names=frozenset(subscription.topics),
        topic_pattern="",
        client_id=event.context.client_id,
        client_host=event.context.client_host,
        classic=ClassicTerms(request.session_timeout_ms, protocols),
    )
    subscribed = subscribe(state, group, was, now, event.context, decision)
    if is_downgraded:
        # Where the assignment is not up to date the classic group rebalances anyway.
        target = Target(group.assignment_epoch, group.target_of(now))
        is_stale = group.assignment_epoch < subscribed.epoch
    else:
        target = assign(state, group, subscribed.epoch, now, decision)
        is_stale = False
    if not is_stale:
        reported = by_topic_id(subscription.owned_partitions, state.image)
        has_changed = subscribed.has_changed
        now = settle(state, group, now, target, reported, decision, has_subscription_changed=has_changed)
    group.awaited.discard(now.member_id)
    decision.cancel_timer(timers.of_member(timers.JOIN, group.group_id, now.member_id))
    if is_downgraded:
        downgrade(state, group, (), decision, joining=now, is_rebalanced=is_stale)
    else:
        _restart_session(group, now, decision)
        decision.set_timer(timers.of_member(timers.SYNC, group.group_id, now.member_id), rebalance_timeout_ms)
    decision.respond(event.token, _joined(now))


def _check_joining(state: GroupState, group: ConsumerGroup, request: JoinGroupRequest) -> None:
    settings = state.settings()
    check_session_timeout(settings, request)
    if not settings.consumer.may_upgrade and not settings.consumer.may_downgrade:
        raise InconsistentGroupProtocol("Classic members cannot join a consumer group while migration is disabled.")
    if request.member_id not in group.members and len(group.members) >= settings.consumer.max_size:
        raise GroupMaxSizeReached
    if not group.supports(request.protocol_type, (protocol.name for protocol in request.protocols)):
        raise InconsistentGroupProtocol


def _subscription(request: JoinGroupRequest) -> ConsumerProtocolSubscription:
    try:
        return read_subscription(request.protocols[0].metadata)
    except MalformedEmbeddedProtocol as error:
        raise InconsistentGroupProtocol(str(error)) from None


def _may_downgrade(state: GroupState, group: ConsumerGroup, replaced: ConsumerMember) -> bool:
    return may_downgrade(state, group, (replaced.member_id,), arriving=1)


def _find_member(group: ConsumerGroup, request: JoinGroupRequest, member_id: str, decision: Decision) -> ConsumerMember:
    if request.group_instance_id is None:
        return group.members.get(member_id) or ConsumerMember(member_id=member_id)
    if request.member_id:
        return group.find_static(member_id, request.group_instance_id)
    replaced = group.static_member(request.group_instance_id)
    if replaced is None:
        return ConsumerMember(member_id=member_id)
    return replace_static(group, replaced, member_id, decision)


def _joined(member: ConsumerMember) -> JoinGroupResponse:
    assert member.classic is not None, "it has just told its protocols"
    return JoinGroupResponse(
        error_code=ErrorCode.NONE,
        generation_id=member.member_epoch,
        protocol_type=PROTOCOL_TYPE,
        protocol_name=member.classic.protocols[0][0],
        leader="",
        member_id=member.member_id,
        members=[],
    )


def _join_emptied(state: GroupState, group: ConsumerGroup, event: RequestReceived, decision: Decision) -> None:
    """Let a group without members become a classic one: nobody in it would mind."""
    group.write_tombstones(decision)
    state.groups.remove(group.group_id)
    joined = Decision(decision.now_ms)
    try:
        join_classic(state, event, joined)
    except ApiError:
        state.groups.put(group)
        raise
    decision.records += joined.records
    decision.responses += joined.responses
    decision.timers += joined.timers


# SyncGroup and Heartbeat


def sync(state: GroupState, event: RequestReceived, decision: Decision) -> None:
    request: SyncGroupRequest = event.request
    group = _group(state, request.group_id)
    member, terms = _check_generation(group, request)
    protocol, metadata = terms.protocols[0]
    if request.protocol_type not in (None, PROTOCOL_TYPE) or request.protocol_name not in (None, protocol):
        raise InconsistentGroupProtocol
    if group.assignment_epoch > member.member_epoch and member.state is not MemberState.UNREVOKED_PARTITIONS:
        _await_join(group, member, decision)
        decision.respond(event.token, refused_sync(ErrorCode.REBALANCE_IN_PROGRESS))
        return
    decision.cancel_timer(timers.of_member(timers.SYNC, group.group_id, member.member_id))
    _restart_session(group, member, decision)
    assigned: Assignment = {topic_id: frozenset(partitions) for topic_id, partitions in member.assigned.items()}
    decision.respond(
        event.token,
        SyncGroupResponse(
            error_code=ErrorCode.NONE,
            protocol_type=request.protocol_type,
            protocol_name=request.protocol_name,
            assignment=write_assignment(assigned, metadata, state.image),
        ),
    )


def heartbeat(state: GroupState, event: RequestReceived, decision: Decision) -> None:
    request: HeartbeatRequest = event.request
    group = _group(state, request.group_id)
    member, _ = _check_generation(group, request)
    _restart_session(group, member, decision)
    code = ErrorCode.NONE
    if _has_to_join(group, member):
        _await_join(group, member, decision)
        code = ErrorCode.REBALANCE_IN_PROGRESS
    decision.respond(event.token, HeartbeatResponse(error_code=code))


def _has_to_join(group: ConsumerGroup, member: ConsumerMember) -> bool:
    """Whether there is another target, something to give up, or what it was waiting for is free."""
    if member.member_epoch < group.assignment_epoch or member.state is MemberState.UNREVOKED_PARTITIONS:
        return True
    return member.state is MemberState.UNRELEASED_PARTITIONS and not group.is_waiting_for_others(member)


def _check_generation(
    group: ConsumerGroup, request: SyncGroupRequest | HeartbeatRequest
) -> tuple[ConsumerMember, ClassicTerms]:
    member = group.find_either(request.member_id, request.group_instance_id)
    if member.classic is None:
        raise UnknownMemberId(f"Member {member.member_id} does not use the classic protocol.")
    if member.member_epoch != request.generation_id:
        raise IllegalGeneration
    return member, member.classic


def _await_join(group: ConsumerGroup, member: ConsumerMember, decision: Decision) -> None:
    """Give a member its rebalance time-out to join again, counted from the first time that it is told to."""
    if member.member_id not in group.awaited:
        group.awaited.add(member.member_id)
        timer = timers.of_member(timers.JOIN, group.group_id, member.member_id)
        decision.set_timer(timer, member.rebalance_timeout_ms)


def _restart_session(group: ConsumerGroup, member: ConsumerMember, decision: Decision) -> None:
    assert member.classic is not None, "others have the group's session time-out"
    timer = timers.of_member(timers.SESSION, group.group_id, member.member_id)
    decision.set_timer(timer, member.classic.session_timeout_ms)


# LeaveGroup


def leave(state: GroupState, event: RequestReceived, decision: Decision) -> None:
    request: LeaveGroupRequest = event.request
    group = _group(state, request.group_id)
    leaving: dict[str, ConsumerMember] = {}
    answers = []
    for identity in request.members:
        code = ErrorCode.NONE
        try:
            member = _leaving(group, identity)
            leaving[member.member_id] = member
        except ApiError as error:
            code = error.code
        answers.append(
            MemberResponse(member_id=identity.member_id, group_instance_id=identity.group_instance_id, error_code=code)
        )
    remove_members(state, group, list(leaving.values()), decision)
    decision.respond(event.token, LeaveGroupResponse(error_code=ErrorCode.NONE, members=answers))


def _leaving(group: ConsumerGroup, identity: MemberIdentity) -> ConsumerMember:
    known = group.static_member(identity.group_instance_id)
    if known is not None and not identity.member_id:
        # An administrator removes a static member by its instance.
        return known
    return group.find_either(identity.member_id, identity.group_instance_id)


def _group(state: GroupState, group_id: str) -> ConsumerGroup:
    group = state.groups.get(group_id)
    assert isinstance(group, ConsumerGroup), "other kinds of groups have tables of their own"
    return group
