"""RemoteLogSegmentMetadataSnapshotRecord: a remote segment as it stands in a snapshot."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Bool, Bytes, Int8, Int32, Int64, Message, Struct, Uuid, field


class SegmentLeaderEpochEntry(Struct):
    leader_epoch: Int32
    offset: Int64


class RemoteLogSegmentMetadataSnapshotRecord(Message, key=3, versions=(0, 0), flexible_since=0):
    segment_id: Uuid
    start_offset: Int64
    end_offset: Int64
    broker_id: Int32
    max_timestamp_ms: Int64
    event_timestamp_ms: Int64
    segment_leader_epochs: list[SegmentLeaderEpochEntry]
    segment_size_in_bytes: Int32
    custom_metadata: Bytes | None = None
    remote_log_segment_state: Int8
    txn_index_empty: Bool = field(default=False, tag=0)
