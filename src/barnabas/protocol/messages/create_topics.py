"""CreateTopics: create topics, or only check that they could be created."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import ZERO_UUID, Bool, Int8, Int16, Int32, Message, String, Struct, Uuid, field


class CreatableReplicaAssignment(Struct):
    partition_index: Int32
    broker_ids: list[Int32]


class CreatableTopicConfig(Struct):
    name: String
    value: String | None


class CreatableTopic(Struct):
    name: String
    num_partitions: Int32
    replication_factor: Int16
    assignments: list[CreatableReplicaAssignment]
    configs: list[CreatableTopicConfig]


class CreateTopicsRequest(Message, key=19, versions=(2, 7), flexible_since=5):
    topics: list[CreatableTopic]
    timeout_ms: Int32 = 60000
    validate_only: Bool = False


class CreatableTopicConfigs(Struct):
    name: String
    value: String | None
    read_only: Bool
    config_source: Int8 = -1
    is_sensitive: Bool


class CreatableTopicResult(Struct):
    name: String
    topic_id: Uuid = field(since=7, default=ZERO_UUID, ignorable=True)
    error_code: Int16
    error_message: String | None
    topic_config_error_code: Int16 = field(since=5, default=0, tag=0, ignorable=True)
    num_partitions: Int32 = field(since=5, default=-1, ignorable=True)
    replication_factor: Int16 = field(since=5, default=-1, ignorable=True)
    configs: list[CreatableTopicConfigs] | None = field(since=5, default_factory=list, ignorable=True)


class CreateTopicsResponse(Message, key=19, versions=(2, 7), flexible_since=5):
    throttle_time_ms: Int32
    topics: list[CreatableTopicResult]
