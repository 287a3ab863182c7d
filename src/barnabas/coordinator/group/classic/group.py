"""A classic group: its members in one generation, and what it waits for on the way to the next.

Who joins, syncs and is pending is no more than a memory of this broker. The generation, its protocol and its members
with their assignments are what the group's record says; they become so at the end of a rebalance, when the record is
replayed. Those who wait for an answer to JoinGroup or SyncGroup are members.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from struct import error as StructError  # noqa: N812 (named like the errors beside it)
from typing import Final

from barnabas.coordinator.decision import Decision, Token
from barnabas.coordinator.errors import (
    FencedInstanceId,
    IllegalGeneration,
    NonEmptyGroup,
    RebalanceInProgress,
    UnknownMemberId,
)
from barnabas.coordinator.group.groups import GroupType
from barnabas.protocol.codec import decoder
from barnabas.protocol.embedded.consumer_protocol_subscription import ConsumerProtocolSubscription
from barnabas.protocol.group_records.group_metadata import GroupMetadataKey, GroupMetadataValue, MemberMetadata
from barnabas.protocol.schema import ProtocolError

CONSUMER: Final = "consumer"
RECORD_VERSION: Final = 3
NO_TIMESTAMP: Final = -1
# The bytes before a subscription that tell its version.
VERSION_BYTES: Final = 2


class ClassicState(StrEnum):
    EMPTY = "Empty"
    PREPARING_REBALANCE = "PreparingRebalance"
    COMPLETING_REBALANCE = "CompletingRebalance"
    STABLE = "Stable"


@dataclass(slots=True, kw_only=True)
class Member:
    """`protocols` are the assignors that it knows with what it tells each of them, the one it likes best first.

    `is_new` is one that has not been told its id yet, so that its silence means nothing.
    """

    member_id: str
    instance_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    session_timeout_ms: int
    protocols: Mapping[str, bytes]
    assignment: bytes = b""
    is_new: bool = False

    def vote(self, candidates: set[str]) -> str:
        return next(name for name in self.protocols if name in candidates)


class ClassicGroup:
    """`joining` and `syncing` are the answers owed to members who wait, by member id.

    `pending` are ids that were handed out and not come back with; `pending_sync` are members who have not asked for
    their assignment yet. `arriving` is what is known of members who will be there when the next record is replayed.
    `initial_remaining_ms` is how much longer the first rebalance may still be put off, None outside of it.
    """

    __slots__ = (
        "_protocol_counts",
        "arriving",
        "generation",
        "group_id",
        "has_new_member",
        "initial_remaining_ms",
        "is_written",
        "joining",
        "leader_id",
        "members",
        "pending",
        "pending_sync",
        "protocol_name",
        "protocol_type",
        "state",
        "state_timestamp_ms",
        "static_ids",
        "subscribed_topics",
        "syncing",
    )

    def __init__(self, group_id: str) -> None:
        self.group_id = group_id
        self.state = ClassicState.EMPTY
        self.state_timestamp_ms = NO_TIMESTAMP
        self.generation = 0
        self.protocol_type: str | None = None
        self.protocol_name: str | None = None
        self.leader_id: str | None = None
        self.members: dict[str, Member] = {}
        self.static_ids: dict[str, str] = {}
        # None where it is not known what the members read.
        self.subscribed_topics: frozenset[str] | None = None
        self.joining: dict[str, Token] = {}
        self.syncing: dict[str, Token] = {}
        self.pending: set[str] = set()
        self.pending_sync: set[str] = set()
        self.arriving: dict[str, Member] = {}
        self.has_new_member = False
        self.initial_remaining_ms: int | None = None
        # Whether there is a record of it.
        self.is_written = False
        self._protocol_counts: Counter[str] = Counter()

    # What it is

    @property
    def type(self) -> GroupType:
        return GroupType.CLASSIC

    @property
    def state_name(self) -> str:
        return self.state

    @property
    def protocol_type_name(self) -> str:
        return self.protocol_type or ""

    @property
    def is_empty(self) -> bool:
        return self.state is ClassicState.EMPTY

    @property
    def is_simple(self) -> bool:
        """Whether it is there for its offsets only: nobody ever joined it."""
        return self.is_empty and self.protocol_type is None and not self.is_written

    @property
    def rebalance_timeout_ms(self) -> int:
        return max((member.rebalance_timeout_ms for member in self.members.values()), default=0)

    @property
    def have_all_joined(self) -> bool:
        return len(self.joining) == len(self.members) and not self.pending

    def supports(self, protocol_type: str, protocols: Iterable[str]) -> bool:
        """Whether one with these protocols could be a member."""
        names = set(protocols)
        if self.is_empty:
            return bool(protocol_type and names)
        if protocol_type != self.protocol_type:
            return False
        count = len(self.members)
        return any(self._protocol_counts[name] == count for name in names)

    def select_protocol(self) -> str:
        """The protocol that most members like best among those that all know."""
        count = len(self.members)
        candidates = {name for name, supporters in self._protocol_counts.items() if supporters == count}
        votes = Counter(member.vote(candidates) for member in self.members.values())
        return votes.most_common(1)[0][0]

    # Its members

    def add(self, member: Member) -> None:
        if member.instance_id is not None:
            assert member.instance_id not in self.static_ids, "an instance has one member"
            self.static_ids[member.instance_id] = member.member_id
        if self.leader_id is None:
            self.leader_id = member.member_id
        self.members[member.member_id] = member
        self._protocol_counts.update(member.protocols.keys())
        self.pending.discard(member.member_id)

    def remove(self, member_id: str) -> None:
        """Forget a member or one that is pending; whoever calls has answered what it waits for."""
        member = self.members.pop(member_id, None)
        if member is not None:
            self._protocol_counts.subtract(member.protocols.keys())
            if member.instance_id is not None:
                del self.static_ids[member.instance_id]
        if self.leader_id == member_id:
            self.leader_id = next(iter(self.members), None)
        for waiting in (self.joining, self.syncing):
            waiting.pop(member_id, None)
        self.pending.discard(member_id)
        self.pending_sync.discard(member_id)

    def update(self, member: Member, protocols: Mapping[str, bytes]) -> None:
        """Note what a member tells its assignors now."""
        self._protocol_counts.subtract(member.protocols.keys())
        member.protocols = protocols
        self._protocol_counts.update(protocols.keys())

    def replace_static(self, old: Member, member_id: str) -> Member:
        """Give the place of a static member to the one that came back under a new id."""
        assert old.instance_id is not None, "a static member has an instance id"
        is_leader = self.leader_id == old.member_id
        member = replace(old, member_id=member_id)
        self.remove(old.member_id)
        self.add(member)
        if is_leader:
            self.leader_id = member_id
        return member

    def check_member(self, member_id: str, instance_id: str | None) -> Member:
        """The member; refused where it is not one, or where another has taken its instance over."""
        if instance_id is not None:
            known = self.static_ids.get(instance_id)
            if known is None:
                raise UnknownMemberId
            if known != member_id:
                raise FencedInstanceId
        member = self.members.get(member_id)
        if member is None:
            raise UnknownMemberId
        return member

    # Its generations

    def enter(self, state: ClassicState, now_ms: int) -> None:
        self.state = state
        self.state_timestamp_ms = now_ms

    def begin_generation(self, now_ms: int) -> None:
        """Go on with the members that there are, who have to be told their assignment."""
        self.generation += 1
        self.pending_sync.clear()
        if self.members:
            self.protocol_name = self.select_protocol()
            self.enter(ClassicState.COMPLETING_REBALANCE, now_ms)
        else:
            self.protocol_name = None
            self.enter(ClassicState.EMPTY, now_ms)
        self.subscribed_topics = self._read_subscriptions()

    def _read_subscriptions(self) -> frozenset[str] | None:
        if self.protocol_type != CONSUMER:
            return None
        if not self.members:
            return frozenset()
        if self.protocol_name is None:
            return None
        topics: set[str] = set()
        # Every version of a subscription begins as the first one did.
        read = decoder(ConsumerProtocolSubscription, 0)
        try:
            for member in self.members.values():
                subscription, _ = read(memoryview(member.protocols[self.protocol_name]), VERSION_BYTES)
                topics.update(subscription.topics)
        except (ProtocolError, StructError, IndexError):
            return None
        return frozenset(topics)

    # Its record

    def write(
        self,
        decision: Decision,
        members: Iterable[Member],
        assignments: Mapping[str, bytes],
        leader_id: str | None,
    ) -> None:
        """Have this generation written as one of these members."""
        protocol = self.protocol_name
        decision.write(
            GroupMetadataKey(group=self.group_id),
            GroupMetadataValue(
                protocol_type=self.protocol_type or "",
                generation=self.generation,
                protocol=protocol,
                leader=leader_id,
                current_state_timestamp=self.state_timestamp_ms,
                members=[_member_record(member, protocol, assignments[member.member_id]) for member in members],
            ),
            RECORD_VERSION,
        )

    def write_new(self, decision: Decision) -> None:
        """Have it written that there is such a group, of which no more is known."""
        decision.write(
            GroupMetadataKey(group=self.group_id),
            GroupMetadataValue(
                protocol_type="",
                generation=0,
                protocol=None,
                leader=None,
                current_state_timestamp=self.state_timestamp_ms,
                members=[],
            ),
            RECORD_VERSION,
        )

    def write_tombstones(self, decision: Decision) -> None:
        decision.delete(GroupMetadataKey(group=self.group_id))

    def take(self, value: GroupMetadataValue) -> None:
        """Let a record that this group has decided on take effect."""
        self.is_written = True
        if value.generation != self.generation:
            return
        for written in value.members:
            arriving = self.arriving.pop(written.member_id, None)
            if arriving is not None:
                old = self.members[self.static_ids[arriving.instance_id or ""]]
                member = self.replace_static(old, arriving.member_id)
                member.rebalance_timeout_ms = arriving.rebalance_timeout_ms
                member.session_timeout_ms = arriving.session_timeout_ms
                self.update(member, arriving.protocols)
            if (member_here := self.members.get(written.member_id)) is not None:
                member_here.assignment = written.assignment
        if self.state is ClassicState.COMPLETING_REBALANCE:
            self.state = ClassicState.STABLE

    @classmethod
    def of_record(cls, group_id: str, value: GroupMetadataValue) -> ClassicGroup:
        group = cls(group_id)
        group.is_written = True
        group.generation = value.generation
        group.protocol_type = value.protocol_type or None
        group.protocol_name = value.protocol
        group.leader_id = value.leader
        group.state_timestamp_ms = value.current_state_timestamp
        for written in value.members:
            group.add(_member_of(written, value.protocol or ""))
        if group.members:
            group.state = ClassicState.STABLE
        group.subscribed_topics = group._read_subscriptions()
        return group

    # What it permits

    def check_offset_commit(
        self,
        member_id: str,
        instance_id: str | None,
        generation: int,
        *,
        is_transactional: bool,
        version: int,  # noqa: ARG002 (other kinds of groups ask for it)
    ) -> None:
        if generation < 0 and self.is_empty:
            return
        if generation >= 0 or member_id or instance_id is not None:
            self.check_member(member_id, instance_id)
            if generation != self.generation:
                raise IllegalGeneration
        elif not is_transactional:
            raise UnknownMemberId
        if not is_transactional and self.state is ClassicState.COMPLETING_REBALANCE:
            raise RebalanceInProgress

    def check_offset_fetch(self, member_id: str | None, member_epoch: int) -> None:
        """Anybody may ask."""

    def check_offset_delete(self) -> None:
        """Consumers tell what they read, so that the rest can go while they run."""
        if not self.is_empty and self.protocol_type != CONSUMER:
            raise NonEmptyGroup

    def check_delete(self) -> None:
        if not self.is_empty:
            raise NonEmptyGroup

    def is_subscribed_to(self, topic: str) -> bool:
        return self.protocol_type == CONSUMER if self.subscribed_topics is None else topic in self.subscribed_topics

    def offset_idle_since_ms(self, commit_timestamp_ms: int) -> int | None:
        if self.protocol_type is None:
            return commit_timestamp_ms
        if self.is_empty:
            return commit_timestamp_ms if self.state_timestamp_ms == NO_TIMESTAMP else self.state_timestamp_ms
        is_known = self.subscribed_topics is not None and self.protocol_type == CONSUMER
        return commit_timestamp_ms if is_known and self.state is ClassicState.STABLE else None


def _member_record(member: Member, protocol: str | None, assignment: bytes) -> MemberMetadata:
    assert protocol is not None, "a generation with members has a protocol"
    return MemberMetadata(
        member_id=member.member_id,
        group_instance_id=member.instance_id,
        client_id=member.client_id,
        client_host=member.client_host,
        rebalance_timeout=member.rebalance_timeout_ms,
        session_timeout=member.session_timeout_ms,
        subscription=member.protocols[protocol],
        assignment=assignment,
    )


def _member_of(written: MemberMetadata, protocol: str) -> Member:
    has_rebalance_timeout = written.rebalance_timeout >= 0
    return Member(
        member_id=written.member_id,
        instance_id=written.group_instance_id,
        client_id=written.client_id,
        client_host=written.client_host,
        rebalance_timeout_ms=written.rebalance_timeout if has_rebalance_timeout else written.session_timeout,
        session_timeout_ms=written.session_timeout,
        protocols={protocol: written.subscription},
        assignment=written.assignment,
    )
