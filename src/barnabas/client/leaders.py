"""Calls about partitions, each of which only its leader answers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from barnabas.client.cluster import Cluster
from barnabas.client.errors import ClientError, check_code
from barnabas.client.outcomes import find_error, unanswered
from barnabas.client.owners import ask_owners
from barnabas.log.checkpoint import TopicPartition
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from barnabas.protocol.schema import Message

T = TypeVar("T")
R = TypeVar("R", bound=Message)

Found = dict[TopicPartition, T | ClientError]


def ask_leaders(
    cluster: Cluster,
    name: str,
    partitions: Iterable[TopicPartition],
    build: Callable[[Sequence[TopicPartition], int], Message],
    response: type[R],
    read: Callable[[R], Found[T]],
) -> Found[T]:
    """What `read` finds for each partition in the answers of the leaders, or why there is nothing.

    `build` makes the request of one leader, of its partitions and the milliseconds that it may take.
    """
    return ask_owners(
        cluster,
        name,
        partitions,
        lambda pending: _find_leaders(cluster, name, pending),
        lambda leader, led: _ask(cluster, name, leader, led, build, response, read),
    )


def group_by_topic(partitions: Iterable[TopicPartition]) -> dict[str, list[int]]:
    """The numbers of the partitions of each topic, as most requests want them."""
    grouped: defaultdict[str, list[int]] = defaultdict(list)
    for topic, partition in partitions:
        grouped[topic].append(partition)
    return dict(grouped)


def _ask(
    cluster: Cluster,
    name: str,
    leader: int,
    led: Sequence[TopicPartition],
    build: Callable[[Sequence[TopicPartition], int], Message],
    response: type[R],
    read: Callable[[R], Found[T]],
) -> Found[T]:
    try:
        answered = cluster.call(name, lambda timeout_ms: build(led, timeout_ms), response, read, to=leader)
    except ClientError as error:
        return dict.fromkeys(led, error)
    return {partition: answered.get(partition, unanswered(partition)) for partition in led}


def _find_leaders(
    cluster: Cluster, name: str, partitions: Sequence[TopicPartition]
) -> dict[TopicPartition, int | ClientError]:
    topics = [MetadataRequestTopic(name=topic) for topic in group_by_topic(partitions)]
    request = MetadataRequest(topics=topics, allow_auto_topic_creation=False)

    def read(response: MetadataResponse) -> dict[TopicPartition, int | ClientError]:
        check_code(response.error_code)
        found: dict[TopicPartition, int | ClientError] = {}
        errors = {topic.name: find_error(topic.error_code) for topic in response.topics}
        for topic in response.topics:
            for each in topic.partitions:
                error = find_error(each.error_code)
                found[TopicPartition(topic.name or "", each.partition_index)] = error or each.leader_id
        for partition in partitions:
            unknown = errors.get(partition.topic) or ClientError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
            found.setdefault(partition, unknown)
        return found

    return cluster.call(name, lambda _: request, MetadataResponse, read, is_for_brokers=True)
