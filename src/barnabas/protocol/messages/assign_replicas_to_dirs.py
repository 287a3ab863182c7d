"""AssignReplicasToDirs: tell the controller in which log directories a broker keeps its replicas."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Int16, Int32, Int64, Message, Struct, Uuid


class RequestPartitionData(Struct):
    partition_index: Int32


class RequestTopicData(Struct):
    topic_id: Uuid
    partitions: list[RequestPartitionData]


class RequestDirectoryData(Struct):
    id: Uuid
    topics: list[RequestTopicData]


class AssignReplicasToDirsRequest(Message, key=73, versions=(0, 0), flexible_since=0):
    broker_id: Int32
    broker_epoch: Int64 = -1
    directories: list[RequestDirectoryData]


class ResponsePartitionData(Struct):
    partition_index: Int32
    error_code: Int16


class ResponseTopicData(Struct):
    topic_id: Uuid
    partitions: list[ResponsePartitionData]


class ResponseDirectoryData(Struct):
    id: Uuid
    topics: list[ResponseTopicData]


class AssignReplicasToDirsResponse(Message, key=73, versions=(0, 0), flexible_since=0):
    throttle_time_ms: Int32
    error_code: Int16
    directories: list[ResponseDirectoryData]
