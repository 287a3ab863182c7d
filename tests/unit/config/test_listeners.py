"""Listener entries are read as Kafka reads them, and what does not fit is refused by the setting's name."""

from __future__ import annotations

import pytest

from barnabas.config.listeners import Endpoint, SecurityProtocol, parse_endpoints, parse_protocol_map
from barnabas.config.server_config import parse_server_config
from barnabas.config.setting import ConfigError

PLAIN = SecurityProtocol.PLAINTEXT
PROTOCOLS = {"A": PLAIN, "B": SecurityProtocol.SASL_SSL, "C": PLAIN}


def protocol_map(**given: str) -> dict[str, SecurityProtocol]:
    required = {"process.roles": "controller", "node.id": "1", "controller.listener.names": "CONTROLLER"}
    return parse_protocol_map(parse_server_config(required | {name.replace("_", "."): given[name] for name in given}))


@pytest.mark.parametrize(
    ("entry", "endpoint"),
    [
        ("A://host:9092", Endpoint("A", PLAIN, "host", 9092)),
        ("a://:9092", Endpoint("A", PLAIN, None, 9092)),
        ("B://[::1]:0", Endpoint("B", SecurityProtocol.SASL_SSL, "::1", 0)),
        ("A://0.0.0.0:65535", Endpoint("A", PLAIN, "0.0.0.0", 65_535)),
    ],
)
def test_an_entry_is_a_name_a_host_and_a_port(entry: str, endpoint: Endpoint) -> None:
    assert parse_endpoints([entry], PROTOCOLS, "listeners") == (endpoint,)


@pytest.mark.parametrize(
    ("entries", "reason"),
    [
        (["A:9092"], "not of the form"),
        (["A://host"], "not of the form"),
        (["A://ho st:1"], "not of the form"),
        (["D://host:1"], "no protocol for listener D"),
        (["A://host:65536"], "no port 65536"),
        (["A://h:1", "a://h:2"], "different name"),
        (["A://h:1", "C://h:1"], "different port"),
        (["A://127.0.0.1:1", "C://127.0.0.2:1"], "different port"),
        (["A://127.0.0.1:1", "B://[::1]:1", "C://:1"], "different port"),
    ],
)
def test_a_refusal_names_the_setting(entries: list[str], reason: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_endpoints(entries, PROTOCOLS, "listeners")
    assert "listeners" in str(caught.value)
    assert reason in str(caught.value)


@pytest.mark.parametrize(
    "entries", [["A://127.0.0.1:1", "C://[::1]:1"], ["A://h:0", "C://h:0"], ["A://h:1", "C://h:2"]]
)
def test_ports_may_repeat_over_ip_versions_and_where_any_will_do(entries: list[str]) -> None:
    assert len(parse_endpoints(entries, PROTOCOLS, "listeners")) == 2


def test_advertised_listeners_may_share_a_port() -> None:
    advertised = parse_endpoints(["A://h:1", "C://h:1"], PROTOCOLS, "advertised.listeners", needs_own_ports=False)
    assert [endpoint.port for endpoint in advertised] == [1, 1]


def test_a_map_of_its_own_is_taken_as_it_is() -> None:
    assert protocol_map(listener_security_protocol_map="in:SSL, OUT:sasl_plaintext") == {
        "IN": SecurityProtocol.SSL,
        "OUT": SecurityProtocol.SASL_PLAINTEXT,
    }


def test_controller_listeners_are_plain_where_nothing_is_secured() -> None:
    assert protocol_map(listeners="CONTROLLER://:9093")["CONTROLLER"] is PLAIN
    assert "CONTROLLER" not in protocol_map(listeners="SSL://:9093,CONTROLLER://:9094")


@pytest.mark.parametrize(("text", "reason"), [("A", "not of the form"), ("A:TLS", "PLAINTEXT, SSL, SASL_PLAINTEXT")])
def test_a_map_that_is_none_is_refused(text: str, reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        protocol_map(listener_security_protocol_map=text)
