"""DescribeQuorum: leader, voters and observers of the metadata quorum and how far each has read."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import ZERO_UUID, Int16, Int32, Int64, Message, String, Struct, Uint16, Uuid, field


class RequestPartitionData(Struct):
    partition_index: Int32


class RequestTopicData(Struct):
    topic_name: String
    partitions: list[RequestPartitionData]


class DescribeQuorumRequest(Message, key=55, versions=(0, 2), flexible_since=0):
    topics: list[RequestTopicData]


class ReplicaState(Struct):
    replica_id: Int32
    replica_directory_id: Uuid = field(since=2, default=ZERO_UUID)
    log_end_offset: Int64
    last_fetch_timestamp: Int64 = field(since=1, default=-1, ignorable=True)
    last_caught_up_timestamp: Int64 = field(since=1, default=-1, ignorable=True)


class ResponsePartitionData(Struct):
    partition_index: Int32
    error_code: Int16
    error_message: String | None = field(since=2, default="", ignorable=True)
    leader_id: Int32
    leader_epoch: Int32
    high_watermark: Int64
    current_voters: list[ReplicaState]
    observers: list[ReplicaState]


class ResponseTopicData(Struct):
    topic_name: String
    partitions: list[ResponsePartitionData]


class Listener(Struct):
    name: String
    host: String
    port: Uint16


class Node(Struct):
    node_id: Int32
    listeners: list[Listener]


class DescribeQuorumResponse(Message, key=55, versions=(0, 2), flexible_since=0):
    error_code: Int16
    error_message: String | None = field(since=2, default="", ignorable=True)
    topics: list[ResponseTopicData]
    nodes: list[Node] = field(since=2, default_factory=list)
