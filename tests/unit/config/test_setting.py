"""A setting takes what it allows, and says by name what it allows when it refuses."""

from __future__ import annotations

import pytest

from barnabas.config.setting import ConfigError, Setting, Value, parse_settings
from barnabas.config.topic import TOPIC_SETTINGS

BY_NAME = {setting.name: setting for setting in TOPIC_SETTINGS}


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("segment.bytes", "10240", 10_240),
        ("segment.ms", " 60000 ", 60_000),
        ("retention.ms", "-1", -1),
        ("min.cleanable.dirty.ratio", "0.25", 0.25),
        ("preallocate", "TRUE", True),
        ("cleanup.policy", "compact, delete", ("compact", "delete")),
        ("cleanup.policy", "", ()),
        ("compression.type", "zstd", "zstd"),
        ("compression.gzip.level", "-1", -1),
        ("leader.replication.throttled.replicas", "*", ("*",)),
        ("leader.replication.throttled.replicas", "0:1,0:2", ("0:1", "0:2")),
        ("leader.replication.throttled.replicas", "", ()),
    ],
)
def test_text_becomes_a_value(name: str, text: str, value: Value) -> None:
    assert BY_NAME[name].parse(text) == value


@pytest.mark.parametrize(
    ("name", "text", "allowed"),
    [
        ("segment.bytes", "13", "at least 14"),
        ("segment.bytes", "2147483648", "32 bits"),
        ("segment.bytes", "1e3", "32 bits"),
        ("segment.ms", "9223372036854775808", "64 bits"),
        ("retention.ms", "-2", "at least -1"),
        ("min.cleanable.dirty.ratio", "1.01", "[0,...,1]"),
        ("min.cleanable.dirty.ratio", "half", "Not a number"),
        ("preallocate", "yes", "true or false"),
        ("cleanup.policy", "compact,compact", "compact, delete"),
        ("cleanup.policy", "shred", "compact, delete"),
        ("compression.type", "brotli", "uncompressed, zstd"),
        ("compression.gzip.level", "0", "[1,...,9] or -1"),
        ("leader.replication.throttled.replicas", "0-1", "'*', 'none'"),
    ],
)
def test_a_refusal_names_the_setting_and_what_is_allowed(name: str, text: str, allowed: str) -> None:
    with pytest.raises(ConfigError) as caught:
        BY_NAME[name].parse(text)
    assert f"for configuration {name}: " in str(caught.value)
    assert allowed in str(caught.value)


@pytest.mark.parametrize("setting", TOPIC_SETTINGS, ids=lambda setting: setting.name)
def test_every_default_is_allowed_and_survives_its_own_text(setting: Setting) -> None:
    setting.check(setting.default)
    assert setting.parse(setting.format(setting.default)) == setting.default


def test_settings_not_given_have_their_defaults() -> None:
    values = parse_settings(TOPIC_SETTINGS, {"segment.ms": "5"})
    assert values["segment.ms"] == 5
    assert values["segment.bytes"] == 1_073_741_824
    assert values.keys() == BY_NAME.keys()


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"Unknown configuration: segment\.byte$"):
        parse_settings(TOPIC_SETTINGS, {"segment.byte": "5"})


def test_names_are_unique_sorted_and_documented() -> None:
    names = [setting.name for setting in TOPIC_SETTINGS]
    assert names == sorted(set(names))
    assert all(setting.doc.endswith(".") for setting in TOPIC_SETTINGS)
