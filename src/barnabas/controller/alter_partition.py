"""AlterPartition: a leader reports who is in sync with it, and whether it has recovered from an unclean election."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from barnabas.controller.brokers import check_broker_epoch
from barnabas.controller.decision import Decision, Operation, RequestContext, Situation
from barnabas.controller.errors import (
    IneligibleReplica,
    InvalidRequest,
    InvalidUpdateVersion,
    NewLeaderElected,
    NotController,
    UnknownTopicId,
    UnknownTopicOrPartition,
)
from barnabas.controller.planner import PartitionPlanner
from barnabas.metadata.topics import LeaderRecoveryState, Partition, Topic
from barnabas.protocol.errors import ApiError, FencedLeaderEpoch
from barnabas.protocol.messages.alter_partition import (
    AlterPartitionRequest,
    AlterPartitionResponse,
    BrokerState,
    RequestPartitionData,
    ResponsePartitionData,
    ResponseTopicData,
)
from barnabas.protocol.schema import Message
from barnabas.security.acls import AclOperation

# From this version on the ISR comes with the epochs of its brokers.
HAS_BROKER_EPOCHS: Final = 3
ANY_EPOCH: Final = -1


def alter_partition(situation: Situation, request: AlterPartitionRequest, context: RequestContext) -> Decision:
    """Take over what leaders report, partition by partition."""
    check_broker_epoch(situation.image, request.broker_id, request.broker_epoch)
    planner = PartitionPlanner(situation.image, situation.settings)
    topics = []
    for asked_topic in request.topics:
        topic = situation.image.topics.by_id.get(asked_topic.topic_id)
        partitions = []
        for asked in asked_topic.partitions:
            try:
                if topic is None:
                    raise UnknownTopicId(f"there is no topic with id {asked_topic.topic_id}")
                isr = asked.new_isr_with_epochs
                if context.version < HAS_BROKER_EPOCHS:
                    isr = [BrokerState(broker_id=broker_id) for broker_id in asked.new_isr]
                partitions.append(_altered(situation, planner, request.broker_id, topic, asked, isr))
            except ApiError as error:
                partitions.append(_refused(asked, error))
        topics.append(ResponseTopicData(topic_id=asked_topic.topic_id, partitions=partitions))
    return Decision(AlterPartitionResponse(throttle_time_ms=0, error_code=0, topics=topics), planner.records)


def _altered(
    situation: Situation,
    planner: PartitionPlanner,
    broker_id: int,
    topic: Topic,
    asked: RequestPartitionData,
    isr: Sequence[BrokerState],
) -> ResponsePartitionData:
    partition = planner.partition(topic, asked.partition_index)
    if partition is None:
        raise UnknownTopicOrPartition(f"topic {topic.name} has no partition {asked.partition_index}")
    _check_epochs(broker_id, partition, asked)
    members = tuple(member.broker_id for member in isr)
    state = _recovery_state(partition, asked, members)
    _check_members(situation, partition, isr)
    changed = planner.change(
        topic,
        asked.partition_index,
        partition._replace(isr=members, leader_recovery_state=state),
        planner.allowed_election(topic),
    )
    if changed is not None:
        # A change of the ISR may be the end of a reassignment, and with that of this leader's time. It is made all
        # the same; the code only tells the leader to look for what it missed.
        if changed.leader != broker_id:
            raise NewLeaderElected(f"broker {changed.leader} leads from now on")
        partition = changed
    return ResponsePartitionData(
        partition_index=asked.partition_index,
        error_code=0,
        leader_id=partition.leader,
        leader_epoch=partition.leader_epoch,
        isr=list(partition.isr),
        leader_recovery_state=partition.leader_recovery_state,
        partition_epoch=partition.partition_epoch,
    )


def _check_epochs(broker_id: int, partition: Partition, asked: RequestPartitionData) -> None:
    if asked.leader_epoch > partition.leader_epoch or asked.partition_epoch > partition.partition_epoch:
        # The broker has seen records that this controller has not, so another one must be active by now.
        raise NotController("the broker knows later epochs than this controller")
    if asked.leader_epoch < partition.leader_epoch:
        raise FencedLeaderEpoch(f"the leader epoch is {partition.leader_epoch}, not {asked.leader_epoch}")
    if broker_id != partition.leader:
        raise InvalidRequest(f"broker {partition.leader} leads, not {broker_id}")
    if asked.partition_epoch < partition.partition_epoch:
        raise InvalidUpdateVersion(f"the partition epoch is {partition.partition_epoch}, not {asked.partition_epoch}")


def _recovery_state(partition: Partition, asked: RequestPartitionData, members: tuple[int, ...]) -> LeaderRecoveryState:
    if len(set(members)) < len(members) or not set(members) <= set(partition.replicas):
        raise InvalidRequest(f"an ISR of {list(members)} is not made of the replicas {list(partition.replicas)}")
    if partition.leader not in members:
        raise InvalidRequest(f"a leader is in its own ISR, but {partition.leader} is not in {list(members)}")
    try:
        state = LeaderRecoveryState(asked.leader_recovery_state)
    except ValueError:
        raise InvalidRequest(f"there is no leader recovery state {asked.leader_recovery_state}") from None
    if state is LeaderRecoveryState.RECOVERING:
        if len(members) > 1:
            raise InvalidRequest("nobody is in sync with a leader that recovers from an unclean election")
        if partition.leader_recovery_state is LeaderRecoveryState.RECOVERED:
            raise InvalidRequest("a leader that has recovered does not recover again in the same epoch")
    return state


def _check_members(situation: Situation, partition: Partition, isr: Sequence[BrokerState]) -> None:
    """Nobody joins the ISR who is gone, or whose caught-up incarnation is gone (KIP-903)."""
    for member in isr:
        broker = situation.image.cluster.brokers.get(member.broker_id)
        if broker is None:
            reason = "is not registered"
        elif broker.is_in_controlled_shutdown:
            reason = "is shutting down"
        elif broker.is_fenced:
            reason = "is fenced"
        elif member.broker_epoch not in (ANY_EPOCH, broker.epoch):
            reason = f"is in epoch {broker.epoch}, not {member.broker_epoch}"
        else:
            continue
        raise IneligibleReplica(f"broker {member.broker_id} cannot be in the ISR of {partition.leader}: it {reason}")


def _refused(asked: RequestPartitionData, error: ApiError) -> ResponsePartitionData:
    return ResponsePartitionData(
        partition_index=asked.partition_index,
        error_code=error.code,
        leader_id=0,
        leader_epoch=0,
        isr=[],
        partition_epoch=0,
    )


def _refuse(_request: AlterPartitionRequest, error: ApiError, _version: int) -> Message:
    return AlterPartitionResponse(throttle_time_ms=0, error_code=error.code, topics=[])


OPERATIONS: Mapping[type[Message], Operation] = {
    AlterPartitionRequest: Operation(alter_partition, _refuse, needs=AclOperation.CLUSTER_ACTION)
}
