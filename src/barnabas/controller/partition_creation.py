"""CreatePartitions: more partitions for topics that are there, on brokers that somebody chose or that are placed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from barnabas.controller.assignments import assigned_partition, check_assignment, placed_partitions
from barnabas.controller.decision import Decision, Operation, RequestContext, Situation
from barnabas.controller.errors import (
    InvalidPartitions,
    InvalidReplicaAssignment,
    InvalidRequest,
    UnknownTopicOrPartition,
)
from barnabas.controller.topics import PARTITIONS_MAX
from barnabas.protocol.errors import ApiError
from barnabas.protocol.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
    CreatePartitionsTopicResult,
)
from barnabas.protocol.schema import Message
from barnabas.security.acls import AclOperation, ResourceType


def create_partitions(situation: Situation, request: CreatePartitionsRequest, context: RequestContext) -> Decision:
    """Each topic by itself: one that is refused spares the others."""
    counts = Counter(topic.name for topic in request.topics)
    records: list[Message] = []
    results: list[CreatePartitionsTopicResult] = []
    for topic in {topic.name: topic for topic in request.topics}.values():
        try:
            if counts[topic.name] > 1:
                raise InvalidRequest(f"topic {topic.name} is named twice in the request")
            records += _added(situation, topic, context)
        except ApiError as error:
            results.append(_result(topic, error))
        else:
            results.append(CreatePartitionsTopicResult(name=topic.name, error_code=0))
    return Decision(
        CreatePartitionsResponse(throttle_time_ms=context.throttle_time_ms, results=results),
        [] if request.validate_only else records,
        is_atomic=True,
    )


def _added(situation: Situation, asked: CreatePartitionsTopic, context: RequestContext) -> list[Message]:
    context.access.require(AclOperation.ALTER, ResourceType.TOPIC, asked.name)
    image = situation.image
    topic = image.topics.by_name(asked.name)
    if topic is None:
        raise UnknownTopicOrPartition(f"there is no topic {asked.name}")
    there = len(topic.partitions)
    if asked.count <= there:
        raise InvalidPartitions(f"topic {asked.name} has {there} partitions already, so {asked.count} adds none")
    additional = asked.count - there
    if additional > PARTITIONS_MAX:
        raise InvalidPartitions(f"{additional} partitions at once are too many, the most is {PARTITIONS_MAX}")
    if asked.assignments is not None and len(asked.assignments) != additional:
        raise InvalidReplicaAssignment(
            f"{additional} partitions are to be added, but {len(asked.assignments)} are assigned"
        )
    context.charge_partitions(additional)
    factor = len(topic.partitions[0].replicas)
    if asked.assignments is None:
        partitions = placed_partitions(situation, additional, factor)
    else:
        partitions = []
        for assignment in asked.assignments:
            check_assignment(image, assignment.broker_ids, factor)
            partitions.append(assigned_partition(image, assignment.broker_ids))
    is_elr_enabled = image.features.is_elr_enabled
    return [
        partition.record(topic.id, index, is_elr_enabled=is_elr_enabled)
        for index, partition in enumerate(partitions, there)
    ]


def _result(topic: CreatePartitionsTopic, error: ApiError) -> CreatePartitionsTopicResult:
    return CreatePartitionsTopicResult(name=topic.name, error_code=error.code, error_message=str(error))


def _refuse(request: CreatePartitionsRequest, error: ApiError, _version: int) -> Message:
    return CreatePartitionsResponse(throttle_time_ms=0, results=[_result(topic, error) for topic in request.topics])


OPERATIONS: Mapping[type[Message], Operation] = {
    CreatePartitionsRequest: Operation(create_partitions, _refuse, needs=None)
}
