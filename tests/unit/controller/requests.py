"""Requests in short, and the codes of their answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from barnabas.metadata.configs import USER, ClientQuotas, QuotaEntity, QuotaEntityPart
from barnabas.metadata.sorted_map import SortedMap
from barnabas.protocol.messages.alter_partition import (
    AlterPartitionRequest,
    AlterPartitionResponse,
    BrokerState,
    RequestPartitionData,
    RequestTopicData,
    ResponsePartitionData,
)
from barnabas.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartition,
    ReassignableTopic,
)
from barnabas.protocol.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from barnabas.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from barnabas.security.mutation_quotas import MUTATION_RATE, MutationQuotas
from unit.controller.controlled_cluster import ControlledCluster


def mutation_quotas(*, rate: float, burst: int) -> MutationQuotas:
    """A quota for everybody, whose windows hold so many partitions."""
    everybody: QuotaEntity = (QuotaEntityPart(USER, True, ""),)
    quotas: ClientQuotas = SortedMap({everybody: SortedMap({MUTATION_RATE: rate})})
    return MutationQuotas(lambda: quotas, window_num=burst // int(rate), window_size_seconds=1)


def new_topic(
    name: str,
    partitions: int = 1,
    replicas: int = 1,
    *,
    assignments: Sequence[Sequence[int]] = (),
    configs: Mapping[str, str | None] | None = None,
) -> CreatableTopic:
    return CreatableTopic(
        name=name,
        num_partitions=-1 if assignments else partitions,
        replication_factor=-1 if assignments else replicas,
        assignments=[
            CreatableReplicaAssignment(partition_index=index, broker_ids=list(broker_ids))
            for index, broker_ids in enumerate(assignments)
        ],
        configs=[CreatableTopicConfig(name=key, value=value) for key, value in (configs or {}).items()],
    )


def create_topics(
    cluster: ControlledCluster, *topics: CreatableTopic, validate_only: bool = False, **context: Any
) -> list[CreatableTopicResult]:
    request = CreateTopicsRequest(topics=list(topics), validate_only=validate_only)
    return cluster.ask(request, CreateTopicsResponse, **context).topics


def create_topic(cluster: ControlledCluster, name: str, assignments: Sequence[Sequence[int]], **fields: Any) -> None:
    (result,) = create_topics(cluster, new_topic(name, assignments=assignments, **fields))
    assert result.error_code == 0, result.error_message


def alter_isr(
    cluster: ControlledCluster,
    topic: str,
    isr: Sequence[int],
    *,
    index: int = 0,
    broker_id: int | None = None,
    broker_epochs: Mapping[int, int] | None = None,
    **fields: Any,
) -> ResponsePartitionData:
    """What a leader would report, in the epochs that it knows."""
    found = cluster.image.topics.by_name(topic)
    assert found is not None
    partition = found.partitions[index]
    leader = partition.leader if broker_id is None else broker_id
    epochs = {**cluster.epochs, **(broker_epochs or {})}
    values: dict[str, Any] = {
        "partition_index": index,
        "leader_epoch": partition.leader_epoch,
        "partition_epoch": partition.partition_epoch,
        "new_isr_with_epochs": [BrokerState(broker_id=each, broker_epoch=epochs.get(each, -1)) for each in isr],
    }
    request = AlterPartitionRequest(
        broker_id=leader,
        broker_epoch=cluster.epochs[leader],
        topics=[RequestTopicData(topic_id=found.id, partitions=[RequestPartitionData(**values | fields)])],
    )
    response = cluster.ask(request, AlterPartitionResponse)
    assert response.error_code == 0
    return response.topics[0].partitions[0]


def reassign(
    cluster: ControlledCluster, topic: str, replicas: Sequence[int] | None, *, index: int = 0, **fields: Any
) -> int:
    target = ReassignablePartition(partition_index=index, replicas=None if replicas is None else list(replicas))
    request = AlterPartitionReassignmentsRequest(topics=[ReassignableTopic(name=topic, partitions=[target])], **fields)
    response = cluster.ask(request, AlterPartitionReassignmentsResponse)
    return response.responses[0].partitions[0].error_code


def set_configs(
    cluster: ControlledCluster,
    resource_type: int,
    name: str,
    configs: Mapping[str, str | None],
    *,
    operation: int | None = None,
    validate_only: bool = False,
    **context: Any,
) -> int:
    """Set, or delete where there is no value, unless another operation is asked for."""
    changes = [
        AlterableConfig(name=key, value=value, config_operation=int(value is None) if operation is None else operation)
        for key, value in configs.items()
    ]
    request = IncrementalAlterConfigsRequest(
        resources=[AlterConfigsResource(resource_type=resource_type, resource_name=name, configs=changes)],
        validate_only=validate_only,
    )
    return cluster.ask(request, IncrementalAlterConfigsResponse, **context).responses[0].error_code
