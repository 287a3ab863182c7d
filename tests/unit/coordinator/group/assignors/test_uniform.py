"""The uniform assignor keeps members alike and lets them keep what they have."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from barnabas.coordinator.group.assignors.spec import Assignment, GroupSpec, MemberSpec
from barnabas.coordinator.group.assignors.uniform import assign_uniformly
from unit.coordinator.group.assignors.group_specs import (
    TOPICS,
    check_valid,
    group_spec,
    group_specs,
    having,
    partitions,
)

A, B, C = TOPICS[:3]


def loads(assigned: dict[str, Assignment]) -> list[int]:
    return [len(partitions(assignment)) for assignment in assigned.values()]


@given(group_specs(is_homogeneous=True))
def test_with_the_same_subscriptions_members_differ_by_one_partition_at_most(spec: GroupSpec) -> None:
    assigned = assign_uniformly(spec)
    check_valid(spec, assigned)
    assert max(loads(assigned)) - min(loads(assigned)) <= 1


@given(group_specs(), group_specs())
def test_any_assignment_of_before_is_made_valid(before: GroupSpec, spec: GroupSpec) -> None:
    kept = {
        member_id: {
            topic_id: frozenset(number for number in numbers if number < spec.partition_counts.get(topic_id, 10))
            for topic_id, numbers in assignment.items()
        }
        for member_id, assignment in assign_uniformly(before).items()
    }
    check_valid(spec, assign_uniformly(having(spec, kept)))


@given(group_specs())
def test_nobody_could_be_relieved_by_one_who_owns_two_less(spec: GroupSpec) -> None:
    assigned = assign_uniformly(spec)
    check_valid(spec, assigned)
    load = dict(zip(assigned, loads(assigned), strict=True))
    for owner, assignment in assigned.items():
        for topic_id in assignment:
            assert all(load[owner] - load[other] <= 1 for other in spec.subscribers()[topic_id])


@given(group_specs())
def test_what_is_balanced_stays_as_it_is(spec: GroupSpec) -> None:
    assigned = assign_uniformly(spec)
    assert assign_uniformly(having(spec, assigned)) == assigned


@given(group_specs(is_homogeneous=True, members_max=8), st.data())
def test_only_what_the_balance_asks_for_moves_when_members_come_and_go(spec: GroupSpec, data: st.DataObject) -> None:
    ids = list(spec.members)
    stayed = data.draw(st.lists(st.sampled_from(ids), unique=True, min_size=1))
    arrived = [f"new-{number}" for number in range(data.draw(st.integers(0, 3)))]
    assigned = assign_uniformly(spec)
    some = spec.members[ids[0]]
    members = {name: spec.members[name]._replace(assignment=assigned[name]) for name in stayed}
    members |= {name: MemberSpec(some.topic_ids) for name in arrived}
    changed = assign_uniformly(GroupSpec(members, spec.partition_counts))
    share, extras = divmod(sum(spec.partition_counts.values()), len(members))
    # Those who own most keep one more than the share, as many of them as there are extras.
    had = sorted((len(partitions(assigned[name])) for name in stayed), reverse=True)
    could_keep = sum(min(count, share + (place < extras)) for place, count in enumerate(had))
    kept = sum(len(partitions(changed[name]) & partitions(assigned[name])) for name in stayed)
    assert kept == could_keep


def test_a_member_gives_up_what_it_no_longer_subscribes_to() -> None:
    members = {
        "x": MemberSpec(frozenset((A,)), {A: frozenset((0,)), B: frozenset((0, 1))}),
        "y": MemberSpec(frozenset((A, B)), {A: frozenset((1,))}),
    }
    assert assign_uniformly(group_spec(members, {A: 2, B: 2})) == {"x": {A: {0, 1}}, "y": {B: {0, 1}}}


def test_members_of_different_topics_are_balanced_through_one_that_they_share() -> None:
    members = {
        "x": MemberSpec(frozenset((A, B))),
        "y": MemberSpec(frozenset((B, C))),
    }
    assigned = assign_uniformly(group_spec(members, {A: 4, B: 4, C: 2}))
    assert loads(assigned) == [5, 5]


def test_a_group_without_members_or_topics_has_nothing_to_assign() -> None:
    assert assign_uniformly(GroupSpec({}, {})) == {}
    assert assign_uniformly(GroupSpec({"x": MemberSpec(frozenset())}, {})) == {"x": {}}
