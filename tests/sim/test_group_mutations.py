"""Bugs put into the coordinator on purpose: the simulation must catch each, or it would not catch them unintended."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from barnabas.coordinator.errors import UnknownMemberId
from barnabas.coordinator.group import shard
from barnabas.coordinator.group.classic import rebalancing
from barnabas.coordinator.group.classic.group import ClassicGroup, Member
from barnabas.protocol.group_records.group_metadata import GroupMetadataValue
from barnabas.runtime.coordinator.hosted_shard import HostedShard
from barnabas.sim.group_world import simulate
from sim.group_seeds import simulate_hostile

Mutation = Callable[[pytest.MonkeyPatch], None]


def answers_before_the_replicas_have_it(patch: pytest.MonkeyPatch) -> None:
    def answer(self: HostedShard, responses: Any) -> None:
        for token, response in responses:
            self._settle(token, response)

    patch.setattr(HostedShard, "_answer_when_committed", answer)


def takes_commits_of_any_generation(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(ClassicGroup, "check_offset_commit", lambda *_args, **_fields: None)


def begins_its_generations_again_when_it_loads(patch: pytest.MonkeyPatch) -> None:
    original = ClassicGroup.of_record.__func__  # type: ignore[attr-defined]

    def of_record(cls: type[ClassicGroup], group_id: str, value: GroupMetadataValue) -> ClassicGroup:
        group: ClassicGroup = original(cls, group_id, value)
        group.generation = 0
        return group

    patch.setattr(ClassicGroup, "of_record", classmethod(of_record))


def does_not_fence_static_members(patch: pytest.MonkeyPatch) -> None:
    def check(self: ClassicGroup, member_id: str, instance_id: str | None) -> Member:
        found = self.members.get(self.static_ids.get(instance_id or "", member_id))
        if found is None:
            raise UnknownMemberId
        return found

    patch.setattr(ClassicGroup, "check_member", check)


def keeps_members_that_are_silent(patch: pytest.MonkeyPatch) -> None:
    patch.setitem(shard.TIMERS, rebalancing.SESSION, lambda *_: None)


def gives_a_restarted_static_member_everything(patch: pytest.MonkeyPatch) -> None:
    original = ClassicGroup.take

    def take(self: ClassicGroup, value: GroupMetadataValue) -> None:
        for written in value.members:
            if written.member_id in self.arriving:
                written.assignment = bytes(range(4))
        original(self, value)

    patch.setattr(ClassicGroup, "take", take)


@pytest.mark.parametrize(
    ("mutate", "finding"),
    [
        (answers_before_the_replicas_have_it, "lost|was fetched after|was given to"),
        (takes_commits_of_any_generation, "went back"),
        (begins_its_generations_again_when_it_loads, "was given to"),
        (does_not_fence_static_members, "not settled|was given to|went back"),
        (keeps_members_that_are_silent, "not settled"),
        (gives_a_restarted_static_member_everything, "was given to"),
    ],
)
def test_the_simulation_catches(mutate: Mutation, finding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mutant that merely crashes proves nothing of the checks."""
    mutate(monkeypatch)
    with pytest.raises(AssertionError, match=finding):
        simulate_hostile(simulate)
