"""Patterns of topics: regular expressions as RE2 reads them, and the topics that one matched.

A pattern matches a topic if it matches the whole of its name.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import re2  # type: ignore[import-untyped] # The library has no types; what leaves this file does.

from barnabas.coordinator.errors import InvalidRegularExpression


class ResolvedPattern(NamedTuple):
    """The topics that a pattern matched in the metadata up to an offset, and when that was looked up."""

    topics: frozenset[str]
    metadata_offset: int
    timestamp_ms: int


NOT_RESOLVED = ResolvedPattern(frozenset(), 0, 0)


def check_pattern(pattern: str) -> None:
    _compile(pattern)


def matching(pattern: str, topics: Iterable[str]) -> frozenset[str]:
    """Those of the topics that a pattern matches."""
    matches = _compile(pattern).fullmatch
    return frozenset(topic for topic in topics if matches(topic))


def _compile(pattern: str) -> Any:
    options = re2.Options()
    # What is wrong goes to the client, not to standard error.
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        reason = error.args[0].decode("utf-8", "replace")
        raise InvalidRegularExpression(f"SubscribedTopicRegex `{pattern}` is not valid: {reason}.") from None
