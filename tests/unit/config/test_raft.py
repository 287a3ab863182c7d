"""The addresses in the quorum's settings: read, and those that lead nowhere refused."""

from __future__ import annotations

import pytest

from barnabas.config.raft import parse_address, parse_voters
from barnabas.config.setting import ConfigError


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
