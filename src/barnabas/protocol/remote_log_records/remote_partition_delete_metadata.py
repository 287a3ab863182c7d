"""RemotePartitionDeleteMetadataRecord: a partition's remote segments are being deleted."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Int8, Int32, Int64, Message, String, Struct, Uuid


class TopicIdPartitionEntry(Struct):
    name: String
    id: Uuid
    partition: Int32


class RemotePartitionDeleteMetadataRecord(Message, key=2, versions=(0, 0), flexible_since=0):
    topic_id_partition: TopicIdPartitionEntry
    broker_id: Int32
    event_timestamp_ms: Int64
    remote_partition_delete_state: Int8
