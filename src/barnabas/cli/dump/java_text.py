"""Values as Java prints them, where the text that Kafka's tool prints is Java's rather than its own."""

from __future__ import annotations

import codecs

from barnabas.records.batch import Buffer

_REPLACEMENT = "\ufffd"
_ERRORS = "java-replace"


def _replace(error: UnicodeError) -> tuple[str, int]:
    """Java takes an encoded surrogate as one fault, where Python sees one in each of its bytes."""
    assert isinstance(error, UnicodeDecodeError)
    data, start = error.object, error.start
    if data[start] == 0xED and 0xA0 <= (data[start + 1] if start + 1 < len(data) else 0) <= 0xBF:
        is_whole = start + 2 < len(data) and data[start + 2] & 0xC0 == 0x80
        return _REPLACEMENT, start + (3 if is_whole else 2)
    return _REPLACEMENT, error.end


codecs.register_error(_ERRORS, _replace)


def string(data: Buffer) -> str:
    """The text that the bytes are in UTF-8, each fault replaced."""
    return str(data, "utf-8", _ERRORS)


def boolean(value: bool) -> str:
    return "true" if value else "false"


def optional_long(value: int | None) -> str:
    return "OptionalLong.empty" if value is None else f"OptionalLong[{value}]"
