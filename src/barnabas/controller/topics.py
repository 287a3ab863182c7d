"""CreateTopics: names, replicas and settings are checked topic by topic, and what passes is written in one batch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Final

from barnabas.controller.assignments import assigned_partition, check_assignment, placed_partitions
from barnabas.controller.config_rules import creation_records
from barnabas.controller.decision import Decision, Operation, RequestContext, Situation
from barnabas.controller.effective_configs import TOPIC_SETTINGS_BY_NAME, EffectiveConfigs
from barnabas.controller.errors import (
    InvalidConfig,
    InvalidPartitions,
    InvalidReplicaAssignment,
    InvalidReplicationFactor,
    InvalidRequest,
    TopicAlreadyExists,
)
from barnabas.controller.policies import NewTopic, PolicyViolation
from barnabas.controller.topic_names import METADATA_TOPIC, TopicNames
from barnabas.metadata.topics import Partition
from barnabas.protocol.errors import ApiError, ErrorCode
from barnabas.protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfigs,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from barnabas.protocol.metadata_records.topic import TopicRecord
from barnabas.protocol.schema import Message
from barnabas.protocol.uuid import Uuid
from barnabas.security.acls import CLUSTER_NAME, AclOperation, ResourceType
from barnabas.security.authorizer import Access

PARTITIONS_MAX: Final = 10_000
DEFAULT: Final = -1


def create_topics(situation: Situation, request: CreateTopicsRequest, context: RequestContext) -> Decision:
    """One topic that is refused does not keep the others from being created."""
    settings = situation.settings
    asked = sum(_partition_count(topic, settings.num_partitions) for topic in request.topics)
    if asked > PARTITIONS_MAX:
        raise PolicyViolation(f"{asked} partitions in one request are too many, the most is {PARTITIONS_MAX}")
    counts = Counter(topic.name for topic in request.topics)
    names = TopicNames(situation.image.topics.ids)
    effective = EffectiveConfigs(situation.image, settings)
    records: list[Message] = []
    results: list[CreatableTopicResult] = []
    for topic in {topic.name: topic for topic in request.topics}.values():
        try:
            if counts[topic.name] > 1:
                raise InvalidRequest(f"topic {topic.name} is named twice in the request")
            _check_name(situation, context.access, topic.name, names)
            configs = _configs(topic)
            written = creation_records(situation, topic.name, configs)
            partitions = _partitions(situation, topic, configs)
            context.charge_partitions(len(partitions))
        except ApiError as error:
            results.append(_refused(topic, error))
            continue
        topic_id = situation.random_id()
        records.append(TopicRecord(name=topic.name, topic_id=topic_id))
        records += written
        is_elr_enabled = situation.image.features.is_elr_enabled
        records += [
            partition.record(topic_id, index, is_elr_enabled=is_elr_enabled)
            for index, partition in enumerate(partitions)
        ]
        if context.access.allows(AclOperation.DESCRIBE_CONFIGS, ResourceType.TOPIC, topic.name):
            results.append(_created(topic.name, topic_id, partitions, configs, effective))
        else:
            results.append(_created_in_silence(topic.name, topic_id))
    return Decision(
        CreateTopicsResponse(throttle_time_ms=context.throttle_time_ms, topics=results),
        [] if request.validate_only else records,
        is_atomic=True,
    )


def _partition_count(topic: CreatableTopic, default: int) -> int:
    if topic.assignments:
        return len(topic.assignments)
    return default if topic.num_partitions == DEFAULT else max(topic.num_partitions, 0)


def _check_name(situation: Situation, access: Access, name: str, names: TopicNames) -> None:
    if name == METADATA_TOPIC:
        raise InvalidRequest(f"{METADATA_TOPIC} is the controllers' own log and cannot be created as a topic")
    if not access.allows(AclOperation.CREATE, ResourceType.CLUSTER, CLUSTER_NAME):
        access.require(AclOperation.CREATE, ResourceType.TOPIC, name)
    if name in situation.image.topics.ids:
        raise TopicAlreadyExists(f"topic {name} is there already")
    names.add(name)


def _configs(topic: CreatableTopic) -> dict[str, str]:
    configs = {}
    for config in topic.configs:
        if config.value is None:
            raise InvalidConfig(f"{config.name} has no value; leave it out to get the default")
        configs[config.name] = config.value
    return configs


def _partitions(situation: Situation, topic: CreatableTopic, configs: Mapping[str, str]) -> list[Partition]:
    policy = situation.settings.policies.create_topic
    if topic.assignments:
        partitions = _assigned(situation, topic)
        if policy is not None:
            assignments = {index: partition.replicas for index, partition in enumerate(partitions)}
            policy(
                NewTopic(
                    name=topic.name,
                    num_partitions=None,
                    replication_factor=None,
                    assignments=assignments,
                    configs=configs,
                )
            )
        return partitions
    count, factor = topic.num_partitions, topic.replication_factor
    if factor != DEFAULT and factor <= 0:
        raise InvalidReplicationFactor(f"a topic has at least 1 replica, or {DEFAULT} for the default: not {factor}")
    if count != DEFAULT and count <= 0:
        raise InvalidPartitions(f"a topic has at least 1 partition, or {DEFAULT} for the default: not {count}")
    count = situation.settings.num_partitions if count == DEFAULT else count
    factor = situation.settings.default_replication_factor if factor == DEFAULT else factor
    partitions = placed_partitions(situation, count, factor)
    if policy is not None:
        policy(
            NewTopic(
                name=topic.name, num_partitions=count, replication_factor=factor, assignments=None, configs=configs
            )
        )
    return partitions


def _assigned(situation: Situation, topic: CreatableTopic) -> list[Partition]:
    if topic.replication_factor != DEFAULT or topic.num_partitions != DEFAULT:
        raise InvalidRequest(
            f"where replicas are assigned, the numbers of partitions and replicas follow from that: both are {DEFAULT}"
        )
    by_index: dict[int, Partition] = {}
    factor: int | None = None
    for assignment in topic.assignments:
        if assignment.partition_index in by_index:
            raise InvalidReplicaAssignment(f"partition {assignment.partition_index} is assigned twice")
        check_assignment(situation.image, assignment.broker_ids, factor)
        factor = len(assignment.broker_ids)
        by_index[assignment.partition_index] = assigned_partition(situation.image, assignment.broker_ids)
    if sorted(by_index) != list(range(len(by_index))):
        raise InvalidReplicaAssignment("partitions are numbered from 0 on, without a gap")
    return [by_index[index] for index in range(len(by_index))]


def _created(
    name: str,
    topic_id: Uuid,
    partitions: list[Partition],
    configs: Mapping[str, str],
    effective: EffectiveConfigs,
) -> CreatableTopicResult:
    values = {setting: effective.resolve(setting, configs) for setting in sorted(TOPIC_SETTINGS_BY_NAME)}
    return CreatableTopicResult(
        name=name,
        topic_id=topic_id,
        error_code=0,
        error_message=None,
        num_partitions=len(partitions),
        replication_factor=len(partitions[0].replicas),
        configs=[
            CreatableTopicConfigs(
                name=setting, value=value.text, read_only=False, config_source=value.source, is_sensitive=False
            )
            for setting, value in values.items()
        ],
    )


def _created_in_silence(name: str, topic_id: Uuid) -> CreatableTopicResult:
    """For an asker who may create topics and not look at their settings."""
    return CreatableTopicResult(
        name=name,
        topic_id=topic_id,
        error_code=0,
        error_message=None,
        topic_config_error_code=ErrorCode.TOPIC_AUTHORIZATION_FAILED,
    )


def _refused(topic: CreatableTopic, error: ApiError) -> CreatableTopicResult:
    return CreatableTopicResult(name=topic.name, error_code=error.code, error_message=str(error))


def _refuse(request: CreateTopicsRequest, error: ApiError, _version: int) -> Message:
    return CreateTopicsResponse(throttle_time_ms=0, topics=[_refused(topic, error) for topic in request.topics])


OPERATIONS: Mapping[type[Message], Operation] = {CreateTopicsRequest: Operation(create_topics, _refuse, needs=None)}
