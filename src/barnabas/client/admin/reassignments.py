"""Partitions that move to other brokers: which do, the start and the end of such moves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from barnabas.client.cluster import Cluster, Target
from barnabas.client.errors import check_code
from barnabas.client.leaders import group_by_topic
from barnabas.client.outcomes import Outcomes, gather
from barnabas.log.checkpoint import TopicPartition
from barnabas.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartition,
    ReassignableTopic,
)
from barnabas.protocol.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
    ListPartitionReassignmentsTopics,
)


class Reassignment(NamedTuple):
    """All replicas while a partition moves, those that come and those that go among them."""

    replicas: Sequence[int]
    adding: Sequence[int]
    removing: Sequence[int]


def list_partition_reassignments(
    cluster: Cluster, partitions: Iterable[TopicPartition] | None = None
) -> dict[TopicPartition, Reassignment]:
    """Those under way, of these partitions or of all."""
    topics = (
        None
        if partitions is None
        else [
            ListPartitionReassignmentsTopics(name=topic, partition_indexes=indexes)
            for topic, indexes in group_by_topic(partitions).items()
        ]
    )

    def build(timeout_ms: int) -> ListPartitionReassignmentsRequest:
        return ListPartitionReassignmentsRequest(timeout_ms=timeout_ms, topics=topics)

    def read(response: ListPartitionReassignmentsResponse) -> dict[TopicPartition, Reassignment]:
        check_code(response.error_code, response.error_message)
        return {
            TopicPartition(topic.name, each.partition_index): Reassignment(
                each.replicas, each.adding_replicas, each.removing_replicas
            )
            for topic in response.topics
            for each in topic.partitions
        }

    return cluster.call(
        "listPartitionReassignments", build, ListPartitionReassignmentsResponse, read, to=Target.CONTROLLER
    )


def alter_partition_reassignments(
    cluster: Cluster,
    targets: Mapping[TopicPartition, Sequence[int] | None],
    *,
    allows_replication_factor_change: bool = True,
) -> Outcomes[TopicPartition]:
    """Let each partition move to its new replicas, or end its move where it has none."""
    topics = [
        ReassignableTopic(
            name=topic,
            partitions=[
                ReassignablePartition(partition_index=index, replicas=_copied(targets[TopicPartition(topic, index)]))
                for index in indexes
            ],
        )
        for topic, indexes in group_by_topic(sorted(targets)).items()
    ]

    def build(timeout_ms: int) -> AlterPartitionReassignmentsRequest:
        return AlterPartitionReassignmentsRequest(
            timeout_ms=timeout_ms, allow_replication_factor_change=allows_replication_factor_change, topics=topics
        )

    def read(response: AlterPartitionReassignmentsResponse) -> Outcomes[TopicPartition]:
        check_code(response.error_code, response.error_message)
        results = (
            (TopicPartition(topic.name, each.partition_index), each.error_code, each.error_message)
            for topic in response.responses
            for each in topic.partitions
        )
        return gather(targets, results)

    return cluster.call(
        "alterPartitionReassignments", build, AlterPartitionReassignmentsResponse, read, to=Target.CONTROLLER
    )


def _copied(replicas: Sequence[int] | None) -> list[int] | None:
    return None if replicas is None else list(replicas)
