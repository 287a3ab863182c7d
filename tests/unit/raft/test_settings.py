"""The quorum's settings: Kafka's defaults, and addresses that lead nowhere refused."""

from __future__ import annotations

import pytest

from barnabas.config.raft import parse_address, parse_voters
from barnabas.config.setting import ConfigError
from barnabas.raft.settings import QuorumSettings


def test_the_defaults_are_kafkas() -> None:
    assert QuorumSettings.defaults() == QuorumSettings(
        election_timeout_ms=1_000,
        fetch_timeout_ms=2_000,
        election_backoff_max_ms=1_000,
        append_linger_ms=25,
        request_timeout_ms=2_000,
        retry_backoff_ms=20,
        auto_join_enable=False,
        fetch_snapshot_max_bytes=1_048_576,
        fetch_max_bytes=1_048_576,
    )


def test_a_setting_is_given_by_name_and_checked() -> None:
    assert QuorumSettings.defaults(fetch_timeout_ms="7").fetch_timeout_ms == 7
    with pytest.raises(ConfigError, match=r"controller\.quorum\.fetch\.max\.bytes"):
        QuorumSettings.defaults(fetch_max_bytes="0")


def test_voters_are_read() -> None:
    assert parse_voters(("1@one:9093", "22@[::1]:1")) == {1: ("one", 9093), 22: ("::1", 1)}


@pytest.mark.parametrize(
    "entry", ["one:9093", "x@one:9093", "1@one", "1@:9093", "1@one:x", "1@0.0.0.0:9093", "1@::1:9"]
)
def test_a_voter_that_nobody_could_reach_is_refused(entry: str) -> None:
    with pytest.raises(ConfigError, match=r"controller\.quorum\.voters"):
        parse_voters((entry,))


def test_an_address_is_host_and_port() -> None:
    assert parse_address("localhost:9092", "controller.quorum.bootstrap.servers") == ("localhost", 9092)
    with pytest.raises(ConfigError, match=r"bootstrap\.servers"):
        parse_address("9092", "controller.quorum.bootstrap.servers")
