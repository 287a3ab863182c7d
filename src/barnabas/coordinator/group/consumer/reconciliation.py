"""How one member moves towards the target assignment, a step at each heartbeat.

First it is told to stop reading what it is not to keep, and stays at its epoch until it has. Then it goes to the
target's epoch and is given what is free; what others have not let go of yet it is given later. So a partition is never
given to a member before the one that had it said that it stopped, or was fenced.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

from barnabas.coordinator.errors import FencedMemberEpoch
from barnabas.coordinator.group.assignors.spec import Assignment
from barnabas.coordinator.group.consumer.members import ConsumerMember, MemberState, Owned
from barnabas.protocol.uuid import Uuid

# The partitions that a member says it still reads; None where it did not say.
Reported = Mapping[Uuid, Collection[int]] | None


def reconcile(
    member: ConsumerMember,
    target_epoch: int,
    target: Assignment,
    *,
    topic_ids: Collection[Uuid],
    reported: Reported,
    has_owner: Callable[[Uuid, int], bool],
    has_subscription_changed: bool,
) -> ConsumerMember:
    """The member after its next step, or the same where it has to wait. `topic_ids` is what it subscribes to."""
    match member.state:
        case MemberState.STABLE if member.member_epoch == target_epoch:
            return _drop_unsubscribed(member, topic_ids, reported) if has_subscription_changed else member
        case MemberState.UNREVOKED_PARTITIONS if _still_reads(reported, member.pending_revocation):
            return _drop_unsubscribed(member, topic_ids, reported) if has_subscription_changed else member
        case MemberState.UNKNOWN if reported is None or any(reported.values()):
            raise FencedMemberEpoch("The member's state is of a newer version; it has to give up all and join again.")
        case MemberState.UNKNOWN:
            member = replace(member, member_epoch=target_epoch)
    wanted = {topic_id: partitions for topic_id, partitions in target.items() if topic_id in topic_ids}
    return _step(member, target_epoch, wanted, reported, has_owner)


def _step(
    member: ConsumerMember,
    target_epoch: int,
    target: Assignment,
    reported: Reported,
    has_owner: Callable[[Uuid, int], bool],
) -> ConsumerMember:
    kept: dict[Uuid, dict[int, int]] = {}
    revoked: dict[Uuid, dict[int, int]] = {}
    for topic_id, epochs in member.assigned.items():
        for partition, epoch in epochs.items():
            side = kept if partition in target.get(topic_id, ()) else revoked
            side.setdefault(topic_id, {})[partition] = epoch
    if revoked and _still_reads(reported, revoked):
        return replace(
            member,
            state=MemberState.UNREVOKED_PARTITIONS,
            previous_epoch=member.member_epoch,
            assigned=kept,
            pending_revocation=revoked,
        )
    is_complete = True
    for topic_id, partitions in target.items():
        own = kept.get(topic_id, {})
        was_own = member.pending_revocation.get(topic_id, {})
        for partition in sorted(partitions - own.keys()):
            if partition not in was_own and has_owner(topic_id, partition):
                is_complete = False
            else:
                kept.setdefault(topic_id, {})[partition] = target_epoch
    return replace(
        member,
        state=MemberState.STABLE if is_complete else MemberState.UNRELEASED_PARTITIONS,
        previous_epoch=member.member_epoch,
        member_epoch=target_epoch,
        assigned=kept,
        pending_revocation={},
    )


def _drop_unsubscribed(member: ConsumerMember, topic_ids: Collection[Uuid], reported: Reported) -> ConsumerMember:
    """Take topics away that the member has unsubscribed from, ahead of the next target assignment."""
    dropped = {topic_id: epochs for topic_id, epochs in member.assigned.items() if topic_id not in topic_ids}
    if not dropped:
        return member
    kept = {topic_id: epochs for topic_id, epochs in member.assigned.items() if topic_id in topic_ids}
    revoked = {topic_id: dict(epochs) for topic_id, epochs in member.pending_revocation.items()}
    for topic_id, epochs in dropped.items():
        revoked.setdefault(topic_id, {}).update(epochs)
    if _still_reads(reported, revoked):
        return replace(
            member,
            state=MemberState.UNREVOKED_PARTITIONS,
            previous_epoch=member.member_epoch,
            assigned=kept,
            pending_revocation=revoked,
        )
    return replace(member, previous_epoch=member.member_epoch, assigned=kept)


def _still_reads(reported: Reported, revoked: Owned) -> bool:
    if reported is None:
        return True
    return any(
        partition in revoked.get(topic_id, ()) for topic_id, partitions in reported.items() for partition in partitions
    )
