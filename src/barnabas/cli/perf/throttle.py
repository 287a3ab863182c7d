"""Keeps a rate by short sleeps, none shorter than what a sleep really takes."""

from __future__ import annotations

from typing import Final

SLEEP_MIN_S: Final = 0.002


class Throttle:
    """Below a rate of zero nothing is held back; at zero everything is."""

    def __init__(self, rate_per_s: float, start_s: float) -> None:
        self._rate_per_s = rate_per_s
        self._start_s = start_s

    def pause_s(self, done: int, now_s: float) -> float:
        """How long to wait after so much was done; 0 where there is no need yet."""
        if self._rate_per_s < 0:
            return 0
        if self._rate_per_s == 0:
            return float("inf")
        ahead_s = done / self._rate_per_s - (now_s - self._start_s)
        return ahead_s if ahead_s >= SLEEP_MIN_S else 0
