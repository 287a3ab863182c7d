"""The settings of consumer groups are the broker's, and each group's own within its bounds."""

from __future__ import annotations

import pytest

from barnabas.config.server_config import parse_server_config
from barnabas.coordinator.group.consumer.settings import ConsumerGroupSettings
from barnabas.metadata.image import EMPTY_IMAGE

BROKER = {"process.roles": "broker", "node.id": "1", "controller.listener.names": "CONTROLLER"}


def settings(**given: str) -> ConsumerGroupSettings:
    names = {name.replace("_", "."): value for name, value in given.items()}
    return ConsumerGroupSettings.of(parse_server_config({**BROKER, **names}))


def test_the_defaults_are_those_of_the_broker() -> None:
    assert settings() == ConsumerGroupSettings()
    assert settings().terms("g", EMPTY_IMAGE) == (45_000, 5_000, 1_000)


@pytest.mark.parametrize(
    ("policy", "permits"),
    [
        ("disabled", (False, False)),
        ("Upgrade", (True, False)),
        ("DOWNGRADE", (False, True)),
        ("bidirectional", (True, True)),
    ],
)
def test_the_policy_permits_migration_each_way(policy: str, permits: tuple[bool, bool]) -> None:
    made = settings(group_consumer_migration_policy=policy)
    assert (made.may_upgrade, made.may_downgrade) == permits


def test_assignors_may_be_named_by_their_java_classes_and_those_that_are_not_ours_are_not_offered() -> None:
    named = "org.apache.kafka.coordinator.group.assignor.RangeAssignor,com.example.Mine"
    assert settings(group_consumer_assignors=named).assignors == ("range",)
    assert settings(group_consumer_assignors="com.example.Mine").assignors == ("uniform", "range")
