"""From a group's epoch to what one of its members owns: the target assignment of all, then the member's next step."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from barnabas.coordinator.decision import Decision
from barnabas.coordinator.group.assignors import ASSIGNORS
from barnabas.coordinator.group.assignors.spec import Assignment, GroupSpec, MemberSpec
from barnabas.coordinator.group.consumer import records, timers
from barnabas.coordinator.group.consumer.group import ConsumerGroup, preferred_assignor
from barnabas.coordinator.group.consumer.members import ConsumerMember, MemberState
from barnabas.coordinator.group.consumer.reconciliation import Reported, reconcile
from barnabas.coordinator.group.state import GroupState
from barnabas.metadata.image import MetadataImage
from barnabas.protocol.uuid import Uuid


class Target(NamedTuple):
    """What a member is to own, and the epoch of the group that this was computed for."""

    epoch: int
    assignment: Assignment


def assign(state: GroupState, group: ConsumerGroup, epoch: int, now: ConsumerMember, decision: Decision) -> Target:
    """The target of a member, with a new assignment of all where the group's epoch has got ahead."""
    if group.assignment_epoch >= epoch or not _may_assign(state, group, decision.now_ms):
        return Target(group.assignment_epoch, group.target_of(now))
    members = group.members_with(now)
    name = preferred_assignor(members, state.settings().consumer.assignors[0])
    assigned = ASSIGNORS[name](_spec(group, members, state.image))
    for member_id, assignment in assigned.items():
        if assignment != group.target.get(member_id):
            records.write_target(group.group_id, member_id, assignment, decision)
    records.write_target_epoch(group.group_id, epoch, decision.now_ms, decision)
    return Target(epoch, assigned[now.member_id])


def _may_assign(state: GroupState, group: ConsumerGroup, now_ms: int) -> bool:
    """Whether enough time has passed since the last assignment, of which the time may not be known."""
    interval_ms = state.settings().consumer.terms(group.group_id, state.image).assignment_interval_ms
    since_ms = group.assignment_timestamp_ms
    return not since_ms or not interval_ms or now_ms >= since_ms + interval_ms


def _spec(group: ConsumerGroup, members: dict[str, ConsumerMember], image: MetadataImage) -> GroupSpec:
    # Most members of a group subscribe to the same.
    ids: dict[frozenset[str], frozenset[Uuid]] = {}
    specs = {}
    for member_id, member in members.items():
        names = group.topics_of(member)
        if names not in ids:
            ids[names] = topic_ids(names, image)
        specs[member_id] = MemberSpec(ids[names], group.target_of(member), member.instance_id)
    counts = {
        topic_id: len(image.topics.by_id[topic_id].partitions) for topic_id in frozenset[Uuid]().union(*ids.values())
    }
    return GroupSpec(specs, counts)


def topic_ids(names: Collection[str], image: MetadataImage) -> frozenset[Uuid]:
    """The ids of those of these topics that exist."""
    found = (image.topics.ids.get(name) for name in names)
    return frozenset(topic_id for topic_id in found if topic_id is not None)


def settle(
    state: GroupState,
    group: ConsumerGroup,
    now: ConsumerMember,
    target: Target,
    reported: Reported,
    decision: Decision,
    *,
    has_subscription_changed: bool,
) -> ConsumerMember:
    """The member after its next step towards its target, which is written."""
    if not has_subscription_changed and now.is_reconciled_to(target.epoch):
        return now
    settled = reconcile(
        now,
        target.epoch,
        target.assignment,
        topic_ids=topic_ids(group.topics_of(now), state.image),
        reported=reported,
        has_owner=group.has_owner,
        has_subscription_changed=has_subscription_changed,
    )
    if settled == now:
        return now
    records.write_owned(group.group_id, settled, decision)
    if not settled.is_classic:
        timer = timers.of_member(timers.REBALANCE, group.group_id, settled.member_id)
        if settled.state is MemberState.UNREVOKED_PARTITIONS:
            decision.set_timer(timer, settled.rebalance_timeout_ms)
        else:
            decision.cancel_timer(timer)
    return settled
