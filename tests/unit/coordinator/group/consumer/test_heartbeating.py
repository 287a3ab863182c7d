"""Members join, stay and leave by heartbeats; those who have missed something are fenced."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from barnabas.coordinator.group.consumer.settings import ConsumerGroupSettings
from barnabas.coordinator.group.settings import GroupSettings
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.consumer_group_heartbeat import RequestTopicPartitions
from unit.coordinator.group.consumer.coordinated import Coordinated, settle, topic_id

A = topic_id("a")


# Joining


def test_the_first_member_is_given_everything_at_once() -> None:
    coordinated = Coordinated({"a": 2, "b": 1})
    x = coordinated.member("x", "a", "b")
    response = x.beat()
    assert (response.member_id, response.member_epoch, response.heartbeat_interval_ms) == ("x", 2, 5_000)
    assert x.partitions == ["a-0", "a-1", "b-0"]
    assert coordinated.group.state_name == "Stable"


def test_another_member_waits_for_what_the_first_one_gives_up() -> None:
    coordinated = Coordinated({"a": 2})
    x, y = coordinated.member("x", "a"), coordinated.member("y", "a")
    x.beat()
    coordinated.advance(1_000)
    y.beat()
    assert (y.epoch, y.partitions, coordinated.group.state_name) == (3, [], "Reconciling")
    x.beat()
    assert (x.epoch, x.partitions) == (2, ["a-0"])
    y.beat()
    assert y.partitions == []
    x.beat()
    y.beat()
    assert (x.epoch, x.partitions, y.partitions) == (3, ["a-0"], ["a-1"])
    assert coordinated.group.state_name == "Stable"


def test_the_next_assignment_waits_for_its_interval() -> None:
    coordinated = Coordinated({"a": 2})
    x, y = coordinated.member("x", "a"), coordinated.member("y", "a")
    x.beat()
    coordinated.advance(999)
    y.beat()
    assert (y.epoch, coordinated.group.state_name) == (2, "Assigning")
    coordinated.advance(1)
    y.beat()
    assert (y.epoch, coordinated.group.state_name) == (3, "Reconciling")


def test_a_member_that_subscribes_to_nothing_is_a_member() -> None:
    coordinated = Coordinated({"a": 2})
    x = coordinated.member("x")
    assert x.beat().member_epoch == 1
    assert (x.partitions, coordinated.group.state_name) == ([], "Stable")


def test_members_of_the_first_version_are_given_an_id() -> None:
    coordinated = Coordinated({"a": 1})
    given = [coordinated.ask(coordinated.member("", "a").request(), version=0).member_id for _ in range(2)]
    assert len(set(given)) == 2
    assert all(len(member_id) == 22 and not member_id.startswith("-") for member_id in given)


def test_a_member_says_only_what_has_changed_and_is_told_only_what_has() -> None:
    coordinated = Coordinated({"a": 2})
    x = coordinated.member("x", "a")
    assert x.beat().assignment is not None
    written = len(coordinated.log)
    assert x.beat().assignment is None
    assert x.beat(is_full=True).assignment is not None
    assert len(coordinated.log) == written, "nothing has changed"


def test_the_assignor_that_most_members_name_is_used() -> None:
    coordinated = Coordinated({"a": 2, "b": 2})
    members = [coordinated.member(name, "a", "b", assignor="range") for name in ("x", "y")]
    other = coordinated.member("z", "a", "b", assignor="uniform")
    settle(coordinated, *members)
    assert [member.partitions for member in members] == [["a-0", "b-0"], ["a-1", "b-1"]]
    settle(coordinated, *members, other)
    assert [member.partitions for member in (*members, other)] == [["a-0", "b-0"], ["a-1", "b-1"], []]


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"member_id": " "}, ErrorCode.INVALID_REQUEST),
        ({"group_id": ""}, ErrorCode.INVALID_REQUEST),
        ({"instance_id": ""}, ErrorCode.INVALID_REQUEST),
        ({"rack_id": ""}, ErrorCode.INVALID_REQUEST),
        ({"rebalance_timeout_ms": -1}, ErrorCode.INVALID_REQUEST),
        ({"topic_partitions": None}, ErrorCode.INVALID_REQUEST),
        ({"topic_partitions": [RequestTopicPartitions(topic_id=A, partitions=[0])]}, ErrorCode.INVALID_REQUEST),
        ({"subscribed_topic_names": None}, ErrorCode.INVALID_REQUEST),
        ({"member_epoch": -2}, ErrorCode.INVALID_REQUEST),
        ({"member_epoch": -3}, ErrorCode.INVALID_REQUEST),
        ({"server_assignor": "mine"}, ErrorCode.UNSUPPORTED_ASSIGNOR),
        ({"member_epoch": 1}, ErrorCode.GROUP_ID_NOT_FOUND),
        ({"member_epoch": -1}, ErrorCode.GROUP_ID_NOT_FOUND),
    ],
)
def test_a_request_that_makes_no_sense_is_refused_and_changes_nothing(changes: dict[str, Any], code: ErrorCode) -> None:
    coordinated = Coordinated({"a": 1})
    request = coordinated.member("x", "a").request()
    for name, value in changes.items():
        setattr(request, name, value)
    response = coordinated.ask(request)
    assert (response.error_code, bool(response.error_message)) == (code, True)
    assert not coordinated.log
    assert coordinated.shard.state.groups.get("g") is None


def test_a_full_group_takes_nobody_but_its_own_members() -> None:
    coordinated = Coordinated({"a": 1}, GroupSettings(consumer=ConsumerGroupSettings(max_size=1)))
    x = coordinated.member("x", "a")
    x.beat()
    assert coordinated.member("y", "a").refused() == ErrorCode.GROUP_MAX_SIZE_REACHED
    x.epoch = 0
    x.reads = {}
    assert x.beat().member_epoch == 2


def test_a_group_has_the_times_that_it_is_set_to_within_bounds() -> None:
    coordinated = Coordinated({"a": 1})
    x = coordinated.member("x", "a")
    coordinated.configure_group(consumer_heartbeat_interval_ms="7000", consumer_session_timeout_ms="50000")
    assert x.beat().heartbeat_interval_ms == 7_000
    coordinated.configure_group(consumer_heartbeat_interval_ms="70000")
    assert x.beat().heartbeat_interval_ms == 15_000
    coordinated.advance(49_999)
    assert "x" in coordinated.group.members
    coordinated.advance(1)
    assert "x" not in coordinated.group.members


# Fencing


def test_epochs_that_are_not_the_members_are_fenced() -> None:
    coordinated = Coordinated({"a": 2})
    x, y = coordinated.member("x", "a"), coordinated.member("y", "a")
    settle(coordinated, x, y)
    assert (x.epoch, coordinated.group.members["x"].previous_epoch) == (3, 2)
    assert x.refused(4) == ErrorCode.FENCED_MEMBER_EPOCH
    assert x.refused(1) == ErrorCode.FENCED_MEMBER_EPOCH
    assert coordinated.member("z", "a").refused(3) == ErrorCode.UNKNOWN_MEMBER_ID


def test_one_that_has_missed_an_answer_may_come_with_the_epoch_before_if_it_reads_no_more_than_it_owns() -> None:
    coordinated = Coordinated({"a": 2})
    x, y = coordinated.member("x", "a"), coordinated.member("y", "a")
    settle(coordinated, x, y)
    request = x.request(2)
    assert coordinated.ask(request).error_code == ErrorCode.NONE
    request.topic_partitions = [RequestTopicPartitions(topic_id=A, partitions=[0, 1])]
    assert coordinated.ask(request).error_code == ErrorCode.FENCED_MEMBER_EPOCH
    request.topic_partitions = None
    assert coordinated.ask(request).error_code == ErrorCode.FENCED_MEMBER_EPOCH


def test_one_that_was_fenced_joins_again_under_its_id() -> None:
    coordinated = Coordinated({"a": 2})
    x = coordinated.member("x", "a")
    x.beat()
    x.reads, x.epoch = {}, 0
    assert x.beat().member_epoch == 2
    assert x.partitions == ["a-0", "a-1"]


# Static members


def test_a_static_member_that_comes_back_takes_over_what_its_instance_had() -> None:
    coordinated = Coordinated({"a": 2})
    x, y = coordinated.member("x", "a", instance="i"), coordinated.member("y", "a", instance="j")
    settle(coordinated, x, y)
    had = x.partitions
    x.leave(-2)
    back = coordinated.member("x2", "a", instance="i")
    back.beat()
    assert (back.partitions, back.epoch) == (had, 3), "the epoch did not rise: nobody else notices"
    assert set(coordinated.group.members) == {"x2", "y"}
    assert x.refused(3) == ErrorCode.FENCED_INSTANCE_ID


def test_an_instance_that_has_not_been_left_is_not_given_to_another() -> None:
    coordinated = Coordinated({"a": 2})
    coordinated.member("x", "a", instance="i").beat()
    assert coordinated.member("x2", "a", instance="i").refused() == ErrorCode.UNRELEASED_INSTANCE_ID
    assert coordinated.member("x2", "a", instance="none").refused(2) == ErrorCode.UNKNOWN_MEMBER_ID


def test_a_static_member_that_does_not_come_back_in_its_session_is_gone() -> None:
    coordinated = Coordinated({"a": 2})
    x, y = coordinated.member("x", "a", instance="i"), coordinated.member("y", "a")
    settle(coordinated, x, y)
    x.leave(-2)
    coordinated.advance(40_000)
    y.beat()
    assert set(coordinated.group.members) == {"x", "y"}
    coordinated.advance(5_000)
    settle(coordinated, y)
    assert y.partitions == ["a-0", "a-1"]


def test_a_static_member_that_comes_back_with_another_subscription_has_the_group_assigned_anew() -> None:
    coordinated = Coordinated({"a": 2, "b": 2})
    x = coordinated.member("x", "a", instance="i")
    x.beat()
    x.leave(-2)
    coordinated.advance(1_000)
    back = coordinated.member("x2", "b", instance="i")
    back.beat()
    assert back.partitions == ["b-0", "b-1"]
    assert coordinated.group.target == {"x2": {topic_id("b"): {0, 1}}}


# Leaving


def test_what_a_member_had_goes_to_the_others_when_it_leaves() -> None:
    coordinated = Coordinated({"a": 2})
    x, y = coordinated.member("x", "a"), coordinated.member("y", "a")
    settle(coordinated, x, y)
    x.leave()
    assert coordinated.group.epoch == 4
    settle(coordinated, y)
    assert y.partitions == ["a-0", "a-1"]
    assert not [key for key in coordinated.timers if "x" in key]


def test_only_members_can_leave() -> None:
    coordinated = Coordinated({"a": 2})
    x = coordinated.member("x", "a")
    x.beat()
    assert coordinated.member("y").refused(-1) == ErrorCode.UNKNOWN_MEMBER_ID
    assert coordinated.member("y", instance="i").refused(-2) == ErrorCode.UNKNOWN_MEMBER_ID


def test_an_answer_that_could_not_be_written_has_changed_nothing() -> None:
    coordinated = Coordinated({"a": 2})
    coordinated.fails = True
    x = coordinated.member("x", "a")
    coordinated.ask(x.request())
    assert coordinated.shard.state.groups.get("g") is None
    coordinated.fails = False
    x.beat()
    before = replace(coordinated.group.members["x"])
    coordinated.fails = True
    x.topics = []
    coordinated.ask(x.request(is_full=True))
    assert coordinated.group.members["x"] == before
