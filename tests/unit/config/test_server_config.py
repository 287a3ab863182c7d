"""A file of settings becomes a value for every setting; synonyms, listeners' own values and unknown names are kept."""

from __future__ import annotations

import pytest

from barnabas.config.server import SERVER_SETTINGS
from barnabas.config.server_config import ServerConfig, parse_server_config
from barnabas.config.setting import ConfigError, Value
from barnabas.config.topic import TOPIC_SETTINGS

REQUIRED = {"process.roles": "broker,controller", "node.id": "1", "controller.listener.names": "CONTROLLER"}


def parsed(given: dict[str, str]) -> ServerConfig:
    return parse_server_config(REQUIRED | given)


def test_every_setting_has_a_value() -> None:
    config = parsed({"num.partitions": "3"})
    assert config.values.keys() == SERVER_SETTINGS.keys()
    assert config.integer("num.partitions") == 3
    assert config.text("compression.type") == "producer"
    assert config.words("log.dir") == ("/tmp/kafka-logs",)
    assert config.words_or_none("log.dirs") is None
    assert config.text_or_none("broker.rack") is None
    assert config.boolean("auto.create.topics.enable") is True


@pytest.mark.parametrize("name", REQUIRED)
def test_a_setting_without_default_must_be_given(name: str) -> None:
    with pytest.raises(ConfigError, match=f'"{name}"'):
        parse_server_config({other: text for other, text in REQUIRED.items() if other != name})


@pytest.mark.parametrize("given", ["node.id", "broker.id"])
def test_node_id_and_broker_id_stand_for_each_other(given: str) -> None:
    rest = {name: text for name, text in REQUIRED.items() if name != "node.id"}
    config = parse_server_config(rest | {given: "7"})
    assert config.integer("node.id") == config.integer("broker.id") == 7


@pytest.mark.parametrize(
    ("given", "name", "value"),
    [
        ({}, "log.retention.ms", 7 * 24 * 3_600_000),
        ({"log.retention.hours": "2"}, "log.retention.ms", 7_200_000),
        ({"log.retention.hours": "2", "log.retention.minutes": "3"}, "log.retention.ms", 180_000),
        ({"log.retention.minutes": "3", "log.retention.ms": "5"}, "log.retention.ms", 5),
        ({"log.roll.hours": "1"}, "log.roll.ms", 3_600_000),
        ({"log.roll.hours": "1", "log.roll.ms": "9"}, "log.roll.ms", 9),
        ({"log.roll.jitter.hours": "1"}, "log.roll.jitter.ms", 3_600_000),
        ({"log.flush.scheduler.interval.ms": "4"}, "log.flush.interval.ms", 4),
        ({"log.flush.scheduler.interval.ms": "4", "log.flush.interval.ms": "6"}, "log.flush.interval.ms", 6),
    ],
)
def test_the_finest_unit_that_is_given_decides(given: dict[str, str], name: str, value: Value) -> None:
    assert parsed(given).resolved(name) == value


def test_topics_have_the_declared_defaults_where_the_broker_says_nothing() -> None:
    assert parsed({}).topic_defaults() == {setting.name: setting.default for setting in TOPIC_SETTINGS}


def test_the_broker_gives_topics_their_defaults() -> None:
    defaults = parsed(
        {"log.segment.bytes": "10240", "log.retention.hours": "-5", "message.max.bytes": "99", "log.roll.hours": "2"}
    ).topic_defaults()
    assert defaults["segment.bytes"] == 10_240
    assert defaults["retention.ms"] == -1
    assert defaults["max.message.bytes"] == 99
    assert defaults["segment.ms"] == 7_200_000


def test_unknown_names_are_kept_and_named() -> None:
    config = parsed({"log.dirz": "/x", "acme.thing": "1", "super.users": "User:a", "rsm.config.bucket": "b"})
    assert config.unknown == ("acme.thing", "log.dirz")
    assert config.given["acme.thing"] == "1"


def test_the_prefix_of_a_plugin_can_be_another() -> None:
    config = parsed({"remote.log.storage.manager.impl.prefix": "tier.", "tier.bucket": "b", "rsm.config.bucket": "b"})
    assert config.unknown == ("rsm.config.bucket",)


def test_a_listener_has_values_of_its_own() -> None:
    config = parsed(
        {
            "ssl.keystore.type": "PEM",
            "listener.name.inside.ssl.keystore.type": "PKCS12",
            "listener.name.inside.scram-sha-256.sasl.jaas.config": "login",
            "listener.name.inside.nonsense": "1",
        }
    )
    assert config.of_listener("INSIDE")["ssl.keystore.type"] == "PKCS12"
    assert config.of_listener("INSIDE")["scram-sha-256.sasl.jaas.config"] == "login"
    assert config.of_listener("OUTSIDE")["ssl.keystore.type"] == "PEM"
    assert config.unknown == ("listener.name.inside.nonsense",)


def test_a_wrong_value_of_a_listener_is_refused_by_its_full_name() -> None:
    with pytest.raises(ConfigError, match=r"listener\.name\.inside\.ssl\.client\.auth.*required, requested, none"):
        parsed({"listener.name.inside.ssl.client.auth": "maybe"})


def test_secrets_show_nowhere() -> None:
    config = parsed({"ssl.key.password": "letmein", "listener.name.inside.ssl.key.password": "letmein"})
    assert dict(config.shown())["ssl.key.password"] == "[hidden]"
    assert "letmein" not in repr(config)
    assert config.text("ssl.key.password") == "letmein"


def test_config_providers_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"config\.providers"):
        parsed({"config.providers": "env"})
