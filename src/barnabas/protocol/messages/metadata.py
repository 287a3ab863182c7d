"""Metadata: brokers, topics, partitions and their leaders."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import ZERO_UUID, Bool, Int16, Int32, Message, String, Struct, Uuid, field


class MetadataRequestTopic(Struct):
    topic_id: Uuid = field(since=10, default=ZERO_UUID, ignorable=True)
    name: String | None = field(nullable_since=10)


class MetadataRequest(Message, key=3, versions=(0, 13), flexible_since=9):
    topics: list[MetadataRequestTopic] | None = field(nullable_since=1)
    allow_auto_topic_creation: Bool = field(since=4, default=True)
    include_cluster_authorized_operations: Bool = field(since=8, until=10, default=False)
    include_topic_authorized_operations: Bool = field(since=8, default=False)


class MetadataResponseBroker(Struct):
    node_id: Int32
    host: String
    port: Int32
    rack: String | None = field(since=1, default=None, ignorable=True)


class MetadataResponsePartition(Struct):
    error_code: Int16
    partition_index: Int32
    leader_id: Int32
    leader_epoch: Int32 = field(since=7, default=-1, ignorable=True)
    replica_nodes: list[Int32]
    isr_nodes: list[Int32]
    offline_replicas: list[Int32] = field(since=5, default_factory=list, ignorable=True)


class MetadataResponseTopic(Struct):
    error_code: Int16
    name: String | None = field(nullable_since=12)
    topic_id: Uuid = field(since=10, default=ZERO_UUID, ignorable=True)
    is_internal: Bool = field(since=1, default=False, ignorable=True)
    partitions: list[MetadataResponsePartition]
    topic_authorized_operations: Int32 = field(since=8, default=-2147483648)


class MetadataResponse(Message, key=3, versions=(0, 13), flexible_since=9):
    throttle_time_ms: Int32 = field(since=3, default=0, ignorable=True)
    brokers: list[MetadataResponseBroker]
    cluster_id: String | None = field(since=2, default=None, ignorable=True)
    controller_id: Int32 = field(since=1, default=-1, ignorable=True)
    topics: list[MetadataResponseTopic]
    cluster_authorized_operations: Int32 = field(since=8, until=10, default=-2147483648)
    error_code: Int16 = field(since=13, default=0, ignorable=True)
