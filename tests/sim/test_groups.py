"""Seeded worlds of classic groups under every fault: safe at each step, and shared out once all is healed."""

from __future__ import annotations

import pytest

from barnabas.sim.group_world import simulate
from sim.group_seeds import simulate_each

SEEDS = 24
CHUNK = 8


@pytest.mark.parametrize("first", range(0, SEEDS, CHUNK))
def test_members_never_share_a_partition_nor_lose_an_offset_and_settle_once_healed(first: int) -> None:
    simulate_each("groups", simulate, range(first, first + CHUNK))


def test_the_seeds_meet_what_they_are_there_for() -> None:
    """A simulation in which nothing goes wrong, or nothing is committed, would prove nothing."""
    worlds = [simulate(seed) for seed in range(100, 108)]
    counts = sum((world.counts for world in worlds), start=type(worlds[0].counts)())
    met = (
        *("coordinator moved", "broker killed", "network cut"),
        *("member came", "member left", "member frozen", "static member restarted"),
        *("assignment told", "assignment lost", "commit acknowledged"),
    )
    assert not [what for what in met if not counts[what]]
    assert any(member.is_fenced for world in worlds for member in world.members)


def test_one_seed_is_one_run() -> None:
    first, second = simulate(7), simulate(7)
    assert (first.steps, first.counts, first.world.now_ms) == (second.steps, second.counts, second.world.now_ms)
