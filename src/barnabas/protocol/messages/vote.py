"""Vote: ask for a vote in a quorum election, or whether one would be given."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import ZERO_UUID, Bool, Int16, Int32, Int64, Message, String, Struct, Uint16, Uuid, field


class RequestPartitionData(Struct):
    partition_index: Int32
    replica_epoch: Int32
    replica_id: Int32
    replica_directory_id: Uuid = field(since=1, default=ZERO_UUID, ignorable=True)
    voter_directory_id: Uuid = field(since=1, default=ZERO_UUID, ignorable=True)
    last_offset_epoch: Int32
    last_offset: Int64
    pre_vote: Bool = field(since=2, default=False)


class RequestTopicData(Struct):
    topic_name: String
    partitions: list[RequestPartitionData]


class VoteRequest(Message, key=52, versions=(0, 2), flexible_since=0):
    cluster_id: String | None = None
    voter_id: Int32 = field(since=1, default=-1, ignorable=True)
    topics: list[RequestTopicData]


class ResponsePartitionData(Struct):
    partition_index: Int32
    error_code: Int16
    leader_id: Int32
    leader_epoch: Int32
    vote_granted: Bool


class ResponseTopicData(Struct):
    topic_name: String
    partitions: list[ResponsePartitionData]


class NodeEndpoint(Struct):
    node_id: Int32
    host: String
    port: Uint16


class VoteResponse(Message, key=52, versions=(0, 2), flexible_since=0):
    error_code: Int16
    topics: list[ResponseTopicData]
    node_endpoints: list[NodeEndpoint] = field(since=1, default_factory=list, tag=0)
