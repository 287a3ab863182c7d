"""Patterns are RE2's, and match whole names."""

from __future__ import annotations

import pytest

from barnabas.coordinator.errors import InvalidRegularExpression
from barnabas.coordinator.group.consumer.patterns import NAMES_PER_TURN, PatternLookup, check_pattern
from barnabas.metadata.image import MetadataImage
from barnabas.metadata.sorted_map import SortedMap
from barnabas.metadata.topics import TopicsImage
from barnabas.protocol.uuid import ZERO_UUID

TOPICS = ["orders", "orders-eu", "pre-orders", "Orders"]


def image_of(topics: list[str]) -> MetadataImage:
    return MetadataImage(topics=TopicsImage(ids=SortedMap(dict.fromkeys(topics, ZERO_UUID))))


def matching(pattern: str, topics: list[str]) -> set[str]:
    lookup = PatternLookup([pattern], image_of(topics), lambda _: True)
    assert not lookup.go_on(), "so few names take one turn"
    return lookup.matched[pattern]


@pytest.mark.parametrize(
    ("pattern", "matched"),
    [
        ("orders", {"orders"}),
        ("orders.*", {"orders", "orders-eu"}),
        (".*orders", {"orders", "pre-orders"}),
        ("(?i)orders", {"orders", "Orders"}),
        ("orders|pre-orders", {"orders", "pre-orders"}),
        ("", set()),
    ],
)
def test_a_pattern_matches_whole_names(pattern: str, matched: set[str]) -> None:
    assert matching(pattern, TOPICS) == matched


@pytest.mark.parametrize("pattern", ["(", "[a", "a**b)", r"(a)\1", "(?=a)"])
def test_what_re2_cannot_read_is_refused_with_the_reason(pattern: str) -> None:
    with pytest.raises(InvalidRegularExpression, match=r"is not valid: .+"):
        check_pattern(pattern)


def test_a_pattern_that_takes_other_engines_forever_takes_no_time() -> None:
    assert matching("(a+)+b", ["a" * 200]) == set()


def test_many_names_take_several_turns_each_of_so_many() -> None:
    topics = [f"t-{number:05}" for number in range(2 * NAMES_PER_TURN + 1)]
    lookup = PatternLookup(["t-.*", ".*0"], image_of(topics), lambda name: name != "t-00010")
    assert lookup.go_on()
    assert len(lookup.matched["t-.*"]) == NAMES_PER_TURN - 1
    assert lookup.go_on()
    assert not lookup.go_on()
    assert lookup.matched["t-.*"] == set(topics) - {"t-00010"}
    assert lookup.matched[".*0"] == {name for name in topics if name.endswith("0")} - {"t-00010"}


def test_a_pattern_of_another_release_that_cannot_be_read_matches_nothing() -> None:
    lookup = PatternLookup(["(", "a"], image_of(["a"]), lambda _: True)
    lookup.go_on()
    assert lookup.matched == {"(": set(), "a": {"a"}}
