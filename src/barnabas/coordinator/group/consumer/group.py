"""A consumer group: its members, what each is to own, and the epochs that tell how far it has got.

The group epoch rises when what members want or what topics look like has changed; the assignment epoch follows when a
target assignment was computed for it; each member's own epoch follows when it has reached that. All of it is in
records and changes by replaying them. What is not: when the topics have to be looked at again, whose time was up, and
which classic members were told to come back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Final, NamedTuple

from barnabas.coordinator.decision import Decision
from barnabas.coordinator.errors import (
    FencedInstanceId,
    IllegalGeneration,
    NonEmptyGroup,
    StaleMemberEpoch,
    UnknownMemberId,
    UnsupportedRequestVersion,
)
from barnabas.coordinator.group.assignors.spec import NOTHING, Assignment
from barnabas.coordinator.group.consumer import records, timers
from barnabas.coordinator.group.consumer.members import ConsumerMember, Owned
from barnabas.coordinator.group.consumer.patterns import ResolvedPattern
from barnabas.coordinator.group.groups import GroupType, PartitionCheck
from barnabas.protocol.errors import ApiError
from barnabas.protocol.uuid import Uuid

PROTOCOL_TYPE: Final = "consumer"
FIRST_EPOCH: Final = 1
NO_ASSIGNMENT_EPOCH: Final = -1
# Members of the newer protocol put their epoch where others put their generation, from this version of OffsetCommit on.
MEMBER_EPOCH_SINCE: Final = 9


class ConsumerState(StrEnum):
    EMPTY = "Empty"
    ASSIGNING = "Assigning"
    RECONCILING = "Reconciling"
    STABLE = "Stable"


class Refresh(NamedTuple):
    """Topics are looked at again at this time, or if the group did not get to the epoch that was meant then."""

    deadline_ms: int
    epoch: int


AT_ONCE: Final = Refresh(0, 0)


class ConsumerGroup:
    """What records say of it is changed by replaying them and by nothing else."""

    __slots__ = (
        "_owners",
        "assignment_epoch",
        "assignment_timestamp_ms",
        "awaited",
        "epoch",
        "expired",
        "group_id",
        "has_partition_metadata",
        "members",
        "metadata_hash",
        "patterns",
        "refresh",
        "static_ids",
        "target",
    )

    def __init__(self, group_id: str) -> None:
        self.group_id = group_id
        self.epoch = FIRST_EPOCH
        self.metadata_hash = 0
        self.assignment_epoch = FIRST_EPOCH
        self.assignment_timestamp_ms = 0
        self.members: dict[str, ConsumerMember] = {}
        self.static_ids: dict[str, str] = {}
        self.target: dict[str, Assignment] = {}
        self.patterns: dict[str, ResolvedPattern] = {}
        # Whether there is a record of the form that hashes took the place of.
        self.has_partition_metadata = False
        self.refresh = AT_ONCE
        # Classic members whose time to join again is running.
        self.awaited: set[str] = set()
        # Members whose time was up; they are gone once that is written.
        self.expired: set[str] = set()
        self._owners: dict[Uuid, dict[int, str]] = {}

    # What it is

    @property
    def type(self) -> GroupType:
        return GroupType.CONSUMER

    @property
    def state(self) -> ConsumerState:
        if not self.members:
            return ConsumerState.EMPTY
        if self.epoch > self.assignment_epoch:
            return ConsumerState.ASSIGNING
        if all(member.is_reconciled_to(self.assignment_epoch) for member in self.members.values()):
            return ConsumerState.STABLE
        return ConsumerState.RECONCILING

    @property
    def state_name(self) -> str:
        return self.state

    @property
    def protocol_type_name(self) -> str:
        return PROTOCOL_TYPE

    @property
    def is_empty(self) -> bool:
        return not self.members

    def needs_refresh(self, now_ms: int) -> bool:
        """Whether what its topics look like has to be computed anew."""
        return now_ms >= self.refresh.deadline_ms or self.epoch < self.refresh.epoch

    # Its members

    def find(self, member_id: str) -> ConsumerMember:
        member = self.members.get(member_id)
        if member is None:
            raise UnknownMemberId(f"Member {member_id} is not a member of group {self.group_id}.")
        return member

    def static_member(self, instance_id: str | None) -> ConsumerMember | None:
        member_id = None if instance_id is None else self.static_ids.get(instance_id)
        return None if member_id is None else self.members[member_id]

    def find_static(self, member_id: str, instance_id: str) -> ConsumerMember:
        """The member of an instance; refused where another has taken its place."""
        member = self.static_member(instance_id)
        if member is None:
            raise UnknownMemberId(f"Instance id {instance_id} is unknown.")
        if member.member_id != member_id:
            raise FencedInstanceId(f"Member {member.member_id} has taken over instance id {instance_id}.")
        return member

    def find_either(self, member_id: str, instance_id: str | None) -> ConsumerMember:
        return self.find(member_id) if instance_id is None else self.find_static(member_id, instance_id)

    def members_with(self, changed: ConsumerMember) -> dict[str, ConsumerMember]:
        """The members as they will be with one of them changed, new, or in the place of its instance's old one."""
        members = dict(self.members)
        replaced = self.static_member(changed.instance_id)
        if replaced is not None:
            del members[replaced.member_id]
        members[changed.member_id] = changed
        return members

    def target_of(self, member: ConsumerMember) -> Assignment:
        """What a member is to own; one that comes back as a static member takes over what its instance had."""
        known = self.static_member(member.instance_id)
        return self.target.get(member.member_id if known is None else known.member_id, NOTHING)

    def has_owner(self, topic_id: Uuid, partition: int) -> bool:
        """Whether a member owns a partition or has not given it up yet."""
        return partition in self._owners.get(topic_id, ())

    def is_waiting_for_others(self, member: ConsumerMember) -> bool:
        """Whether something that it is to own is still with another member."""
        return any(
            partition not in member.assigned.get(topic_id, ()) and self.has_owner(topic_id, partition)
            for topic_id, partitions in self.target.get(member.member_id, NOTHING).items()
            for partition in partitions
        )

    # What they subscribe to

    def topics_of(self, member: ConsumerMember) -> frozenset[str]:
        """The names a member subscribes to, with those that its pattern is known to match."""
        resolved = self.patterns.get(member.topic_pattern)
        return member.topic_names if resolved is None else member.topic_names | resolved.topics

    def topics_of_all(self, members: Iterable[ConsumerMember]) -> frozenset[str]:
        return frozenset[str]().union(*{self.topics_of(member) for member in members})

    def pattern_counts(self, members: Iterable[ConsumerMember]) -> Counter[str]:
        """How many of these members use each pattern."""
        return Counter(member.topic_pattern for member in members if member.topic_pattern)

    def is_subscribed_to(self, topic: str) -> bool:
        return any(topic in self.topics_of(member) for member in self.members.values())

    # Classic members in it

    def supports(self, protocol_type: str, protocols: Iterable[str]) -> bool:
        """Whether one with these assignors could join it, as all classic members have one in common."""
        if protocol_type != PROTOCOL_TYPE:
            return False
        classic = [member.classic for member in self.members.values() if member.classic is not None]
        known = Counter(name for terms in classic for name, _ in terms.protocols)
        return any(known[name] == len(classic) for name in set(protocols))

    # What it permits

    def check_offset_commit(
        self, member_id: str, instance_id: str | None, generation: int, *, is_transactional: bool, version: int
    ) -> PartitionCheck | None:
        if generation < 0 and self.is_empty:
            return None
        if is_transactional and generation < 0 and not member_id and instance_id is None:
            return None
        member = self.find(member_id)
        if not is_transactional and not member.is_classic and version < MEMBER_EPOCH_SINCE:
            raise UnsupportedRequestVersion
        if generation == member.member_epoch:
            return None
        if generation > member.member_epoch:
            raise _old_epoch(member, f"Epoch {generation} is newer than the member's, {member.member_epoch}.")

        def check(topic: str, topic_id: Uuid, partition: int) -> None:
            # An older epoch will do for what the member has owned since then.
            given_at = member.assignment_epoch(topic_id, partition)
            if given_at is None:
                raise _old_epoch(member, f"Partition {topic}-{partition} is not the member's.")
            if generation < given_at:
                raise _old_epoch(member, f"Partition {topic}-{partition} is the member's since epoch {given_at} only.")

        return check

    def check_offset_fetch(self, member_id: str | None, member_epoch: int) -> None:
        if member_id is None and member_epoch < 0:
            return
        member = self.find(member_id or "")
        if member_epoch != member.member_epoch:
            raise _old_epoch(member, f"The member's epoch is {member.member_epoch}, not {member_epoch}.")

    def check_offset_delete(self) -> None:
        """Only of topics that nobody subscribes to, which is looked at by topic."""

    def check_delete(self) -> None:
        if not self.is_empty:
            raise NonEmptyGroup

    def offset_idle_since_ms(self, commit_timestamp_ms: int) -> int | None:
        return commit_timestamp_ms

    def write_tombstones(self, decision: Decision) -> None:
        records.write_tombstones(self.group_id, self.members, self.patterns, decision)
        for member_id in self.members:
            timers.cancel_all(self.group_id, member_id, decision)

    # Replaying

    def put(self, member: ConsumerMember) -> None:
        self._release(self.members.get(member.member_id))
        self.members[member.member_id] = member
        if member.instance_id is not None:
            self.static_ids[member.instance_id] = member.member_id
        for owned in (member.assigned, member.pending_revocation):
            for topic_id, partitions in owned.items():
                self._owners.setdefault(topic_id, {}).update(dict.fromkeys(partitions, member.member_id))

    def remove(self, member_id: str) -> None:
        member = self.members.pop(member_id, None)
        self._release(member)
        self.awaited.discard(member_id)
        self.expired.discard(member_id)
        if member is not None and self.static_ids.get(member.instance_id or "") == member_id:
            del self.static_ids[member.instance_id or ""]

    def _release(self, member: ConsumerMember | None) -> None:
        if member is None:
            return
        both: tuple[Owned, Owned] = (member.assigned, member.pending_revocation)
        for owned in both:
            for topic_id, partitions in owned.items():
                owners = self._owners.get(topic_id, {})
                for partition in partitions:
                    if owners.get(partition) == member.member_id:
                        del owners[partition]
                if not owners:
                    self._owners.pop(topic_id, None)


def _old_epoch(member: ConsumerMember, text: str) -> ApiError:
    return IllegalGeneration(text) if member.is_classic else StaleMemberEpoch(text)


def preferred_assignor(members: Mapping[str, ConsumerMember], default: str) -> str:
    """The assignor that most members name; of those named equally often, the first by name."""
    votes = Counter(member.assignor_name for member in members.values() if member.assignor_name is not None)
    return min(votes, key=lambda name: (-votes[name], name)) if votes else default
