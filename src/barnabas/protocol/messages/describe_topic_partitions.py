"""DescribeTopicPartitions: partitions of topics page by page, with their eligible leader replicas."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Bool, Int16, Int32, Message, String, Struct, Uuid


class TopicRequest(Struct):
    name: String


class RequestCursor(Struct):
    topic_name: String
    partition_index: Int32


class DescribeTopicPartitionsRequest(Message, key=75, versions=(0, 0), flexible_since=0):
    topics: list[TopicRequest]
    response_partition_limit: Int32 = 2000
    cursor: RequestCursor | None = None


class DescribeTopicPartitionsResponsePartition(Struct):
    error_code: Int16
    partition_index: Int32
    leader_id: Int32
    leader_epoch: Int32 = -1
    replica_nodes: list[Int32]
    isr_nodes: list[Int32]
    eligible_leader_replicas: list[Int32] | None = None
    last_known_elr: list[Int32] | None = None
    offline_replicas: list[Int32]


class DescribeTopicPartitionsResponseTopic(Struct):
    error_code: Int16
    name: String | None
    topic_id: Uuid
    is_internal: Bool = False
    partitions: list[DescribeTopicPartitionsResponsePartition]
    topic_authorized_operations: Int32 = -2147483648


class ResponseCursor(Struct):
    topic_name: String
    partition_index: Int32


class DescribeTopicPartitionsResponse(Message, key=75, versions=(0, 0), flexible_since=0):
    throttle_time_ms: Int32
    topics: list[DescribeTopicPartitionsResponseTopic]
    next_cursor: ResponseCursor | None = None
