"""Any history of a classic group keeps its rules, and its log says again what it was."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from barnabas.coordinator.group.classic.group import ClassicGroup, ClassicState
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.leave_group import MemberIdentity
from unit.coordinator.group.driven_shard import DrivenShard

INSTANCES = (None, None, "one", "two")

steps = st.one_of(
    st.tuples(st.just("join"), st.sampled_from(INSTANCES), st.sampled_from([3, 8, 9])),
    st.tuples(st.sampled_from(["rejoin", "rejoin changed", "sync", "heartbeat", "leave"]), st.integers(0, 5)),
    st.tuples(st.just("wait"), st.sampled_from([0, 1_000, 6_000, 10_000, 30_000])),
    st.tuples(st.just("fail"), st.booleans()),
)


def known_ids(shard: DrivenShard) -> list[tuple[str, str | None]]:
    """Every id that was handed out in an answer, with the instance that it is of, in a steady order."""
    found = shard.shard.state.groups.get("g")
    if not isinstance(found, ClassicGroup):
        return []
    members = [(member.member_id, member.instance_id) for member in found.members.values()]
    return [*members, *((member_id, None) for member_id in sorted(found.pending))]


def take(shard: DrivenShard, step: tuple[Any, ...]) -> None:
    what, *rest = step
    if what == "join":
        shard.join(version=rest[1], instance_id=rest[0])
    elif what == "wait":
        shard.pass_time(rest[0])
    elif what == "fail":
        shard.failure = ErrorCode.COORDINATOR_NOT_AVAILABLE if rest[0] else None
    elif ids := known_ids(shard):
        member_id, instance_id = ids[rest[0] % len(ids)]
        if what == "rejoin":
            shard.join(member_id, instance_id=instance_id)
        elif what == "rejoin changed":
            shard.join(member_id, instance_id=instance_id, metadata=bytes([rest[0]]))
        elif what == "sync":
            parts = {each: each.encode() for each, _ in ids}
            group = shard.group()
            hands_in = group.state is ClassicState.COMPLETING_REBALANCE and group.leader_id == member_id
            shard.sync(member_id, parts, group_instance_id=instance_id)
            if hands_in:
                assert (group.state is ClassicState.STABLE) == (shard.failure is None)
        elif what == "heartbeat":
            shard.heartbeat(member_id, group_instance_id=instance_id)
        else:
            shard.leave(MemberIdentity(member_id=member_id, group_instance_id=instance_id))


def check(shard: DrivenShard) -> None:
    """What holds of a group at any time."""
    found = shard.shard.state.groups.get("g")
    if found is None:
        return
    group = shard.group()
    assert group.joining.keys() <= group.members.keys()
    assert group.syncing.keys() <= group.members.keys()
    assert group.pending_sync <= group.members.keys()
    assert not group.pending & group.members.keys()
    assert group.static_ids == {
        member.instance_id: member.member_id for member in group.members.values() if member.instance_id is not None
    }
    assert (group.leader_id is None) == (not group.members)
    assert group.leader_id is None or group.leader_id in group.members
    assert not group.arriving
    # Whoever is in the group is let go when it is silent for long enough, unless it waits for the group itself.
    for member_id in (*group.members, *group.pending):
        is_waiting = member_id in group.joining or member_id in group.syncing
        assert is_waiting or shard.has_timer("classic-session", "g", member_id), member_id
    assert not group.pending_sync or shard.has_timer("classic-sync", "g")
    if group.state is ClassicState.EMPTY:
        assert not group.members
    if group.state is ClassicState.PREPARING_REBALANCE:
        assert shard.has_timer("classic-join", "g")
        assert not group.syncing
    else:
        assert not group.joining
    if group.state is ClassicState.COMPLETING_REBALANCE:
        assert group.leader_id not in group.syncing
    if group.state is ClassicState.STABLE:
        assert not group.syncing


def persistent(group: ClassicGroup) -> object:
    return (
        group.generation,
        group.state,
        group.protocol_type,
        group.protocol_name,
        group.leader_id,
        {
            each.member_id: (each.instance_id, each.assignment, each.session_timeout_ms)
            for each in group.members.values()
        },
    )


@given(st.lists(steps, max_size=40))
def test_a_group_keeps_its_rules_whatever_happens(history: list[tuple[Any, ...]]) -> None:
    shard = DrivenShard(initial_rebalance_delay_ms=1_000)
    for step in history:
        take(shard, step)
        check(shard)
        group = shard.shard.state.groups.get("g")
        if isinstance(group, ClassicGroup) and group.state is ClassicState.STABLE:
            assert persistent(shard.reloaded().group()) == persistent(group)
    # When all are silent, everybody is answered and the group ends empty.
    shard.failure = None
    shard.pass_time(3_600_000)
    check(shard)
    group = shard.shard.state.groups.get("g")
    assert group is None or group.is_empty
    assert len(shard.answers) == shard.asked
