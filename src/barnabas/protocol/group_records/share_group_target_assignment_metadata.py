"""ShareGroupTargetAssignmentMetadata: the epoch of a share group's target assignment."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Int32, Int64, Message, String, field


class ShareGroupTargetAssignmentMetadataKey(Message, key=12, versions=(0, 0)):
    group_id: String


class ShareGroupTargetAssignmentMetadataValue(Message, key=12, versions=(0, 0), flexible_since=0):
    assignment_epoch: Int32
    assignment_timestamp: Int64 = field(default=0, tag=0)
