"""Work on all logs that is done again and again, a few logs at a time so that requests have their turn between."""

from __future__ import annotations

from asyncio import AbstractEventLoop, Handle
from collections.abc import Callable, Iterator
from typing import Final

from barnabas.ports.clock import Clock

# How many logs a chore looks at before it lets others have their turn.
LOGS_PER_TURN: Final = 100
# No timer is set further ahead: an interval of for ever is a setting like any other.
_AHEAD_MAX_MS: Final = 24 * 60 * 60 * 1000


class Chore:
    """`pieces(now_ms)` does the work, a log a step. The interval is asked for anew each time, as it may be changed."""

    def __init__(
        self,
        pieces: Callable[[int], Iterator[None]],
        interval_ms: Callable[[], int],
        *,
        loop: AbstractEventLoop,
        clock: Clock,
    ) -> None:
        self._pieces = pieces
        self._interval_ms = interval_ms
        self._loop = loop
        self._clock = clock
        self._handle: Handle | None = None

    def start(self, delay_ms: int) -> None:
        """Do it for the first time after `delay_ms`."""
        self._wait_until(self._clock.elapsed_ms() + delay_ms)

    def close(self) -> None:
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def _wait_until(self, due_ms: int) -> None:
        left_ms = due_ms - self._clock.elapsed_ms()
        if left_ms > 0:
            delay_ms = min(left_ms, _AHEAD_MAX_MS)
            self._handle = self._loop.call_later(delay_ms / 1000, self._wait_until, due_ms)
        else:
            self._go_on(self._pieces(self._clock.now_ms()))

    def _go_on(self, pieces: Iterator[None]) -> None:
        for _ in range(LOGS_PER_TURN):
            try:
                next(pieces)
            except StopIteration:
                self._wait_until(self._clock.elapsed_ms() + max(1, self._interval_ms()))
                return
        self._handle = self._loop.call_soon(self._go_on, pieces)
