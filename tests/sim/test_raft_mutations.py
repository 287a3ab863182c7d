"""Known bugs put into the quorum on purpose: the simulation must catch each, or it would not catch them unintended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from barnabas.raft import effects, elections, following, leader, leading, membership, polling
from barnabas.raft.ballot import Ballot
from barnabas.raft.effects import Effect
from barnabas.raft.events import Event
from barnabas.raft.history import QuorumHistory
from barnabas.raft.leader import Leader
from barnabas.raft.log_view import Continues
from barnabas.raft.majority import offset_of_majority
from barnabas.raft.node import RaftNode
from barnabas.raft.quorum import Quorum, QuorumViolation
from barnabas.raft.roles import Candidate, Unattached
from barnabas.sim.network import Conditions
from barnabas.sim.raft_world import Plan, simulate

SEEDS = 300
# A broken invariant, found by a check or by a node itself. A mutant that merely crashes proves nothing of the checks.
CAUGHT = (AssertionError, QuorumViolation)

Mutation = Callable[[pytest.MonkeyPatch], None]


def hostile(seed: int, **changes: Any) -> Plan:
    """A plan in which most things go wrong, so that a bug shows soon."""
    drawn = Plan.draw(seed)
    conditions = Conditions(loss=0.1, duplication=0.1, delay_max_ms=100, straggling=0.03, straggle_max_ms=4_000)
    plan = replace(
        drawn,
        voters=3,
        conditions=conditions,
        crash_per_step=0.02,
        partition_every_ms=1_500,
        resign_every_ms=3_000,
        append_every_ms=60,
        flush_max_ms=200,
        duration_ms=20_000,
    )
    return replace(plan, **changes)


def grants_a_second_vote(patch: pytest.MonkeyPatch) -> None:
    def can_grant(self: Unattached, candidate: object, *, is_log_up_to_date: bool, is_pre_vote: bool) -> bool:
        del self, candidate, is_pre_vote
        return is_log_up_to_date

    patch.setattr(Unattached, "can_grant_vote", can_grant)


def counts_the_vote_of_a_non_voter(patch: pytest.MonkeyPatch) -> None:
    """A replica that lost its disk is no voter any more, though its node id still is."""
    patch.setattr(elections, "_is_for_us", lambda *_: True)


def commits_an_old_epoch_by_count(patch: pytest.MonkeyPatch) -> None:
    """A record of an old epoch on a majority can still be overwritten by one of a later epoch on a minority."""

    def advance(self: Leader) -> bool:
        offset = offset_of_majority(progress.end_offset for progress in self.voters.values())
        if offset is None or offset <= (self.high_watermark or 0):
            return False
        self.high_watermark = offset
        return True

    patch.setattr(Leader, "advance_high_watermark", advance)
    patch.setattr(RaftNode, "_validate_leader", lambda *_: None)


def fetches_before_flushing(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(polling, "_may_fetch", lambda _: True)


def leader_counts_itself_before_flushing(patch: pytest.MonkeyPatch) -> None:
    def local_flushed(self: Leader, end_offset: int) -> None:
        del end_offset
        if self.is_voter(self.local.key):
            self.voters[self.local.id].end_offset = self.lingering_end_offset

    patch.setattr(Leader, "local_flushed", local_flushed)


def persists_after_sending(patch: pytest.MonkeyPatch) -> None:
    original = RaftNode.step

    def step(self: RaftNode, event: Event, now_ms: int) -> list[Effect]:
        result = original(self, event, now_ms)
        return sorted(result, key=lambda effect: isinstance(effect, effects.Persist))

    patch.setattr(RaftNode, "step", step)


def elects_by_half(patch: pytest.MonkeyPatch) -> None:
    def is_won(self: Ballot) -> bool:
        return len(self._granted) >= max(1, len(self._keys) // 2)

    patch.setattr(Ballot, "is_won", property(is_won))


def commits_by_half(patch: pytest.MonkeyPatch) -> None:
    def offset_of_half(end_offsets: Any) -> int | None:
        ranked = sorted((offset for offset in end_offsets if offset is not None), reverse=True)
        return ranked[0] if ranked else None

    patch.setattr(leader, "offset_of_majority", offset_of_half)


def votes_for_a_shorter_log(patch: pytest.MonkeyPatch) -> None:
    original = Unattached.can_grant_vote

    def can_grant(self: Unattached, candidate: Any, *, is_log_up_to_date: bool, is_pre_vote: bool) -> bool:
        del is_log_up_to_date
        return original(self, candidate, is_log_up_to_date=True, is_pre_vote=is_pre_vote)

    patch.setattr(Unattached, "can_grant_vote", can_grant)


def serves_a_diverged_follower(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(leading, "compare_follower", lambda *_: Continues())


def forgets_that_it_led(patch: pytest.MonkeyPatch) -> None:
    """A restarted leader may have lost records that others have; writing others in their place is the danger."""
    original = Quorum.start

    def start(self: Quorum) -> None:
        saved = self.persisted
        if saved is not None and saved.leader_id == self.local.id:
            self.role = Candidate(
                epoch=saved.epoch, local_key=self.local.key, election_deadline_ms=0, ballot=self._own_ballot()
            )
            self.become_leader([self.local.id])
        else:
            original(self)

    patch.setattr(Quorum, "start", start)


def changes_voters_before_the_last_change_is_committed(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(membership, "_require_no_change_pending", lambda *_: 1 << 40)


def keeps_voters_of_a_truncated_log(patch: pytest.MonkeyPatch) -> None:
    def apply(self: QuorumHistory, change: Any) -> None:
        for history in (self._voters, self._kraft_versions):
            if (history.last_offset or 0) >= change.offset:
                history.truncate_to(change.offset)
        original(self, change)

    original = QuorumHistory.apply
    patch.setattr(QuorumHistory, "apply", apply)
    patch.setattr(QuorumHistory, "truncate_to", lambda *_: None)


def takes_a_flush_for_what_replaced_the_flushed(patch: pytest.MonkeyPatch) -> None:
    original = Quorum.truncate

    def truncate(self: Quorum, end_offset: int) -> None:
        flushed, flushing = self.flushed_offset, self.flushing_to
        original(self, end_offset)
        self.flushed_offset, self.flushing_to = flushed, flushing

    patch.setattr(Quorum, "truncate", truncate)
    patch.setattr(RaftNode, "validate", lambda _: None)


def forgets_its_vote_in_a_restart(patch: pytest.MonkeyPatch) -> None:
    original = Quorum.start

    def start(self: Quorum) -> None:
        if self.persisted is not None:
            self.persisted = replace(self.persisted, voted_key=None)
        original(self)

    patch.setattr(Quorum, "start", start)


def believes_a_high_watermark_beyond_its_log(patch: pytest.MonkeyPatch) -> None:
    def minimum(*values: Any, **options: Any) -> Any:
        return values[0] if len(values) > 1 else min(*values, **options)

    patch.setattr(following, "min", minimum, raising=False)


def installs_a_snapshot_without_its_voters(patch: pytest.MonkeyPatch) -> None:
    original = following.snapshot_installed

    def snapshot_installed(node: Quorum, event: Any) -> None:
        original(node, replace(event, changes=()))

    patch.setattr(following, "snapshot_installed", snapshot_installed)


# Elections that overlap: several stand at once, and votes arrive late and twice.
CONTESTED: dict[str, Any] = {
    "voters": 5,
    "crash_per_step": 0.08,
    "resign_every_ms": 700,
    "conditions": Conditions(loss=0.05, duplication=0.5, delay_max_ms=600, straggling=0.3, straggle_max_ms=2_000),
}

MUTATIONS: list[tuple[Mutation, dict[str, Any]]] = [
    (grants_a_second_vote, CONTESTED),
    (counts_the_vote_of_a_non_voter, {"is_dynamic": True, "disk_loss_every_ms": 1_500, "voter_change_every_ms": 0}),
    (commits_an_old_epoch_by_count, {"voters": 5}),
    (fetches_before_flushing, {}),
    (leader_counts_itself_before_flushing, {}),
    (persists_after_sending, {}),
    (elects_by_half, {}),
    (commits_by_half, {}),
    (votes_for_a_shorter_log, {}),
    (serves_a_diverged_follower, {}),
    (forgets_that_it_led, {}),
    (
        changes_voters_before_the_last_change_is_committed,
        {"is_dynamic": True, "voter_change_every_ms": 200, "spares": 3},
    ),
    (keeps_voters_of_a_truncated_log, {"is_dynamic": True, "voter_change_every_ms": 200, "spares": 2}),
    (takes_a_flush_for_what_replaced_the_flushed, {"flush_max_ms": 1_000}),
    (forgets_its_vote_in_a_restart, CONTESTED),
    (believes_a_high_watermark_beyond_its_log, {}),
    (
        installs_a_snapshot_without_its_voters,
        {"is_dynamic": True, "snapshot_every_ms": 500, "disk_loss_every_ms": 1_500},
    ),
]


@pytest.mark.parametrize(("mutation", "changes"), MUTATIONS, ids=lambda value: getattr(value, "__name__", ""))
def test_the_simulation_catches(mutation: Mutation, changes: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    mutation(monkeypatch)
    for seed in range(SEEDS):
        try:
            simulate(seed, plan=hostile(seed, **changes))
        except CAUGHT:
            return
    pytest.fail(f"{mutation.__name__} went unnoticed through {SEEDS} seeds")


def test_the_same_worlds_are_survived_without_a_bug() -> None:
    for seed, (_, changes) in enumerate(MUTATIONS):
        simulate(seed, plan=hostile(seed, **changes))
