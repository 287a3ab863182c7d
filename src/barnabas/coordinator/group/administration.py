"""DescribeGroups, ListGroups and DeleteGroups, as far as one shard can answer them.

DescribeGroups v0-v6 tells of classic groups; below 6 a group that is not there is a dead one. ListGroups v0-v5: from 4
on by states, from 5 on by types. DeleteGroups v0-v2.
"""

from __future__ import annotations

from typing import Final

from barnabas.coordinator.decision import Decision
from barnabas.coordinator.events import RequestReceived
from barnabas.coordinator.group.classic.group import ClassicGroup, ClassicState, Member
from barnabas.coordinator.group.offset_operations import delete_all
from barnabas.coordinator.group.state import GroupState, Operations
from barnabas.protocol.errors import ApiError, ErrorCode
from barnabas.protocol.messages.delete_groups import DeletableGroupResult, DeleteGroupsRequest, DeleteGroupsResponse
from barnabas.protocol.messages.describe_groups import (
    DescribedGroup,
    DescribedGroupMember,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)
from barnabas.protocol.messages.list_groups import ListedGroup, ListGroupsRequest, ListGroupsResponse

GROUP_ID_NOT_FOUND_SINCE: Final = 6
DEAD: Final = "Dead"


def describe(state: GroupState, event: RequestReceived, decision: Decision) -> None:
    request: DescribeGroupsRequest = event.request
    described = [_describe(state, group_id, event.context.version) for group_id in request.groups]
    decision.respond(event.token, DescribeGroupsResponse(groups=described))


def _describe(state: GroupState, group_id: str, version: int) -> DescribedGroup:
    group = state.groups.get(group_id)
    if not isinstance(group, ClassicGroup):
        what = f"Group {group_id} not found." if group is None else f"Group {group_id} is not a classic group."
        if version < GROUP_ID_NOT_FOUND_SINCE:
            return undescribed(group_id, ErrorCode.NONE, DEAD)
        return undescribed(group_id, ErrorCode.GROUP_ID_NOT_FOUND, DEAD, what)
    protocol = group.protocol_name if group.state is ClassicState.STABLE else None
    return DescribedGroup(
        error_code=ErrorCode.NONE,
        group_id=group_id,
        group_state=group.state_name,
        protocol_type=group.protocol_type_name,
        protocol_data=protocol or "",
        members=[_describe_member(member, protocol) for member in group.members.values()],
    )


def undescribed(group_id: str, code: ErrorCode, state_name: str = "", text: str | None = None) -> DescribedGroup:
    return DescribedGroup(
        error_code=code,
        error_message=text,
        group_id=group_id,
        group_state=state_name,
        protocol_type="",
        protocol_data="",
        members=[],
    )


def _describe_member(member: Member, protocol: str | None) -> DescribedGroupMember:
    return DescribedGroupMember(
        member_id=member.member_id,
        group_instance_id=member.instance_id,
        client_id=member.client_id,
        client_host=member.client_host,
        member_metadata=b"" if protocol is None else member.protocols[protocol],
        member_assignment=member.assignment,
    )


def list_groups(state: GroupState, event: RequestReceived, decision: Decision) -> None:
    request: ListGroupsRequest = event.request
    states = {name.strip().lower() for name in request.states_filter}
    types = {name.strip().lower() for name in request.types_filter}
    listed = [
        ListedGroup(
            group_id=group.group_id,
            protocol_type=group.protocol_type_name,
            group_state=group.state_name,
            group_type=group.type,
        )
        for group in state.groups
        if (not states or group.state_name.lower() in states) and (not types or group.type.lower() in types)
    ]
    decision.respond(event.token, ListGroupsResponse(error_code=ErrorCode.NONE, groups=listed))


def delete(state: GroupState, event: RequestReceived, decision: Decision) -> None:
    request: DeleteGroupsRequest = event.request
    results = []
    for group_id in request.groups_names:
        code = ErrorCode.NONE
        try:
            group = state.groups.find(group_id)
            group.check_delete()
            delete_all(state, group_id, decision)
            group.write_tombstones(decision)
        except ApiError as error:
            code = error.code
        results.append(DeletableGroupResult(group_id=group_id, error_code=code))
    decision.respond(event.token, DeleteGroupsResponse(throttle_time_ms=0, results=results))


OPERATIONS: Final[Operations] = {
    DescribeGroupsRequest: describe,
    ListGroupsRequest: list_groups,
    DeleteGroupsRequest: delete,
}
