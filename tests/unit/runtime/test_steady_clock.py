"""A clock that starts at the system's time and goes on at its own pace, whatever is done to the system's."""

from __future__ import annotations

from barnabas.runtime.steady_clock import SteadyClock


class SettableClock:
    def __init__(self) -> None:
        self.wall_ms = 1_700_000_000_000
        self.up_ms = 5_000

    def now_ms(self) -> int:
        return self.wall_ms

    def elapsed_ms(self) -> int:
        return self.up_ms


def test_setting_the_systems_clock_does_not_move_it() -> None:
    system = SettableClock()
    clock = SteadyClock(system)
    assert clock.now_ms() == clock.elapsed_ms() == 1_700_000_000_000
    system.up_ms += 250
    system.wall_ms -= 3_600_000
    assert clock.now_ms() == clock.elapsed_ms() == 1_700_000_000_250
