"""Points in time as offsets are reset to them: dates and durations of ISO 8601, as Java reads them."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from typing import Final

from barnabas.cli.grouping.failures import GroupCommandError

_DATE_TIME: Final = re.compile(r"(\d+)-(\d+)-(\d+)T(\d+):(\d+):(\d+)\.(\d+)(?:Z|([+-])(\d\d)(?::(\d\d))?)", re.ASCII)
_DURATION: Final = re.compile(
    r"([+-]?)P(?:([+-]?\d+)D)?(T(?:([+-]?\d+)H)?(?:([+-]?\d+)M)?(?:([+-]?\d+)(?:[.,](\d{0,9}))?S)?)?",
    re.ASCII | re.IGNORECASE,
)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)


def parse_date_time(text: str) -> int:
    """Milliseconds since 1970 of a date and time; without a zone it is in UTC. What follows the zone does not count."""
    _, *rest = text.split("T")
    if not rest:
        raise GroupCommandError(
            "java.text.ParseException: Error parsing timestamp. It does not contain a 'T' according to ISO8601 format"
        )
    zoned = text if any(sign in rest[0] for sign in "+-Z") else f"{text}Z"
    try:
        return _read_date_time(zoned)
    except ValueError:
        raise GroupCommandError(f'java.text.ParseException: Unparseable date: "{zoned}"') from None


def _read_date_time(text: str) -> int:
    found = _DATE_TIME.match(text)
    if found is None:
        raise ValueError(text)
    year, month, day, hour, minute, second, millisecond = map(int, found.groups()[:7])
    sign, zone_hours, zone_minutes = found.groups()[7:]
    offset = timedelta(hours=int(zone_hours or 0), minutes=int(zone_minutes or 0))
    zone = timezone(-offset if sign == "-" else offset)
    at = datetime(year, month, day, hour, minute, second, millisecond * 1000, tzinfo=zone)
    return (at - _EPOCH) // _MILLISECOND


def parse_duration_ms(text: str) -> int:
    """The milliseconds of a duration of days, hours, minutes and seconds, rounded down."""
    found = _DURATION.fullmatch(text)
    if found is None or not any(found.groups()[1:]) or found[3] in ("T", "t"):
        raise GroupCommandError("Text cannot be parsed to a Duration")
    days, hours, minutes, seconds = (int(found[index] or 0) for index in (2, 4, 5, 6))
    fraction = int((found[7] or "").ljust(9, "0")) * (-1 if (found[6] or "").startswith("-") else 1)
    nanoseconds = (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 10**9 + fraction
    return (-nanoseconds if found[1] == "-" else nanoseconds) // 10**6
