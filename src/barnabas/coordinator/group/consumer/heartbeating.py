"""ConsumerGroupHeartbeat v0-v1: join a group, stay in it, leave it.

From version 1 on members make their own ids and may subscribe by a pattern. A member says what has changed since its
last heartbeat, and is told what it may read when that has changed, or when it said everything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from barnabas.coordinator.decision import Decision
from barnabas.coordinator.errors import (
    FencedMemberEpoch,
    GroupIdNotFound,
    GroupMaxSizeReached,
    InvalidRequest,
    UnreleasedInstanceId,
    UnsupportedAssignor,
)
from barnabas.coordinator.events import RequestContext, RequestReceived
from barnabas.coordinator.group.classic.group import ClassicGroup
from barnabas.coordinator.group.consumer import records, timers
from barnabas.coordinator.group.consumer.assigning import assign, settle
from barnabas.coordinator.group.consumer.group import ConsumerGroup
from barnabas.coordinator.group.consumer.leaving import remove_members
from barnabas.coordinator.group.consumer.members import (
    JOINING_EPOCH,
    LEAVING_EPOCH,
    LEAVING_STATIC_EPOCH,
    ConsumerMember,
    Owned,
)
from barnabas.coordinator.group.consumer.migration import upgrade
from barnabas.coordinator.group.consumer.reconciliation import Reported
from barnabas.coordinator.group.consumer.subscribing import subscribe
from barnabas.coordinator.group.member_ids import random_id
from barnabas.coordinator.group.state import GroupState
from barnabas.protocol.messages.consumer_group_heartbeat import (
    Assignment,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    RequestTopicPartitions,
    ResponseTopicPartitions,
)

OWN_MEMBER_IDS_SINCE: Final = 1
NO_TIMEOUT: Final = -1


def heartbeat(state: GroupState, event: RequestReceived, decision: Decision) -> None:
    request: ConsumerGroupHeartbeatRequest = event.request
    _check(request, event.context.version, state.settings().consumer.assignors)
    if request.member_epoch in (LEAVING_EPOCH, LEAVING_STATIC_EPOCH):
        response = _leave(state, request, decision)
    else:
        response = _stay(state, request, event.context, decision)
    decision.respond(event.token, response)


# What a request has to be


def _check(request: ConsumerGroupHeartbeatRequest, version: int, assignors: Sequence[str]) -> None:
    needs_member_id = version >= OWN_MEMBER_IDS_SINCE or request.member_epoch > 0
    if (needs_member_id or request.member_epoch == LEAVING_EPOCH) and not request.member_id.strip():
        raise InvalidRequest("MemberId can't be empty.")
    for name, text in (
        ("GroupId", request.group_id),
        ("InstanceId", request.instance_id),
        ("RackId", request.rack_id),
    ):
        if text is not None and not text.strip():
            raise InvalidRequest(f"{name} can't be empty.")
    if request.member_epoch == JOINING_EPOCH:
        _check_joining(request)
    elif request.member_epoch == LEAVING_STATIC_EPOCH and request.instance_id is None:
        raise InvalidRequest("InstanceId can't be null.")
    elif request.member_epoch < LEAVING_STATIC_EPOCH:
        raise InvalidRequest("MemberEpoch is invalid.")
    if request.server_assignor is not None and request.server_assignor not in assignors:
        raise UnsupportedAssignor(
            f"ServerAssignor {request.server_assignor} is not supported. Supported assignors: {', '.join(assignors)}."
        )


def _check_joining(request: ConsumerGroupHeartbeatRequest) -> None:
    if request.rebalance_timeout_ms == NO_TIMEOUT:
        raise InvalidRequest("RebalanceTimeoutMs must be provided in first request.")
    if request.topic_partitions != []:
        raise InvalidRequest("TopicPartitions must be empty when (re-)joining.")
    if request.subscribed_topic_names is None and request.subscribed_topic_regex is None:
        raise InvalidRequest("SubscribedTopicNames or SubscribedTopicRegex must be given when (re-)joining.")


# Joining and staying


def _stay(
    state: GroupState, request: ConsumerGroupHeartbeatRequest, context: RequestContext, decision: Decision
) -> ConsumerGroupHeartbeatResponse:
    settings = state.settings().consumer
    group = _find_group(state, request, decision)
    if request.member_id not in group.members and len(group.members) >= settings.max_size:
        raise GroupMaxSizeReached(
            f"The consumer group has reached its maximum capacity of {settings.max_size} members."
        )
    reported = _reported(request.topic_partitions)
    was = _find_member(state, group, request, reported, decision)
    now = replace(was, client_id=context.client_id, client_host=context.client_host, classic=None, **_told(request))
    subscribed = subscribe(state, group, was, now, context, decision)
    target = assign(state, group, subscribed.epoch, now, decision)
    settled = settle(state, group, now, target, reported, decision, has_subscription_changed=subscribed.has_changed)
    terms = settings.terms(group.group_id, state.image)
    session = timers.of_member(timers.SESSION, group.group_id, settled.member_id)
    decision.set_timer(session, terms.session_timeout_ms)
    is_told = request.member_epoch == JOINING_EPOCH or _is_full(request) or settled.assigned != was.assigned
    return ConsumerGroupHeartbeatResponse(
        throttle_time_ms=0,
        error_code=0,
        member_id=settled.member_id,
        member_epoch=settled.member_epoch,
        heartbeat_interval_ms=terms.heartbeat_interval_ms,
        assignment=_assignment(settled.assigned) if is_told else None,
    )


def _find_group(state: GroupState, request: ConsumerGroupHeartbeatRequest, decision: Decision) -> ConsumerGroup:
    """The group, which one who joins may make, or make of a classic one."""
    group = state.groups.get(request.group_id)
    if isinstance(group, ConsumerGroup):
        return group
    if request.member_epoch != JOINING_EPOCH:
        raise GroupIdNotFound(f"Group {request.group_id} is not a consumer group.")
    if isinstance(group, ClassicGroup):
        if not group.is_empty:
            return upgrade(state, group, decision)
        group.write_tombstones(decision)
    return ConsumerGroup(request.group_id)


def _find_member(
    state: GroupState,
    group: ConsumerGroup,
    request: ConsumerGroupHeartbeatRequest,
    reported: Reported,
    decision: Decision,
) -> ConsumerMember:
    member_id = request.member_id or random_id(state.rng)
    if request.member_epoch != JOINING_EPOCH:
        member = group.find_either(member_id, request.instance_id)
        _check_epoch(member, request.member_epoch, reported)
        return member
    replaced = group.static_member(request.instance_id)
    if replaced is None:
        return group.members.get(member_id) or ConsumerMember(member_id=member_id)
    if not replaced.is_classic and replaced.member_epoch != LEAVING_STATIC_EPOCH:
        raise UnreleasedInstanceId(f"Instance id {request.instance_id} is owned by member {replaced.member_id}.")
    return replace_static(group, replaced, member_id, decision)


def replace_static(
    group: ConsumerGroup, replaced: ConsumerMember, member_id: str, decision: Decision
) -> ConsumerMember:
    """Give the place of a static member, and what it owns, to one that came back for its instance under another id."""
    member = replace(replaced, member_id=member_id, member_epoch=JOINING_EPOCH, previous_epoch=0)
    records.delete_member(group.group_id, replaced.member_id, decision)
    records.write_member(group.group_id, member, decision)
    records.write_target(group.group_id, member_id, group.target_of(replaced), decision)
    records.write_owned(group.group_id, member, decision)
    timers.cancel_all(group.group_id, replaced.member_id, decision)
    return member


def _check_epoch(member: ConsumerMember, epoch: int, reported: Reported) -> None:
    """Fence a member that has missed something, unless all it has missed is the answer to its last heartbeat."""
    if epoch == member.member_epoch:
        return
    if epoch == member.previous_epoch and reported is not None and _is_within(reported, member.assigned):
        return
    raise FencedMemberEpoch(
        f"The member's epoch is {member.member_epoch}, not {epoch}. It must abandon all its partitions and rejoin."
    )


def _is_within(reported: Reported, assigned: Owned) -> bool:
    return all(
        partition in assigned.get(topic_id, ())
        for topic_id, partitions in (reported or {}).items()
        for partition in partitions
    )


def _told(request: ConsumerGroupHeartbeatRequest) -> dict[str, Any]:
    """What a member says of itself; what it leaves out stays as it was."""
    told: dict[str, Any] = {
        "instance_id": request.instance_id,
        "rack_id": request.rack_id,
        "rebalance_timeout_ms": None if request.rebalance_timeout_ms == NO_TIMEOUT else request.rebalance_timeout_ms,
        "topic_names": None if request.subscribed_topic_names is None else frozenset(request.subscribed_topic_names),
        "topic_pattern": request.subscribed_topic_regex,
        "assignor_name": request.server_assignor,
    }
    return {name: value for name, value in told.items() if value is not None}


def _is_full(request: ConsumerGroupHeartbeatRequest) -> bool:
    """Whether a member said everything, as it does when it does not know whether it was heard."""
    has_subscription = request.subscribed_topic_names is not None or request.subscribed_topic_regex is not None
    return request.rebalance_timeout_ms != NO_TIMEOUT and has_subscription and request.topic_partitions is not None


def _reported(topics: list[RequestTopicPartitions] | None) -> Reported:
    return None if topics is None else {topic.topic_id: topic.partitions for topic in topics}


def _assignment(assigned: Owned) -> Assignment:
    return Assignment(
        topic_partitions=[
            ResponseTopicPartitions(topic_id=topic_id, partitions=sorted(partitions))
            for topic_id, partitions in assigned.items()
        ]
    )


# Leaving


def _leave(
    state: GroupState, request: ConsumerGroupHeartbeatRequest, decision: Decision
) -> ConsumerGroupHeartbeatResponse:
    group = state.groups.find(request.group_id)
    if not isinstance(group, ConsumerGroup):
        raise GroupIdNotFound(f"Group {request.group_id} is not a consumer group.")
    member = group.find_either(request.member_id, request.instance_id)
    if request.member_epoch == LEAVING_STATIC_EPOCH:
        # Its session goes on: by its end the instance has to be back.
        records.write_owned(group.group_id, member.gone_for_a_while(), decision)
    else:
        remove_members(state, group, [member], decision)
    return ConsumerGroupHeartbeatResponse(
        throttle_time_ms=0,
        error_code=0,
        member_id=request.member_id,
        member_epoch=request.member_epoch,
        heartbeat_interval_ms=0,
    )
