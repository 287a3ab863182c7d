"""A clock that starts at the system's time and never jumps: sessions, elections and timers are measured by it.

An administrator or NTP may set the system's clock while a node runs; that must neither end every broker's session nor
make timers wait for hours.
"""

from __future__ import annotations

from barnabas.ports.clock import Clock


class SteadyClock:
    """Both of its times are the same, so that a deadline can be held against either."""

    def __init__(self, system: Clock) -> None:
        self._system = system
        self._offset_ms = system.now_ms() - system.elapsed_ms()

    def now_ms(self) -> int:
        return self._offset_ms + self._system.elapsed_ms()

    def elapsed_ms(self) -> int:
        return self.now_ms()
