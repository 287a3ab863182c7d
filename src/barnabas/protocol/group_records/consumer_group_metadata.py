"""ConsumerGroupMetadata: a consumer group's epoch."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Int32, Int64, Message, String, field


class ConsumerGroupMetadataKey(Message, key=3, versions=(0, 0)):
    group_id: String


class ConsumerGroupMetadataValue(Message, key=3, versions=(0, 0), flexible_since=0):
    epoch: Int32
    metadata_hash: Int64 = field(default=0, tag=0)
