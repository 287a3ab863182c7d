"""BeginQuorumEpoch: a new quorum leader makes itself known to the voters."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import ZERO_UUID, Int16, Int32, Message, String, Struct, Uint16, Uuid, field


class RequestPartitionData(Struct):
    partition_index: Int32
    voter_directory_id: Uuid = field(since=1, default=ZERO_UUID, ignorable=True)
    leader_id: Int32
    leader_epoch: Int32


class RequestTopicData(Struct):
    topic_name: String
    partitions: list[RequestPartitionData]


class LeaderEndpoint(Struct):
    name: String
    host: String
    port: Uint16


class BeginQuorumEpochRequest(Message, key=53, versions=(0, 1), flexible_since=1):
    cluster_id: String | None = None
    voter_id: Int32 = field(since=1, default=-1, ignorable=True)
    topics: list[RequestTopicData]
    leader_endpoints: list[LeaderEndpoint] = field(since=1, default_factory=list, ignorable=True)


class ResponsePartitionData(Struct):
    partition_index: Int32
    error_code: Int16
    leader_id: Int32
    leader_epoch: Int32


class ResponseTopicData(Struct):
    topic_name: String
    partitions: list[ResponsePartitionData]


class NodeEndpoint(Struct):
    node_id: Int32
    host: String
    port: Uint16


class BeginQuorumEpochResponse(Message, key=53, versions=(0, 1), flexible_since=1):
    error_code: Int16
    topics: list[ResponseTopicData]
    node_endpoints: list[NodeEndpoint] = field(since=1, default_factory=list, tag=0)
