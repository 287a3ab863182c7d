"""AlterPartition: ask the controller for a new in-sync replica set of partitions that a broker leads."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Int8, Int16, Int32, Int64, Message, Struct, Uuid, field


class BrokerState(Struct):
    broker_id: Int32
    broker_epoch: Int64 = -1


class RequestPartitionData(Struct):
    partition_index: Int32
    leader_epoch: Int32
    new_isr: list[Int32] = field(until=2, default_factory=list)
    new_isr_with_epochs: list[BrokerState] = field(since=3, default_factory=list)
    leader_recovery_state: Int8 = 0
    partition_epoch: Int32


class RequestTopicData(Struct):
    topic_id: Uuid
    partitions: list[RequestPartitionData]


class AlterPartitionRequest(Message, key=56, versions=(2, 3), flexible_since=0):
    broker_id: Int32
    broker_epoch: Int64 = -1
    topics: list[RequestTopicData]


class ResponsePartitionData(Struct):
    partition_index: Int32
    error_code: Int16
    leader_id: Int32
    leader_epoch: Int32
    isr: list[Int32]
    leader_recovery_state: Int8 = 0
    partition_epoch: Int32


class ResponseTopicData(Struct):
    topic_id: Uuid
    partitions: list[ResponsePartitionData]


class AlterPartitionResponse(Message, key=56, versions=(2, 3), flexible_since=0):
    throttle_time_ms: Int32
    error_code: Int16
    topics: list[ResponseTopicData]
