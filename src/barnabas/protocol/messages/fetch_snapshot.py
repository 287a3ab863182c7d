"""FetchSnapshot: read a piece of a snapshot of the metadata log."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import (
    ZERO_UUID,
    Int16,
    Int32,
    Int64,
    Message,
    Records,
    String,
    Struct,
    Uint16,
    Uuid,
    field,
)


class RequestSnapshotId(Struct):
    end_offset: Int64
    epoch: Int32


class RequestPartitionSnapshot(Struct):
    partition: Int32
    current_leader_epoch: Int32
    snapshot_id: RequestSnapshotId
    position: Int64
    replica_directory_id: Uuid = field(since=1, default=ZERO_UUID, tag=0, ignorable=True)


class RequestTopicSnapshot(Struct):
    name: String
    partitions: list[RequestPartitionSnapshot]


class FetchSnapshotRequest(Message, key=59, versions=(0, 1), flexible_since=0):
    cluster_id: String | None = field(default=None, tag=0)
    replica_id: Int32 = -1
    max_bytes: Int32 = 2147483647
    topics: list[RequestTopicSnapshot]


class ResponseSnapshotId(Struct):
    end_offset: Int64
    epoch: Int32


class LeaderIdAndEpoch(Struct):
    leader_id: Int32 = 0
    leader_epoch: Int32 = 0


class ResponsePartitionSnapshot(Struct):
    index: Int32
    error_code: Int16
    snapshot_id: ResponseSnapshotId
    current_leader: LeaderIdAndEpoch = field(default_factory=LeaderIdAndEpoch, tag=0)
    size: Int64
    position: Int64
    unaligned_records: Records


class ResponseTopicSnapshot(Struct):
    name: String
    partitions: list[ResponsePartitionSnapshot]


class NodeEndpoint(Struct):
    node_id: Int32
    host: String
    port: Uint16


class FetchSnapshotResponse(Message, key=59, versions=(0, 1), flexible_since=0):
    throttle_time_ms: Int32
    error_code: Int16
    topics: list[ResponseTopicSnapshot]
    node_endpoints: list[NodeEndpoint] = field(since=1, default_factory=list, tag=0)
