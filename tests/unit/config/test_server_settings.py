"""The settings of a node are declared once each, with a sentence, and their defaults are allowed."""

from __future__ import annotations

import pytest

from barnabas.config.server import FAMILIES, SERVER_SETTINGS
from barnabas.config.setting import ConfigError, Kind, Setting, Value
from barnabas.config.topic import TOPIC_SETTINGS

ALL = [setting for family in FAMILIES.values() for setting in family]


def test_a_setting_is_declared_once() -> None:
    assert len(ALL) == len(SERVER_SETTINGS)


def test_every_setting_has_a_sentence_of_its_own() -> None:
    assert all(setting.doc[0].isupper() and setting.doc.endswith(".") for setting in ALL)


@pytest.mark.parametrize("setting", [each for each in ALL if each.default is not None], ids=lambda each: each.name)
def test_a_default_is_allowed_and_survives_its_own_text(setting: Setting) -> None:
    setting.check(setting.default)
    assert setting.parse(setting.format(setting.default)) == setting.default


def test_only_required_settings_have_neither_value_nor_default() -> None:
    assert {setting.name for setting in ALL if setting.is_required} == {
        "node.id",
        "process.roles",
        "controller.listener.names",
    }
    assert all(setting.default is None for setting in ALL if setting.is_required)


def test_the_broker_settings_behind_topic_settings_are_all_there() -> None:
    named = {synonym.name for setting in TOPIC_SETTINGS for synonym in setting.synonyms}
    assert named <= SERVER_SETTINGS.keys()


def test_synonyms_lead_to_declared_settings() -> None:
    for setting in ALL:
        assert {synonym.name for synonym in setting.synonyms} <= SERVER_SETTINGS.keys()


def test_secrets_are_shown_to_nobody() -> None:
    secret = SERVER_SETTINGS["ssl.key.password"]
    assert secret.kind is Kind.PASSWORD
    assert secret.shown("letmein") == "[hidden]"
    assert secret.shown(None) == ""
    assert SERVER_SETTINGS["ssl.keystore.location"].shown("/k") == "/k"


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("group.consumer.migration.policy", "Upgrade", "Upgrade"),
        ("log.dirs", "/a, /b", ("/a", "/b")),
        ("cordoned.log.dirs", "", ()),
        ("offsets.topic.replication.factor", "+3", 3),
        ("remote.log.storage.manager.impl.prefix", "x.", "x."),
    ],
)
def test_text_becomes_a_value(name: str, text: str, value: Value) -> None:
    assert SERVER_SETTINGS[name].parse(text) == value


@pytest.mark.parametrize(
    ("name", "text", "allowed"),
    [
        ("group.consumer.migration.policy", "sideways", "DISABLED, DOWNGRADE, UPGRADE, BIDIRECTIONAL"),
        ("log.dirs", "", "must not be empty"),
        ("log.dirs", "/a,/a", "without repeated members"),
        ("log.dirs", "/a,,/b", "without empty"),
        ("process.roles", "zookeeper", "broker, controller"),
        ("process.roles", "", "must not be empty: it is a list of some of: broker, controller"),
        ("group.coordinator.rebalance.protocols", "", "must not be empty"),
        ("remote.log.storage.manager.impl.prefix", "", "must not be empty"),
        ("offsets.topic.replication.factor", "32768", "16 bits"),
        ("num.partitions", "1_000", "32 bits"),
        ("num.partitions", "", "32 bits"),
    ],
)
def test_a_refusal_names_the_setting_and_what_is_allowed(name: str, text: str, allowed: str) -> None:
    with pytest.raises(ConfigError) as caught:
        SERVER_SETTINGS[name].parse(text)
    assert f"for configuration {name}: " in str(caught.value)
    assert allowed in str(caught.value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.7976931348623157e308, "1.7976931348623157E308"),
        (0.9, "0.9"),
        (0.0, "0.0"),
        (1.0, "1.0"),
        (0.001, "0.001"),
        (0.0005, "5.0E-4"),
        (9_999_999.0, "9999999.0"),
        (10_000_000.0, "1.0E7"),
        (-12_500_000.0, "-1.25E7"),
    ],
)
def test_doubles_are_printed_as_java_prints_them(value: float, text: str) -> None:
    assert Setting.format(value) == text
