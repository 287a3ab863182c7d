"""ShareGroupStatePartitionMetadata: the share partitions whose state is being created, exists, or is going."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Int32, Message, String, Struct, Uuid


class ShareGroupStatePartitionMetadataKey(Message, key=15, versions=(0, 0)):
    group_id: String


class TopicPartitionsInfo(Struct):
    topic_id: Uuid
    topic_name: String
    partitions: list[Int32]


class TopicInfo(Struct):
    topic_id: Uuid
    topic_name: String


class ShareGroupStatePartitionMetadataValue(Message, key=15, versions=(0, 0), flexible_since=0):
    initializing_topics: list[TopicPartitionsInfo]
    initialized_topics: list[TopicPartitionsInfo]
    deleting_topics: list[TopicInfo]
