"""The groups of a shard by their id, and what all kinds of groups have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import Protocol

from barnabas.coordinator.decision import Decision
from barnabas.coordinator.errors import GroupIdNotFound
from barnabas.protocol.uuid import Uuid

# Refuses a commit for one partition, by topic name, topic id and number, by raising an ApiError.
PartitionCheck = Callable[[str, Uuid, int], None]


class GroupType(StrEnum):
    """As ListGroups spells them."""

    CLASSIC = "Classic"
    CONSUMER = "Consumer"


class Group(Protocol):
    """A group of any kind. The checks raise an ApiError where the group does not permit something."""

    group_id: str

    @property
    def type(self) -> GroupType: ...

    @property
    def state_name(self) -> str:
        """The state as ListGroups and the describing APIs spell it, such as `Stable`."""
        ...

    @property
    def protocol_type_name(self) -> str:
        """`consumer` or what else the members call themselves; empty where there never was one."""
        ...

    @property
    def is_empty(self) -> bool:
        """Whether it has no members."""
        ...

    def check_offset_commit(
        self, member_id: str, instance_id: str | None, generation: int, *, is_transactional: bool, version: int
    ) -> PartitionCheck | None:
        """Refuse a commit by one that is not, or is no longer, a member; what each partition has to pass in turn."""
        ...

    def check_offset_fetch(self, member_id: str | None, member_epoch: int) -> None: ...

    def check_offset_delete(self) -> None: ...

    def check_delete(self) -> None: ...

    def is_subscribed_to(self, topic: str) -> bool: ...

    def offset_idle_since_ms(self, commit_timestamp_ms: int) -> int | None:
        """From when on the retention of an offset counts; None while it does not count at all."""
        ...

    def write_tombstones(self, decision: Decision) -> None:
        """Delete the group's own records, not its offsets, and cancel its timers."""
        ...


class Groups:
    """Only replaying a record, or the first member's arrival, adds a group."""

    def __init__(self) -> None:
        self._by_id: dict[str, Group] = {}

    def __iter__(self) -> Iterator[Group]:
        return iter(self._by_id.values())

    def __len__(self) -> int:
        return len(self._by_id)

    def get(self, group_id: str) -> Group | None:
        return self._by_id.get(group_id)

    def find(self, group_id: str) -> Group:
        """The group; GroupIdNotFound where there is none."""
        group = self._by_id.get(group_id)
        if group is None:
            raise GroupIdNotFound(f"Group {group_id} not found.")
        return group

    def put(self, group: Group) -> None:
        """Add a group, or let it take the place of one of another kind."""
        self._by_id[group.group_id] = group

    def remove(self, group_id: str) -> None:
        self._by_id.pop(group_id, None)
