"""Virtual time: things that will happen, in order; the same seed gives the same order in any process."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from random import Random


class World:
    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.rng = Random(seed)
        self.now_ms = 0
        self._scheduled: list[tuple[int, int, Callable[[], None]]] = []
        self._count = 0

    def at(self, time_ms: int, happen: Callable[[], None]) -> None:
        """Let something happen at a time; what is scheduled first for one time happens first."""
        self._count += 1
        heapq.heappush(self._scheduled, (max(time_ms, self.now_ms), self._count, happen))

    def after(self, delay_ms: int, happen: Callable[[], None]) -> None:
        self.at(self.now_ms + delay_ms, happen)

    def run(self, for_ms: int, until: Callable[[], bool] = lambda: False) -> bool:
        """Let time pass; true as soon as `until` holds, false where it does not within that time."""
        end_ms = self.now_ms + for_ms
        while not until():
            if not self._scheduled or self._scheduled[0][0] > end_ms:
                self.now_ms = end_ms
                return until()
            self.now_ms, _, happen = heapq.heappop(self._scheduled)
            happen()
        return True
