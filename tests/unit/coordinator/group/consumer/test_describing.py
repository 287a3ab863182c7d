"""Groups are described with what their members own, are giving up, and are to own."""

from __future__ import annotations

from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.consumer_group_describe import Assignment, ConsumerGroupDescribeRequest, DescribedGroup
from unit.coordinator.group.consumer.classic_clients import ClassicConsumer, form_classic_group
from unit.coordinator.group.consumer.coordinated import Coordinated


def describe(coordinated: Coordinated, group_id: str = "g") -> DescribedGroup:
    request = ConsumerGroupDescribeRequest(group_ids=[group_id], include_authorized_operations=False)
    group: DescribedGroup = coordinated.ask(request).groups[0]
    return group


def partitions(assignment: Assignment) -> list[str]:
    return [f"{topic.topic_name}-{number}" for topic in assignment.topic_partitions for number in topic.partitions]


def test_a_member_answers_for_what_it_is_giving_up() -> None:
    coordinated = Coordinated({"a": 2})
    x, y = coordinated.member("x", "a", instance="i"), coordinated.member("y", "a", pattern="b", assignor="range")
    x.beat()
    coordinated.advance(1_000)
    y.beat()
    x.beat()
    group = describe(coordinated)
    assert (group.error_code, group.group_state, group.group_epoch, group.assignment_epoch) == (0, "Reconciling", 3, 3)
    assert group.assignor_name == "range"
    owner, waiting = group.members
    assert (owner.member_id, owner.member_epoch, owner.instance_id, owner.member_type) == ("x", 2, "i", 1)
    assert (partitions(owner.assignment), partitions(owner.target_assignment)) == (["a-0", "a-1"], ["a-0"])
    assert (partitions(waiting.assignment), partitions(waiting.target_assignment)) == ([], ["a-1"])
    assert (waiting.subscribed_topic_names, waiting.subscribed_topic_regex) == (["a"], "b")
    assert (waiting.client_id, waiting.client_host) == ("client", "/127.0.0.1")


def test_topics_that_are_gone_are_left_out() -> None:
    coordinated = Coordinated({"a": 1, "b": 1})
    coordinated.member("x", "a", "b").beat()
    coordinated.delete_topic("b")
    member = describe(coordinated).members[0]
    assert partitions(member.assignment) == partitions(member.target_assignment) == ["a-0"]


def test_classic_members_are_told_apart() -> None:
    coordinated = Coordinated({"a": 2})
    form_classic_group(coordinated, ClassicConsumer(coordinated, "a"))
    coordinated.member("x", "a").beat()
    assert [member.member_type for member in describe(coordinated).members] == [0, 1]


def test_other_groups_are_not_found() -> None:
    coordinated = Coordinated({"a": 2})
    form_classic_group(coordinated, ClassicConsumer(coordinated, "a"))
    assert describe(coordinated, "none").error_message == "Group none not found."
    classic = describe(coordinated)
    assert (classic.error_code, classic.error_message) == (
        ErrorCode.GROUP_ID_NOT_FOUND,
        "Group g is not a consumer group.",
    )
