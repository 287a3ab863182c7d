"""ElectLeaders, and the elections that the active controller holds by itself: for balance, and where nobody leads."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import Final

from barnabas.controller.decision import Decision, Operation, RequestContext, Situation
from barnabas.controller.errors import (
    ElectionNotNeeded,
    EligibleLeadersNotAvailable,
    InvalidRequest,
    PreferredLeaderNotAvailable,
    UnknownTopicOrPartition,
)
from barnabas.controller.partition_change import Election
from barnabas.controller.planner import PartitionPlanner
from barnabas.controller.tasks import Outcome, PeriodicTask
from barnabas.metadata.topics import Topic
from barnabas.protocol.errors import ApiError
from barnabas.protocol.messages.elect_leaders import (
    ElectLeadersRequest,
    ElectLeadersResponse,
    PartitionResult,
    ReplicaElectionResult,
)
from barnabas.protocol.schema import Message
from barnabas.security.acls import AclOperation

# At most so many at once, so that a request never waits long behind them.
ELECTIONS_MAX: Final = 1_000


class ElectionType(IntEnum):
    PREFERRED = 0
    UNCLEAN = 1


def elect_leaders(situation: Situation, request: ElectLeadersRequest, _context: RequestContext) -> Decision:
    """Elect where it is asked for, or wherever it is needed if no partition is named."""
    try:
        election = ElectionType(request.election_type)
    except ValueError:
        raise InvalidRequest(f"there is no election of type {request.election_type}") from None
    planner = PartitionPlanner(situation.image, situation.settings)
    topics = situation.image.topics
    results = []
    if request.topic_partitions is None:
        for topic in topics.by_id.contents():
            outcomes = [_elect(planner, topic.name, topic, index, election) for index in topic.partitions]
            needed = [each for each in outcomes if each.error_code != ElectionNotNeeded.code]
            results.append(ReplicaElectionResult(topic=topic.name, partition_result=needed))
    else:
        for asked in request.topic_partitions:
            found = topics.by_name(asked.topic)
            outcomes = [_elect(planner, asked.topic, found, index, election) for index in asked.partitions]
            results.append(ReplicaElectionResult(topic=asked.topic, partition_result=outcomes))
    response = ElectLeadersResponse(throttle_time_ms=0, error_code=0, replica_election_results=results)
    return Decision(response, planner.records)


def _elect(
    planner: PartitionPlanner, name: str, topic: Topic | None, index: int, election: ElectionType
) -> PartitionResult:
    try:
        if topic is None:
            raise UnknownTopicOrPartition(f"there is no topic {name}")
        _hold(planner, topic, index, election)
    except ApiError as error:
        return PartitionResult(partition_id=index, error_code=error.code, error_message=str(error))
    return PartitionResult(partition_id=index, error_code=0, error_message=None)


def _hold(planner: PartitionPlanner, topic: Topic, index: int, election: ElectionType) -> None:
    partition = planner.partition(topic, index)
    if partition is None:
        raise UnknownTopicOrPartition(f"topic {topic.name} has no partition {index}")
    if election is ElectionType.PREFERRED:
        if partition.leader == partition.preferred_leader:
            raise ElectionNotNeeded
        if planner.change(topic, index, partition, Election.PREFERRED) is None:
            raise PreferredLeaderNotAvailable(
                f"replica {partition.preferred_leader} of {topic.name}-{index} is not in sync, or not alive"
            )
        return
    if partition.has_leader:
        raise ElectionNotNeeded
    if planner.change(topic, index, partition, Election.UNCLEAN) is None:
        raise EligibleLeadersNotAvailable(f"none of the replicas {list(partition.replicas)} is alive")


def balance_leaders(situation: Situation) -> Outcome:
    """Give leaderships back to preferred replicas that are in sync again."""
    planner = PartitionPlanner(situation.image, situation.settings)
    for topic, index in planner.select(lambda partition: partition.leader != partition.preferred_leader):
        if len(planner.records) == ELECTIONS_MAX:
            break
        planner.change(topic, index, topic.partitions[index], Election.PREFERRED)
    return Outcome(Decision(records=planner.records), has_more=len(planner.records) == ELECTIONS_MAX)


def recover_uncleanly(situation: Situation) -> Outcome:
    """Elect any replica that is alive, where nobody else can lead and the topic allows what that may cost."""
    planner = PartitionPlanner(situation.image, situation.settings)
    for topic, index in planner.select(lambda partition: not partition.has_leader):
        if len(planner.records) == ELECTIONS_MAX:
            break
        if planner.allowed_election(topic) is Election.UNCLEAN:
            planner.change(topic, index, topic.partitions[index], Election.UNCLEAN)
    return Outcome(Decision(records=planner.records), has_more=len(planner.records) == ELECTIONS_MAX)


def _refuse(request: ElectLeadersRequest, error: ApiError, version: int) -> Message:
    """The first version has a code for each partition only."""
    results = [
        ReplicaElectionResult(
            topic=asked.topic,
            partition_result=[
                PartitionResult(partition_id=index, error_code=error.code, error_message=str(error))
                for index in asked.partitions
            ],
        )
        for asked in request.topic_partitions or []
    ]
    error_code = error.code if version >= 1 else 0
    return ElectLeadersResponse(throttle_time_ms=0, error_code=error_code, replica_election_results=results)


OPERATIONS: Mapping[type[Message], Operation] = {
    ElectLeadersRequest: Operation(elect_leaders, _refuse, needs=AclOperation.ALTER)
}

BALANCE_LEADERS = PeriodicTask(
    "balance leaders", lambda settings: settings.leader_imbalance_check_interval_ms, balance_leaders
)
RECOVER_UNCLEANLY = PeriodicTask(
    "recover uncleanly", lambda settings: settings.unclean_election_check_interval_ms, recover_uncleanly
)
