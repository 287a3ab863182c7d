"""ShareGroupTargetAssignmentMember: what a share group's member is to read from."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Int32, Message, String, Struct, Uuid


class ShareGroupTargetAssignmentMemberKey(Message, key=13, versions=(0, 0)):
    group_id: String
    member_id: String


class TopicPartition(Struct):
    topic_id: Uuid
    partitions: list[Int32]


class ShareGroupTargetAssignmentMemberValue(Message, key=13, versions=(0, 0), flexible_since=0):
    topic_partitions: list[TopicPartition]
