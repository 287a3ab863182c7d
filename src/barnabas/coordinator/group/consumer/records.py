"""The records of consumer groups, as decisions write them.

A member goes in three steps: what it owns, what it was to own, and itself. A group goes last of all.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from barnabas.coordinator.decision import Decision
from barnabas.coordinator.group.assignors.spec import Assignment
from barnabas.coordinator.group.consumer.members import ConsumerMember
from barnabas.coordinator.group.consumer.patterns import ResolvedPattern
from barnabas.protocol.group_records.consumer_group_current_member_assignment import (
    ConsumerGroupCurrentMemberAssignmentKey,
)
from barnabas.protocol.group_records.consumer_group_member_metadata import ConsumerGroupMemberMetadataKey
from barnabas.protocol.group_records.consumer_group_metadata import (
    ConsumerGroupMetadataKey,
    ConsumerGroupMetadataValue,
)
from barnabas.protocol.group_records.consumer_group_partition_metadata import ConsumerGroupPartitionMetadataKey
from barnabas.protocol.group_records.consumer_group_regular_expression import (
    ConsumerGroupRegularExpressionKey,
    ConsumerGroupRegularExpressionValue,
)
from barnabas.protocol.group_records.consumer_group_target_assignment_member import (
    ConsumerGroupTargetAssignmentMemberKey,
    ConsumerGroupTargetAssignmentMemberValue,
    TopicPartition,
)
from barnabas.protocol.group_records.consumer_group_target_assignment_metadata import (
    ConsumerGroupTargetAssignmentMetadataKey,
    ConsumerGroupTargetAssignmentMetadataValue,
)

# All of them have one version so far.
VERSION: Final = 0


def write_epoch(group_id: str, epoch: int, metadata_hash: int, decision: Decision) -> None:
    value = ConsumerGroupMetadataValue(epoch=epoch, metadata_hash=metadata_hash)
    decision.write(ConsumerGroupMetadataKey(group_id=group_id), value, VERSION)


def write_member(group_id: str, member: ConsumerMember, decision: Decision) -> None:
    """What a member wants."""
    key = ConsumerGroupMemberMetadataKey(group_id=group_id, member_id=member.member_id)
    decision.write(key, member.metadata_value(), VERSION)


def write_owned(group_id: str, member: ConsumerMember, decision: Decision) -> None:
    """What a member owns and is giving up."""
    key = ConsumerGroupCurrentMemberAssignmentKey(group_id=group_id, member_id=member.member_id)
    decision.write(key, member.assignment_value(), VERSION)


def write_target(group_id: str, member_id: str, assignment: Assignment, decision: Decision) -> None:
    """What a member is to own."""
    topics = [
        TopicPartition(topic_id=topic_id, partitions=sorted(partitions)) for topic_id, partitions in assignment.items()
    ]
    key = ConsumerGroupTargetAssignmentMemberKey(group_id=group_id, member_id=member_id)
    decision.write(key, ConsumerGroupTargetAssignmentMemberValue(topic_partitions=topics), VERSION)


def write_target_epoch(group_id: str, epoch: int, timestamp_ms: int, decision: Decision) -> None:
    value = ConsumerGroupTargetAssignmentMetadataValue(assignment_epoch=epoch, assignment_timestamp=timestamp_ms)
    decision.write(ConsumerGroupTargetAssignmentMetadataKey(group_id=group_id), value, VERSION)


def write_pattern(group_id: str, pattern: str, resolved: ResolvedPattern, decision: Decision) -> None:
    value = ConsumerGroupRegularExpressionValue(
        topics=sorted(resolved.topics), version=resolved.metadata_offset, timestamp=resolved.timestamp_ms
    )
    key = ConsumerGroupRegularExpressionKey(group_id=group_id, regular_expression=pattern)
    decision.write(key, value, VERSION)


def delete_pattern(group_id: str, pattern: str, decision: Decision) -> None:
    decision.delete(ConsumerGroupRegularExpressionKey(group_id=group_id, regular_expression=pattern))


def delete_partition_metadata(group_id: str, decision: Decision) -> None:
    """Delete the record that hashes took the place of."""
    decision.delete(ConsumerGroupPartitionMetadataKey(group_id=group_id))


def delete_member(group_id: str, member_id: str, decision: Decision) -> None:
    decision.delete(ConsumerGroupCurrentMemberAssignmentKey(group_id=group_id, member_id=member_id))
    decision.delete(ConsumerGroupTargetAssignmentMemberKey(group_id=group_id, member_id=member_id))
    decision.delete(ConsumerGroupMemberMetadataKey(group_id=group_id, member_id=member_id))


def write_tombstones(group_id: str, member_ids: Collection[str], patterns: Collection[str], decision: Decision) -> None:
    """Delete everything of a group but its offsets."""
    for member_id in member_ids:
        decision.delete(ConsumerGroupCurrentMemberAssignmentKey(group_id=group_id, member_id=member_id))
    for member_id in member_ids:
        decision.delete(ConsumerGroupTargetAssignmentMemberKey(group_id=group_id, member_id=member_id))
    decision.delete(ConsumerGroupTargetAssignmentMetadataKey(group_id=group_id))
    for member_id in member_ids:
        decision.delete(ConsumerGroupMemberMetadataKey(group_id=group_id, member_id=member_id))
    for pattern in patterns:
        delete_pattern(group_id, pattern, decision)
    delete_partition_metadata(group_id, decision)
    decision.delete(ConsumerGroupMetadataKey(group_id=group_id))
