"""ConsumerGroupPartitionMetadata: the topics a consumer group's assignment was computed with; no longer used."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Int32, Message, String, Struct, Uuid


class ConsumerGroupPartitionMetadataKey(Message, key=4, versions=(0, 0)):
    group_id: String


class PartitionMetadata(Struct):
    partition: Int32
    racks: list[String]


class TopicMetadata(Struct):
    topic_id: Uuid
    topic_name: String
    num_partitions: Int32
    partition_metadata: list[PartitionMetadata]


class ConsumerGroupPartitionMetadataValue(Message, key=4, versions=(0, 0), flexible_since=0):
    topics: list[TopicMetadata]
