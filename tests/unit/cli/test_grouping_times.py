"""Times to reset offsets to: dates with and without zones, and durations, as Java reads them."""

from __future__ import annotations

import pytest

from barnabas.cli.grouping.failures import GroupCommandError
from barnabas.cli.grouping.times import parse_date_time, parse_duration_ms


@pytest.mark.parametrize(
    ("text", "timestamp"),
    [
        ("1970-01-01T00:00:01.500", 1500),
        ("1970-01-01T00:00:01.5Z", 1005),
        ("1970-01-01T09:00:00.000+09:00", 0),
        ("1970-01-01T09:00:00.000+09", 0),
        ("1969-12-31T23:00:00.000-01:00", 0),
        ("1970-01-01T00:00:00.000Z and more", 0),
    ],
)
def test_dates_are_read_in_their_zone_or_in_utc(text: str, timestamp: int) -> None:
    assert parse_date_time(text) == timestamp


@pytest.mark.parametrize(
    "text", ["1970-01-01", "1970-13-01T00:00:00.000", "1970-01-01T00:00:00", "T", "1970-01-01T25:00:00.000"]
)
def test_other_dates_are_refused(text: str) -> None:
    with pytest.raises(GroupCommandError, match=r"java\.text\.ParseException: "):
        parse_date_time(text)


@pytest.mark.parametrize(
    ("text", "duration_ms"),
    [
        ("P1D", 86_400_000),
        ("PT1H2M3.004S", 3_723_004),
        ("pt1s", 1000),
        ("-PT1.5S", -1500),
        ("PT-1.5S", -1500),
        ("P1DT-24H", 0),
    ],
)
def test_durations_are_read(text: str, duration_ms: int) -> None:
    assert parse_duration_ms(text) == duration_ms


@pytest.mark.parametrize("text", ["P", "PT", "P1DT", "1D", "P1M", "PT1.0000000001S"])
def test_other_durations_are_refused(text: str) -> None:
    with pytest.raises(GroupCommandError, match="Text cannot be parsed to a Duration"):
        parse_duration_ms(text)
