"""Seeded quorums under every fault: safe at each step, and making progress once a majority is healed."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from barnabas.raft.effects import Effect, Flush
from barnabas.sim.raft_process import Process
from barnabas.sim.raft_world import Plan, RaftWorld, simulate

SEEDS = 240
CHUNK = 20


@pytest.mark.parametrize("first", range(0, SEEDS, CHUNK))
def test_a_quorum_is_safe_under_every_fault_and_goes_on_once_a_majority_is_healed(first: int) -> None:
    for seed in range(first, first + CHUNK):
        try:
            simulate(seed)
        except Exception as error:
            raise AssertionError(f"seed {seed}: {error}; replay with python -m tools.simulate --seed {seed}") from error


@pytest.mark.parametrize("seed", [13_778], ids=["a disk is lost while another log has other voters in the same place"])
def test_a_seed_that_once_failed_is_survived(seed: int) -> None:
    simulate(seed)


def test_the_seeds_meet_what_they_are_there_for() -> None:
    """A simulation in which nothing goes wrong would prove nothing."""
    worlds = [simulate(seed) for seed in range(1_000, 1_040)]
    counts = sum((world.counts for world in worlds), start=type(worlds[0].counts)())
    met = ("BecameLeader", "Truncate", "InstallSnapshot", "crash", "partition", "pause", "disk loss", "voters changed")
    assert not [what for what in met if not counts[what]]
    assert sum(len(world.checks.acknowledged) for world in worlds) > 10 * len(worlds)


def test_one_seed_is_one_run_in_any_process() -> None:
    program = "import sys; from barnabas.sim.raft_world import simulate; w = simulate(7); print(w.trace, w.steps)"
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
    world = simulate(7)
    assert outputs == {f"{world.trace} {world.steps}\n"}


@pytest.mark.parametrize("voters", [1, 3, 5])
@pytest.mark.parametrize("is_dynamic", [False, True], ids=["static", "dynamic"])
def test_a_calm_quorum_elects_one_leader_and_keeps_it(voters: int, is_dynamic: bool) -> None:
    world = RaftWorld(1, Plan(voters=voters, observers=2, is_dynamic=is_dynamic))
    world.run(20_000)
    assert len(world.checks.leaders) == 1
    assert all(process.node and process.node.high_watermark for process in world.processes.values())


def test_a_calm_quorum_answers_every_append() -> None:
    world = RaftWorld(3, Plan(voters=3))
    world.run(20_000)
    assert len(world.checks.acknowledged) > 100


def test_a_node_that_lost_its_disk_joins_again_by_itself() -> None:
    world = RaftWorld(5, Plan(voters=3, auto_join=True, snapshot_every_ms=1_000))
    world.run(10_000)
    follower = next(process for process in world.processes.values() if process.leader is None)
    follower.stop(is_power_cut=True)
    follower.storage = world.new_storage()
    follower.start()
    assert world.run(30_000, lambda: all(follower.key in voters.keys for voters in world.live_voter_sets()))


def test_a_static_quorum_becomes_a_dynamic_one() -> None:
    world = RaftWorld(6, Plan(voters=3, is_dynamic=False, upgrade_after_ms=5_000))
    assert all(not process.node.history.is_dynamic for process in world.processes.values() if process.node)
    assert world.run(
        30_000, lambda: all(process.node and process.node.history.is_dynamic for process in world.processes.values())
    )
    keys = {process.key for process in world.processes.values()}
    assert all(voters.keys == keys for voters in world.live_voter_sets())


def test_a_removed_leader_commits_its_own_removal_and_goes() -> None:
    world = RaftWorld(8, Plan(voters=2))
    world.run(5_000)
    leader = world.leader_of_newest_epoch()
    assert leader is not None
    world.remove_voter(leader, leader.voter)
    other = next(process for process in world.processes.values() if process is not leader)
    assert world.run(20_000, lambda: other.leader is not None)
    assert all(voters.keys == {other.key} for voters in world.live_voter_sets())


def without_quorum_state(process: Process) -> None:
    """Start again with the log and the snapshots, but no memory of votes."""
    process.stop(is_power_cut=False)
    process.storage.quorum_state = None
    process.start()


def test_a_leader_without_its_quorum_state_leads_again_if_nobody_else_can() -> None:
    world = RaftWorld(11, Plan(voters=3, append_every_ms=20))
    world.run(5_000)
    leader = world.leader_of_newest_epoch()
    assert leader is not None
    follower, gone = (process for process in world.processes.values() if process is not leader)
    gone.stop(is_power_cut=True)
    world.network.isolate({leader.node_id}, set(world.processes))
    world.run(300)
    assert leader.storage.log.end.offset > follower.storage.log.end.offset, "no other log will do"
    without_quorum_state(leader)
    world.network.heal()
    committed_before, epoch_before = world.checks.committed_end, follower.storage.log.end.epoch
    assert world.run(20_000, lambda: world.checks.committed_end > committed_before)
    assert leader.leader is not None
    assert leader.leader.epoch > epoch_before


def test_a_quorum_that_lost_every_quorum_state_goes_on() -> None:
    world = RaftWorld(13, Plan(voters=3))
    world.run(5_000)
    for process in world.processes.values():
        without_quorum_state(process)
    committed_before = world.checks.committed_end
    assert world.run(20_000, lambda: world.checks.committed_end > committed_before)


def test_a_leader_that_nobody_can_hear_resigns() -> None:
    world = RaftWorld(9, Plan(voters=3))
    world.run(5_000)
    leader = world.leader_of_newest_epoch()
    assert leader is not None
    world.network.isolate({leader.node_id}, set(world.processes))
    assert world.run(4_000, lambda: leader.leader is None)
    assert world.run(20_000, lambda: world.leader_of_newest_epoch() not in (None, leader))


def test_a_flush_is_asked_for_once_at_a_time() -> None:
    """The disk of the simulation refuses a second one; that it is asked at all is seen here."""
    world = RaftWorld(10, Plan(voters=1, flush_max_ms=500, append_every_ms=20))
    flushes: list[Effect] = []
    watched = world.checks.effect

    def effect(process: object, done: Effect) -> None:
        flushes.extend([done] if isinstance(done, Flush) else [])
        watched(process, done)  # type: ignore[arg-type]

    world.checks.effect = effect  # type: ignore[method-assign, assignment]
    world.run(10_000)
    assert 10 < len(flushes) < 60
