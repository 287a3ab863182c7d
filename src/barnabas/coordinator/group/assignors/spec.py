"""What an assignor is told of a group, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from barnabas.protocol.uuid import Uuid

# Partitions by the id of their topic; a topic without any is left out.
Assignment = Mapping[Uuid, frozenset[int]]

NOTHING: Final[Assignment] = {}


class MemberSpec(NamedTuple):
    """A member: the topics it subscribes to, of those that exist, and what it was to own until now."""

    topic_ids: frozenset[Uuid]
    assignment: Assignment = NOTHING
    instance_id: str | None = None


class GroupSpec(NamedTuple):
    """`partition_counts` has the topics that members subscribe to, and no others."""

    members: Mapping[str, MemberSpec]
    partition_counts: Mapping[Uuid, int]

    @property
    def is_homogeneous(self) -> bool:
        """Whether all subscribe to the same topics."""
        subscriptions = iter(self.members.values())
        first = next(subscriptions).topic_ids
        return all(member.topic_ids == first for member in subscriptions)

    def subscribers(self) -> dict[Uuid, list[str]]:
        """Who subscribes to each topic, topics by their ids and members in their order."""
        by_topic: dict[Uuid, list[str]] = {topic_id: [] for topic_id in sorted(self.partition_counts)}
        for member_id, member in self.members.items():
            for topic_id in member.topic_ids:
                by_topic[topic_id].append(member_id)
        return by_topic


# What each member is to own. Every partition that somebody subscribes to is given to exactly one subscriber.
Assignor = Callable[[GroupSpec], dict[str, Assignment]]


def assignment_of(partitions: Mapping[Uuid, set[int]]) -> Assignment:
    return {topic_id: frozenset(numbers) for topic_id, numbers in partitions.items() if numbers}
