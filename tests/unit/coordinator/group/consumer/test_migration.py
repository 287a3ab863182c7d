"""Live groups go from one protocol to the other and back, and keep their members and what those read."""

from __future__ import annotations

from dataclasses import replace

import pytest

from barnabas.coordinator.group.classic.group import ClassicGroup
from barnabas.coordinator.group.consumer.settings import ConsumerGroupSettings
from barnabas.coordinator.group.settings import GroupSettings
from barnabas.protocol.errors import ErrorCode
from unit.coordinator.group.consumer.classic_clients import ClassicConsumer, form_classic_group
from unit.coordinator.group.consumer.coordinated import Coordinated


def classic_group(coordinated: Coordinated) -> ClassicGroup:
    group = coordinated.shard.state.groups.get("g")
    assert isinstance(group, ClassicGroup)
    return group


def follow(coordinated: Coordinated, c: ClassicConsumer) -> None:
    """Rebalance in a classic group of one."""
    asked = coordinated.send(c.join_request())
    coordinated.advance(0)
    c.take(coordinated.answer(asked))


# To the newer protocol


def test_a_classic_group_becomes_a_consumer_group_and_its_members_keep_what_they_read() -> None:
    coordinated = Coordinated({"a": 2})
    c, d = ClassicConsumer(coordinated, "a"), ClassicConsumer(coordinated, "a")
    form_classic_group(coordinated, c, d)
    x = coordinated.member("x", "a")
    x.beat()
    assert set(coordinated.group.members) == {c.member_id, d.member_id, "x"}
    assert (x.epoch, x.partitions) == (2, []), "what it is to have, the other still reads"
    assert coordinated.group.members[c.member_id].member_epoch == c.generation == 1
    for _ in range(3):
        for classic in (c, d):
            classic.follow()
        x.beat()
    assert sorted([*c.partitions, *d.partitions, *x.partitions]) == ["a-0", "a-1"]
    assert coordinated.group.state_name == "Stable"


def test_what_was_converted_is_what_is_loaded() -> None:
    coordinated = Coordinated({"a": 2})
    c = ClassicConsumer(coordinated, "a", instance="i")
    form_classic_group(coordinated, c)
    coordinated.member("x", "a").beat()
    before = coordinated.group
    coordinated.load()
    after = coordinated.group
    assert (after.members, after.target, after.epoch) == (before.members, before.target, before.epoch)
    assert (after.assignment_epoch, after.metadata_hash) == (before.assignment_epoch, before.metadata_hash)


def test_sessions_go_on_in_the_group_that_it_becomes() -> None:
    coordinated = Coordinated({"a": 2})
    c = ClassicConsumer(coordinated, "a")
    form_classic_group(coordinated, c)
    coordinated.member("x", "a").beat()
    assert [key for key in coordinated.timers if key[0].startswith("classic")] == []
    coordinated.advance(10_000)
    assert set(coordinated.group.members) == {"x"}


def test_members_that_wait_in_a_rebalance_are_told_to_join_again() -> None:
    coordinated = Coordinated({"a": 2})
    c = ClassicConsumer(coordinated, "a")
    form_classic_group(coordinated, c)
    d = ClassicConsumer(coordinated, "a")
    d.refused_join()
    d.member_id = next(iter(classic_group(coordinated).pending))
    waiting = coordinated.send(d.join_request())
    coordinated.member("x", "a").beat()
    assert coordinated.answer(waiting).error_code == ErrorCode.REBALANCE_IN_PROGRESS
    d.join_and_sync()
    assert d.member_id in coordinated.group.members


@pytest.mark.parametrize(
    ("settings", "protocol_type", "assignment"),
    [
        (ConsumerGroupSettings(may_upgrade=False), "consumer", None),
        (ConsumerGroupSettings(max_size=0), "consumer", None),
        (ConsumerGroupSettings(), "connect", None),
        (ConsumerGroupSettings(), "consumer", b"\0\0\0\0\0\0\0\0\0\x01x"),
        (ConsumerGroupSettings(), "consumer", b"\0"),
    ],
    ids=["disabled", "too many", "not consumers", "data of a custom assignor", "cannot be read"],
)
def test_groups_that_cannot_be_converted_stay_as_they_are(
    settings: ConsumerGroupSettings, protocol_type: str, assignment: bytes | None
) -> None:
    coordinated = Coordinated({"a": 2}, GroupSettings(consumer=settings))
    c = ClassicConsumer(coordinated, "a", protocol_type=protocol_type)
    if protocol_type == "consumer":
        form_classic_group(coordinated, c)
    else:
        c.refused_join()
        c.member_id = next(iter(classic_group(coordinated).pending))
        coordinated.send(c.join_request())
        coordinated.advance(5_000)
    if assignment is not None:
        classic_group(coordinated).members[c.member_id].assignment = assignment
    log = list(coordinated.log)
    assert coordinated.member("x", "a").refused() == ErrorCode.GROUP_ID_NOT_FOUND
    assert coordinated.log == log
    assert c.member_id in classic_group(coordinated).members


def test_a_group_that_is_there_for_its_offsets_or_empty_becomes_a_consumer_group() -> None:
    coordinated = Coordinated({"a": 2})
    c = ClassicConsumer(coordinated, "a")
    form_classic_group(coordinated, c)
    assert c.leave() == ErrorCode.NONE
    coordinated.advance(0)
    assert classic_group(coordinated).is_empty
    x = coordinated.member("x", "a")
    x.beat()
    assert x.partitions == ["a-0", "a-1"]
    coordinated.load()
    assert set(coordinated.group.members) == {"x"}


# Back to the classic protocol


def test_a_group_is_a_classic_one_again_when_only_classic_members_stay() -> None:
    coordinated = Coordinated({"a": 2})
    c = ClassicConsumer(coordinated, "a")
    form_classic_group(coordinated, c)
    x = coordinated.member("x", "a")
    x.beat()
    c.follow()
    x.leave()
    coordinated.advance(0)
    group = classic_group(coordinated)
    assert (set(group.members), group.state_name) == ({c.member_id}, "PreparingRebalance")
    assert c.beat() in (ErrorCode.REBALANCE_IN_PROGRESS, ErrorCode.ILLEGAL_GENERATION)
    follow(coordinated, c)
    assert group.generation > 2
    assert [key for key in coordinated.timers if key[0].startswith("consumer")] == []


def test_what_a_group_is_converted_back_to_is_what_is_loaded() -> None:
    coordinated = Coordinated({"a": 2})
    c = ClassicConsumer(coordinated, "a")
    form_classic_group(coordinated, c)
    x = coordinated.member("x", "a")
    x.beat()
    x.leave()
    coordinated.load()
    group = classic_group(coordinated)
    assert (set(group.members), group.state_name, group.protocol_name) == ({c.member_id}, "Stable", "range")


def test_a_session_that_ends_converts_a_group_as_well() -> None:
    coordinated = Coordinated({"a": 2})
    c = ClassicConsumer(coordinated, "a")
    form_classic_group(coordinated, c)
    coordinated.member("x", "a").beat()
    for _ in range(8):
        coordinated.advance(5_000)
        c.follow()
    coordinated.advance(5_000)
    assert c.member_id in classic_group(coordinated).members


def test_a_group_stays_a_consumer_group_where_the_policy_says_so_or_it_is_too_large() -> None:
    consumer = ConsumerGroupSettings(may_downgrade=False)
    for settings in (GroupSettings(consumer=consumer), GroupSettings()):
        coordinated = Coordinated({"a": 2}, settings)
        c, d = ClassicConsumer(coordinated, "a"), ClassicConsumer(coordinated, "a")
        form_classic_group(coordinated, c, d)
        x = coordinated.member("x", "a")
        x.beat()
        coordinated.settings = replace(settings, group_max_size=1)
        x.leave()
        assert set(coordinated.group.members) == {c.member_id, d.member_id}


def test_a_static_member_that_comes_back_as_a_classic_one_takes_the_group_with_it() -> None:
    coordinated = Coordinated({"a": 2})
    x = coordinated.member("x", "a", instance="i")
    x.beat()
    x.leave(-2)
    c = ClassicConsumer(coordinated, "a", instance="i")
    c.join()
    group = classic_group(coordinated)
    assert (group.state_name, group.generation, set(group.members)) == ("Stable", c.generation, {c.member_id})
    c.sync()
    assert c.partitions == ["a-0", "a-1"], "without a rebalance"


def test_one_that_comes_back_with_another_subscription_has_the_classic_group_rebalance() -> None:
    coordinated = Coordinated({"a": 2, "b": 1})
    x = coordinated.member("x", "a", instance="i")
    x.beat()
    x.leave(-2)
    c = ClassicConsumer(coordinated, "b", instance="i")
    c.join()
    coordinated.advance(0)
    assert classic_group(coordinated).state_name == "PreparingRebalance"


def test_a_conversion_that_cannot_be_written_has_not_happened() -> None:
    coordinated = Coordinated({"a": 2})
    c = ClassicConsumer(coordinated, "a")
    form_classic_group(coordinated, c)
    coordinated.fails = True
    x = coordinated.member("x", "a")
    coordinated.ask(x.request())
    assert c.beat() == ErrorCode.NONE
    coordinated.fails = False
    x.beat()
    coordinated.fails = True
    coordinated.ask(x.request(-1))
    assert set(coordinated.group.members) == {c.member_id, "x"}
