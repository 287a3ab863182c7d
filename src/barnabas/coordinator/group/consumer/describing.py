"""ConsumerGroupDescribe v0-v1: from 1 on it tells of each member whether it is a classic one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from barnabas.coordinator.decision import Decision
from barnabas.coordinator.events import RequestReceived
from barnabas.coordinator.group.assignors.spec import NOTHING
from barnabas.coordinator.group.consumer.group import ConsumerGroup, preferred_assignor
from barnabas.coordinator.group.consumer.members import ConsumerMember
from barnabas.coordinator.group.state import GroupState
from barnabas.metadata.image import MetadataImage
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.consumer_group_describe import (
    Assignment,
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    DescribedGroup,
    Member,
    TopicPartitions,
)
from barnabas.protocol.uuid import Uuid

CLASSIC_MEMBER: Final = 0
CONSUMER_MEMBER: Final = 1


def describe(state: GroupState, event: RequestReceived, decision: Decision) -> None:
    request: ConsumerGroupDescribeRequest = event.request
    groups = [_describe(state, group_id) for group_id in request.group_ids]
    decision.respond(event.token, ConsumerGroupDescribeResponse(throttle_time_ms=0, groups=groups))


def _describe(state: GroupState, group_id: str) -> DescribedGroup:
    group = state.groups.get(group_id)
    if not isinstance(group, ConsumerGroup):
        what = "not found" if group is None else "is not a consumer group"
        return undescribed(group_id, ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} {what}.")
    return DescribedGroup(
        error_code=ErrorCode.NONE,
        group_id=group_id,
        group_state=group.state_name,
        group_epoch=group.epoch,
        assignment_epoch=group.assignment_epoch,
        assignor_name=preferred_assignor(group.members, state.settings().consumer.assignors[0]),
        members=[_describe_member(group, member, state.image) for member in group.members.values()],
    )


def undescribed(group_id: str, code: ErrorCode, text: str | None = None) -> DescribedGroup:
    return DescribedGroup(
        error_code=code,
        error_message=text,
        group_id=group_id,
        group_state="",
        group_epoch=0,
        assignment_epoch=0,
        assignor_name="",
        members=[],
    )


def _describe_member(group: ConsumerGroup, member: ConsumerMember, image: MetadataImage) -> Member:
    # It answers for what it is giving up, too, until it has.
    owned = {topic_id: set(partitions) for topic_id, partitions in member.assigned.items()}
    for topic_id, partitions in member.pending_revocation.items():
        owned.setdefault(topic_id, set()).update(partitions)
    return Member(
        member_id=member.member_id,
        instance_id=member.instance_id,
        rack_id=member.rack_id,
        member_epoch=member.member_epoch,
        client_id=member.client_id,
        client_host=member.client_host,
        subscribed_topic_names=sorted(member.topic_names),
        subscribed_topic_regex=member.topic_pattern,
        assignment=_assignment(owned, image),
        target_assignment=_assignment(group.target.get(member.member_id, NOTHING), image),
        member_type=CLASSIC_MEMBER if member.is_classic else CONSUMER_MEMBER,
    )


def _assignment(partitions: Mapping[Uuid, Iterable[int]], image: MetadataImage) -> Assignment:
    topics = []
    for topic_id, numbers in partitions.items():
        topic = image.topics.by_id.get(topic_id)
        if topic is not None:
            topics.append(TopicPartitions(topic_id=topic_id, topic_name=topic.name, partitions=sorted(numbers)))
    return Assignment(topic_partitions=topics)
