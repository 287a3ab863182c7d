"""The range assignor gives runs of partitions, in one order of members for all topics."""

from __future__ import annotations

from hypothesis import given

from barnabas.coordinator.group.assignors.ranges import assign_ranges
from barnabas.coordinator.group.assignors.spec import GroupSpec, MemberSpec
from unit.coordinator.group.assignors.group_specs import TOPICS, check_valid, group_spec, group_specs

A, B = TOPICS[:2]


@given(group_specs())
def test_every_partition_goes_to_one_subscriber_in_runs_that_differ_by_one_at_most(spec: GroupSpec) -> None:
    assigned = assign_ranges(spec)
    check_valid(spec, assigned)
    for topic_id, subscribers in spec.subscribers().items():
        runs = [assigned[member_id].get(topic_id, frozenset()) for member_id in subscribers]
        assert max(map(len, runs)) - min(map(len, runs)) <= 1
        assert all(max(run) - min(run) == len(run) - 1 for run in runs if run)


def test_partitions_of_the_same_number_meet_in_one_member() -> None:
    spec = group_spec({name: MemberSpec(frozenset((A, B))) for name in ("x", "y", "z")}, {A: 7, B: 7})
    assert assign_ranges(spec) == {
        "x": {A: {0, 1, 2}, B: {0, 1, 2}},
        "y": {A: {3, 4}, B: {3, 4}},
        "z": {A: {5, 6}, B: {5, 6}},
    }


def test_static_members_come_first_by_their_instances_whatever_their_ids_are() -> None:
    members = {
        "a": MemberSpec(frozenset((A,))),
        "y": MemberSpec(frozenset((A,)), instance_id="i-2"),
        "z": MemberSpec(frozenset((A,)), instance_id="i-1"),
    }
    assert assign_ranges(group_spec(members, {A: 3})) == {"z": {A: {0}}, "y": {A: {1}}, "a": {A: {2}}}


def test_members_beyond_the_partitions_own_nothing() -> None:
    spec = group_spec({name: MemberSpec(frozenset((A,))) for name in ("x", "y")}, {A: 1})
    assert assign_ranges(spec) == {"x": {A: {0}}, "y": {}}
