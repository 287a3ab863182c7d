"""What `kafka-consumer-groups --describe` prints: offsets and lags, members, or states of groups.

A group that has no members, or is between two assignments, is mentioned on the error stream.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TextIO

from barnabas.cli.grouping.failures import WRAPPED, GroupCommandError, told_by_name
from barnabas.client.admin.group_offsets import CommittedOffset, fetch_group_offsets
from barnabas.client.admin.groups import ConsumerGroupDescription, MemberDescription, describe_consumer_groups
from barnabas.client.admin.offsets import OffsetTime, list_offsets
from barnabas.client.admin.topics import describe_topics
from barnabas.client.cluster import Cluster
from barnabas.client.outcomes import raise_first
from barnabas.log.checkpoint import TopicPartition

MISSING: Final = "-"
_REBALANCING: Final = ("PreparingRebalance", "CompletingRebalance", "Assigning", "Reconciling")
_DEAD: Final = "Dead"

# How wide columns are. Those that grow are as wide as their widest cell, if that is wider.
_WIDTHS: Final = defaultdict(
    lambda: 15,
    {
        "PARTITION": 10,
        "GROUP-INSTANCE-ID": 17,
        "CURRENT-ASSIGNMENT": 20,
        "TARGET-ASSIGNMENT": 20,
        "COORDINATOR (ID)": 25,
        "ASSIGNMENT-STRATEGY": 20,
        "STATE": 20,
        "TARGET-ASSIGNMENT-EPOCH": 25,
    },
)
_GROWING: Final = frozenset(
    {
        *("GROUP", "TOPIC", "CONSUMER-ID", "HOST", "CLIENT-ID", "GROUP-INSTANCE-ID", "COORDINATOR (ID)"),
        *("CURRENT-ASSIGNMENT", "TARGET-ASSIGNMENT"),
    }
)


@dataclass(frozen=True, slots=True)
class Streams:
    out: TextIO
    err: TextIO


@dataclass(frozen=True, slots=True)
class _PartitionRow:
    partition: TopicPartition
    committed: CommittedOffset | None
    log_end_offset: int | None
    member: MemberDescription | None

    @property
    def lag(self) -> int | None:
        if self.committed is None or self.log_end_offset is None:
            return None
        return self.log_end_offset - self.committed.offset


def describe_groups(cluster: Cluster, group_ids: Sequence[str]) -> list[ConsumerGroupDescription]:
    with told_by_name():
        described = raise_first(describe_consumer_groups(cluster, group_ids))
    return [described[group_id] for group_id in sorted(described)]


def print_offsets(
    cluster: Cluster, groups: Iterable[ConsumerGroupDescription], streams: Streams, *, is_verbose: bool
) -> None:
    described = [(group, _find_rows(cluster, group)) for group in groups]
    for group, rows in described:
        _mention_state(group, streams)
        if group.state != _DEAD and rows:
            _print_rows(group.group_id, rows, streams.out, is_verbose=is_verbose)


def print_members(groups: Iterable[ConsumerGroupDescription], streams: Streams, *, is_verbose: bool) -> None:
    for group in groups:
        _mention_state(group, streams)
        members = group.members
        has_instances = any(member.instance_id for member in members)
        is_migrating = {True, False} <= {member.is_upgraded for member in members}
        titles = ["GROUP", "CONSUMER-ID", *(["GROUP-INSTANCE-ID"] if has_instances else []), "HOST", "CLIENT-ID"]
        lines = [[*titles, "#PARTITIONS"]]
        extra = [["CURRENT-EPOCH", "CURRENT-ASSIGNMENT", "TARGET-EPOCH", "TARGET-ASSIGNMENT", "UPGRADED"]]
        for member in members:
            instance = [member.instance_id or ""] if has_instances else []
            who = [group.group_id, member.member_id, *instance, member.host, member.client_id]
            lines.append([*who, str(len(member.assignment))])
            extra.append(_assignment_cells(group, member))
        shown = _aligned(lines)
        if is_verbose:
            if not is_migrating:
                extra = [cells[:-1] for cells in extra]
            more = _aligned(extra, is_last_open=is_migrating)
            shown = [f"{left} {right}" for left, right in zip(shown, more, strict=True)]
        else:
            shown = [f"{line} " for line in shown]
        print("", *shown, sep="\n", file=streams.out)


def print_states(groups: Iterable[ConsumerGroupDescription], streams: Streams, *, is_verbose: bool) -> None:
    for group in groups:
        _mention_state(group, streams)
        if group.state == _DEAD:
            continue
        address = group.coordinator.address
        coordinator = f"{address.host}:{address.port}  ({group.coordinator.node_id})"
        epochs = [["GROUP-EPOCH", "TARGET-ASSIGNMENT-EPOCH"], [_shown(group.epoch), _shown(group.assignment_epoch)]]
        lines = [
            ["GROUP", "COORDINATOR (ID)", "ASSIGNMENT-STRATEGY", "STATE", *epochs[0], "#MEMBERS"],
            [
                *(group.group_id, coordinator, group.assignor or MISSING, group.state),
                *(*epochs[1], str(len(group.members))),
            ],
        ]
        if not is_verbose:
            lines = [[*cells[:4], cells[-1]] for cells in lines]
        print("", *_aligned(lines, is_last_open=True), sep="\n", file=streams.out)


def _mention_state(group: ConsumerGroupDescription, streams: Streams) -> None:
    if group.state == _DEAD:
        print(f"\nError: Consumer group '{group.group_id}' does not exist.", file=streams.out)
    elif group.state == "Empty":
        print(f"\nConsumer group '{group.group_id}' has no active members.", file=streams.err)
    elif group.state in _REBALANCING:
        print(f"\nWarning: Consumer group '{group.group_id}' is rebalancing.", file=streams.err)
    elif group.state != "Stable":
        raise GroupCommandError(f"Expected a valid consumer group state, but found '{group.state}'.")


def _find_rows(cluster: Cluster, group: ConsumerGroupDescription) -> list[_PartitionRow]:
    """The partitions of the members, of those with most first, and then those that only have an offset."""
    with told_by_name(WRAPPED):
        committed = fetch_group_offsets(cluster, group.group_id)
        by_member = sorted(group.members, key=lambda member: len(member.assignment), reverse=True)
        assigned = frozenset().union(*(member.assignment for member in by_member))
        shares: list[tuple[MemberDescription | None, Collection[TopicPartition]]] = [
            *((member, member.assignment) for member in by_member),
            (None, committed.keys() - assigned),
        ]
        ends = _find_log_ends(cluster, assigned | committed.keys())
    return [
        _PartitionRow(partition, committed.get(partition), ends.get(partition), member)
        for member, partitions in shares
        for partition in sorted(partitions)
    ]


def _find_log_ends(cluster: Cluster, partitions: Collection[TopicPartition]) -> Mapping[TopicPartition, int]:
    """Where partitions end, without those that nobody leads."""
    topics = sorted({partition.topic for partition in partitions})
    unled = {
        TopicPartition(name, partition.index)
        for name, topic in raise_first(describe_topics(cluster, topics)).items()
        for partition in topic.partitions
        if partition.leader_id is None
    }
    return raise_first(list_offsets(cluster, sorted(set(partitions) - unled), OffsetTime.LATEST))


def _print_rows(group_id: str, rows: Sequence[_PartitionRow], out: TextIO, *, is_verbose: bool) -> None:
    lines = [
        [
            *("GROUP", "TOPIC", "PARTITION", "LEADER-EPOCH", "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG"),
            *("CONSUMER-ID", "HOST", "CLIENT-ID"),
        ]
    ]
    for row in rows:
        committed, member = row.committed, row.member
        lines.append(
            [
                *(group_id, row.partition.topic, str(row.partition.partition)),
                _shown(committed.leader_epoch if committed else None),
                *(_shown(committed.offset if committed else None), _shown(row.log_end_offset), _shown(row.lag)),
                *((member.member_id, member.host, member.client_id) if member else (MISSING,) * 3),
            ]
        )
    if not is_verbose:
        lines = [[*cells[:3], *cells[4:]] for cells in lines]
    print("", *_aligned(lines, is_last_open=True), sep="\n", file=out)


def _assignment_cells(group: ConsumerGroupDescription, member: MemberDescription) -> list[str]:
    upgraded = MISSING if member.is_upgraded is None else str(member.is_upgraded).lower()
    return [
        *(_shown(member.epoch), _shown_assignment(member.assignment)),
        *(_shown(group.assignment_epoch), _shown_assignment(member.target_assignment or ()), upgraded),
    ]


def _shown_assignment(partitions: Iterable[TopicPartition]) -> str:
    by_topic = defaultdict(list)
    for topic, index in sorted(partitions):
        by_topic[topic].append(str(index))
    return ";".join(sorted(f"{topic}:{','.join(indexes)}" for topic, indexes in by_topic.items())) or MISSING


def _shown(number: int | None) -> str:
    return MISSING if number is None else str(number)


def _aligned(lines: Sequence[Sequence[str]], *, is_last_open: bool = False) -> list[str]:
    """Lines with columns that begin one under the other, titles first; the last column may be left as it is."""
    widths = [
        max([_WIDTHS[title], *map(len, cells)]) if title in _GROWING else _WIDTHS[title]
        for title, *cells in zip(*lines, strict=True)
    ]
    if is_last_open:
        widths[-1] = 0
    return [" ".join(f"{cell:{width}}" for cell, width in zip(cells, widths, strict=True)) for cells in lines]
