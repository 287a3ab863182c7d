"""DescribeShareGroupOffsets: where share groups start to read, and how far they are behind."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Int16, Int32, Int64, Message, String, Struct, Uuid, field


class DescribeShareGroupOffsetsRequestTopic(Struct):
    topic_name: String
    partitions: list[Int32]


class DescribeShareGroupOffsetsRequestGroup(Struct):
    group_id: String
    topics: list[DescribeShareGroupOffsetsRequestTopic] | None


class DescribeShareGroupOffsetsRequest(Message, key=90, versions=(0, 1), flexible_since=0):
    groups: list[DescribeShareGroupOffsetsRequestGroup]


class DescribeShareGroupOffsetsResponsePartition(Struct):
    partition_index: Int32
    start_offset: Int64
    leader_epoch: Int32
    lag: Int64 = field(since=1, default=-1, ignorable=True)
    error_code: Int16
    error_message: String | None = None


class DescribeShareGroupOffsetsResponseTopic(Struct):
    topic_name: String
    topic_id: Uuid
    partitions: list[DescribeShareGroupOffsetsResponsePartition]


class DescribeShareGroupOffsetsResponseGroup(Struct):
    group_id: String
    topics: list[DescribeShareGroupOffsetsResponseTopic]
    error_code: Int16
    error_message: String | None = None


class DescribeShareGroupOffsetsResponse(Message, key=90, versions=(0, 1), flexible_since=0):
    throttle_time_ms: Int32
    groups: list[DescribeShareGroupOffsetsResponseGroup]
