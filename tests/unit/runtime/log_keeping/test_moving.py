"""The driver of moves between directories, in virtual time: sleeps, takes turns with others, keeps to its rate."""

from __future__ import annotations

from typing import Any, cast

import pytest

from barnabas.runtime.log_keeping.moving import MoveDriver
from barnabas.sim.virtual_loop import VirtualClock, VirtualLoop
from barnabas.sim.world import World

CHUNK_BYTES = 1_000


class Moves:
    """So many chunks that are to be copied. A step takes `step_ms`."""

    def __init__(self, world: World, clock: VirtualClock, chunks: int) -> None:
        self.chunks = chunks
        self.step_ms = 0
        self.held_up_until_ms: int | None = None
        self.steps_at_ms: list[int] = []
        self._world = world
        self._clock = clock

    def step(self, now_ms: int) -> int:
        assert now_ms == self._clock.now_ms()
        self.steps_at_ms.append(self._clock.elapsed_ms())
        self._world.now_ms += self.step_ms
        if self.held_up_until_ms is not None and now_ms >= self.held_up_until_ms:
            self.held_up_until_ms = None
        if not self.chunks or self.held_up_until_ms is not None:
            return 0
        self.chunks -= 1
        return CHUNK_BYTES

    def due_ms(self, now_ms: int) -> int | None:
        if self.held_up_until_ms is not None:
            return max(now_ms, self.held_up_until_ms)
        return now_ms if self.chunks else None


class Driving:
    def __init__(self, chunks: int = 0) -> None:
        self.world = World(1)
        self.clock = VirtualClock(self.world)
        self.loop = VirtualLoop(self.world, self.clock, lambda: None)  # type: ignore[abstract]
        self.rate = 2**63 - 1
        self.moves = Moves(self.world, self.clock, chunks)
        self.driver = MoveDriver(lambda: self.rate, loop=self.loop, clock=self.clock)
        self.driver.start(cast(Any, self.moves))

    def run_until(self, now_ms: int) -> None:
        self.world.run(now_ms - self.world.now_ms)


def test_nothing_happens_until_it_is_woken() -> None:
    driving = Driving()
    driving.run_until(10_000)
    assert driving.moves.steps_at_ms == [0]
    driving.moves.chunks = 2
    driving.driver.wake()
    driving.driver.wake()
    driving.run_until(20_000)
    assert driving.moves.chunks == 0
    assert len(driving.moves.steps_at_ms) == 3


def test_others_have_as_much_time_as_a_chunk_took() -> None:
    driving = Driving(chunks=3)
    driving.moves.step_ms = 7
    driving.run_until(100)
    assert driving.moves.steps_at_ms == [0, 14, 28]


@pytest.mark.parametrize(("rate", "pause_ms"), [(CHUNK_BYTES, 1_000), (10 * CHUNK_BYTES, 100)])
def test_chunks_stay_below_the_rate_that_holds_at_the_time(rate: int, pause_ms: int) -> None:
    driving = Driving(chunks=3)
    driving.rate = rate
    driving.run_until(3_000)
    assert driving.moves.steps_at_ms == [0, pause_ms, 2 * pause_ms]


def test_a_rate_of_nothing_stops_all_moves_until_it_is_raised() -> None:
    driving = Driving(chunks=1)
    driving.rate = 0
    driving.run_until(10_500)
    assert driving.moves.steps_at_ms == []
    driving.rate = CHUNK_BYTES
    driving.run_until(12_000)
    assert driving.moves.chunks == 0


def test_a_move_that_is_held_up_is_tried_when_it_is_due() -> None:
    driving = Driving(chunks=1)
    driving.moves.held_up_until_ms = driving.clock.now_ms() + 500
    driving.run_until(499)
    assert driving.moves.steps_at_ms == [0]
    driving.run_until(500)
    assert driving.moves.steps_at_ms == [0, 500]


def test_after_its_end_there_is_no_further_step() -> None:
    driving = Driving(chunks=3)
    driving.rate = CHUNK_BYTES
    driving.run_until(0)
    driving.driver.close()
    driving.driver.wake()
    driving.run_until(5_000)
    assert driving.moves.steps_at_ms == [0]
