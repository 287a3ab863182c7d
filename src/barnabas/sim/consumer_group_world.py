"""The world of groups with members of the newer protocol in it; faults and checks are the same."""

from __future__ import annotations

from barnabas.sim.group_consumer import ConsumerMember
from barnabas.sim.group_world import GroupWorld, Plan

__all__ = ["ConsumerGroupWorld", "Plan", "simulate"]


class ConsumerGroupWorld(GroupWorld):
    member_type = ConsumerMember


def simulate(seed: int, plan: Plan | None = None) -> GroupWorld:
    """Run a world to its end; raises where something is not as it must be."""
    world = ConsumerGroupWorld(seed, Plan.draw(seed) if plan is None else plan)
    world.run()
    return world
