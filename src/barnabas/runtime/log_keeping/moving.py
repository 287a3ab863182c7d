"""Drives the replicas that move between log directories: a chunk, then time for others, then the next chunk.

Requests have at least as much time between two chunks as a chunk took, and all moves together stay below
replica.alter.log.dirs.io.max.bytes.per.second.
"""

from __future__ import annotations

from asyncio import AbstractEventLoop, Handle
from collections.abc import Callable
from typing import Final

from barnabas.broker.replica_moves import ReplicaMoves
from barnabas.log.cleaner.throttle import IoThrottle
from barnabas.ports.clock import Clock

# How soon to look again whether a rate of nothing has been raised.
_STILL_MS: Final = 1_000


class MoveDriver:
    """Sleeps until `wake` while no move has anything to do. The rate is asked for anew each time."""

    def __init__(self, bytes_per_second: Callable[[], int], *, loop: AbstractEventLoop, clock: Clock) -> None:
        self._bytes_per_second = bytes_per_second
        self._loop = loop
        self._clock = clock
        self._throttle = IoThrottle()
        self._moves: ReplicaMoves | None = None
        self._handle: Handle | None = None
        self._is_closed = False

    def start(self, moves: ReplicaMoves) -> None:
        self._moves = moves
        self.wake()

    def wake(self) -> None:
        """There may be something to do."""
        if self._handle is None:
            self._rest(0)

    def close(self) -> None:
        """Take no further step; what has not arrived goes on after the next start."""
        self._is_closed = True
        if self._handle is not None:
            self._handle.cancel()

    def _rest(self, delay_ms: int) -> None:
        if not self._is_closed:
            self._handle = self._loop.call_later(delay_ms / 1000, self._step)

    def _step(self) -> None:
        self._handle = None
        if self._moves is None:
            return
        rate = self._bytes_per_second()
        begun_ms = self._clock.elapsed_ms()
        rest_ms = _STILL_MS
        if rate > 0:
            self._throttle.bytes_per_second = rate
            copied_bytes = self._moves.step(self._clock.now_ms())
            now_ms = self._clock.elapsed_ms()
            rest_ms = max(now_ms - begun_ms, self._throttle.charge(copied_bytes, now_ms) if copied_bytes else 0)
        due_ms = self._moves.due_ms(self._clock.now_ms())
        if due_ms is not None:
            self._rest(max(rest_ms, due_ms - self._clock.now_ms()))
