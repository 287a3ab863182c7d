"""Times in the format that Java's SimpleDateFormat takes: letters that stand for fields, and text between quotes."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from typing import Final

_PART: Final = re.compile(r"''|'((?:[^']|'')*)'|([A-Za-z])\2*|[^A-Za-z']+")
_MONTH_NAMES_FROM: Final = 3
_FULL_NAMES_FROM: Final = 4
_SHORT_YEAR: Final = 2

# By letter, the number that is padded with zeros to the count of letters.
_NUMBERS: Final[dict[str, Callable[[datetime], int]]] = {
    "d": lambda at: at.day,
    "D": lambda at: at.timetuple().tm_yday,
    "H": lambda at: at.hour,
    "k": lambda at: at.hour or 24,
    "K": lambda at: at.hour % 12,
    "h": lambda at: at.hour % 12 or 12,
    "m": lambda at: at.minute,
    "s": lambda at: at.second,
    "S": lambda at: at.microsecond // 1000,
    "u": lambda at: at.isoweekday(),
}


class DatePatternError(ValueError):
    """A pattern with letters that stand for nothing, or a quote that does not end."""


def format_date(at: datetime, pattern: str) -> str:
    shown, position = [], 0
    while position < len(pattern):
        part = _PART.match(pattern, position)
        if part is None:
            raise DatePatternError("Unterminated quote")
        shown.append(_shown(at, part))
        position = part.end()
    return "".join(shown)


def _shown(at: datetime, part: re.Match[str]) -> str:
    if part[0] == "''":
        return "'"
    if part[1] is not None:
        return part[1].replace("''", "'")
    return part[0] if part[2] is None else _field(at, part[2], len(part[0]))


def _field(at: datetime, letter: str, count: int) -> str:
    if letter in _NUMBERS:
        return f"{_NUMBERS[letter](at):0{count}d}"
    if letter in "yY":
        return f"{at.year % 100:02d}" if count == _SHORT_YEAR else f"{at.year:0{count}d}"
    if letter in "ML":
        if count < _MONTH_NAMES_FROM:
            return f"{at.month:0{count}d}"
        return at.strftime("%B" if count >= _FULL_NAMES_FROM else "%b")
    if letter == "E":
        return at.strftime("%A" if count >= _FULL_NAMES_FROM else "%a")
    if letter == "a":
        return "AM" if at.hour < 12 else "PM"
    if letter == "z":
        return at.astimezone().strftime("%Z")
    if letter == "Z":
        return at.astimezone().strftime("%z")
    raise DatePatternError(f"Illegal pattern character '{letter}'")
