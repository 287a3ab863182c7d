"""A scripted node that coordinates groups of consumers, of both protocols, in a topic `t` of three partitions."""

from __future__ import annotations

from barnabas.log.checkpoint import TopicPartition
from barnabas.protocol.codec import encode
from barnabas.protocol.embedded import consumer_protocol_assignment as embedded
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages import consumer_group_describe as newer
from barnabas.protocol.messages import describe_groups as classic
from barnabas.protocol.messages.delete_groups import DeletableGroupResult, DeleteGroupsRequest, DeleteGroupsResponse
from barnabas.protocol.messages.find_coordinator import Coordinator, FindCoordinatorRequest, FindCoordinatorResponse
from barnabas.protocol.messages.list_groups import ListedGroup, ListGroupsRequest, ListGroupsResponse
from barnabas.protocol.messages.list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from barnabas.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from barnabas.protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)
from barnabas.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopics,
)
from barnabas.protocol.uuid import Uuid
from unit.client.topic_node import Partition, Topic, TopicNode

LOG_START, LOG_END = 2, 10
LISTED = [
    ListedGroup(group_id="old", protocol_type="consumer", group_state="Stable", group_type="classic"),
    ListedGroup(group_id="idle", protocol_type="", group_state="Empty", group_type="classic"),
    ListedGroup(group_id="young", protocol_type="consumer", group_state="Stable", group_type="consumer"),
    ListedGroup(group_id="connectors", protocol_type="connect", group_state="Stable", group_type="classic"),
    ListedGroup(group_id="sharing", protocol_type="share", group_state="Stable", group_type="share"),
]


class GroupNode(TopicNode):
    """`old` is classic, `young` of the newer protocol, `idle` has no members; `committed` are the offsets of each."""

    def __init__(self) -> None:
        self.committed = {TopicPartition("t", 0): 4, TopicPartition("t", 2): 9}
        topics = {"t": Topic([Partition(), Partition(), Partition()])}
        super().__init__(
            topics,
            {
                FindCoordinatorRequest: self._find_coordinator,
                ListGroupsRequest: self._list,
                newer.ConsumerGroupDescribeRequest: _describe_newer,
                classic.DescribeGroupsRequest: _describe_classic,
                DeleteGroupsRequest: _delete,
                OffsetFetchRequest: self._fetch,
                OffsetCommitRequest: self._commit,
                OffsetDeleteRequest: _delete_offsets,
                ListOffsetsRequest: _list_offsets,
            },
        )

    def _find_coordinator(self, request: FindCoordinatorRequest) -> FindCoordinatorResponse:
        return FindCoordinatorResponse(
            coordinators=[
                Coordinator(
                    key=key, node_id=1, host=self.address.host, port=self.address.port, error_code=0, error_message=""
                )
                for key in request.coordinator_keys
            ]
        )

    def _list(self, request: ListGroupsRequest) -> ListGroupsResponse:
        types = {name.lower() for name in request.types_filter}
        groups = [
            group
            for group in LISTED
            if (not types or group.group_type in types)
            and (not request.states_filter or group.group_state in request.states_filter)
        ]
        return ListGroupsResponse(error_code=0, groups=groups)

    def _fetch(self, request: OffsetFetchRequest) -> OffsetFetchResponse:
        (group,) = request.groups
        partitions = [
            OffsetFetchResponsePartitions(
                partition_index=place.partition,
                committed_offset=offset,
                committed_leader_epoch=3,
                metadata="",
                error_code=0,
            )
            for place, offset in self.committed.items()
        ]
        topics = [OffsetFetchResponseTopics(name="t", partitions=partitions)]
        return OffsetFetchResponse(groups=[OffsetFetchResponseGroup(group_id=group.group_id, topics=topics)])

    def _commit(self, request: OffsetCommitRequest) -> OffsetCommitResponse:
        for topic in request.topics:
            for each in topic.partitions:
                self.committed[TopicPartition(topic.name, each.partition_index)] = each.committed_offset
        return OffsetCommitResponse(
            topics=[
                OffsetCommitResponseTopic(
                    name=topic.name,
                    partitions=[
                        OffsetCommitResponsePartition(partition_index=each.partition_index, error_code=0)
                        for each in topic.partitions
                    ],
                )
                for topic in request.topics
            ]
        )


def _describe_newer(request: newer.ConsumerGroupDescribeRequest) -> newer.ConsumerGroupDescribeResponse:
    return newer.ConsumerGroupDescribeResponse(
        throttle_time_ms=0, groups=[_described_newer(group_id) for group_id in request.group_ids]
    )


def _described_newer(group_id: str) -> newer.DescribedGroup:
    is_there = group_id == "young"

    def assigned(*partitions: int) -> newer.Assignment:
        topics = [newer.TopicPartitions(topic_id=Uuid(bytes(16)), topic_name="t", partitions=list(partitions))]
        return newer.Assignment(topic_partitions=topics if partitions else [])

    def member(name: str, member_type: int, *partitions: int) -> newer.Member:
        return newer.Member(
            member_id=f"{name}-id",
            member_epoch=6,
            client_id=name,
            client_host="/127.0.0.1",
            subscribed_topic_names=["t"],
            assignment=assigned(*partitions),
            target_assignment=assigned(0, *partitions),
            member_type=member_type,
        )

    return newer.DescribedGroup(
        error_code=ErrorCode.NONE if is_there else ErrorCode.GROUP_ID_NOT_FOUND,
        error_message=None if is_there else f"Group {group_id} not found.",
        group_id=group_id,
        group_state="Reconciling" if is_there else "",
        group_epoch=7,
        assignment_epoch=6,
        assignor_name="uniform",
        members=[member("first", 0, 1), member("second", 1, 2, 0)] if is_there else [],
    )


def _describe_classic(request: classic.DescribeGroupsRequest) -> classic.DescribeGroupsResponse:
    return classic.DescribeGroupsResponse(groups=[_described_classic(group_id) for group_id in request.groups])


def _described_classic(group_id: str) -> classic.DescribedGroup:
    listed = {group.group_id: group for group in LISTED}.get(group_id)
    assignment = embedded.ConsumerProtocolAssignment(
        assigned_partitions=[embedded.TopicPartition(topic="t", partitions=[1, 0])]
    )
    member = classic.DescribedGroupMember(
        member_id="old-id",
        group_instance_id="instance",
        client_id="old-client",
        client_host="/127.0.0.1",
        member_metadata=b"",
        member_assignment=b"\0\1" + bytes(encode(assignment, 1)),
    )
    return classic.DescribedGroup(
        error_code=ErrorCode.GROUP_ID_NOT_FOUND if listed is None else ErrorCode.NONE,
        error_message=None if listed is not None else "not here",
        group_id=group_id,
        group_state="" if listed is None else listed.group_state,
        protocol_type="" if listed is None else listed.protocol_type,
        protocol_data="range" if group_id == "old" else "",
        members=[member] if group_id == "old" else [],
    )


def _delete(request: DeleteGroupsRequest) -> DeleteGroupsResponse:
    codes = {"old": ErrorCode.NON_EMPTY_GROUP, "idle": ErrorCode.NONE}
    results = [
        DeletableGroupResult(group_id=group_id, error_code=codes.get(group_id, ErrorCode.GROUP_ID_NOT_FOUND))
        for group_id in request.groups_names
    ]
    return DeleteGroupsResponse(throttle_time_ms=0, results=results)


def _delete_offsets(request: OffsetDeleteRequest) -> OffsetDeleteResponse:
    """Partition 1 is subscribed to."""
    codes = {1: ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC}
    return OffsetDeleteResponse(
        error_code=ErrorCode.NONE if request.group_id == "idle" else ErrorCode.GROUP_ID_NOT_FOUND,
        throttle_time_ms=0,
        topics=[
            OffsetDeleteResponseTopic(
                name=topic.name,
                partitions=[
                    OffsetDeleteResponsePartition(
                        partition_index=each.partition_index, error_code=codes.get(each.partition_index, ErrorCode.NONE)
                    )
                    for each in topic.partitions
                ],
            )
            for topic in request.topics
        ],
    )


def _list_offsets(request: ListOffsetsRequest) -> ListOffsetsResponse:
    """Records have their offsets for timestamps."""

    def offset(timestamp: int) -> int:
        places = {-1: LOG_END, -2: LOG_START}
        return places.get(timestamp, timestamp if timestamp < LOG_END else -1)

    return ListOffsetsResponse(
        topics=[
            ListOffsetsTopicResponse(
                name=topic.name,
                partitions=[
                    ListOffsetsPartitionResponse(
                        partition_index=each.partition_index, error_code=0, offset=offset(each.timestamp)
                    )
                    for each in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )
