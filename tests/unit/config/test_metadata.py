"""The settings of the metadata log have Kafka's names and limits, and defaults that their own limits allow."""

from __future__ import annotations

import pytest

from barnabas.config.metadata import METADATA_LOG_SETTINGS
from barnabas.config.setting import ConfigError, parse_settings

DEFAULTS = {
    "metadata.log.dir": None,
    "metadata.log.segment.bytes": 1 << 30,
    "metadata.log.segment.ms": 604_800_000,
    "metadata.log.max.record.bytes.between.snapshots": 20_971_520,
    "metadata.log.max.snapshot.interval.ms": 3_600_000,
    "metadata.max.retention.bytes": 104_857_600,
    "metadata.max.retention.ms": 604_800_000,
    "metadata.max.idle.interval.ms": 500,
}


def test_the_defaults_are_kafkas_and_allowed() -> None:
    assert parse_settings(METADATA_LOG_SETTINGS, {}) == DEFAULTS
    for setting in METADATA_LOG_SETTINGS:
        setting.check(setting.default)


@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("metadata.log.segment.bytes", 8 << 20),
        ("metadata.log.max.record.bytes.between.snapshots", 1),
        ("metadata.log.max.snapshot.interval.ms", 0),
        ("metadata.max.idle.interval.ms", 0),
    ],
)
def test_a_value_below_the_least_is_refused(name: str, least: int) -> None:
    assert parse_settings(METADATA_LOG_SETTINGS, {name: str(least)})[name] == least
    with pytest.raises(ConfigError, match=name):
        parse_settings(METADATA_LOG_SETTINGS, {name: str(least - 1)})
