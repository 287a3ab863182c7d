"""ConsumerGroupCurrentMemberAssignment: what a consumer group's member owns and is giving up."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Int8, Int32, Message, String, Struct, Uuid, field


class ConsumerGroupCurrentMemberAssignmentKey(Message, key=8, versions=(0, 0)):
    group_id: String
    member_id: String


class TopicPartitions(Struct):
    topic_id: Uuid
    partitions: list[Int32]
    assignment_epochs: list[Int32] | None = field(default_factory=list, tag=0)


class ConsumerGroupCurrentMemberAssignmentValue(Message, key=8, versions=(0, 0), flexible_since=0):
    member_epoch: Int32
    previous_member_epoch: Int32
    state: Int8
    assigned_partitions: list[TopicPartitions]
    partitions_pending_revocation: list[TopicPartitions]
