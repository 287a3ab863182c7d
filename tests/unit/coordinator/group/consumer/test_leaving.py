"""Members that fall silent or do not give up what they have to are removed, even if that takes a while to write."""

from __future__ import annotations

from unit.coordinator.group.consumer.coordinated import Coordinated, settle


def test_a_member_that_falls_silent_is_removed_when_its_session_ends() -> None:
    coordinated = Coordinated({"a": 2})
    x, y = coordinated.member("x", "a"), coordinated.member("y", "a")
    settle(coordinated, x, y)
    coordinated.advance(44_000)
    y.beat()
    coordinated.advance(1_000)
    assert set(coordinated.group.members) == {"y"}
    settle(coordinated, y)
    assert y.partitions == ["a-0", "a-1"]


def test_a_member_that_goes_on_reading_is_removed_after_its_rebalance_timeout() -> None:
    coordinated = Coordinated({"a": 2})
    x, y = coordinated.member("x", "a"), coordinated.member("y", "a")
    x.beat()
    coordinated.advance(1_000)
    y.beat()
    had = {topic: set(partitions) for topic, partitions in x.reads.items()}
    for _ in range(2):
        # It says at every heartbeat that it still reads everything.
        x.beat()
        x.reads = had
        coordinated.advance(29_000)
        y.beat()
    assert "x" in coordinated.group.members
    coordinated.advance(2_000)
    assert set(coordinated.group.members) == {"y"}


def test_a_member_that_gives_up_in_time_is_left_alone_by_its_rebalance_timer() -> None:
    coordinated = Coordinated({"a": 2})
    x, y = coordinated.member("x", "a"), coordinated.member("y", "a")
    settle(coordinated, x, y)
    for _ in range(3):
        coordinated.advance(30_000)
        x.beat()
        y.beat()
    assert set(coordinated.group.members) == {"x", "y"}


def test_a_removal_that_cannot_be_written_is_tried_again() -> None:
    coordinated = Coordinated({"a": 2})
    coordinated.member("x", "a").beat()
    coordinated.fails = True
    coordinated.advance(60_000)
    assert "x" in coordinated.group.members
    coordinated.fails = False
    coordinated.advance(500)
    assert coordinated.group.is_empty


def test_one_that_is_heard_of_before_its_removal_is_written_stays() -> None:
    coordinated = Coordinated({"a": 2})
    x = coordinated.member("x", "a")
    x.beat()
    coordinated.fails = True
    coordinated.advance(45_000)
    coordinated.fails = False
    x.beat()
    coordinated.advance(44_000)
    assert "x" in coordinated.group.members


def test_members_of_a_group_that_was_loaded_have_their_times_again() -> None:
    coordinated = Coordinated({"a": 2})
    x, y = coordinated.member("x", "a"), coordinated.member("y", "a")
    x.beat()
    coordinated.advance(1_000)
    y.beat()
    x.beat()
    coordinated.load()
    assert sorted(coordinated.timers.items())[:2] == [
        (("consumer-rebalance", "g", "x"), coordinated.now_ms + 60_000),
        (("consumer-session", "g", "x"), coordinated.now_ms + 45_000),
    ]
    coordinated.advance(45_000)
    assert coordinated.group.is_empty


def test_an_empty_group_stays_for_its_offsets_and_can_be_deleted() -> None:
    coordinated = Coordinated({"a": 2})
    x = coordinated.member("x", "a")
    x.beat()
    x.leave()
    group = coordinated.group
    assert (group.state_name, group.is_empty, group.target) == ("Empty", True, {})
    group.check_delete()
