"""AlterPartitionReassignments and ListPartitionReassignments: replicas move to other brokers, or come back.

A partition on its way has its old and new replicas together; the change of the ISR that brings the last new one in
ends it (`partition_change`).
"""

from __future__ import annotations

from collections.abc import Mapping

from barnabas.controller.assignments import check_assignment
from barnabas.controller.brokers import is_active
from barnabas.controller.decision import Decision, Operation, RequestContext, Situation
from barnabas.controller.errors import (
    InvalidReplicaAssignment,
    InvalidReplicationFactor,
    NoReassignmentInProgress,
    UnknownTopicOrPartition,
)
from barnabas.controller.partition_change import Election, is_reassigning
from barnabas.controller.planner import PartitionPlanner
from barnabas.metadata.topics import Partition, Topic
from barnabas.protocol.errors import ApiError
from barnabas.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartition,
    ReassignablePartitionResponse,
    ReassignableTopicResponse,
)
from barnabas.protocol.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
    OngoingPartitionReassignment,
    OngoingTopicReassignment,
)
from barnabas.protocol.schema import Message
from barnabas.security.acls import AclOperation


def alter_reassignments(
    situation: Situation, request: AlterPartitionReassignmentsRequest, _context: RequestContext
) -> Decision:
    """Start, change or cancel the moves of partitions, each by itself."""
    planner = PartitionPlanner(situation.image, situation.settings)
    responses = []
    for asked_topic in request.topics:
        topic = situation.image.topics.by_name(asked_topic.name)
        partitions = []
        for asked in asked_topic.partitions:
            try:
                if topic is None:
                    raise UnknownTopicOrPartition(f"there is no topic {asked_topic.name}")
                _alter(situation, planner, topic, asked, can_resize=request.allow_replication_factor_change)
            except ApiError as error:
                partitions.append(_response(asked, error))
            else:
                partitions.append(_response(asked, None))
        responses.append(ReassignableTopicResponse(name=asked_topic.name, partitions=partitions))
    return Decision(
        AlterPartitionReassignmentsResponse(
            throttle_time_ms=0,
            allow_replication_factor_change=request.allow_replication_factor_change,
            error_code=0,
            error_message=None,
            responses=responses,
        ),
        planner.records,
        is_atomic=True,
    )


def _alter(
    situation: Situation, planner: PartitionPlanner, topic: Topic, asked: ReassignablePartition, *, can_resize: bool
) -> None:
    partition = planner.partition(topic, asked.partition_index)
    if partition is None:
        raise UnknownTopicOrPartition(f"topic {topic.name} has no partition {asked.partition_index}")
    if asked.replicas is None:
        _cancel(situation, planner, topic, asked.partition_index, partition)
        return
    check_assignment(situation.image, asked.replicas)
    settled = [replica for replica in partition.replicas if replica not in partition.removing_replicas]
    if not can_resize and len(settled) != len(asked.replicas):
        raise InvalidReplicationFactor(
            f"the replication factor would change from {len(settled)} to {len(asked.replicas)}"
        )
    # What an earlier reassignment was adding, and this one has no use for, is taken off like any other replica.
    removing = tuple(sorted(set(partition.replicas) - set(asked.replicas)))
    adding = tuple(sorted(set(asked.replicas) - set(partition.replicas)))
    wanted = partition._replace(
        replicas=(*asked.replicas, *removing), removing_replicas=removing, adding_replicas=adding
    )
    planner.change(topic, asked.partition_index, wanted, Election.ONLINE)


def _cancel(situation: Situation, planner: PartitionPlanner, topic: Topic, index: int, partition: Partition) -> None:
    """Back to the replicas from before; those that were added leave."""
    if not is_reassigning(partition):
        raise NoReassignmentInProgress(f"{topic.name}-{index} is not being moved")
    replicas = tuple(each for each in partition.replicas if each not in partition.adding_replicas)
    isr = tuple(each for each in partition.isr if each not in partition.adding_replicas)
    election = planner.allowed_election(topic)
    if not replicas:
        raise InvalidReplicaAssignment(f"{topic.name}-{index} has no replica to go back to")
    if not isr and partition.isr:
        if election is not Election.UNCLEAN:
            raise InvalidReplicaAssignment(
                f"only replicas that are being added to {topic.name}-{index} are in sync; going back would be an "
                "unclean election, which the topic does not allow"
            )
        alive = tuple(replica for replica in replicas if is_active(situation.image, replica))
        if not situation.image.features.is_elr_enabled:
            isr = (alive or replicas)[:1]
    wanted = partition._replace(replicas=replicas, isr=isr, removing_replicas=(), adding_replicas=())
    planner.change(topic, index, wanted, election)


def list_reassignments(
    situation: Situation, request: ListPartitionReassignmentsRequest, _context: RequestContext
) -> Decision:
    """The moves under way, of all partitions or of those named."""
    topics = situation.image.topics
    if request.topics is None:
        found = [(topic, list(topic.partitions)) for topic in topics.by_id.contents()]
    else:
        found = [
            (topic, asked.partition_indexes)
            for asked in request.topics
            if (topic := topics.by_name(asked.name)) is not None
        ]
    ongoing = [
        OngoingTopicReassignment(name=topic.name, partitions=partitions)
        for topic, indexes in found
        if (partitions := _ongoing(topic, indexes))
    ]
    return Decision(
        ListPartitionReassignmentsResponse(throttle_time_ms=0, error_code=0, error_message=None, topics=ongoing)
    )


def _ongoing(topic: Topic, indexes: list[int]) -> list[OngoingPartitionReassignment]:
    return [
        OngoingPartitionReassignment(
            partition_index=index,
            replicas=list(partition.replicas),
            adding_replicas=list(partition.adding_replicas),
            removing_replicas=list(partition.removing_replicas),
        )
        for index in indexes
        if (partition := topic.partitions.get(index)) is not None and is_reassigning(partition)
    ]


def _response(asked: ReassignablePartition, error: ApiError | None) -> ReassignablePartitionResponse:
    return ReassignablePartitionResponse(
        partition_index=asked.partition_index,
        error_code=0 if error is None else error.code,
        error_message=None if error is None else str(error),
    )


def _refuse(_request: AlterPartitionReassignmentsRequest, error: ApiError, _version: int) -> Message:
    return AlterPartitionReassignmentsResponse(
        throttle_time_ms=0, error_code=error.code, error_message=str(error), responses=[]
    )


def _refuse_list(_request: ListPartitionReassignmentsRequest, error: ApiError, _version: int) -> Message:
    return ListPartitionReassignmentsResponse(
        throttle_time_ms=0, error_code=error.code, error_message=str(error), topics=[]
    )


OPERATIONS: Mapping[type[Message], Operation] = {
    AlterPartitionReassignmentsRequest: Operation(alter_reassignments, _refuse, needs=AclOperation.ALTER),
    ListPartitionReassignmentsRequest: Operation(list_reassignments, _refuse_list, needs=AclOperation.DESCRIBE),
}
