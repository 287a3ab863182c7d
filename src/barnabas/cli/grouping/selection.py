"""The groups, states and partitions that the words of a command line name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from barnabas.cli.grouping.failures import WRAPPED, told_by_name
from barnabas.cli.java_order import in_hash_order, string_hash
from barnabas.cli.options import UsageError, parse_integer
from barnabas.client.admin.groups import list_groups
from barnabas.client.admin.topics import describe_topics
from barnabas.client.cluster import Cluster
from barnabas.client.outcomes import raise_first
from barnabas.log.checkpoint import TopicPartition
from barnabas.protocol.messages.list_groups import ListedGroup

CONSUMER_TYPES: Final = ("Classic", "Consumer")
CONSUMER_PROTOCOLS: Final = ("", "consumer")
STATES: Final = (*("PreparingRebalance", "CompletingRebalance", "Stable", "Dead", "Empty", "Assigning", "Reconciling"),)


def parse_states(argument: str) -> list[str]:
    return _parse_names(argument, STATES, f"Invalid state list '{argument}'. Valid states are: ")


def parse_types(argument: str) -> list[str]:
    return _parse_names(argument, CONSUMER_TYPES, f"Invalid types list '{argument}'. Valid types are: ")


def _parse_names(argument: str, known: Iterable[str], complaint: str) -> list[str]:
    names = {name.lower(): name for name in known}
    try:
        return [names[word.strip().lower()] for word in argument.rstrip(",").split(",")]
    except KeyError:
        raise UsageError(complaint + ", ".join(names.values()), shows_help=True) from None


def find_consumer_groups(
    cluster: Cluster, *, states: Iterable[str] = (), types: Iterable[str] = CONSUMER_TYPES
) -> list[ListedGroup]:
    """The groups of consumers, in the order in which Kafka's tools list them."""
    found = {
        group.group_id: group
        for group in list_groups(cluster, states=states, types=types)
        if group.protocol_type in CONSUMER_PROTOCOLS
    }
    return [found[group_id] for group_id in in_hash_order(found, string_hash)]


def find_consumer_group_ids(cluster: Cluster) -> list[str]:
    with told_by_name(WRAPPED):
        return [group.group_id for group in find_consumer_groups(cluster)]


def split_topics(arguments: Iterable[str]) -> tuple[list[TopicPartition], list[str]]:
    """The partitions that are named one by one, `topic:0,1`, and the topics that are meant with all of theirs."""
    words = list(arguments)
    partitions = [partition for word in words if ":" in word for partition in _parse_partitions(word)]
    return partitions, [word for word in words if ":" not in word]


def partitions_of(cluster: Cluster, topics: Iterable[str]) -> list[TopicPartition]:
    """All partitions of the topics, which have to be there."""
    described = raise_first(describe_topics(cluster, list(dict.fromkeys(topics))))
    return [
        TopicPartition(topic, partition.index)
        for topic, description in described.items()
        for partition in description.partitions
    ]


def _parse_partitions(word: str) -> list[TopicPartition]:
    topic, *rest = word.rstrip(":").split(":")
    if len(rest) != 1:
        raise UsageError(f"Invalid topic arg '{word}', expected topic name and partitions", shows_help=True)
    return [TopicPartition(topic, _parse_partition(index, word)) for index in rest[0].rstrip(",").split(",")]


def _parse_partition(index: str, word: str) -> int:
    try:
        return parse_integer(index)
    except ValueError:
        raise UsageError(f"Invalid partition '{index}' specified in topic arg '{word}''", shows_help=True) from None
