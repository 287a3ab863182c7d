"""Which settings of the metadata a running node follows, and what its settings come to."""

from __future__ import annotations

import pytest

from barnabas.broker.node_configs import DEFAULTS, RunningConfigs, declaration, followed, synonyms
from barnabas.broker.topic_configs import BrokerConfigs
from barnabas.metadata.configs import ConfigResource, ConfigResourceType
from barnabas.metadata.image import MetadataImage
from barnabas.metadata.sorted_map import SortedMap

BROKER = ConfigResourceType.BROKER


def running(
    static: dict[str, str] | None = None, cluster: dict[str, str] | None = None, node: dict[str, str] | None = None
) -> RunningConfigs:
    configs = {
        ConfigResource(BROKER, ""): SortedMap(cluster or {}),
        ConfigResource(BROKER, "1"): SortedMap(node or {}),
        ConfigResource(BROKER, "2"): SortedMap({"message.max.bytes": "2"}),
    }
    return RunningConfigs(MetadataImage(configs=SortedMap(configs)), BrokerConfigs(1, static or {}))


def test_what_a_node_is_told_goes_before_what_all_are_told_and_that_before_its_properties() -> None:
    name = "message.max.bytes"
    assert running().value(name) == DEFAULTS[name]
    assert running({name: "10"}).value(name) == "10"
    assert running({name: "10"}, {name: "20"}).value(name) == "20"
    assert running({name: "10"}, {name: "20"}, {name: "30"}).value(name) == "30"


def test_a_setting_in_another_unit_takes_the_place_of_the_one_before() -> None:
    told = running({"log.retention.hours": "5"}, {"log.retention.ms": "2"})
    assert told.value("log.retention.ms") == "2"
    assert told.value("log.retention.hours") == DEFAULTS["log.retention.hours"]
    assert "log.retention.hours" not in told.given


@pytest.mark.parametrize(
    ("name", "text", "of_node", "of_cluster"),
    [
        ("message.max.bytes", "10", True, True),
        ("message.max.bytes", "much", False, False),
        ("node.id", "7", False, False),
        ("listeners", "A://:1", True, False),
        ("ssl.keystore.location", "/k", False, False),
        ("listener.name.a.ssl.keystore.location", "/k", True, False),
        ("listener.name.a.max.connections", "7", True, True),
        ("listener.name.a.max.connections", "some", False, False),
        ("somebody.elses", "x", True, True),
        ("leader.replication.throttled.rate", "5", True, True),
    ],
)
def test_only_what_can_change_while_a_node_runs_is_followed(
    name: str, text: str, of_node: bool, of_cluster: bool
) -> None:
    assert (name in followed({name: text}, is_cluster_default=False)) is of_node
    assert (name in followed({name: text}, is_cluster_default=True)) is of_cluster


def test_a_setting_of_a_listener_is_known_by_the_one_it_stands_for() -> None:
    assert synonyms("listener.name.a.max.connections") == ("listener.name.a.max.connections", "max.connections")
    mechanism = "listener.name.a.scram-sha-256.sasl.jaas.config"
    assert synonyms(mechanism) == (mechanism, "sasl.jaas.config")
    assert declaration(mechanism) is declaration("sasl.jaas.config")
    assert synonyms("log.roll.hours") == ("log.roll.ms", "log.roll.hours")
    hours = declaration("log.roll.hours")
    assert hours is not None
    assert hours.name == "log.roll.hours"
    assert declaration("somebody.elses") is None
