"""What the records of consumer groups change when they are replayed.

A record makes the group that it is of, and takes the place of one that is there for its offsets only; a record that
deletes something of a group that is not there changes nothing, since compaction may have taken the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from barnabas.coordinator.decision import CoordinatorRecord
from barnabas.coordinator.group.classic.group import ClassicGroup
from barnabas.coordinator.group.consumer.group import NO_ASSIGNMENT_EPOCH, ConsumerGroup
from barnabas.coordinator.group.consumer.members import ConsumerMember
from barnabas.coordinator.group.consumer.patterns import ResolvedPattern
from barnabas.coordinator.group.state import GroupState, Replays
from barnabas.protocol.group_records.consumer_group_current_member_assignment import (
    ConsumerGroupCurrentMemberAssignmentKey,
    ConsumerGroupCurrentMemberAssignmentValue,
)
from barnabas.protocol.group_records.consumer_group_member_metadata import (
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupMemberMetadataValue,
)
from barnabas.protocol.group_records.consumer_group_metadata import (
    ConsumerGroupMetadataKey,
    ConsumerGroupMetadataValue,
)
from barnabas.protocol.group_records.consumer_group_partition_metadata import (
    ConsumerGroupPartitionMetadataKey,
    ConsumerGroupPartitionMetadataValue,
)
from barnabas.protocol.group_records.consumer_group_regular_expression import (
    ConsumerGroupRegularExpressionKey,
    ConsumerGroupRegularExpressionValue,
)
from barnabas.protocol.group_records.consumer_group_target_assignment_member import (
    ConsumerGroupTargetAssignmentMemberKey,
    ConsumerGroupTargetAssignmentMemberValue,
)
from barnabas.protocol.group_records.consumer_group_target_assignment_metadata import (
    ConsumerGroupTargetAssignmentMetadataKey,
    ConsumerGroupTargetAssignmentMetadataValue,
)
from barnabas.protocol.schema import Message


def _epoch(group: ConsumerGroup, _key: ConsumerGroupMetadataKey, value: ConsumerGroupMetadataValue | None) -> None:
    if value is not None:
        group.epoch = value.epoch
        group.metadata_hash = value.metadata_hash


def _partition_metadata(
    group: ConsumerGroup, _key: ConsumerGroupPartitionMetadataKey, value: ConsumerGroupPartitionMetadataValue | None
) -> None:
    group.has_partition_metadata = value is not None


def _member(
    group: ConsumerGroup, key: ConsumerGroupMemberMetadataKey, value: ConsumerGroupMemberMetadataValue | None
) -> None:
    if value is None:
        group.remove(key.member_id)
    else:
        group.put(_known(group, key.member_id).with_metadata(value))


def _owned(
    group: ConsumerGroup,
    key: ConsumerGroupCurrentMemberAssignmentKey,
    value: ConsumerGroupCurrentMemberAssignmentValue | None,
) -> None:
    if value is not None:
        group.put(_known(group, key.member_id).with_assignment(value))
    elif key.member_id in group.members:
        group.put(group.members[key.member_id].without_assignment())


def _target(
    group: ConsumerGroup,
    key: ConsumerGroupTargetAssignmentMemberKey,
    value: ConsumerGroupTargetAssignmentMemberValue | None,
) -> None:
    if value is None:
        group.target.pop(key.member_id, None)
    else:
        group.target[key.member_id] = {topic.topic_id: frozenset(topic.partitions) for topic in value.topic_partitions}


def _target_epoch(
    group: ConsumerGroup,
    _key: ConsumerGroupTargetAssignmentMetadataKey,
    value: ConsumerGroupTargetAssignmentMetadataValue | None,
) -> None:
    group.assignment_epoch = NO_ASSIGNMENT_EPOCH if value is None else value.assignment_epoch
    group.assignment_timestamp_ms = 0 if value is None else value.assignment_timestamp


def _pattern(
    group: ConsumerGroup, key: ConsumerGroupRegularExpressionKey, value: ConsumerGroupRegularExpressionValue | None
) -> None:
    if value is None:
        group.patterns.pop(key.regular_expression, None)
    else:
        resolved = ResolvedPattern(frozenset(value.topics), value.version, value.timestamp)
        group.patterns[key.regular_expression] = resolved


def _known(group: ConsumerGroup, member_id: str) -> ConsumerMember:
    return group.members.get(member_id) or ConsumerMember(member_id=member_id)


# What each record changes of its group.
_CHANGES: Final[Mapping[type[Message], Callable[[ConsumerGroup, Any, Any], None]]] = {
    ConsumerGroupMetadataKey: _epoch,
    ConsumerGroupPartitionMetadataKey: _partition_metadata,
    ConsumerGroupMemberMetadataKey: _member,
    ConsumerGroupCurrentMemberAssignmentKey: _owned,
    ConsumerGroupTargetAssignmentMemberKey: _target,
    ConsumerGroupTargetAssignmentMetadataKey: _target_epoch,
    ConsumerGroupRegularExpressionKey: _pattern,
}


def _replay(state: GroupState, key: Any, value: Message | None) -> None:
    group = state.groups.get(key.group_id)
    if not isinstance(group, ConsumerGroup):
        is_vacant = group is None or (isinstance(group, ClassicGroup) and group.is_simple)
        if value is None or not is_vacant:
            return
        group = ConsumerGroup(key.group_id)
        state.groups.put(group)
    _CHANGES[type(key)](group, key, value)
    if value is None and isinstance(key, ConsumerGroupMetadataKey):
        state.groups.remove(key.group_id)


def replayed(group_id: str, records: Iterable[CoordinatorRecord]) -> ConsumerGroup:
    """A group that is in these records and nowhere else yet."""
    group = ConsumerGroup(group_id)
    for record in records:
        _CHANGES[type(record.key)](group, record.key, record.value)
    return group


REPLAYS: Final[Replays] = dict.fromkeys(_CHANGES, _replay)
