"""Patterns are RE2's, and match whole names."""

from __future__ import annotations

import pytest

from barnabas.coordinator.errors import InvalidRegularExpression
from barnabas.coordinator.group.consumer.patterns import check_pattern, matching

TOPICS = ["orders", "orders-eu", "pre-orders", "Orders"]


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
