"""What members subscribe to by name and by pattern, and what becomes of it when topics come, grow and go."""

from __future__ import annotations

from barnabas.coordinator.events import RequestContext
from barnabas.protocol.errors import ErrorCode
from unit.coordinator.group.consumer.coordinated import Consumer, Coordinated, settle, topic_id


def by_pattern(coordinated: Coordinated, member_id: str, pattern: str) -> Consumer:
    member = coordinated.member(member_id, pattern=pattern)
    member.topics = None
    return member


# By name


def test_a_topic_that_is_created_later_is_assigned() -> None:
    coordinated = Coordinated({"a": 1})
    x = coordinated.member("x", "a", "b")
    x.beat()
    assert x.partitions == ["a-0"]
    coordinated.create_topics(b=2, other=1)
    settle(coordinated, x)
    assert x.partitions == ["a-0", "b-0", "b-1"]


def test_a_topic_that_is_deleted_is_taken_away() -> None:
    coordinated = Coordinated({"a": 1, "b": 1})
    x = coordinated.member("x", "a", "b")
    x.beat()
    coordinated.delete_topic("b")
    settle(coordinated, x)
    assert x.partitions == ["a-0"]


def test_topics_that_are_not_the_groups_do_not_concern_it() -> None:
    coordinated = Coordinated({"a": 1})
    x = coordinated.member("x", "a")
    x.beat()
    coordinated.create_topics(other=3)
    coordinated.advance(2_000)
    x.beat()
    assert coordinated.group.epoch == 2


def test_a_coordinator_that_moved_looks_at_the_topics_again() -> None:
    coordinated = Coordinated({"a": 1})
    x = coordinated.member("x", "a", "b")
    x.beat()
    coordinated.create_topics(b=1)
    coordinated.load()
    settle(coordinated, x)
    assert x.partitions == ["a-0", "b-0"]


def test_a_member_that_changes_its_topics_has_the_group_assigned_anew() -> None:
    coordinated = Coordinated({"a": 2, "b": 2})
    x, y = coordinated.member("x", "a"), coordinated.member("y", "a")
    settle(coordinated, x, y)
    y.topics = ["b"]
    y.beat(is_full=True)
    settle(coordinated, x, y)
    assert (x.partitions, y.partitions) == (["a-0", "a-1"], ["b-0", "b-1"])


def test_an_epoch_that_could_not_be_written_is_reached_at_the_next_heartbeat() -> None:
    coordinated = Coordinated({"a": 1})
    x = coordinated.member("x", "a", "b")
    x.beat()
    coordinated.create_topics(b=1)
    coordinated.fails = True
    coordinated.advance(2_000)
    coordinated.ask(x.request())
    coordinated.fails = False
    x.beat()
    x.beat()
    assert x.partitions == ["a-0", "b-0"]


# By pattern


def test_a_pattern_is_looked_up_after_the_heartbeat_that_brings_it() -> None:
    coordinated = Coordinated({"a1": 1, "a2": 1, "b": 1})
    x = by_pattern(coordinated, "x", "a.")
    assert x.beat().member_epoch == 1
    assert x.partitions == []
    coordinated.advance(0)
    assert coordinated.group.patterns["a."].topics == {"a1", "a2"}
    x.beat()
    assert (x.epoch, x.partitions) == (2, ["a1-0", "a2-0"])


def test_a_pattern_that_cannot_be_read_is_refused() -> None:
    coordinated = Coordinated({"a": 1})
    assert by_pattern(coordinated, "x", "(").refused() == ErrorCode.INVALID_REGULAR_EXPRESSION
    assert not coordinated.log


def test_names_and_patterns_add_up() -> None:
    coordinated = Coordinated({"a1": 1, "b": 1})
    x = coordinated.member("x", "b", pattern="a.")
    x.beat()
    settle(coordinated, x)
    assert x.partitions == ["a1-0", "b-0"]


def test_a_pattern_matches_topics_that_are_created_later_but_not_before_ten_seconds_have_passed() -> None:
    coordinated = Coordinated({"a1": 1})
    x = by_pattern(coordinated, "x", "a.")
    settle(coordinated, x)
    coordinated.create_topics(a2=1)
    coordinated.advance(5_000)
    x.beat()
    coordinated.advance(1_000)
    assert coordinated.group.patterns["a."].topics == {"a1"}
    coordinated.advance(5_000)
    x.beat()
    settle(coordinated, x)
    assert x.partitions == ["a1-0", "a2-0"]


def test_a_pattern_is_looked_up_again_from_time_to_time() -> None:
    coordinated = Coordinated({"a1": 1})
    x = by_pattern(coordinated, "x", "a.")
    settle(coordinated, x)
    looked_up_ms = coordinated.group.patterns["a."].timestamp_ms
    while coordinated.now_ms <= looked_up_ms + 600_000:
        coordinated.advance(40_000)
        assert coordinated.group.patterns["a."].timestamp_ms == looked_up_ms
        x.beat()
    coordinated.advance(0)
    assert coordinated.group.patterns["a."].timestamp_ms == coordinated.now_ms


def test_members_with_one_pattern_share_what_it_matches() -> None:
    coordinated = Coordinated({"a1": 1, "a2": 1})
    x, y = by_pattern(coordinated, "x", "a."), by_pattern(coordinated, "y", "a.")
    x.beat()
    coordinated.advance(1)
    settle(coordinated, x, y)
    assert (len(x.partitions), len(y.partitions)) == (1, 1)


def test_a_pattern_is_forgotten_with_the_last_member_that_has_it() -> None:
    coordinated = Coordinated({"a1": 1, "b": 1})
    x, y, z = by_pattern(coordinated, "x", "a."), by_pattern(coordinated, "y", "a."), coordinated.member("z", "b")
    x.beat()
    coordinated.advance(1)
    settle(coordinated, x, y, z)
    x.leave()
    assert "a." in coordinated.group.patterns
    y.topics, y.pattern = ["b"], ""
    y.beat(is_full=True)
    assert not coordinated.group.patterns
    settle(coordinated, y, z)
    assert sorted(y.partitions + z.partitions) == ["b-0"]


def test_a_member_that_changes_to_a_pattern_that_is_known_is_assigned_at_once() -> None:
    coordinated = Coordinated({"a1": 2})
    x, y = by_pattern(coordinated, "x", "a."), by_pattern(coordinated, "y", "none")
    x.beat()
    y.beat()
    coordinated.advance(1)
    settle(coordinated, x, y)
    epoch = coordinated.group.epoch
    y.pattern = "a."
    y.beat(is_full=True)
    assert coordinated.group.epoch == epoch + 1


def test_a_pattern_does_not_show_topics_that_its_member_may_not_see() -> None:
    coordinated = Coordinated({"a1": 1, "a2": 1})
    coordinated.context = RequestContext(1, "client", "/127.0.0.1", may_describe=lambda topic: topic != "a2")
    x = by_pattern(coordinated, "x", "a.")
    x.beat()
    settle(coordinated, x)
    assert x.partitions == ["a1-0"]


def test_a_lookup_that_could_not_be_written_is_asked_for_again() -> None:
    coordinated = Coordinated({"a1": 1})
    x = by_pattern(coordinated, "x", "a.")
    x.beat()
    coordinated.fails = True
    coordinated.advance(0)
    coordinated.fails = False
    assert not coordinated.group.patterns
    x.beat()
    coordinated.advance(0)
    settle(coordinated, x)
    assert x.partitions == ["a1-0"]


def test_what_a_pattern_matched_is_loaded() -> None:
    coordinated = Coordinated({"a1": 1})
    x = by_pattern(coordinated, "x", "a.")
    settle(coordinated, x)
    known = coordinated.group.patterns
    coordinated.load()
    assert coordinated.group.patterns == known
    assert coordinated.group.is_subscribed_to("a1")
    assert not coordinated.group.is_subscribed_to("b")
    assert coordinated.group.target == {"x": {topic_id("a1"): {0}}}


def test_a_lookup_takes_turns_and_is_not_begun_anew_meanwhile() -> None:
    coordinated = Coordinated({f"a{number}": 1 for number in range(1_200)})
    x = by_pattern(coordinated, "x", "a.*")
    x.beat()
    lookup = coordinated.shard.state.pattern_lookups["g"]
    x.beat()
    assert coordinated.shard.state.pattern_lookups["g"] is lookup
    coordinated.advance(0)
    assert len(coordinated.group.patterns["a.*"].topics) == 1_200
    assert not coordinated.shard.state.pattern_lookups


def test_a_pattern_that_its_member_has_left_behind_meanwhile_is_not_written() -> None:
    coordinated = Coordinated({"a1": 1, "b1": 1})
    x = by_pattern(coordinated, "x", "a.")
    x.beat()
    x.pattern = "b."
    x.beat(is_full=True)
    coordinated.advance(0)
    assert not coordinated.group.patterns
    x.beat()
    coordinated.advance(0)
    assert coordinated.group.patterns.keys() == {"b."}
