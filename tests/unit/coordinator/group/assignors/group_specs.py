"""Groups for assignors to work on: what they are told, drawn at random, and what must hold of every answer."""

from __future__ import annotations

from collections.abc import Mapping

from hypothesis import strategies as st

from barnabas.coordinator.group.assignors.spec import Assignment, GroupSpec, MemberSpec
from barnabas.protocol.uuid import Uuid

TOPICS = [Uuid(bytes((number,)) * 16) for number in range(4)]
INSTANCES = ["i-0", "i-1", "i-2"]


@st.composite
def group_specs(draw: st.DrawFn, *, is_homogeneous: bool = False, members_max: int = 6) -> GroupSpec:
    """A group that has no assignment yet."""
    counts = {topic_id: draw(st.integers(1, 9)) for topic_id in TOPICS}
    subscriptions = st.frozensets(st.sampled_from(TOPICS))
    same = draw(subscriptions)
    instances = draw(st.permutations(INSTANCES))
    members = {
        f"member-{number}": MemberSpec(
            same if is_homogeneous else draw(subscriptions),
            instance_id=instances[number] if number < len(instances) and draw(st.booleans()) else None,
        )
        for number in range(draw(st.integers(1, members_max)))
    }
    return group_spec(members, counts)


def group_spec(members: Mapping[str, MemberSpec], counts: Mapping[Uuid, int]) -> GroupSpec:
    subscribed = {topic_id for member in members.values() for topic_id in member.topic_ids}
    return GroupSpec(members, {topic_id: count for topic_id, count in counts.items() if topic_id in subscribed})


def having(spec: GroupSpec, assigned: Mapping[str, Assignment]) -> GroupSpec:
    """The group after an assignment."""
    members = {
        member_id: member._replace(assignment=assigned.get(member_id, {})) for member_id, member in spec.members.items()
    }
    return GroupSpec(members, spec.partition_counts)


def partitions(assignment: Assignment) -> set[tuple[Uuid, int]]:
    return {(topic_id, partition) for topic_id, numbers in assignment.items() for partition in numbers}


def check_valid(spec: GroupSpec, assigned: Mapping[str, Assignment]) -> None:
    """Everything that is subscribed to is owned by one of those who subscribe to it, and nothing else is owned."""
    assert assigned.keys() == spec.members.keys()
    owned = [partition for assignment in assigned.values() for partition in partitions(assignment)]
    assert sorted(owned) == [
        (topic_id, number) for topic_id, count in sorted(spec.partition_counts.items()) for number in range(count)
    ]
    for member_id, assignment in assigned.items():
        assert assignment.keys() <= spec.members[member_id].topic_ids
        assert all(assignment.values()), "no topic is there without partitions"
