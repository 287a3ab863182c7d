"""Seeded clusters of whole controllers under every fault: safe at each step, and of use once a majority is healed."""

from __future__ import annotations

import errno
import os
import subprocess
import sys

import pytest

from barnabas.sim.controller_clients import TOOL, create_topic
from barnabas.sim.controller_node import Life, Machine
from barnabas.sim.controller_world import HOUR_MS, ControllerWorld, Plan, simulate

SEEDS = 40
CHUNK = 8


@pytest.mark.parametrize("first", range(0, SEEDS, CHUNK))
def test_controllers_are_safe_under_every_fault_and_go_on_once_a_majority_is_healed(first: int) -> None:
    for seed in range(first, first + CHUNK):
        try:
            simulate(seed)
        except Exception as error:
            replay = f"python -m tools.simulate --world controllers --seed {seed}"
            raise AssertionError(f"seed {seed}: {error}; replay with {replay}") from error


def test_the_seeds_meet_what_they_are_there_for() -> None:
    """A simulation in which nothing goes wrong, or nothing is asked for, would prove nothing."""
    worlds = [simulate(seed) for seed in range(1_100, 1_112)]
    counts = sum((world.counts for world in worlds), start=type(worlds[0].counts)())
    faults = ("crash", "disk failed", "disk loss", "clock set", "partition", "pause")
    changes = ("became leader", "voters changed", "joined by itself")
    snapshots = ("snapshot generated", "snapshot installed")
    requests = (
        "AllocateProducerIds",
        "AlterPartition",
        "AlterPartitionReassignments",
        "AssignReplicasToDirs",
        "BrokerHeartbeat",
        "BrokerRegistration",
        "ControllerRegistration",
        "CreatePartitions",
        "CreateTopics",
        "DeleteTopics",
        "ElectLeaders",
        "IncrementalAlterConfigs",
        "UnregisterBroker",
        "UpdateFeatures",
    )
    between = "append behind the quorum's own records"
    met = (*faults, *changes, *snapshots, between, *(f"{request} committed" for request in requests))
    assert not [what for what in met if not counts[what]]


def test_one_seed_is_one_run_in_any_process() -> None:
    program = (
        "from barnabas.sim.controller_world import simulate; w = simulate(27); print(w.trace, w.steps, w.checks.digest)"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for hash_seed in ("1", "2")
    }
    world = simulate(27)
    assert outputs == {f"{world.trace} {world.steps} {world.checks.digest}\n"}


def active(world: ControllerWorld) -> Machine:
    return next(machine for machine in world.machines.values() if life(machine).controller.active_epoch is not None)


def life(machine: Machine) -> Life:
    assert machine.life is not None
    return machine.life


@pytest.mark.parametrize("voters", [1, 3, 5])
@pytest.mark.parametrize("is_dynamic", [False, True], ids=["static", "dynamic"])
def test_calm_controllers_have_one_active_and_all_know_the_same(voters: int, is_dynamic: bool) -> None:
    world = ControllerWorld(1, Plan(voters=voters, observers=1, is_dynamic=is_dynamic))
    world.run(8_000)
    assert len(world.checks.active) == 1
    assert world.counts["CreateTopics committed"]
    assert {machine.node_id for machine in world.machines.values()} == set(world.checks.image.cluster.controllers)


def test_a_controller_that_lost_its_disk_has_its_former_self_removed_and_joins_again() -> None:
    world = ControllerWorld(6, Plan(auto_join=True, snapshot_bytes=4_000))
    world.run(4_000)
    loser = next(machine for machine in world.machines.values() if machine is not active(world))
    former = loser.key
    loser.lose_disk()
    assert world.run(30_000, lambda: all(loser.key in voters.keys for voters in world.live_voter_sets()))
    assert all(former not in voters.keys and len(voters) == 3 for voters in world.live_voter_sets())
    assert world.run(10_000, lambda: life(loser).replay.next_offset == world.checks.committed_end)


def test_clocks_that_are_set_disturb_nobody() -> None:
    world = ControllerWorld(7, Plan(clock_drift=0.05))
    world.run(4_000)
    for machine, skew_ms in zip(world.machines.values(), (-HOUR_MS, HOUR_MS, 0), strict=True):
        machine.clock.skew_ms = skew_ms
    committed_before = world.checks.committed_end
    world.run(6_000)
    assert len(world.checks.active) == 1
    assert world.checks.committed_end > committed_before


def test_a_controller_with_a_full_disk_stops_and_another_becomes_active() -> None:
    world = ControllerWorld(3, Plan())
    world.run(5_000)
    first = active(world)
    first.disk.free_bytes = 0
    assert world.run(2_000, lambda: first.life is None)
    assert world.run(20_000, lambda: len(world.checks.active) > 1)


def test_a_controller_whose_flush_fails_answers_nothing_of_it() -> None:
    world = ControllerWorld(4, Plan(voters=1, brokers=1, ask_every_ms=0))
    world.brokers[0].is_well = True
    world.run(5_000)
    alone = active(world)
    answers: list[object] = []
    alone.disk.fail("flush", ".log", errno.EIO)
    world.send(TOOL, alone.node_id, create_topic("unkept", 1, 1), answers.append)
    assert world.run(2_000, lambda: alone.life is None)
    world.run(5_000)
    assert not answers


def test_a_controller_that_was_away_for_long_comes_back_by_a_snapshot() -> None:
    world = ControllerWorld(5, Plan(snapshot_bytes=1_500, segment_bytes=2_000))
    world.run(3_000)
    away = next(machine for machine in world.machines.values() if machine is not active(world))
    away.stop(is_power_cut=True)
    world.run(20_000)
    away.start()
    assert world.run(10_000, lambda: world.counts["snapshot installed"] > 0)
    assert world.run(10_000, lambda: life(away).replay.next_offset == world.checks.committed_end)
