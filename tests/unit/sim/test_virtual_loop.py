"""The loop of a simulated process: what waits, what is dropped, and how a power cut ends it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from barnabas.sim.disk import PowerCut
from barnabas.sim.virtual_loop import BEGINNING_MS, VirtualClock, VirtualLoop, VirtualOffLoop
from barnabas.sim.world import World


def make_loop(world: World, crashed: Callable[[], None] = lambda: None) -> VirtualLoop:
    return VirtualLoop(world, VirtualClock(world), crashed)  # type: ignore[abstract]  # Our code calls no more of it.


def fail() -> None:
    raise OSError("the disk is gone")


def cut_power() -> None:
    raise PowerCut


def test_timers_fire_at_their_time_unless_they_are_cancelled() -> None:
    world, fired = World(0), list[tuple[str, int]]()
    loop = make_loop(world)
    loop.call_later(0.02, lambda: fired.append(("later", world.now_ms)))
    loop.call_later(0.01, lambda: fired.append(("never", world.now_ms))).cancel()
    loop.call_soon(lambda: fired.append(("soon", world.now_ms)))
    world.run(100)
    assert fired == [("soon", 0), ("later", 20)]


def test_a_paused_process_gets_what_happened_when_it_goes_on_and_in_order() -> None:
    world, happened = World(0), list[tuple[str, int]]()
    loop = make_loop(world)
    loop.paused_until_ms = 50
    loop.enter(lambda: happened.append(("first", world.now_ms)))
    loop.call_later(0.01, lambda: happened.append(("second", world.now_ms)))
    world.run(100)
    assert happened == [("first", 50), ("second", 50)]


def test_a_dead_process_hears_nothing_any_more() -> None:
    world, happened = World(0), list[str]()
    loop = make_loop(world)
    loop.call_soon(happened.append, "timer")
    loop.is_dead = True
    loop.enter(lambda: happened.append("message"))
    world.run(100)
    assert not happened


def test_a_power_cut_ends_in_a_crash_of_the_process_alone() -> None:
    world, crashes = World(0), list[int]()
    loop = make_loop(world, lambda: crashes.append(world.now_ms))
    loop.call_later(0.007, cut_power)
    world.run(100)
    assert crashes == [7]


def test_work_in_a_thread_ends_in_one_call_after_a_while() -> None:
    world, told = World(0), list[tuple[str, int]]()
    threads = VirtualOffLoop(make_loop(world), lambda: 5)
    threads.run(
        lambda: "done", lambda result: told.append((result, world.now_ms)), lambda _: told.append(("failed", 0))
    )
    threads.run(fail, lambda _: told.append(("done", 0)), lambda error: told.append((str(error), world.now_ms)))
    world.run(100)
    assert told == [("done", 10), ("the disk is gone", 10)]


def test_a_clock_that_is_set_shows_another_time_and_measures_the_same() -> None:
    world = World(0)
    clock = VirtualClock(world, skew_ms=-5_000)
    world.run(100)
    assert (clock.now_ms(), clock.elapsed_ms()) == (BEGINNING_MS - 4_900, 100)
    clock.skew_ms = 7_000
    assert (clock.now_ms(), clock.elapsed_ms()) == (BEGINNING_MS + 7_100, 100)


@pytest.mark.parametrize(("rate", "fires_at_ms"), [(0.5, 200), (1.0, 100), (1.25, 80), (1.1, 91)])
def test_timers_go_by_the_clock_of_their_machine_and_are_never_early(rate: float, fires_at_ms: int) -> None:
    world, fired = World(0), list[tuple[int, bool]]()
    clock = VirtualClock(world, rate=rate)
    loop = VirtualLoop(world, clock, lambda: None)  # type: ignore[abstract]  # Our code calls no more of it.
    loop.call_later(0.1, lambda: fired.append((world.now_ms, clock.elapsed_ms() >= 100)))
    world.run(1_000)
    assert fired == [(fires_at_ms, True)]
