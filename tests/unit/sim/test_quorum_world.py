"""What faults a seeded quorum may meet, and what is left of it when they end."""

from __future__ import annotations

from barnabas.raft.majority import majority_size
from barnabas.sim.raft_world import Plan, RaftWorld


def intact_members(world: RaftWorld, ids: list[int]) -> list[list[int]]:
    """Of each live voter set those of these nodes that still have the disk they became voters with."""
    return [
        [voter.id for voter in voters if voter.id in ids and voters.has_voter(world.processes[voter.id].key)]
        for voters in world.live_voter_sets()
    ]


def test_lost_disks_leave_a_majority_of_every_live_voter_set() -> None:
    world = RaftWorld(2, Plan(voters=5, auto_join=True, disk_loss_every_ms=100, voter_change_every_ms=300))
    for _ in range(40):
        world.run(300)
        sizes = [majority_size(len(voters)) for voters in world.live_voter_sets()]
        intact = intact_members(world, list(world.processes))
        assert all(len(ids) >= needed for ids, needed in zip(intact, sizes, strict=True))
    assert world.counts["disk loss"] > 2


def test_what_is_healed_is_up_and_a_majority_of_every_live_voter_set_and_alone() -> None:
    world = RaftWorld(3, Plan(voters=3, spares=2, crash_per_step=0.03, voter_change_every_ms=300))
    world.attack()
    sizes = [majority_size(len(voters)) for voters in world.live_voter_sets()]
    core = world.heal()
    ids = [process.node_id for process in core]
    assert all(len(held) >= needed for held, needed in zip(intact_members(world, ids), sizes, strict=True))
    assert all(process.node is not None for process in core)
    inside_and_out = {(one, other) for one in ids for other in world.processes if other not in ids}
    assert world.network.cut == inside_and_out | {(other, one) for one, other in inside_and_out}


def test_no_voter_is_added_or_removed_once_a_majority_is_healed() -> None:
    world = RaftWorld(4, Plan(voters=3, spares=2, voter_change_every_ms=100, duration_ms=6_000))
    world.attack()
    assert world.counts["voters changed"]
    world.heal()
    changes = world.counts["voters changed"]
    newest = world.live_voter_sets()[-1]
    world.run(10_000)
    assert world.counts["voters changed"] <= changes + 1, "one may have been in the log"
    assert world.live_voter_sets() == [newest]
