"""Throttles of a reassignment: which replicas of a topic are held back, and how fast their brokers may copy.

They are settings, of topics and of brokers, and stay until they are cleared.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple, TextIO

from barnabas.cli.java_order import in_hash_order, string_hash
from barnabas.client.admin.cluster import describe_cluster
from barnabas.client.admin.configs import alter_configs
from barnabas.client.admin.reassignments import Reassignment
from barnabas.client.cluster import Cluster
from barnabas.client.outcomes import raise_first
from barnabas.log.checkpoint import TopicPartition
from barnabas.metadata.configs import ConfigResource, ConfigResourceType

LEADER_RATE: Final = "leader.replication.throttled.rate"
FOLLOWER_RATE: Final = "follower.replication.throttled.rate"
LOG_DIR_RATE: Final = "replica.alter.log.dirs.io.max.bytes.per.second"
LEADER_REPLICAS: Final = "leader.replication.throttled.replicas"
FOLLOWER_REPLICAS: Final = "follower.replication.throttled.replicas"


class Move(NamedTuple):
    """The brokers that a partition is copied from and to."""

    sources: frozenset[int]
    destinations: frozenset[int]


def plan_moves(
    current: Mapping[TopicPartition, Reassignment],
    targets: Mapping[TopicPartition, Sequence[int]],
    replicas: Mapping[TopicPartition, Sequence[int]],
) -> dict[TopicPartition, Move]:
    """The moves under way and those that `targets` will start; a partition that moves keeps its sources."""
    moves = {
        partition: Move(frozenset(each.replicas) - frozenset(each.adding), frozenset(each.adding))
        for partition, each in current.items()
    }
    for partition, wanted in targets.items():
        sources = moves[partition].sources if partition in moves else frozenset(replicas[partition])
        moves[partition] = Move(sources, frozenset(wanted) - sources)
    return moves


def throttle_moves(cluster: Cluster, moves: Mapping[TopicPartition, Move], bytes_per_second: int, out: TextIO) -> None:
    """Hold back what the moves copy between brokers."""
    leaders: defaultdict[str, set[str]] = defaultdict(set)
    followers: defaultdict[str, set[str]] = defaultdict(set)
    for (topic, index), move in moves.items():
        leaders[topic] |= {f"{index}:{broker_id}" for broker_id in move.sources}
        followers[topic] |= {f"{index}:{broker_id}" for broker_id in move.destinations}
    raise_first(
        alter_configs(
            cluster,
            {
                _topic(topic): {
                    LEADER_REPLICAS: ",".join(sorted(leaders[topic])),
                    FOLLOWER_REPLICAS: ",".join(sorted(followers[topic])),
                }
                for topic in leaders
            },
        )
    )
    brokers = {broker_id for move in moves.values() for broker_id in move.sources | move.destinations}
    _limit(cluster, brokers, (LEADER_RATE, FOLLOWER_RATE), bytes_per_second)
    print(f"The inter-broker throttle limit was set to {bytes_per_second} B/s", file=out)


def throttle_log_dirs(cluster: Cluster, brokers: Iterable[int], bytes_per_second: int, out: TextIO) -> None:
    """Hold back what brokers copy between their own directories."""
    _limit(cluster, brokers, (LOG_DIR_RATE,), bytes_per_second)
    print(f"The replica-alter-dir throttle limit was set to {bytes_per_second} B/s", file=out)


def clear_throttles(cluster: Cluster, entries: Sequence[tuple[TopicPartition, Sequence[int]]], out: TextIO) -> None:
    """On all brokers, because any may have been a source, and on the topics of a plan."""
    brokers = {broker.broker_id for broker in describe_cluster(cluster).brokers}
    brokers |= {broker_id for _, replicas in entries for broker_id in replicas}
    shown = ",".join(map(str, sorted(brokers)))
    print(f"Clearing broker-level throttles on broker{_plural(brokers)} {shown}", file=out)
    no_rates = dict.fromkeys((LEADER_RATE, FOLLOWER_RATE, LOG_DIR_RATE))
    raise_first(alter_configs(cluster, {_broker(broker_id): no_rates for broker_id in sorted(brokers)}))
    topics = in_hash_order({partition.topic: None for partition, _ in entries}, string_hash)
    print(f"Clearing topic-level throttles on topic{_plural(topics)} {','.join(topics)}", file=out)
    no_replicas = dict.fromkeys((LEADER_REPLICAS, FOLLOWER_REPLICAS))
    raise_first(alter_configs(cluster, {_topic(topic): no_replicas for topic in topics}))


def _limit(cluster: Cluster, brokers: Iterable[int], rates: Sequence[str], bytes_per_second: int) -> None:
    limits: dict[str, str | None] = dict.fromkeys(rates, str(bytes_per_second))
    raise_first(alter_configs(cluster, {_broker(broker_id): limits for broker_id in sorted(brokers)}))


def _broker(broker_id: int) -> ConfigResource:
    return ConfigResource(ConfigResourceType.BROKER, str(broker_id))


def _topic(name: str) -> ConfigResource:
    return ConfigResource(ConfigResourceType.TOPIC, name)


def _plural(members: Sequence[str] | set[int]) -> str:
    return "" if len(members) == 1 else "s"
