"""Topics are chosen by regular expressions as Kafka's tools take them."""

from __future__ import annotations

import pytest

from barnabas.cli.topic_filter import BadFilterError, TopicFilter


@pytest.mark.parametrize(
    ("text", "allowed", "refused"),
    [
        ("a", ["a"], ["ab", "ba", ""]),
        ("a.*", ["a", "ab"], ["ba"]),
        ("a,b", ["a", "b"], ["a,b", "c"]),
        (" a | b ", ["a", "b"], [" a "]),
        ("\"'a'", ["a"], ["b"]),
    ],
)
def test_a_filter_means_whole_names(text: str, allowed: list[str], refused: list[str]) -> None:
    topics = TopicFilter(text)
    assert [topic for topic in [*allowed, *refused] if topics.allows(topic)] == allowed


def test_what_is_no_expression_is_refused() -> None:
    with pytest.raises(BadFilterError, match=r"^\[ is an invalid regex\.$"):
        TopicFilter("[")
