"""The answers that all of a request to the group coordinator failed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from barnabas.coordinator.group.administration import undescribed
from barnabas.coordinator.group.classic.rebalancing import refused_join, refused_sync
from barnabas.coordinator.group.consumer import describing
from barnabas.protocol.errors import ApiError, ErrorCode
from barnabas.protocol.messages.consumer_group_describe import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
)
from barnabas.protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)
from barnabas.protocol.messages.delete_groups import DeletableGroupResult, DeleteGroupsRequest, DeleteGroupsResponse
from barnabas.protocol.messages.describe_groups import DescribeGroupsRequest, DescribeGroupsResponse
from barnabas.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from barnabas.protocol.messages.join_group import JoinGroupRequest
from barnabas.protocol.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberResponse
from barnabas.protocol.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from barnabas.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from barnabas.protocol.messages.offset_delete import OffsetDeleteRequest, OffsetDeleteResponse
from barnabas.protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchResponse, OffsetFetchResponseGroup
from barnabas.protocol.messages.sync_group import SyncGroupRequest
from barnabas.protocol.schema import Message

# Takes the request and the code.
Refuse = Callable[[Any, ErrorCode], Message]


def _heartbeat(request: HeartbeatRequest, code: ErrorCode) -> HeartbeatResponse:  # noqa: ARG001 (a Refuse)
    # Nobody loses a session while the coordinator loads.
    is_loading = code is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    return HeartbeatResponse(error_code=ErrorCode.NONE if is_loading else code)


def _leave(request: LeaveGroupRequest, code: ErrorCode) -> LeaveGroupResponse:
    if code is not ErrorCode.UNKNOWN_MEMBER_ID:
        return LeaveGroupResponse(error_code=code)
    return LeaveGroupResponse(
        error_code=ErrorCode.NONE,
        members=[
            MemberResponse(member_id=member.member_id, group_instance_id=member.group_instance_id, error_code=code)
            for member in request.members
        ],
    )


def _commit(request: OffsetCommitRequest, code: ErrorCode) -> OffsetCommitResponse:
    return OffsetCommitResponse(
        topics=[
            OffsetCommitResponseTopic(
                name=topic.name,
                topic_id=topic.topic_id,
                partitions=[
                    OffsetCommitResponsePartition(partition_index=partition.partition_index, error_code=code)
                    for partition in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )


def _fetch(request: OffsetFetchRequest, code: ErrorCode) -> OffsetFetchResponse:
    # Old clients that ask for offsets look for another coordinator by this code only.
    code = ErrorCode.NOT_COORDINATOR if code is ErrorCode.COORDINATOR_NOT_AVAILABLE else code
    return OffsetFetchResponse(
        groups=[
            OffsetFetchResponseGroup(group_id=group.group_id, topics=[], error_code=code) for group in request.groups
        ]
    )


REFUSALS: Final[Mapping[type[Message], Refuse]] = {
    JoinGroupRequest: lambda request, code: refused_join(code, request.member_id),
    SyncGroupRequest: lambda _request, code: refused_sync(code),
    HeartbeatRequest: _heartbeat,
    LeaveGroupRequest: _leave,
    OffsetCommitRequest: _commit,
    OffsetFetchRequest: _fetch,
    OffsetDeleteRequest: lambda _request, code: OffsetDeleteResponse(error_code=code, throttle_time_ms=0, topics=[]),
    DescribeGroupsRequest: lambda request, code: DescribeGroupsResponse(
        groups=[undescribed(group_id, code) for group_id in request.groups]
    ),
    ConsumerGroupHeartbeatRequest: lambda _request, code: ConsumerGroupHeartbeatResponse(
        throttle_time_ms=0, error_code=code, member_epoch=0, heartbeat_interval_ms=0
    ),
    ConsumerGroupDescribeRequest: lambda request, code: ConsumerGroupDescribeResponse(
        throttle_time_ms=0, groups=[describing.undescribed(group_id, code) for group_id in request.group_ids]
    ),
    ListGroupsRequest: lambda _request, code: ListGroupsResponse(error_code=code, groups=[]),
    DeleteGroupsRequest: lambda request, code: DeleteGroupsResponse(
        throttle_time_ms=0,
        results=[DeletableGroupResult(group_id=group_id, error_code=code) for group_id in request.groups_names],
    ),
}


def refusal(request: Message, error: ApiError) -> Message:
    """The answer that all of a request was refused, with the reason where there is room for it."""
    response = REFUSALS[type(request)](request, error.code)
    if isinstance(response, ConsumerGroupHeartbeatResponse):
        response.error_message = str(error)
    return response
