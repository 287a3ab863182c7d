"""A client's settings have Kafka's names and defaults, and what makes no client is refused with the reason."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.client.addresses import Address, parse_addresses
from barnabas.client.settings import CLIENT_SETTINGS, ClientConfig, UnusableConfigError, parse_client
from barnabas.config.setting import ConfigError

SERVERS = {"bootstrap.servers": "a:1,b:2"}


def test_defaults_are_kafkas() -> None:
    assert parse_client(SERVERS) == ClientConfig(
        bootstrap=(Address("a", 1), Address("b", 2)),
        asks_controllers=False,
        client_id="",
        request_timeout_ms=30_000,
        api_timeout_ms=60_000,
        connection_timeout_ms=10_000,
        retries=2**31 - 1,
        retry_backoff_ms=100,
        retry_backoff_max_ms=1_000,
    )


def test_every_setting_is_read() -> None:
    given_ones = {
        "bootstrap.controllers": "[::1]:9093",
        "client.id": "me",
        "request.timeout.ms": "1",
        "default.api.timeout.ms": "2",
        "socket.connection.setup.timeout.ms": "3",
        "retries": "4",
        "retry.backoff.ms": "5",
        "retry.backoff.max.ms": "6",
        "security.protocol": "plaintext",
    }
    assert {setting.name for setting in CLIENT_SETTINGS} == given_ones.keys() | {"bootstrap.servers"}
    assert parse_client(given_ones) == ClientConfig((Address("::1", 9093),), True, "me", 1, 2, 3, 4, 5, 6)


def test_settings_of_other_programs_are_passed_over() -> None:
    assert parse_client(SERVERS | {"log.dirs": "/data", "ssl.keystore.location": "/keys"}) == parse_client(SERVERS)


def test_a_longer_request_lengthens_the_call_unless_that_was_set() -> None:
    assert parse_client(SERVERS | {"request.timeout.ms": "90000"}).api_timeout_ms == 90_000
    with pytest.raises(UnusableConfigError, match=r"default\.api\.timeout\.ms=10 .* request\.timeout\.ms=20"):
        parse_client(SERVERS | {"request.timeout.ms": "20", "default.api.timeout.ms": "10"})


@pytest.mark.parametrize("protocol", ["SSL", "sasl_plaintext", "SASL_SSL"])
def test_security_protocols_to_come_are_refused_by_name(protocol: str) -> None:
    with pytest.raises(UnusableConfigError, match=f"^security.protocol={protocol.upper()} is not supported yet"):
        parse_client(SERVERS | {"security.protocol": protocol})


@pytest.mark.parametrize(
    ("given_ones", "name"),
    [
        ({}, "bootstrap.servers"),
        (SERVERS | {"bootstrap.controllers": "c:1"}, "bootstrap.controllers"),
        ({"bootstrap.servers": ","}, "bootstrap.servers"),
        ({"bootstrap.controllers": "c"}, "bootstrap.controllers"),
        (SERVERS | {"request.timeout.ms": "soon"}, "request.timeout.ms"),
        (SERVERS | {"security.protocol": "MAGIC"}, "security.protocol"),
    ],
)
def test_a_refusal_names_the_setting(given_ones: dict[str, str], name: str) -> None:
    with pytest.raises(ConfigError, match=name):
        parse_client(given_ones)


@pytest.mark.parametrize(
    ("entry", "address"),
    [
        ("host:9092", Address("host", 9092)),
        ("PLAINTEXT://host:9092", Address("host", 9092)),
        ("[2001:db8::1]:9092", Address("2001:db8::1", 9092)),
        ("fe80::1%eth0:9092", Address("fe80::1%eth0", 9092)),
        (":9092", Address("", 9092)),
    ],
)
def test_addresses_are_read_as_kafka_reads_them(entry: str, address: Address) -> None:
    assert parse_addresses([entry], "bootstrap.servers") == (address,)


@pytest.mark.parametrize("entry", ["host", "host:", "host:x", "host:70000", "ho st:1", "host:-1"])
def test_what_is_no_address_is_refused(entry: str) -> None:
    with pytest.raises(ConfigError, match=r"Invalid (url|port) in bootstrap\.servers"):
        parse_addresses([entry], "bootstrap.servers")


@given(st.lists(st.tuples(st.sampled_from(["a", "b.example", "::1"]), st.integers(0, 65_535)), min_size=1))
def test_a_list_of_addresses_reads_back_without_repetitions(pairs: list[tuple[str, int]]) -> None:
    addresses = [Address(*pair) for pair in pairs]
    assert parse_addresses(map(str, addresses), "bootstrap.servers") == tuple(dict.fromkeys(addresses))
