"""Policies are brought by the path of their class, and one that fails takes nothing else with it."""

from __future__ import annotations

import logging
from collections.abc import Mapping

import pytest

from barnabas.config.server_config import ServerConfig, parse_server_config
from barnabas.config.setting import ConfigError
from barnabas.controller.policies import ConfigChange, NewTopic, PolicyViolation
from barnabas.protocol.errors import UnknownServerError
from barnabas.runtime.controller.policies import load_policies

HERE = __name__
TOPIC = NewTopic(name="t", num_partitions=1, replication_factor=1, assignments=None, configs={})
CHANGE = ConfigChange(resource_type=2, resource_name="t", configs={"retention.ms": "1"})


class NamedBySetting:
    """Only names that begin as a setting says, and no change of anything."""

    def configure(self, settings: Mapping[str, str]) -> None:
        self._prefix = settings["team.prefix"]

    def validate(self, asked: NewTopic | ConfigChange) -> None:
        if isinstance(asked, ConfigChange):
            raise PolicyViolation("nothing changes here")
        if not asked.name.startswith(self._prefix):
            raise PolicyViolation(f"{asked.name} does not begin with {self._prefix}")


class Failing:
    def configure(self, _settings: Mapping[str, str]) -> None:
        pass

    def validate(self, _topic: NewTopic) -> None:
        raise ZeroDivisionError


class Unconfigurable(Failing):
    def configure(self, _settings: Mapping[str, str]) -> None:
        raise LookupError("team.quota")


class Deaf:
    def configure(self, _settings: Mapping[str, str]) -> None:
        pass


def settings(**given: str) -> ServerConfig:
    base = {"node.id": "1", "process.roles": "controller", "controller.listener.names": "CONTROLLER"}
    return parse_server_config(base | {name.replace("_", "."): text for name, text in given.items()})


def test_without_a_setting_there_is_no_policy() -> None:
    policies = load_policies(settings())
    assert (policies.create_topic, policies.alter_configs) == (None, None)


def test_a_policy_is_configured_and_asked() -> None:
    path = f"{HERE}.NamedBySetting"
    policies = load_policies(
        settings(create_topic_policy_class_name=path, alter_config_policy_class_name=path, team_prefix="t")
    )
    assert policies.create_topic is not None
    assert policies.alter_configs is not None
    policies.create_topic(TOPIC)
    with pytest.raises(PolicyViolation, match="u does not begin with t"):
        policies.create_topic(NewTopic(name="u", num_partitions=1, replication_factor=1, assignments=None, configs={}))
    with pytest.raises(PolicyViolation, match="nothing changes here"):
        policies.alter_configs(CHANGE)


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("org.example.NoSuchPolicy", "ModuleNotFoundError"),
        ("NoModule", "ValueError"),
        (f"{HERE}.NoSuchClass", "AttributeError"),
        (f"{HERE}.HERE", "TypeError"),
        (f"{HERE}.Deaf", "AttributeError"),
        (f"{HERE}.Unconfigurable", "team.quota"),
    ],
)
@pytest.mark.parametrize("name", ["create.topic.policy.class.name", "alter.config.policy.class.name"])
def test_a_policy_that_cannot_be_brought_is_named_with_what_is_expected(name: str, path: str, reason: str) -> None:
    given = settings(**{name.replace(".", "_"): path})
    with pytest.raises(ConfigError, match=rf"^{name}: .*{reason}.*package\.module\.Class"):
        load_policies(given)


def test_a_policy_that_fails_is_logged_and_becomes_an_error_that_can_be_answered(
    caplog: pytest.LogCaptureFixture,
) -> None:
    policies = load_policies(settings(create_topic_policy_class_name=f"{HERE}.Failing"))
    assert policies.create_topic is not None
    with caplog.at_level(logging.ERROR), pytest.raises(UnknownServerError, match="ZeroDivisionError"):
        policies.create_topic(TOPIC)
    assert [record.message for record in caplog.records] == ["policy failed"]
