"""ElectLeaders: elect the preferred leaders of partitions, or any living replica."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Int8, Int16, Int32, Message, String, Struct, field


class TopicPartitions(Struct):
    topic: String
    partitions: list[Int32]


class ElectLeadersRequest(Message, key=43, versions=(0, 2), flexible_since=2):
    election_type: Int8 = field(since=1, default=0)
    topic_partitions: list[TopicPartitions] | None
    timeout_ms: Int32 = 60000


class PartitionResult(Struct):
    partition_id: Int32
    error_code: Int16
    error_message: String | None


class ReplicaElectionResult(Struct):
    topic: String
    partition_result: list[PartitionResult]


class ElectLeadersResponse(Message, key=43, versions=(0, 2), flexible_since=2):
    throttle_time_ms: Int32
    error_code: Int16 = field(since=1, default=0)
    replica_election_results: list[ReplicaElectionResult]
