"""Deadlines on the event loop: one timer that follows the earliest of many."""

from __future__ import annotations

from asyncio import AbstractEventLoop, TimerHandle
from collections.abc import Callable

from barnabas.ports.clock import Clock


class DeadlineTimer:
    """Calls `fire` with the time when the earliest deadline that it was armed with has come.

    Deadlines count as `Clock.elapsed_ms` does. Who fires arms it again for what is left.
    """

    def __init__(self, loop: AbstractEventLoop, clock: Clock, fire: Callable[[int], object]) -> None:
        self._loop = loop
        self._clock = clock
        self._fire = fire
        self._deadline_ms: int | None = None
        self._handle: TimerHandle | None = None

    def arm(self, deadline_ms: int) -> None:
        """Fire at this time at the latest."""
        if self._deadline_ms is not None and self._deadline_ms <= deadline_ms:
            return
        if self._handle is not None:
            self._handle.cancel()
        self._deadline_ms = deadline_ms
        delay_ms = max(0, deadline_ms - self._clock.elapsed_ms())
        self._handle = self._loop.call_later(delay_ms / 1000, self._on_timer)

    def cancel(self) -> None:
        if self._handle is not None:
            self._handle.cancel()
        self._handle = self._deadline_ms = None

    def _on_timer(self) -> None:
        deadline_ms, now_ms = self._deadline_ms, self._clock.elapsed_ms()
        assert deadline_ms is not None, "a timer that was cancelled does not fire"
        self._handle = self._deadline_ms = None
        if now_ms < deadline_ms:
            # The loop's clock is finer than ours and may be early by a fraction of a millisecond.
            self.arm(deadline_ms)
        else:
            self._fire(now_ms)
