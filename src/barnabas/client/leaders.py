"""Calls about partitions, each of which only its leader answers.

The leaders are looked up, every leader is asked for its partitions in one request, and what a leader refuses for the
moment is looked up and asked again until the time of a call is over.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from barnabas.client.cluster import Cluster
from barnabas.client.errors import ClientError, check_code
from barnabas.client.outcomes import find_error, unanswered
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
    pending = list(dict.fromkeys(partitions))
    outcomes: Found[T] = dict.fromkeys(pending, unanswered(name))
    deadline = cluster.deadline()
    failures = 0
    while True:
        by_leader, unled = _find_leaders(cluster, name, pending)
        outcomes |= unled
        for leader, led in by_leader.items():
            outcomes |= _ask(cluster, name, leader, led, build, response, read)
        pending = [partition for partition in pending if _is_worth_retrying(outcomes[partition])]
        if not pending or deadline.is_over:
            return outcomes
        failures += 1
        cluster.wait(failures, deadline)


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
) -> tuple[Mapping[int, Sequence[TopicPartition]], dict[TopicPartition, ClientError]]:
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

    leaders = cluster.call(name, lambda _: request, MetadataResponse, read, is_for_brokers=True)
    by_leader: defaultdict[int, list[TopicPartition]] = defaultdict(list)
    unled = {}
    for partition in partitions:
        leader = leaders[partition]
        if isinstance(leader, ClientError):
            unled[partition] = leader
        else:
            by_leader[leader].append(partition)
    return by_leader, unled


def _is_worth_retrying(outcome: object) -> bool:
    return isinstance(outcome, ClientError) and outcome.code.is_retriable
