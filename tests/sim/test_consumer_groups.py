"""Seeded worlds of consumer groups under every fault, and bugs put into them on purpose that the worlds must catch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from barnabas.coordinator.group import shard
from barnabas.coordinator.group.consumer import assigning, heartbeating, leaving, timers
from barnabas.coordinator.group.consumer.group import ConsumerGroup
from barnabas.sim.consumer_group_world import simulate
from sim.group_seeds import simulate_each, simulate_hostile

SEEDS = 16
CHUNK = 8

Mutation = Callable[[pytest.MonkeyPatch], None]


@pytest.mark.parametrize("first", range(0, SEEDS, CHUNK))
def test_members_never_share_a_partition_nor_lose_an_offset_and_settle_once_healed(first: int) -> None:
    simulate_each("consumer-groups", simulate, range(first, first + CHUNK))


def test_one_seed_is_one_run() -> None:
    first, second = simulate(7), simulate(7)
    assert (first.steps, first.counts, first.world.now_ms) == (second.steps, second.counts, second.world.now_ms)


def gives_what_others_still_have(patch: pytest.MonkeyPatch) -> None:
    """Every member goes to the target at once, for its own epoch is not looked at, either."""
    patch.setattr(ConsumerGroup, "has_owner", lambda *_: False)
    patch.setattr(heartbeating, "_check_epoch", lambda *_: None)
    patch.setattr(ConsumerGroup, "check_offset_commit", lambda *_args, **_fields: None)


def takes_commits_of_anybody(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(ConsumerGroup, "check_offset_commit", lambda *_args, **_fields: None)


def begins_its_epochs_again_when_it_loads(patch: pytest.MonkeyPatch) -> None:
    """Then one epoch has two assignments, and members of both take themselves to be up to date."""

    def forget(_state: Any, group: ConsumerGroup, _decision: Any) -> None:
        group.epoch = group.assignment_epoch = 1
        for member in tuple(group.members.values()):
            group.put(replace(member, member_epoch=1, previous_epoch=1, assigned={}, pending_revocation={}))

    patch.setattr(leaving, "on_loaded", forget)
    patch.setattr(heartbeating, "_check_epoch", lambda *_: None)


def keeps_members_that_are_silent(patch: pytest.MonkeyPatch) -> None:
    patch.setitem(shard.TIMERS, timers.SESSION, lambda *_: None)


def does_not_assign_anew(patch: pytest.MonkeyPatch) -> None:
    def may_assign(_state: Any, group: ConsumerGroup, _now_ms: int) -> bool:
        return not group.target

    patch.setattr(assigning, "_may_assign", may_assign)


@pytest.mark.parametrize(
    ("mutate", "finding"),
    [
        (gives_what_others_still_have, "was given to|went back|was fetched after"),
        (takes_commits_of_anybody, "went back|was fetched after"),
        (begins_its_epochs_again_when_it_loads, "was given to"),
        (keeps_members_that_are_silent, "not settled"),
        (does_not_assign_anew, "not settled"),
    ],
)
def test_the_simulation_catches(mutate: Mutation, finding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mutant that merely crashes proves nothing of the checks."""
    mutate(monkeypatch)
    with pytest.raises(AssertionError, match=finding):
        # Members that reach their coordinator show these bugs sooner.
        simulate_hostile(simulate, cut_every_ms=0)
