"""The loop's surroundings: deadlines, work in threads, signals, and what an exception that reaches the loop does."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Callable
from typing import Any, cast

import pytest

from barnabas.runtime.loop import new_event_loop, stop_on_failure, stop_on_signals
from barnabas.runtime.off_loop import OffLoop
from barnabas.runtime.timers import DeadlineTimer
from unit.runtime.scripted import VirtualClock


class Handle:
    def __init__(self, delay_ms: float, call: Callable[[], None]) -> None:
        self.delay_ms = delay_ms
        self.call = call
        self.is_cancelled = False

    def cancel(self) -> None:
        self.is_cancelled = True


class TimerLoop:
    """Only takes timers; the test lets them ring."""

    def __init__(self) -> None:
        self.handles: list[Handle] = []

    def call_later(self, delay: float, call: Callable[[], None]) -> Handle:
        self.handles.append(Handle(delay * 1000, call))
        return self.handles[-1]


def test_a_timer_follows_the_earliest_deadline() -> None:
    clock, loop = VirtualClock(), TimerLoop()
    fired: list[int] = []
    timer = DeadlineTimer(cast(Any, loop), clock, fired.append)
    timer.arm(clock.ms + 50)
    timer.arm(clock.ms + 80)
    timer.arm(clock.ms + 20)
    assert [(round(handle.delay_ms), handle.is_cancelled) for handle in loop.handles] == [(50, True), (20, False)]
    clock.ms += 20
    loop.handles[-1].call()
    assert fired == [clock.ms]
    # It is armed anew by whoever fires.
    timer.arm(clock.ms - 5)
    assert loop.handles[-1].delay_ms == 0


def test_a_timer_that_rings_early_waits_for_the_rest() -> None:
    clock, loop = VirtualClock(), TimerLoop()
    fired: list[int] = []
    timer = DeadlineTimer(cast(Any, loop), clock, fired.append)
    timer.arm(clock.ms + 10)
    clock.ms += 9
    loop.handles[-1].call()
    assert not fired
    assert round(loop.handles[-1].delay_ms) == 1
    timer.cancel()
    assert loop.handles[-1].is_cancelled


def test_work_runs_off_the_loop_and_ends_on_it() -> None:
    def fail() -> int:
        raise OSError("the disk is gone")

    async def scenario() -> None:
        loop = asyncio.get_running_loop()
        off_loop = OffLoop(loop, threads=1)
        ended: asyncio.Future[int] = loop.create_future()

        def failed(error: Exception) -> None:
            assert threading.get_ident() == loop_thread
            ended.set_exception(error)

        loop_thread = threading.get_ident()
        off_loop.run(fail, ended.set_result, failed)
        with pytest.raises(OSError, match="the disk is gone"):
            await ended
        result: asyncio.Future[int] = loop.create_future()
        off_loop.run(threading.get_ident, result.set_result, result.set_exception)
        assert await result != loop_thread
        off_loop.close()

    asyncio.run(scenario())


def test_who_waits_for_the_threads_waits_for_what_their_results_begin_too() -> None:
    async def scenario() -> None:
        off_loop = OffLoop(asyncio.get_running_loop(), threads=1)
        done: list[int] = []

        def begin_another(result: int) -> None:
            done.append(result)
            off_loop.run(lambda: 2, done.append, lambda _: None)

        await off_loop.settle()
        off_loop.run(lambda: 1, begin_another, lambda _: None)
        await off_loop.settle()
        assert done == [1, 2]
        off_loop.close()

    asyncio.run(scenario())


@pytest.mark.parametrize("asked", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_asks_to_stop(asked: signal.Signals) -> None:
    loop = new_event_loop()
    try:
        stop_on_signals(loop, loop.stop)
        loop.call_soon(os.kill, os.getpid(), asked)
        loop.run_forever()
    finally:
        loop.close()


def test_an_exception_that_reaches_the_loop_stops_the_node(caplog: pytest.LogCaptureFixture) -> None:
    loop = new_event_loop()

    def fail() -> None:
        raise AssertionError("a bug")

    try:
        stop_on_failure(loop, loop.stop)
        loop.call_soon(fail)
        loop.run_forever()
    finally:
        loop.close()
    assert "a bug stops this node" in caplog.text
    assert "AssertionError: a bug" in caplog.text
