"""AssignReplicasToDirs: a broker tells in which of its directories it has put replicas (KIP-858)."""

from __future__ import annotations

from collections.abc import Mapping

from barnabas.controller.brokers import check_broker_epoch, is_online
from barnabas.controller.decision import Decision, Operation, RequestContext, Situation
from barnabas.controller.errors import UnknownTopicId, UnknownTopicOrPartition
from barnabas.controller.partition_change import Election
from barnabas.controller.planner import PartitionPlanner
from barnabas.metadata.topics import Partition, Topic
from barnabas.protocol.errors import ApiError, NotLeaderOrFollower
from barnabas.protocol.messages.assign_replicas_to_dirs import (
    AssignReplicasToDirsRequest,
    AssignReplicasToDirsResponse,
    ResponseDirectoryData,
    ResponsePartitionData,
    ResponseTopicData,
)
from barnabas.protocol.schema import Message
from barnabas.protocol.uuid import Uuid
from barnabas.security.acls import AclOperation


def assign_replicas(situation: Situation, request: AssignReplicasToDirsRequest, _context: RequestContext) -> Decision:
    """Write down where replicas are. In a directory that is offline they are out of sync from now on."""
    broker = check_broker_epoch(situation.image, request.broker_id, request.broker_epoch)
    planner = PartitionPlanner(situation.image, situation.settings)
    offline: list[tuple[Topic, int]] = []
    directories = []
    for asked_directory in request.directories:
        topics = []
        for asked_topic in asked_directory.topics:
            topic = situation.image.topics.by_id.get(asked_topic.topic_id)
            partitions = []
            for asked in asked_topic.partitions:
                index, code = asked.partition_index, 0
                try:
                    if topic is None:
                        raise UnknownTopicId(f"there is no topic with id {asked_topic.topic_id}")
                    _assign(planner, topic, index, broker.id, asked_directory.id)
                    if not is_online(broker, asked_directory.id):
                        offline.append((topic, index))
                except ApiError as error:
                    code = error.code
                partitions.append(ResponsePartitionData(partition_index=index, error_code=code))
            topics.append(ResponseTopicData(topic_id=asked_topic.topic_id, partitions=partitions))
        directories.append(ResponseDirectoryData(id=asked_directory.id, topics=topics))
    records = planner.records
    if offline:
        later = situation.after(records)
        leaving = PartitionPlanner(later.image, later.settings, leaving={broker.id})
        leaving.take_out(broker.id, ((later.image.topics.by_id[topic.id], index) for topic, index in offline))
        records = [*records, *leaving.records]
    return Decision(AssignReplicasToDirsResponse(throttle_time_ms=0, error_code=0, directories=directories), records)


def _assign(planner: PartitionPlanner, topic: Topic, index: int, broker_id: int, directory: Uuid) -> None:
    partition = planner.partition(topic, index)
    if partition is None:
        raise UnknownTopicOrPartition(f"topic {topic.name} has no partition {index}")
    if broker_id not in partition.replicas:
        raise NotLeaderOrFollower(f"broker {broker_id} is to have no replica of {topic.name}-{index}")
    planner.change(topic, index, _moved(partition, broker_id, directory), Election.ONLINE)


def _moved(partition: Partition, broker_id: int, directory: Uuid) -> Partition:
    directories = list(partition.directories)
    directories[partition.replicas.index(broker_id)] = directory
    return partition._replace(directories=tuple(directories))


def _refuse(_request: AssignReplicasToDirsRequest, error: ApiError, _version: int) -> Message:
    return AssignReplicasToDirsResponse(throttle_time_ms=0, error_code=error.code, directories=[])


OPERATIONS: Mapping[type[Message], Operation] = {
    AssignReplicasToDirsRequest: Operation(assign_replicas, _refuse, needs=AclOperation.CLUSTER_ACTION)
}
