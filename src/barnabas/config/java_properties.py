"""Java's `.properties` text: what Java loads is loaded here, and what is written here Java loads unchanged."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

_BLANKS = " \t\f"
_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_ESCAPED = {character: "\\" + letter for letter, character in _ESCAPES.items()} | {c: "\\" + c for c in "\\=:#!"}
_LINE_ENDS = re.compile(r"\r\n|\r|\n")
_UNICODE = re.compile(r"[0-9A-Fa-f]{4}")


def load_properties(data: bytes) -> dict[str, str]:
    """Names and values; the last of several values stands. ValueError for a broken unicode escape."""
    properties = {}
    for line in _logical_lines(data.decode("latin-1")):
        end = _find_key_end(line)
        rest = line[end:].lstrip(_BLANKS)
        if rest[:1] in ("=", ":"):
            rest = rest[1:].lstrip(_BLANKS)
        properties[_unescape(line[:end])] = _unescape(rest)
    return properties


def store_properties(properties: Mapping[str, str], *, comments: list[str]) -> bytes:
    lines = [*("#" + comment for comment in comments)]
    lines += [f"{_escape_key(key)}={_escape_value(value)}" for key, value in properties.items()]
    return "".join(line + "\n" for line in lines).encode()


def _logical_lines(text: str) -> Iterator[str]:
    """Lines without comments and blanks, each joined with those that a backslash at its end continues."""
    continued = ""
    is_continued = False
    for natural in _LINE_ENDS.split(text):
        line = natural.lstrip(_BLANKS)
        if not is_continued and (not line or line[0] in "#!"):
            continue
        backslashes = len(line) - len(line.rstrip("\\"))
        is_continued = backslashes % 2 == 1
        continued += line[:-1] if is_continued else line
        if not is_continued:
            yield continued
            continued = ""
    if is_continued:
        yield continued


def _find_key_end(line: str) -> int:
    is_escaped = False
    for position, character in enumerate(line):
        if is_escaped:
            is_escaped = False
        elif character == "\\":
            is_escaped = True
        elif character in "=: \t\f":
            return position
    return len(line)


def _unescape(text: str) -> str:
    if "\\" not in text:
        return text
    parts = []
    position = 0
    while position < len(text):
        character = text[position]
        position += 1
        if character != "\\":
            parts.append(character)
            continue
        letter = text[position : position + 1]
        position += 1
        if letter == "u":
            code = _UNICODE.match(text, position)
            if code is None:
                raise ValueError(f"broken \\u escape in {text!r}")
            parts.append(chr(int(code[0], 16)))
            position += 4
        else:
            parts.append(_ESCAPES.get(letter, letter))
    return "".join(parts)


def _escape_key(key: str) -> str:
    return _escape(key).replace(" ", "\\ ")


def _escape_value(value: str) -> str:
    return "\\ " * (len(value) - len(value.lstrip(" "))) + _escape(value.lstrip(" "))


def _escape(text: str) -> str:
    # Java reads the file as Latin-1, so anything else has to be an escape, in UTF-16 units as Java counts them.
    parts = []
    for character in text:
        if character in _ESCAPED:
            parts.append(_ESCAPED[character])
        elif " " <= character <= "~":
            parts.append(character)
        else:
            units = character.encode("utf-16-be", "surrogatepass")
            parts += [f"\\u{units[i : i + 2].hex().upper()}" for i in range(0, len(units), 2)]
    return "".join(parts)
