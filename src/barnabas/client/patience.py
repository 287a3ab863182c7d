"""How long a call may take, and how long it waits between its tries."""

from __future__ import annotations

from typing import Final

from barnabas.ports.clock import Clock
from barnabas.ports.rng import Rng

_JITTER: Final = 0.2
_DOUBLINGS_MAX: Final = 32


class Deadline:
    """A moment from which on nothing is tried any more."""

    def __init__(self, clock: Clock, timeout_ms: int) -> None:
        self._clock = clock
        self._at_ms = clock.elapsed_ms() + timeout_ms

    def left_ms(self) -> int:
        """Never below zero."""
        return max(0, self._at_ms - self._clock.elapsed_ms())

    @property
    def is_over(self) -> bool:
        return self.left_ms() == 0

    def within(self, timeout_ms: int) -> Deadline:
        """One that is over after `timeout_ms`, or with this one if that is earlier."""
        return Deadline(self._clock, min(timeout_ms, self.left_ms()))


def backoff_ms(failures: int, first_ms: int, most_ms: int, rng: Rng) -> int:
    """The wait after so many failures in a row: doubling, up to `most_ms`, a fifth more or less by chance."""
    doubled = min(first_ms << min(failures - 1, _DOUBLINGS_MAX), most_ms)
    return round(doubled * (1 + _JITTER * (2 * rng.random() - 1)))
