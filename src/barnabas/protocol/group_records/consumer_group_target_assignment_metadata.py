"""ConsumerGroupTargetAssignmentMetadata: the epoch of a consumer group's target assignment."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Int32, Int64, Message, String, field


class ConsumerGroupTargetAssignmentMetadataKey(Message, key=6, versions=(0, 0)):
    group_id: String


class ConsumerGroupTargetAssignmentMetadataValue(Message, key=6, versions=(0, 0), flexible_since=0):
    assignment_epoch: Int32
    assignment_timestamp: Int64 = field(default=0, tag=0)
