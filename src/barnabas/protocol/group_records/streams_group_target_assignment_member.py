"""StreamsGroupTargetAssignmentMember: the tasks that a streams group's member is to run."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Int32, Message, String, Struct


class StreamsGroupTargetAssignmentMemberKey(Message, key=21, versions=(0, 0)):
    group_id: String
    member_id: String


class TaskIds(Struct):
    subtopology_id: String
    partitions: list[Int32]


class StreamsGroupTargetAssignmentMemberValue(Message, key=21, versions=(0, 0), flexible_since=0):
    active_tasks: list[TaskIds]
    standby_tasks: list[TaskIds]
    warmup_tasks: list[TaskIds]
