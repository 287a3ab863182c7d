"""Which connections come in: limits over all, by address, by second, and the brokers' own listener."""

from __future__ import annotations

import pytest

from barnabas.runtime.admission import Admission
from barnabas.runtime.socket_settings import SocketSettings


def test_there_is_room_up_to_the_limit_and_again_when_one_leaves() -> None:
    admission = Admission(SocketSettings(max_connections=2))
    for host in ("a", "b"):
        assert admission.has_room("L")
        assert admission.enter("L", host)
    assert not admission.has_room("L")
    admission.leave("a")
    assert admission.has_room("L")


def test_an_address_has_its_own_limit_unless_it_is_overridden() -> None:
    settings = SocketSettings(max_connections_per_ip=1, max_connections_per_ip_overrides={"b": 2, "c": 0})
    admission = Admission(settings)
    assert [admission.enter("L", host) for host in "aabbbc"] == [True, False, True, True, False, False]
    assert admission.total == 3
    admission.leave("a")
    assert admission.enter("L", "a")


def test_the_brokers_listener_is_never_full_and_makes_the_clients_exceed_the_limit() -> None:
    admission = Admission(SocketSettings(max_connections=1), protected_listener="INTERNAL")
    assert admission.enter("CLIENTS", "a")
    assert not admission.is_exceeded
    assert not admission.has_room("CLIENTS")
    assert admission.has_room("INTERNAL")
    assert admission.enter("INTERNAL", "b")
    assert admission.is_exceeded


def test_newcomers_beyond_the_rate_wait_for_their_turn() -> None:
    admission = Admission(SocketSettings(max_connection_creation_rate=10), protected_listener="INTERNAL")
    for _ in range(10):
        assert admission.delay_ms("L", 1_000) == 0
        admission.enter("L", "a")
    delay_ms = admission.delay_ms("L", 1_000)
    assert delay_ms == pytest.approx(100, abs=1)
    assert admission.delay_ms("INTERNAL", 1_000) == 0
    assert admission.delay_ms("L", 1_000 + delay_ms // 2) > 0
    assert admission.delay_ms("L", 1_000 + delay_ms) == 0


def test_a_quiet_hour_allows_a_burst_of_one_second_and_no_more() -> None:
    admission = Admission(SocketSettings(max_connection_creation_rate=3))
    admission.delay_ms("L", 0)
    burst = 0
    while not admission.delay_ms("L", 3_600_000):
        admission.enter("L", "a")
        burst += 1
    assert burst == 3


def test_a_rate_of_none_lets_nobody_in() -> None:
    admission = Admission(SocketSettings(max_connection_creation_rate=0))
    assert admission.delay_ms("L", 0) > 0
    assert admission.delay_ms("L", 10**9) > 0


def test_other_limits_hold_from_the_next_newcomer_on() -> None:
    admission = Admission(SocketSettings(max_connections=1, max_connection_creation_rate=100))
    assert admission.enter("L", "a")
    assert not admission.has_room("L")
    admission.reconfigure(SocketSettings(max_connections=2, max_connections_per_ip=1, max_connection_creation_rate=1))
    assert admission.has_room("L")
    assert not admission.enter("L", "a")
    assert admission.enter("L", "b")
    # The rate's bucket holds no more than one second's worth of the new rate.
    assert admission.delay_ms("L", now_ms=0) > 0
