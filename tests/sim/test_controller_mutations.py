"""Known bugs put into controllers on purpose: the simulation must catch each, or it would not catch them unintended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from barnabas.controller import alter_partition
from barnabas.controller.controller import Controller
from barnabas.controller.decision import Decision, Operation, RequestContext, Situation
from barnabas.controller.effects import Respond
from barnabas.controller.operations import OPERATIONS
from barnabas.log.flush import Flush
from barnabas.metadata.errors import ReplayError
from barnabas.metadata.image import NO_PRODUCER_IDS
from barnabas.metadata.loader import Published
from barnabas.protocol.messages.allocate_producer_ids import AllocateProducerIdsRequest
from barnabas.raft.quorum import QuorumViolation
from barnabas.runtime.quorum import snapshotting
from barnabas.runtime.quorum.metadata_log import DamagedMetadataLog, MetadataLog
from barnabas.runtime.quorum.replay import MetadataReplay
from barnabas.runtime.quorum.snapshot_files import SnapshotFiles
from barnabas.sim import controller_node
from barnabas.sim.controller_world import Plan, simulate
from barnabas.sim.network import Conditions

SEEDS = 60
# A broken invariant, found by a check or by a node itself: a record that does not fit what was replayed before it, or a
# log or snapshot that it finds damaged and refuses to start from. A mutant that merely crashes proves nothing.
CAUGHT = (AssertionError, QuorumViolation, ReplayError, DamagedMetadataLog)

Mutation = Callable[[pytest.MonkeyPatch], None]


def hostile(seed: int, **changes: Any) -> Plan:
    """A plan in which most things go wrong, so that a bug shows soon."""
    plan = replace(
        Plan.draw(seed),
        voters=3,
        brokers=3,
        duration_ms=15_000,
        conditions=Conditions(loss=0.02, duplication=0.1, delay_max_ms=50, straggling=0.01, straggle_max_ms=3_000),
        cut_per_operation=0.002,
        partition_every_ms=3_000,
        resign_every_ms=3_000,
        ask_every_ms=60,
        flush_max_ms=50,
        snapshot_bytes=2_000,
    )
    return replace(plan, **changes)


def answers_before_commit(patch: pytest.MonkeyPatch) -> None:
    def carry_out(self: Controller, asker: Any, decision: Decision, now_ms: int) -> None:
        self._adopt(decision, now_ms)
        assert decision.response is not None
        self._effects.append(Respond(asker.token, decision.response, decision.refusal))

    patch.setattr(Controller, "_carry_out", carry_out)


def answers_well_when_it_resigns(patch: pytest.MonkeyPatch) -> None:
    original = Controller._renounce

    def renounce(self: Controller) -> None:
        self._effects += [Respond(each.asker.token, each.response, each.refusal) for each in self._waiting]
        self._waiting.clear()
        original(self)

    patch.setattr(Controller, "_renounce", renounce)


def keeps_what_is_not_committed_when_it_resigns(patch: pytest.MonkeyPatch) -> None:
    original = Controller._renounce

    def renounce(self: Controller) -> None:
        newest = self._newest
        original(self)
        self._newest = newest

    patch.setattr(Controller, "_renounce", renounce)


def is_active_before_it_has_caught_up(patch: pytest.MonkeyPatch) -> None:
    original = Controller._activate_when_caught_up

    def activate(self: Controller, now_ms: int) -> None:
        if self._claim is not None:
            self._claim = replace(self._claim, start_offset=-1)
        original(self, now_ms)

    patch.setattr(Controller, "_activate_when_caught_up", activate)


def ignores_where_its_records_came_to_stand(patch: pytest.MonkeyPatch) -> None:
    original = Controller._appended

    def appended(self: Controller, _base_offset: int, now_ms: int) -> None:
        assert self._appending is not None
        original(self, self._appending.expected_offset, now_ms)

    patch.setattr(Controller, "_appended", appended)


def replays_twice(patch: pytest.MonkeyPatch) -> None:
    original = MetadataReplay.load_piece

    def load_piece(self: MetadataReplay, high_watermark: int) -> list[Published]:
        before = self.next_offset
        original(self, high_watermark)
        self.next_offset = before
        return original(self, high_watermark)

    patch.setattr(MetadataReplay, "load_piece", load_piece)


def hands_out_the_same_producer_ids(patch: pytest.MonkeyPatch) -> None:
    """As if the record of a block were forgotten."""
    rightly = OPERATIONS[AllocateProducerIdsRequest]

    def allocate(situation: Situation, request: AllocateProducerIdsRequest, context: RequestContext) -> Decision:
        return replace(rightly.decide(situation, request, context), records=())

    operations = dict(OPERATIONS)
    operations[AllocateProducerIdsRequest] = Operation(allocate, rightly.refuse)
    patch.setattr(controller_node, "OPERATIONS", operations)


def lets_anybody_into_an_isr(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(alter_partition, "_check_members", lambda *_: None)


def skips_the_flush(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Flush, "run", lambda _: None)


def forgets_its_vote(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(MetadataLog, "write_quorum_state", lambda *_: None)


def leaves_something_out_of_snapshots(patch: pytest.MonkeyPatch) -> None:
    original = snapshotting.snapshot_batches

    def snapshot_batches(image: Any, *rest: Any) -> Any:
        return original(replace(image, next_producer_id=NO_PRODUCER_IDS), *rest)

    patch.setattr(snapshotting, "snapshot_batches", snapshot_batches)


def names_a_download_before_it_is_durable(patch: pytest.MonkeyPatch) -> None:
    def freeze(self: SnapshotFiles, snapshot_id: Any) -> None:
        self._name(self._path(snapshot_id) + ".part", snapshot_id)

    patch.setattr(SnapshotFiles, "freeze_download", freeze)


MUTATIONS: list[tuple[Mutation, dict[str, Any]]] = [
    (answers_before_commit, {}),
    (answers_well_when_it_resigns, {}),
    (keeps_what_is_not_committed_when_it_resigns, {}),
    (is_active_before_it_has_caught_up, {}),
    (ignores_where_its_records_came_to_stand, {"is_dynamic": True, "observers": 2, "voter_change_every_ms": 200}),
    (replays_twice, {}),
    (hands_out_the_same_producer_ids, {}),
    (lets_anybody_into_an_isr, {}),
    (skips_the_flush, {}),
    (forgets_its_vote, {"cut_per_operation": 0.003, "voters": 5}),
    (leaves_something_out_of_snapshots, {}),
    (
        names_a_download_before_it_is_durable,
        {"cut_per_operation": 0.003, "snapshot_bytes": 1_000, "segment_bytes": 1_000},
    ),
]


@pytest.mark.parametrize(("mutation", "changes"), MUTATIONS, ids=lambda value: getattr(value, "__name__", ""))
def test_the_simulation_catches(mutation: Mutation, changes: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    mutation(monkeypatch)
    for seed in range(SEEDS):
        try:
            simulate(seed, hostile(seed, **changes))
        except CAUGHT:
            return
    pytest.fail(f"{mutation.__name__} went unnoticed through {SEEDS} seeds")


def test_the_same_worlds_are_survived_without_a_bug() -> None:
    for seed, (_, changes) in enumerate(MUTATIONS):
        simulate(seed, hostile(seed, **changes))
