"""Patterns of topics: regular expressions as RE2 reads them, and the topics that one matched.

A pattern matches a topic if it matches the whole of its name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import islice
from typing import Any, Final, NamedTuple

import re2  # type: ignore[import-untyped] # The library has no types; what leaves this file does.

from barnabas.coordinator.errors import InvalidRegularExpression
from barnabas.metadata.image import MetadataImage


class ResolvedPattern(NamedTuple):
    """The topics that a pattern matched in the metadata up to an offset, and when that was looked up."""

    topics: frozenset[str]
    metadata_offset: int
    timestamp_ms: int


NOT_RESOLVED: Final = ResolvedPattern(frozenset(), 0, 0)
# A name takes a few microseconds for each pattern.
NAMES_PER_TURN: Final = 500


def check_pattern(pattern: str) -> None:
    _compile(pattern)


class PatternLookup:
    """What patterns match among the topics of one moment that one may see, some names at a time.

    A pattern that cannot be read matches nothing: it was checked when it came, but perhaps by another release.
    """

    def __init__(self, patterns: Iterable[str], image: MetadataImage, may_see: Callable[[str], bool]) -> None:
        self.metadata_offset = image.provenance.last_contained_offset
        self.matched: dict[str, set[str]] = {pattern: set() for pattern in patterns}
        self._names = iter(image.topics.ids)
        self._may_see = may_see
        self._compiled = []
        for pattern in self.matched:
            with suppress(InvalidRegularExpression):
                self._compiled.append((pattern, _compile(pattern).fullmatch))

    def go_on(self) -> bool:
        """Look at some more names; whether there are any left."""
        names = list(islice(self._names, NAMES_PER_TURN))
        for pattern, matches in self._compiled:
            self.matched[pattern].update(name for name in names if matches(name) and self._may_see(name))
        return len(names) == NAMES_PER_TURN


def _compile(pattern: str) -> Any:
    options = re2.Options()
    # What is wrong goes to the client, not to standard error.
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        reason = error.args[0].decode("utf-8", "replace")
        raise InvalidRegularExpression(f"SubscribedTopicRegex `{pattern}` is not valid: {reason}.") from None
