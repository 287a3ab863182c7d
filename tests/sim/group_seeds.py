"""Seeds of worlds of groups, and a plan for those that are to find a bug soon."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from barnabas.sim.group_world import GroupWorld, Plan
from barnabas.sim.network import Conditions

MUTANT_SEEDS = 40


def hostile() -> Plan:
    """A plan in which most things go wrong, so that a bug shows soon."""
    return Plan(
        members=3,
        statics=2,
        partitions=4,
        duration_ms=40_000,
        conditions=Conditions(loss=0.01, delay_max_ms=50, straggling=0.02, straggle_max_ms=12_000),
        move_every_ms=4_000,
        crash_every_ms=8_000,
        come_every_ms=3_000,
        freeze_every_ms=4_000,
        restart_every_ms=6_000,
    )


def simulate_each(kind: str, simulate: Callable[[int], GroupWorld], seeds: Iterable[int]) -> None:
    """Run these seeds; what fails says how it is run again."""
    for seed in seeds:
        try:
            simulate(seed)
        except Exception as error:
            replay = f"python -m tools.simulate --world {kind} --seed {seed}"
            raise AssertionError(f"seed {seed}: {error}; replay with {replay}") from error


def simulate_hostile(simulate: Callable[[int, Plan], GroupWorld], *, cut_every_ms: int = 10_000) -> None:
    """Run as many seeds of the hostile plan as a bug may need to show."""
    for seed in range(MUTANT_SEEDS):
        simulate(seed, replace(hostile(), cut_every_ms=cut_every_ms))
