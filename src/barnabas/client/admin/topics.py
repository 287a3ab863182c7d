"""Topics: which there are and what they look like, new ones, more partitions, and the end of some."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from barnabas.client.cluster import Cluster, Target
from barnabas.client.errors import ClientError, check_code
from barnabas.client.outcomes import Outcomes, find_error, gather, unanswered
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
)
from barnabas.protocol.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from barnabas.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse, DeleteTopicState
from barnabas.protocol.messages.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponseTopic,
    RequestCursor,
    TopicRequest,
)
from barnabas.protocol.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseTopic,
)
from barnabas.protocol.uuid import ZERO_UUID, Uuid

PARTITIONS_PER_RESPONSE: Final = 2_000
_CLUSTER_DEFAULT: Final = -1


@dataclass(frozen=True, slots=True)
class TopicListing:
    name: str
    topic_id: Uuid
    is_internal: bool


@dataclass(frozen=True, slots=True)
class PartitionDescription:
    """`elr` and `last_known_elr` are None where the node that was asked does not tell."""

    index: int
    leader_id: int | None
    replicas: Sequence[int]
    isr: Sequence[int]
    elr: Sequence[int] | None = None
    last_known_elr: Sequence[int] | None = None


@dataclass(frozen=True, slots=True)
class TopicDescription:
    name: str
    topic_id: Uuid
    partitions: Sequence[PartitionDescription]


@dataclass(frozen=True, slots=True)
class NewTopic:
    """A topic to create: so many partitions and replicas, or as the cluster has it by default, or right these."""

    name: str
    partitions: int | None = None
    replication_factor: int | None = None
    assignment: Mapping[int, Sequence[int]] = field(default_factory=dict)
    configs: Mapping[str, str] = field(default_factory=dict)


def list_topics(cluster: Cluster) -> list[TopicListing]:
    request = MetadataRequest(topics=None, allow_auto_topic_creation=False)

    def read(response: MetadataResponse) -> list[TopicListing]:
        check_code(response.error_code)
        return [TopicListing(topic.name or "", topic.topic_id, topic.is_internal) for topic in response.topics]

    return cluster.call("listTopics", lambda _: request, MetadataResponse, read, is_for_brokers=True)


def describe_topics(
    cluster: Cluster, names: Iterable[str], *, partitions_per_response: int = PARTITIONS_PER_RESPONSE
) -> dict[str, TopicDescription | ClientError]:
    """By name, in the order of the names. The partitions come page by page from a node that has pages."""
    asked = sorted(set(names))
    try:
        return _describe_by_pages(cluster, asked, partitions_per_response)
    except ClientError as error:
        if error.code != ErrorCode.UNSUPPORTED_VERSION:
            raise
    return _describe_by_metadata(cluster, asked)


def describe_topic_by_id(cluster: Cluster, topic_id: Uuid) -> TopicDescription:
    request = MetadataRequest(
        topics=[MetadataRequestTopic(topic_id=topic_id, name=None)], allow_auto_topic_creation=False
    )

    def read(response: MetadataResponse) -> TopicDescription:
        check_code(response.error_code)
        (topic,) = response.topics
        check_code(topic.error_code)
        return _read_metadata_topic(topic)

    return cluster.call("describeTopicsWithIds", lambda _: request, MetadataResponse, read, is_for_brokers=True)


def create_topics(cluster: Cluster, topics: Sequence[NewTopic]) -> Outcomes[str]:
    wanted = [_creatable(topic) for topic in topics]

    def build(timeout_ms: int) -> CreateTopicsRequest:
        return CreateTopicsRequest(topics=wanted, timeout_ms=timeout_ms, validate_only=False)

    def read(response: CreateTopicsResponse) -> Outcomes[str]:
        results = ((each.name, each.error_code, each.error_message) for each in response.topics)
        return gather((topic.name for topic in topics), results)

    return cluster.call("createTopics", build, CreateTopicsResponse, read, to=Target.CONTROLLER, is_for_brokers=True)


def delete_topics(cluster: Cluster, names: Sequence[str]) -> Outcomes[str]:
    wanted = [DeleteTopicState(name=name, topic_id=ZERO_UUID) for name in names]

    def build(timeout_ms: int) -> DeleteTopicsRequest:
        return DeleteTopicsRequest(topics=wanted, timeout_ms=timeout_ms)

    def read(response: DeleteTopicsResponse) -> Outcomes[str]:
        results = ((each.name or "", each.error_code, each.error_message) for each in response.responses)
        return gather(names, results)

    return cluster.call("deleteTopics", build, DeleteTopicsResponse, read, to=Target.CONTROLLER, is_for_brokers=True)


def create_partitions(
    cluster: Cluster, counts: Mapping[str, int], assignments: Mapping[str, Sequence[Sequence[int]]] | None = None
) -> Outcomes[str]:
    """Raise the number of partitions to `counts`; `assignments` has the replicas of those that are new."""
    given = assignments or {}
    topics = [
        CreatePartitionsTopic(
            name=name,
            count=count,
            assignments=[CreatePartitionsAssignment(broker_ids=list(brokers)) for brokers in given[name]]
            if name in given
            else None,
        )
        for name, count in counts.items()
    ]

    def build(timeout_ms: int) -> CreatePartitionsRequest:
        return CreatePartitionsRequest(topics=topics, timeout_ms=timeout_ms, validate_only=False)

    def read(response: CreatePartitionsResponse) -> Outcomes[str]:
        return gather(counts, ((each.name, each.error_code, each.error_message) for each in response.results))

    return cluster.call(
        "createPartitions", build, CreatePartitionsResponse, read, to=Target.CONTROLLER, is_for_brokers=True
    )


def _creatable(topic: NewTopic) -> CreatableTopic:
    return CreatableTopic(
        name=topic.name,
        num_partitions=_CLUSTER_DEFAULT if topic.partitions is None else topic.partitions,
        replication_factor=_CLUSTER_DEFAULT if topic.replication_factor is None else topic.replication_factor,
        assignments=[
            CreatableReplicaAssignment(partition_index=index, broker_ids=list(brokers))
            for index, brokers in topic.assignment.items()
        ],
        configs=[CreatableTopicConfig(name=name, value=value) for name, value in topic.configs.items()],
    )


def _describe_by_pages(
    cluster: Cluster, names: Sequence[str], partitions_per_response: int
) -> dict[str, TopicDescription | ClientError]:
    found: dict[str, TopicDescription | ClientError] = {}
    rest, cursor = list(names), None
    while rest:
        request = DescribeTopicPartitionsRequest(
            topics=[TopicRequest(name=name) for name in rest],
            response_partition_limit=partitions_per_response,
            cursor=cursor,
        )
        page = _ask_page(cluster, request)
        for topic in page.topics:
            _take_in(topic, found)
        after = page.next_cursor
        if after is None:
            break
        rest = [name for name in rest if name >= after.topic_name]
        cursor = RequestCursor(topic_name=after.topic_name, partition_index=after.partition_index)
    return {name: found.get(name, unanswered(name)) for name in names}


def _ask_page(cluster: Cluster, request: DescribeTopicPartitionsRequest) -> DescribeTopicPartitionsResponse:
    return cluster.call(
        "describeTopicPartitions",
        lambda _: request,
        DescribeTopicPartitionsResponse,
        lambda response: response,
        is_for_brokers=True,
    )


def _take_in(topic: DescribeTopicPartitionsResponseTopic, found: dict[str, TopicDescription | ClientError]) -> None:
    name = topic.name or ""
    error = find_error(topic.error_code)
    if error is not None:
        found[name] = error
        return
    partitions = [
        PartitionDescription(
            index=each.partition_index,
            leader_id=_leader(each.leader_id),
            replicas=each.replica_nodes,
            isr=each.isr_nodes,
            elr=each.eligible_leader_replicas,
            last_known_elr=each.last_known_elr,
        )
        for each in topic.partitions
    ]
    before = found.get(name)
    if isinstance(before, TopicDescription):
        partitions = [*before.partitions, *partitions]
    found[name] = TopicDescription(name, topic.topic_id, partitions)


def _describe_by_metadata(cluster: Cluster, names: Sequence[str]) -> dict[str, TopicDescription | ClientError]:
    request = MetadataRequest(
        topics=[MetadataRequestTopic(name=name) for name in names], allow_auto_topic_creation=False
    )

    def read(response: MetadataResponse) -> dict[str, TopicDescription | ClientError]:
        check_code(response.error_code)
        return {
            topic.name or "": find_error(topic.error_code) or _read_metadata_topic(topic) for topic in response.topics
        }

    found = cluster.call("describeTopics", lambda _: request, MetadataResponse, read, is_for_brokers=True)
    return {name: found.get(name, unanswered(name)) for name in names}


def _read_metadata_topic(topic: MetadataResponseTopic) -> TopicDescription:
    partitions = [
        PartitionDescription(
            index=each.partition_index,
            leader_id=_leader(each.leader_id),
            replicas=each.replica_nodes,
            isr=each.isr_nodes,
        )
        for each in sorted(topic.partitions, key=lambda each: each.partition_index)
    ]
    return TopicDescription(topic.name or "", topic.topic_id, partitions)


def _leader(leader_id: int) -> int | None:
    return None if leader_id < 0 else leader_id
