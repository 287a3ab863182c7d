"""ConsumerProtocolAssignment: the partitions that a classic consumer is assigned, inside SyncGroup."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Bytes, Int32, Message, String, Struct


class TopicPartition(Struct):
    topic: String
    partitions: list[Int32]


class ConsumerProtocolAssignment(Message, versions=(0, 3)):
    assigned_partitions: list[TopicPartition]
    user_data: Bytes | None = None
