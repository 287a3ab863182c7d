"""How members go: because they say so, or because they have been silent or slow for too long.

When the last member of the newer protocol goes and classic ones stay, the group becomes a classic one again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from barnabas.coordinator.decision import CoordinatorRecord, Decision, TimerKey
from barnabas.coordinator.group.consumer import records, timers
from barnabas.coordinator.group.consumer.group import ConsumerGroup
from barnabas.coordinator.group.consumer.members import ConsumerMember, MemberState
from barnabas.coordinator.group.consumer.migration import downgrade, may_downgrade
from barnabas.coordinator.group.consumer.subscribing import forget_patterns
from barnabas.coordinator.group.state import GroupState

EXPIRY_RETRY_MS: Final = 500


def remove_members(state: GroupState, group: ConsumerGroup, leaving: list[ConsumerMember], decision: Decision) -> None:
    """Take members out; what they owned is free when the records are replayed."""
    if not leaving:
        return
    leaving_ids = {member.member_id for member in leaving}
    if may_downgrade(state, group, leaving_ids):
        downgrade(state, group, leaving_ids, decision)
        return
    for member_id in leaving_ids:
        records.delete_member(group.group_id, member_id, decision)
        timers.cancel_all(group.group_id, member_id, decision)
    forget_patterns(group, leaving, decision)
    staying = [member for member in group.members.values() if member.member_id not in leaving_ids]
    metadata_hash = state.topic_hashes.of(group.topics_of_all(staying), state.image)
    records.write_epoch(group.group_id, group.epoch + 1, metadata_hash, decision)


# Timers


def expire(state: GroupState, key: TimerKey, decision: Decision) -> None:
    """A session, or the time in which a classic member has to join or to fetch its assignment, has run out."""
    found = _find(state, key)
    if found is not None:
        _expire(state, *found, decision)


def expire_rebalance(state: GroupState, key: TimerKey, decision: Decision) -> None:
    """A member did not give up in time what it has to give up."""
    found = _find(state, key)
    if found is not None and found[1].state is MemberState.UNREVOKED_PARTITIONS:
        _expire(state, *found, decision)


def _expire(state: GroupState, group: ConsumerGroup, member: ConsumerMember, decision: Decision) -> None:
    group.expired.add(member.member_id)
    remove_members(state, group, [member], decision)


def on_append_failed(state: GroupState, failed: Sequence[CoordinatorRecord], decision: Decision) -> None:
    """Try again soon to remove those whose time was up, unless they are heard of in the meantime."""
    for group_id in {getattr(record.key, "group_id", "") for record in failed}:
        state.pattern_lookups.pop(group_id, None)
        group = state.groups.get(group_id)
        if isinstance(group, ConsumerGroup):
            for member_id in group.expired:
                decision.set_timer(timers.of_member(timers.SESSION, group_id, member_id), EXPIRY_RETRY_MS)
            group.expired.clear()


def _find(state: GroupState, key: TimerKey) -> tuple[ConsumerGroup, ConsumerMember] | None:
    group = state.groups.get(key[1])
    member = group.members.get(key[2]) if isinstance(group, ConsumerGroup) else None
    return None if member is None or not isinstance(group, ConsumerGroup) else (group, member)


def on_loaded(state: GroupState, group: ConsumerGroup, decision: Decision) -> None:
    """Give everybody in a group that was loaded the time to be heard of."""
    session_timeout_ms = state.settings().consumer.terms(group.group_id, state.image).session_timeout_ms
    for member in group.members.values():
        key = timers.of_member(timers.SESSION, group.group_id, member.member_id)
        decision.set_timer(key, session_timeout_ms)
        if member.state is MemberState.UNREVOKED_PARTITIONS:
            key = timers.of_member(timers.REBALANCE, group.group_id, member.member_id)
            decision.set_timer(key, member.rebalance_timeout_ms)
