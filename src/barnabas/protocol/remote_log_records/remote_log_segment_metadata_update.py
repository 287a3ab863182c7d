"""RemoteLogSegmentMetadataUpdateRecord: a remote segment reached another state."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Bytes, Int8, Int32, Int64, Message, String, Struct, Uuid


class TopicIdPartitionEntry(Struct):
    name: String
    id: Uuid
    partition: Int32


class RemoteLogSegmentIdEntry(Struct):
    topic_id_partition: TopicIdPartitionEntry
    id: Uuid


class RemoteLogSegmentMetadataUpdateRecord(Message, key=1, versions=(0, 0), flexible_since=0):
    remote_log_segment_id: RemoteLogSegmentIdEntry
    broker_id: Int32
    event_timestamp_ms: Int64
    custom_metadata: Bytes | None = None
    remote_log_segment_state: Int8
