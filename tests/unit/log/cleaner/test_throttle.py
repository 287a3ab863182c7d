"""The cleaner's rate: what it has to wait after a piece of work."""

from __future__ import annotations

import pytest

from barnabas.log.cleaner.throttle import IoThrottle


def test_without_a_limit_there_is_no_wait() -> None:
    assert IoThrottle().charge(10**12, 5) == 0


def test_work_is_paid_for_with_time() -> None:
    throttle = IoThrottle(1_000)
    assert throttle.charge(500, 0) == 500
    assert throttle.charge(500, 100) == 900
    assert throttle.charge(0, 1_000) == 0


def test_idle_time_is_not_saved_up() -> None:
    throttle = IoThrottle(1_000)
    throttle.charge(100, 0)
    assert throttle.charge(1_000, 1_000_000) == 1_000


def test_a_part_of_a_millisecond_is_waited_for() -> None:
    assert IoThrottle(3_000).charge(1, 0) == 1


def test_a_rate_that_never_ends_is_refused() -> None:
    with pytest.raises(ValueError, match="never ends"):
        IoThrottle(0)
