"""Lines of text as records: `headers, key, value` with separators between them, of which headers and key are optional.

Lines are decoded as UTF-8, with faults replaced, and end as Java's do: with a line feed, a carriage return or both.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from barnabas.cli.cluster_access import ToolError

Headers = list[tuple[str, str | bytes | None]]


class ReaderError(ToolError):
    """A line or a property that cannot be followed; by the name that Java's tool has for it."""

    def __init__(self, complaint: str) -> None:
        super().__init__(f"org.apache.kafka.common.KafkaException: {complaint}")


class LineRecord(NamedTuple):
    key: bytes | None
    value: bytes | None
    headers: Headers


@dataclass(frozen=True, kw_only=True)
class LineReader:
    """Parts of a line that are equal to `null_marker` are null. `ignores_errors` takes a line without the
    separators that it should have for one without key or headers."""

    parses_key: bool = False
    parses_headers: bool = False
    key_separator: str = "\t"
    headers_delimiter: str = "\t"
    headers_separator: str = ","
    headers_key_separator: str = ":"
    ignores_errors: bool = False
    null_marker: str | None = None

    @classmethod
    def of(cls, properties: Mapping[str, str]) -> LineReader:
        """ReaderError where two separators are the same, so that nothing could be told apart."""
        reader = cls(
            parses_key=is_true(properties.get("parse.key")),
            parses_headers=is_true(properties.get("parse.headers")),
            key_separator=properties.get("key.separator", cls.key_separator),
            headers_delimiter=properties.get("headers.delimiter", cls.headers_delimiter),
            headers_separator=properties.get("headers.separator", cls.headers_separator),
            headers_key_separator=properties.get("headers.key.separator", cls.headers_key_separator),
            ignores_errors=is_true(properties.get("ignore.error")),
            null_marker=properties.get("null.marker"),
        )
        reader._check()
        return reader

    def _check(self) -> None:
        names = {
            "headers.delimiter": self.headers_delimiter,
            "headers.separator": self.headers_separator,
            "headers.key.separator": self.headers_key_separator,
            "key.separator": self.key_separator,
            "null.marker": self.null_marker,
        }
        for one, other in (
            ("headers.delimiter", "headers.separator"),
            ("headers.delimiter", "headers.key.separator"),
            ("headers.separator", "headers.key.separator"),
            ("null.marker", "key.separator"),
            ("null.marker", "headers.separator"),
            ("null.marker", "headers.delimiter"),
            ("null.marker", "headers.key.separator"),
        ):
            if names[one] == names[other]:
                raise ReaderError(f"{one} and {other} may not be equal")
        try:
            re.compile(self.headers_separator)
        except re.error as error:
            raise ReaderError(f"headers.separator is no regular expression: {error}") from None

    def read(self, lines: Iterable[str]) -> Iterator[LineRecord]:
        for number, line in enumerate(lines, 1):
            yield self.parse(line.removesuffix("\n"), number)

    def parse(self, line: str, number: int) -> LineRecord:
        """ReaderError where a separator is missing; it names the line."""
        rest = line
        headers = key = None
        if self.parses_headers:
            headers, rest = self._cut(line, rest, self.headers_delimiter, "headers delimiter", number)
        if self.parses_key:
            key, rest = self._cut(line, rest, self.key_separator, "key separator", number)
        return LineRecord(
            self._encode(key),
            self._encode(rest),
            [] if headers is None or headers == self.null_marker else self._parse_headers(headers, number),
        )

    def _cut(self, line: str, rest: str, separator: str, what: str, number: int) -> tuple[str | None, str]:
        head, found, tail = rest.partition(separator) if separator else ("", True, rest)
        if found:
            return head, tail
        if self.ignores_errors:
            return None, rest
        raise ReaderError(f"No {what} found on line number {number}: '{line}'")

    def _parse_headers(self, text: str, number: int) -> Headers:
        headers: Headers = []
        for pair in _split(text, self.headers_separator):
            name, found, value = pair.partition(self.headers_key_separator)
            if not found and not self.ignores_errors:
                raise ReaderError(f"No header key separator found in pair '{pair}' on line number {number}")
            if found and name == self.null_marker:
                raise ReaderError(
                    f"Header keys should not be equal to the null marker '{self.null_marker}' as they can't be null"
                )
            headers.append((name, self._encode(value) if found else None))
        return headers

    def _encode(self, text: str | None) -> bytes | None:
        return None if text is None or text == self.null_marker else text.encode("utf-8", "replace")


def is_true(text: str | None) -> bool:
    return text is not None and text.strip().lower() == "true"


def _split(text: str, separator: str) -> list[str]:
    """The parts between the matches of a regular expression; empty ones at the end do not count, as in Java."""
    parts, start = [], 0
    for match in re.finditer(separator, text):
        if match.end() > 0:
            parts.append(text[start : match.start()])
            start = match.end()
    if not parts:
        return [text]
    parts.append(text[start:])
    while parts and not parts[-1]:
        parts.pop()
    return parts
