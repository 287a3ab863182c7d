"""What `kafka-consumer-groups --reset-offsets` does to groups without members, and how it shows that.

Nothing is committed unless it is asked for; what would be is shown all the same.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TextIO

from barnabas.cli.grouping.failures import WRAPPED, GroupCommandError, failure_line, told_by_name
from barnabas.cli.grouping.reset_plan import Offsets, Plan
from barnabas.cli.grouping.selection import partitions_of, split_topics
from barnabas.cli.grouping.target_offsets import Way, committed_offsets
from barnabas.cli.java_order import in_hash_order, partition_hash, string_hash
from barnabas.cli.options import UsageError
from barnabas.client.admin.group_offsets import alter_group_offsets
from barnabas.client.admin.groups import describe_consumer_groups
from barnabas.client.admin.topics import describe_topics
from barnabas.client.cluster import Cluster
from barnabas.client.errors import ClientError
from barnabas.client.outcomes import raise_first
from barnabas.log.checkpoint import TopicPartition
from barnabas.protocol.errors import ErrorCode

_INACTIVE: Final = ("Empty", "Dead")
_WIDTH_MIN: Final = 15


@dataclass(frozen=True, slots=True)
class Scope:
    """The partitions to reset: those of topics, all that have an offset, or none but those of a plan."""

    topics: Sequence[str] = ()
    has_all: bool = False
    has_plan: bool = False

    def partitions_of_group(self, cluster: Cluster, group_id: str) -> list[TopicPartition]:
        if self.has_all:
            return list(committed_offsets(cluster, group_id))
        if not self.topics and not self.has_plan:
            raise UsageError("One of the reset scopes should be defined: --all-topics, --topic.", shows_help=True)
        partitions, topics = split_topics(self.topics)
        try:
            return list(dict.fromkeys([*partitions, *partitions_of(cluster, topics)]))
        except ClientError as error:
            raise GroupCommandError(str(error)) from error


def reset_groups(
    cluster: Cluster, group_ids: Sequence[str], scope: Scope, way: Way, out: TextIO, *, is_executed: bool
) -> Plan:
    """The new offsets of the groups, in the order in which Kafka's tool prints them; none for one that has members."""
    described = describe_consumer_groups(cluster, group_ids)
    plan: Plan = {}
    for group_id in in_hash_order(described, string_hash):
        group = described[group_id]
        if isinstance(group, ClientError):
            # A group that is not there comes about with its offsets.
            if group.code != ErrorCode.GROUP_ID_NOT_FOUND:
                raise GroupCommandError(f"{WRAPPED}{failure_line(group)}") from group
        elif group.state not in _INACTIVE:
            print(
                f"\nError: Assignments can only be reset if the group '{group_id}' is inactive, "
                f"but the current state is {group.state}.",
                file=out,
            )
            plan[group_id] = {}
            continue
        plan[group_id] = _reset_group(cluster, group_id, scope, way, is_executed=is_executed)
    return plan


def print_plan(plan: Plan, out: TextIO) -> None:
    group_width = max([_WIDTH_MIN, *map(len, plan)])
    topic_width = max([_WIDTH_MIN, *(len(partition.topic) for offsets in plan.values() for partition in offsets)])
    rows = [("GROUP", "TOPIC", "PARTITION", "NEW-OFFSET")] if plan else []
    rows += [
        (group_id, topic, str(index), str(offset))
        for group_id, offsets in plan.items()
        for (topic, index), offset in offsets.items()
    ]
    print(
        "",
        *(f"{group:{group_width}} {topic:{topic_width}} {index:10} {offset}" for group, topic, index, offset in rows),
        sep="\n",
        file=out,
    )


def _reset_group(cluster: Cluster, group_id: str, scope: Scope, way: Way, *, is_executed: bool) -> Offsets:
    partitions = scope.partitions_of_group(cluster, group_id)
    _check_partitions(cluster, partitions)
    found = way(group_id, partitions)
    offsets = {partition: found[partition] for partition in in_hash_order(found, partition_hash)}
    if is_executed:
        _commit(cluster, group_id, offsets)
    return offsets


def _check_partitions(cluster: Cluster, partitions: Collection[TopicPartition]) -> None:
    with told_by_name(WRAPPED):
        topics = raise_first(describe_topics(cluster, list(dict.fromkeys(each.topic for each in partitions))))
    leaders = {
        TopicPartition(name, each.index): each.leader_id for name, topic in topics.items() for each in topic.partitions
    }
    _refuse((each for each in partitions if each not in leaders), "do not exist")
    _refuse((each for each in partitions if leaders[each] is None), "have no leader")


def _refuse(partitions: Iterable[TopicPartition], why: str) -> None:
    names = ",".join(map(str, partitions))
    if names:
        raise GroupCommandError(f'The partitions "{names}" {why}')


def _commit(cluster: Cluster, group_id: str, offsets: Offsets) -> None:
    try:
        outcomes = alter_group_offsets(cluster, group_id, offsets)
    except ClientError as error:
        raise GroupCommandError(str(error)) from error
    failed = [str(partition) for partition, error in outcomes.items() if error is not None]
    if failed:
        raise GroupCommandError(f"Failed altering group offsets for the following partitions: [{', '.join(failed)}]")
