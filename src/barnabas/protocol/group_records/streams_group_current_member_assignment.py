"""StreamsGroupCurrentMemberAssignment: the tasks that a streams group's member runs and is giving up."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Int8, Int32, Message, String, Struct, field


class StreamsGroupCurrentMemberAssignmentKey(Message, key=22, versions=(0, 0)):
    group_id: String
    member_id: String


class TaskIds(Struct):
    subtopology_id: String
    partitions: list[Int32]
    assignment_epochs: list[Int32] | None = field(default_factory=list, tag=0)


class StreamsGroupCurrentMemberAssignmentValue(Message, key=22, versions=(0, 0), flexible_since=0):
    member_epoch: Int32
    previous_member_epoch: Int32
    state: Int8
    active_tasks: list[TaskIds]
    standby_tasks: list[TaskIds]
    warmup_tasks: list[TaskIds]
    active_tasks_pending_revocation: list[TaskIds]
    standby_tasks_pending_revocation: list[TaskIds]
    warmup_tasks_pending_revocation: list[TaskIds]
