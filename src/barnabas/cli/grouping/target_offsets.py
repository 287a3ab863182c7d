"""Where offsets are reset to: each way gives the new offsets of a group's partitions.

Offsets that are asked for by number and lie outside of a log are moved to its nearer end.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from typing import Final, TextIO

from barnabas.cli.grouping.failures import WRAPPED, told_by_name
from barnabas.cli.grouping.reset_plan import Offsets, Plan
from barnabas.cli.grouping.times import parse_date_time, parse_duration_ms
from barnabas.cli.java_order import in_hash_order, partition_hash
from barnabas.cli.options import UsageError
from barnabas.client.admin.group_offsets import fetch_group_offsets
from barnabas.client.admin.offsets import OffsetTime, list_offsets
from barnabas.client.cluster import Cluster
from barnabas.client.outcomes import raise_first
from barnabas.log.checkpoint import TopicPartition

_NOTHING_AS_YOUNG: Final = -1

# The new offsets of partitions of a group.
Way = Callable[[str, Collection[TopicPartition]], Offsets]


class TargetOffsets:
    """The ways to find new offsets; what is not quite as it was asked for is mentioned."""

    def __init__(self, cluster: Cluster, out: TextIO, err: TextIO) -> None:
        self._cluster = cluster
        self._out = out
        self._err = err

    def at(self, place: OffsetTime) -> Way:
        """At one end of each log."""
        return lambda _, partitions: self._list(partitions, place)

    def at_number(self, offset: int) -> Way:
        return lambda _, partitions: self._within_logs(dict.fromkeys(partitions, offset))

    def shifted_by(self, count: int) -> Way:
        """So far from the committed offsets, which all have to be there."""

        def find(group_id: str, partitions: Collection[TopicPartition]) -> Offsets:
            committed = committed_offsets(self._cluster, group_id)
            for partition in partitions:
                if partition not in committed:
                    raise UsageError(
                        f"Cannot shift offset for partition {partition} since there is no current committed offset",
                        shows_help=True,
                    )
            return self._within_logs({partition: committed[partition] + count for partition in partitions})

        return find

    def at_committed(self) -> Way:
        """Where they are, and at the ends of logs without a committed offset."""

        def find(group_id: str, partitions: Collection[TopicPartition]) -> Offsets:
            committed = committed_offsets(self._cluster, group_id)
            there = {partition: committed[partition] for partition in partitions if partition in committed}
            rest = [partition for partition in partitions if partition not in committed]
            return there | self._list(rest, OffsetTime.LATEST)

        return find

    def at_date_time(self, text: str) -> Way:
        return lambda _, partitions: self._since(parse_date_time(text), partitions)

    def before_now_by(self, duration: str) -> Way:
        return lambda _, partitions: self._since(time.time_ns() // 1_000_000 - parse_duration_ms(duration), partitions)

    def planned(self, read: Callable[[], Plan]) -> Way:
        """As a plan has it for the group, whatever the partitions."""

        def find(group_id: str, _: Collection[TopicPartition]) -> Offsets:
            offsets = read().get(group_id)
            if offsets is None:
                print(f"\nError: No reset plan for group {group_id} found", file=self._out)
                return {}
            return self._within_logs(offsets)

        return find

    def _since(self, timestamp: int, partitions: Collection[TopicPartition]) -> Offsets:
        """The first record that is as young, or the end of a log that has none."""
        found = self._list(partitions, timestamp)
        late = [partition for partition, offset in found.items() if offset == _NOTHING_AS_YOUNG]
        for topic, index in in_hash_order(late, partition_hash):
            print(
                f"\nWarn: Partition {index} from topic {topic} is empty. Falling back to latest known offset.",
                file=self._out,
            )
        return found | self._list(late, OffsetTime.LATEST)

    def _within_logs(self, asked: Mapping[TopicPartition, int]) -> Offsets:
        starts = self._list(asked, OffsetTime.EARLIEST)
        ends = self._list(asked, OffsetTime.LATEST)
        found = {}
        for partition, offset in asked.items():
            found[partition] = max(starts[partition], min(offset, ends[partition]))
            if found[partition] != offset:
                bound = "higher than latest" if offset > ends[partition] else "lower than earliest"
                print(
                    f"WARN: New offset ({offset}) is {bound} offset for topic partition {partition}. "
                    f"Value will be set to {found[partition]}",
                    file=self._err,
                )
        return found

    def _list(self, partitions: Collection[TopicPartition], timestamp: int) -> Offsets:
        with told_by_name(WRAPPED):
            return raise_first(list_offsets(self._cluster, partitions, timestamp))


def committed_offsets(cluster: Cluster, group_id: str) -> Offsets:
    with told_by_name(WRAPPED):
        committed = fetch_group_offsets(cluster, group_id)
    return {partition: committed[partition].offset for partition in in_hash_order(committed, partition_hash)}
