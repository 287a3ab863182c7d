"""Live groups go from the classic protocol to the newer one and back (KIP-848), as far as the broker's policy permits.

A classic group becomes a consumer group when a member of the newer protocol joins it: its members stay in it, each
owning what it was assigned. A consumer group becomes a classic one when the last member of the newer protocol goes and
classic ones stay; they are then told to rebalance.
"""

from __future__ import annotations

from collections.abc import Collection

from barnabas.coordinator.decision import Decision, TimerKey
from barnabas.coordinator.errors import GroupIdNotFound
from barnabas.coordinator.group.assignors.spec import Assignment
from barnabas.coordinator.group.classic import rebalancing
from barnabas.coordinator.group.classic.group import ClassicGroup, ClassicState, Member
from barnabas.coordinator.group.consumer import records, timers
from barnabas.coordinator.group.consumer.embedded import (
    MalformedEmbeddedProtocol,
    by_topic_id,
    read_assignment,
    read_subscription,
    write_assignment,
)
from barnabas.coordinator.group.consumer.group import PROTOCOL_TYPE, ConsumerGroup
from barnabas.coordinator.group.consumer.members import ClassicTerms, ConsumerMember
from barnabas.coordinator.group.consumer.replaying import replayed
from barnabas.coordinator.group.state import GroupState
from barnabas.metadata.image import MetadataImage
from barnabas.protocol.errors import ErrorCode

# To the newer protocol


def upgrade(state: GroupState, classic: ClassicGroup, decision: Decision) -> ConsumerGroup:
    """The consumer group that a classic one becomes when this decision is carried out."""
    group_id = classic.group_id
    _check_upgrade(state, classic)
    try:
        converted = [_consumer_member(classic, member, state.image) for member in classic.members.values()]
    except MalformedEmbeddedProtocol as error:
        raise GroupIdNotFound(
            f"Cannot upgrade classic group {group_id}: its consumers' subscriptions cannot be read: {error}"
        ) from None
    for member_id in (*classic.members, *classic.pending):
        rebalancing.refuse_waiting(classic, member_id, ErrorCode.REBALANCE_IN_PROGRESS, decision)
        decision.cancel_timer(rebalancing.session_timer(classic, member_id))
    for timer in (rebalancing.JOIN, rebalancing.SYNC):
        decision.cancel_timer((timer, group_id))
    classic.write_tombstones(decision)
    first = len(decision.records)
    _write_converted(state, classic, converted, decision)
    return replayed(group_id, decision.records[first:])


def _check_upgrade(state: GroupState, classic: ClassicGroup) -> None:
    settings = state.settings().consumer
    reason = None
    if not settings.may_upgrade:
        reason = "online upgrade is disabled"
    elif classic.protocol_type != PROTOCOL_TYPE:
        reason = "the group does not use the consumer embedded protocol"
    elif len(classic.members) > settings.max_size:
        reason = "the group size exceeds the consumer group maximum size"
    if reason is not None:
        raise GroupIdNotFound(f"Cannot upgrade classic group {classic.group_id} to consumer group because {reason}.")


def _consumer_member(classic: ClassicGroup, member: Member, image: MetadataImage) -> tuple[ConsumerMember, Assignment]:
    """A classic member in a consumer group, with what it is to own, which is what it has."""
    assigned: Assignment = {}
    if member.assignment:
        assignment = read_assignment(member.assignment)
        if assignment.user_data:
            raise MalformedEmbeddedProtocol("data of a custom assignor would be lost")
        assigned = by_topic_id(assignment.assigned_partitions, image)
    # Before its first generation is formed, a group has not chosen a protocol; a member's first choice will do.
    name = classic.protocol_name or next(iter(member.protocols))
    subscription = read_subscription(member.protocols[name])
    epoch = classic.generation
    converted = ConsumerMember(
        member_id=member.member_id,
        member_epoch=epoch,
        previous_epoch=epoch,
        instance_id=member.instance_id,
        rack_id=subscription.rack_id or None,
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        client_id=member.client_id,
        client_host=member.client_host,
        topic_names=frozenset(subscription.topics),
        assigned={topic_id: dict.fromkeys(sorted(numbers), epoch) for topic_id, numbers in assigned.items()},
        classic=ClassicTerms(member.session_timeout_ms, tuple(member.protocols.items())),
    )
    return converted, assigned


def _write_converted(
    state: GroupState,
    classic: ClassicGroup,
    converted: list[tuple[ConsumerMember, Assignment]],
    decision: Decision,
) -> None:
    group_id = classic.group_id
    for member, _ in converted:
        records.write_member(group_id, member, decision)
    topics = frozenset[str]().union(*(member.topic_names for member, _ in converted))
    records.write_epoch(group_id, classic.generation, state.topic_hashes.of(topics, state.image), decision)
    for member, assignment in converted:
        records.write_target(group_id, member.member_id, assignment, decision)
    records.write_target_epoch(group_id, classic.generation, 0, decision)
    for member, _ in converted:
        records.write_owned(group_id, member, decision)
        assert member.classic is not None, "all members are classic ones until now"
        session = timers.of_member(timers.SESSION, group_id, member.member_id)
        decision.set_timer(session, member.classic.session_timeout_ms)


# Back to the classic protocol


def may_downgrade(state: GroupState, group: ConsumerGroup, leaving: Collection[str], *, arriving: int = 0) -> bool:
    """Whether the group becomes a classic one without these members, and with so many that are classic ones."""
    settings = state.settings()
    size = len(group.members) - len(leaving) + arriving
    return (
        settings.consumer.may_downgrade
        and 0 < size <= settings.group_max_size
        and all(member.is_classic for member in group.members.values() if member.member_id not in leaving)
    )


def downgrade(
    state: GroupState,
    group: ConsumerGroup,
    leaving: Collection[str],
    decision: Decision,
    *,
    joining: ConsumerMember | None = None,
    is_rebalanced: bool = True,
) -> None:
    """Write the classic group of the members who stay; `joining` takes the place of its instance's old member."""
    staying = {member_id: member for member_id, member in group.members.items() if member_id not in leaving}
    known = set(group.members)
    if joining is not None:
        replaced = group.static_member(joining.instance_id)
        assert replaced is not None, "only a static member is replaced"
        del staying[replaced.member_id]
        staying[joining.member_id] = joining
        # What was decided before has put one in the place of the other.
        known = known - {replaced.member_id} | {joining.member_id}
    records.write_tombstones(group.group_id, sorted(known), group.patterns, decision)
    for member_id in group.members:
        timers.cancel_all(group.group_id, member_id, decision)
    classic = ClassicGroup(group.group_id)
    classic.generation = group.epoch
    classic.protocol_type = PROTOCOL_TYPE
    classic.enter(ClassicState.STABLE, decision.now_ms)
    for member in staying.values():
        classic.add(_classic_member(member))
    classic.protocol_name = protocol = classic.select_protocol()
    assignments = {
        member_id: write_assignment(
            group.target_of(member), classic.members[member_id].protocols[protocol], state.image
        )
        for member_id, member in staying.items()
    }
    classic.write(decision, classic.members.values(), assignments, classic.leader_id)
    for converted in classic.members.values():
        rebalancing.restart_session(classic, converted, decision)
    if is_rebalanced:
        # Once there is such a group.
        decision.set_timer((timers.DOWNGRADE, group.group_id), 0)


def _classic_member(member: ConsumerMember) -> Member:
    assert member.classic is not None, "only classic members are left"
    return Member(
        member_id=member.member_id,
        instance_id=member.instance_id,
        client_id=member.client_id,
        client_host=member.client_host,
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        session_timeout_ms=member.classic.session_timeout_ms,
        protocols=dict(member.classic.protocols),
    )


def on_downgraded(state: GroupState, key: TimerKey, decision: Decision) -> None:
    """Begin the first rebalance of a group that has become a classic one."""
    group = state.groups.get(key[1])
    if isinstance(group, ClassicGroup) and group.state is ClassicState.STABLE:
        rebalancing.prepare(state, group, decision)
