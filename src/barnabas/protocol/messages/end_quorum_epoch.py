"""EndQuorumEpoch: a quorum leader that resigns tells the voters, the best successor first."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Int16, Int32, Message, String, Struct, Uint16, Uuid, field


class ReplicaInfo(Struct):
    candidate_id: Int32
    candidate_directory_id: Uuid


class RequestPartitionData(Struct):
    partition_index: Int32
    leader_id: Int32
    leader_epoch: Int32
    preferred_successors: list[Int32] = field(until=0, default_factory=list, ignorable=True)
    preferred_candidates: list[ReplicaInfo] = field(since=1, default_factory=list, ignorable=True)


class RequestTopicData(Struct):
    topic_name: String
    partitions: list[RequestPartitionData]


class LeaderEndpoint(Struct):
    name: String
    host: String
    port: Uint16


class EndQuorumEpochRequest(Message, key=54, versions=(0, 1), flexible_since=1):
    cluster_id: String | None = None
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


class EndQuorumEpochResponse(Message, key=54, versions=(0, 1), flexible_since=1):
    error_code: Int16
    topics: list[ResponseTopicData]
    node_endpoints: list[NodeEndpoint] = field(since=1, default_factory=list, tag=0)
