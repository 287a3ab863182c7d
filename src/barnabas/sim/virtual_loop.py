"""What a process gets of its machine, in virtual time: a clock, an event loop and threads; no more than our code uses.

Everything that happens to a simulated process goes through its loop. That is where a paused one waits, a dead one hears
nothing any more, and a power cut in the middle of something ends.
"""

from __future__ import annotations

from asyncio import AbstractEventLoop, Handle, TimerHandle
from collections.abc import Callable
from contextvars import Context
from math import ceil
from typing import Any, TypeVar, TypeVarTuple

from barnabas.runtime.off_loop import OffLoop
from barnabas.sim.disk import PowerCut
from barnabas.sim.world import World

T = TypeVar("T")
Arguments = TypeVarTuple("Arguments")


# What the clocks of all machines show when the world begins, but for how wrong they are.
BEGINNING_MS = 1_700_000_000_000


class VirtualClock:
    """A machine's clock, wrong by `skew_ms`, which somebody may change, and fast or slow by `rate`, which stays."""

    def __init__(self, world: World, *, skew_ms: int = 0, rate: float = 1.0) -> None:
        self.skew_ms = skew_ms
        self.rate = rate
        self._world = world

    def now_ms(self) -> int:
        return BEGINNING_MS + self.skew_ms + self.elapsed_ms()

    def elapsed_ms(self) -> int:
        return int(self._world.now_ms * self.rate)

    def until_elapsed_ms(self, delay_ms: float) -> int:
        """How long it really takes until this clock has gone on by so much."""
        return ceil(delay_ms / self.rate)


class VirtualLoop(AbstractEventLoop):
    """The loop of one life of a process, with the timers of its machine's clock.

    `crashed` is called when the power is cut in something that it ran.
    """

    def __init__(self, world: World, clock: VirtualClock, crashed: Callable[[], None]) -> None:
        self.paused_until_ms = 0
        self.is_dead = False
        self._world = world
        self._clock = clock
        self._crashed = crashed

    def enter(self, happen: Callable[[], object]) -> None:
        """Let something happen in this process: now, or when it goes on, or never."""
        if self.is_dead:
            return
        if self._world.now_ms < self.paused_until_ms:
            self._world.at(self.paused_until_ms, lambda: self.enter(happen))
            return
        try:
            happen()
        except PowerCut:
            self._crashed()

    def call_soon(
        self, callback: Callable[[*Arguments], object], *args: *Arguments, context: Context | None = None
    ) -> Handle:
        handle = Handle(callback, args, self, context)
        self._schedule(0, handle, lambda: callback(*args))
        return handle

    def call_later(
        self,
        delay: float,
        callback: Callable[[*Arguments], object],
        *args: *Arguments,
        context: Context | None = None,
    ) -> TimerHandle:
        delay_ms = self._clock.until_elapsed_ms(round(delay * 1000))
        handle = TimerHandle((self._world.now_ms + delay_ms) / 1000, callback, args, self, context)
        self._schedule(delay_ms, handle, lambda: callback(*args))
        return handle

    def _schedule(self, delay_ms: int, handle: Handle, run: Callable[[], object]) -> None:
        self._world.after(delay_ms, lambda: self.enter(lambda: None if handle.cancelled() else run()))

    def get_debug(self) -> bool:
        return False

    def _timer_handle_cancelled(self, handle: TimerHandle) -> None:
        """A cancelled handle stays where it is and does nothing when its time comes."""


class VirtualOffLoop(OffLoop):
    """Threads that take `delay_ms` until they get to the work, and as long again until the loop hears of it."""

    def __init__(self, loop: VirtualLoop, delay_ms: Callable[[], int]) -> None:
        self._virtual = loop
        self._delay_ms = delay_ms

    def run(self, work: Callable[[], T], done: Callable[[T], object], failed: Callable[[Exception], object]) -> None:
        def work_and_tell() -> None:
            try:
                result = work()
            except Exception as error:
                self._tell(failed, error)
            else:
                self._tell(done, result)

        self._virtual.call_later(self._delay_ms() / 1000, work_and_tell)

    def _tell(self, call: Callable[[Any], object], outcome: object) -> None:
        self._virtual.call_later(self._delay_ms() / 1000, call, outcome)

    def close(self) -> None:
        """A thread ends with the life of its process."""
