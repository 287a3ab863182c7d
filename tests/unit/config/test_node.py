"""A node's settings are checked against each other by role, and a refusal names the setting."""

from __future__ import annotations

import pytest

from barnabas.config.listeners import Endpoint, SecurityProtocol
from barnabas.config.node import NodeConfig, Role
from barnabas.config.node_rules import parse_node, warnings
from barnabas.config.setting import ConfigError
from node_settings import BROKER, COMBINED, CONTROLLER, REFUSED

PLAIN = SecurityProtocol.PLAINTEXT


def node(settings: dict[str, str], **changes: str) -> NodeConfig:
    return parse_node(settings | {name.replace("_", "."): text for name, text in changes.items()})


def test_a_combined_node_listens_for_both_roles() -> None:
    combined = node(COMBINED)
    assert combined.roles == {Role.BROKER, Role.CONTROLLER}
    assert combined.is_broker
    assert combined.is_controller
    assert combined.broker_listeners == (Endpoint("PLAINTEXT", PLAIN, "localhost", 9092),)
    assert combined.controller_listeners == (Endpoint("CONTROLLER", PLAIN, "localhost", 9093),)
    assert combined.advertised_broker_listeners == combined.broker_listeners
    assert combined.inter_broker_listener_name == "PLAINTEXT"
    assert combined.early_start_listener_names == {"CONTROLLER"}
    assert combined.bootstrap_servers == (("localhost", 9093),)
    assert not combined.voters


def test_a_controller_and_a_broker_can_each_be_alone() -> None:
    assert not node(CONTROLLER).is_broker
    assert not node(BROKER).is_controller
    assert node(BROKER).controller_listeners == ()


def test_directories_are_those_of_logs_and_metadata() -> None:
    assert node(COMBINED).metadata_log_dir == "/data/a"
    assert node(COMBINED).storage_dirs == ("/data/a", "/data/b")
    apart = node(COMBINED, metadata_log_dir="/data/0")
    assert apart.metadata_log_dir == "/data/0"
    assert apart.storage_dirs == ("/data/0", "/data/a", "/data/b")
    assert node({name: text for name, text in COMBINED.items() if name != "log.dirs"}).log_dirs == ("/tmp/kafka-logs",)


def test_cordoned_directories_can_be_all() -> None:
    assert node(COMBINED, cordoned_log_dirs="*").cordoned_log_dirs == ("/data/a", "/data/b")
    assert node(COMBINED, cordoned_log_dirs="/data/b").cordoned_log_dirs == ("/data/b",)


@pytest.mark.parametrize(
    ("changes", "address"),
    [
        ({}, (None, 9093)),
        ({"listeners": "CONTROLLER://0.0.0.0:9093"}, (None, 9093)),
        ({"listeners": "CONTROLLER://here:9093"}, ("here", 9093)),
        ({"controller_quorum_voters": "1@voter:19093"}, ("voter", 19_093)),
        ({"listeners": "CONTROLLER://here:9093", "controller_quorum_voters": "1@voter:19093"}, ("here", 9093)),
        ({"advertised_listeners": "CONTROLLER://told:1"}, ("told", 1)),
    ],
)
def test_a_controller_is_reached_where_it_says_or_listens_or_votes(
    changes: dict[str, str], address: tuple[str | None, int]
) -> None:
    (advertised,) = node(CONTROLLER, **changes).advertised_controller_listeners
    assert (advertised.host, advertised.port) == address


@pytest.mark.parametrize(
    ("settings", "changes", "names", "reason"),
    REFUSED,
)
def test_settings_that_do_not_fit_together_are_refused(
    settings: dict[str, str], changes: dict[str, str], names: str, reason: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_node(settings | changes)
    assert names in str(caught.value)
    assert reason in str(caught.value)


def test_a_node_that_is_in_order_warns_of_nothing() -> None:
    assert list(warnings(node(COMBINED))) == []


def test_what_is_odd_is_told() -> None:
    told = list(
        warnings(
            node(
                BROKER,
                controller_listener_names="CONTROLLER,OTHER",
                num_partitions="3",
                broker_heartbeat_interval_ms="5000",
                acme="1",
            )
        )
    )
    assert [line.split(" ")[0] for line in told] == [
        "acme",
        "num.partitions",
        "controller.listener.names",
        "broker.heartbeat.interval.ms",
    ]
