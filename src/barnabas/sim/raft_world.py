"""A seeded quorum under attack: voters, observers and spare controllers, a client that appends, and every fault.

Safety is checked at each step. At the end a random majority is healed and must elect a leader, commit, and agree; what
lies outside it stays as broken as it is.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any
from zlib import crc32

from barnabas.protocol.codec import decode, encode
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.add_raft_voter import AddRaftVoterRequest, AddRaftVoterResponse, Listener
from barnabas.protocol.messages.remove_raft_voter import RemoveRaftVoterRequest, RemoveRaftVoterResponse
from barnabas.protocol.messages.update_raft_voter import UpdateRaftVoterRequest
from barnabas.protocol.schema import Message
from barnabas.protocol.uuid import Uuid
from barnabas.raft import control, effects, events
from barnabas.raft.effects import Effect
from barnabas.raft.events import Event
from barnabas.raft.log_view import BOOTSTRAP_SNAPSHOT_ID
from barnabas.raft.majority import majority_size
from barnabas.raft.node import RaftNode
from barnabas.raft.replica import Peer
from barnabas.raft.settings import QuorumSettings
from barnabas.raft.voters import Voter, VoterSet
from barnabas.records.build import build_batch
from barnabas.records.record import Record
from barnabas.sim.network import Conditions, Network
from barnabas.sim.raft_checks import Checks
from barnabas.sim.raft_process import LISTENER, Asked, Process, endpoint_of
from barnabas.sim.raft_storage import Storage
from barnabas.sim.world import World

TOOL = -100
HEALING_MS = 120_000
# Longer than any message takes to arrive and a leader to act on it.
JOINING_MS = 20_000


@dataclass(slots=True)
class Plan:
    """The shape of a world and the faults in it; drawn from the seed unless given."""

    voters: int = 3
    spares: int = 0
    observers: int = 0
    is_dynamic: bool = True
    auto_join: bool = False
    duration_ms: int = 20_000
    conditions: Conditions = field(default_factory=Conditions)
    flush_max_ms: int = 5
    crash_per_step: float = 0.0
    # How often, on average, each of these happens; 0 for never.
    append_every_ms: int = 150
    partition_every_ms: int = 0
    pause_every_ms: int = 0
    snapshot_every_ms: int = 0
    voter_change_every_ms: int = 0
    disk_loss_every_ms: int = 0
    resign_every_ms: int = 0
    upgrade_after_ms: int = 0
    encodes: bool = False

    @classmethod
    def draw(cls, seed: int) -> Plan:
        world = World(seed)
        rng = world.rng
        voters = rng.choice([1, 3, 3, 3, 5])
        is_dynamic = rng.random() < 0.7
        is_calm = rng.random() < 0.1
        plan = cls(
            voters=voters,
            spares=rng.choice([0, 1, 2, 3]) if is_dynamic else 0,
            observers=rng.choice([0, 0, 1, 2]),
            is_dynamic=is_dynamic,
            auto_join=is_dynamic and rng.random() < 0.5,
            duration_ms=rng.choice([10_000, 20_000, 30_000]),
            flush_max_ms=rng.choice([1, 10, 200, 3_000]),
            append_every_ms=rng.choice([60, 200, 600]),
            snapshot_every_ms=rng.choice([0, 2_000, 5_000]),
            encodes=rng.random() < 0.15,
        )
        if is_calm:
            return plan
        plan.conditions = Conditions(
            loss=rng.choice([0.0, 0.02, 0.1, 0.3]),
            duplication=rng.choice([0.0, 0.05, 0.3]),
            delay_max_ms=rng.choice([5, 50, 400, 1_500]),
            straggling=rng.choice([0.0, 0.01, 0.1, 0.3]),
            straggle_max_ms=rng.choice([2_000, 10_000]),
        )
        plan.crash_per_step = rng.choice([0.0, 0.002, 0.01, 0.04])
        plan.partition_every_ms = rng.choice([0, 2_000, 6_000])
        plan.pause_every_ms = rng.choice([0, 3_000])
        plan.resign_every_ms = rng.choice([0, 0, 700, 3_000])
        if is_dynamic:
            plan.voter_change_every_ms = rng.choice([0, 300, 1_500])
            plan.disk_loss_every_ms = rng.choice([0, 2_500, 6_000])
        elif rng.random() < 0.5:
            plan.upgrade_after_ms = rng.choice([3_000, 8_000])
        return plan


class RaftWorld(World):
    def __init__(self, seed: int, plan: Plan | None = None, node_type: type[RaftNode] = RaftNode) -> None:
        super().__init__(seed)
        self.plan = plan or Plan.draw(seed)
        self.cluster_id = f"simulated-{seed}"
        self.network = Network(self, self.plan.conditions)
        self.checks = Checks(self)
        self.steps = 0
        self.trace = 0
        self.counts: Counter[str] = Counter()
        self._node_type = node_type
        self._is_healed = False
        self._appends = 0
        self._disks = 0
        plan = self.plan
        voter_ids = list(range(1, plan.voters + 1))
        spare_ids = list(range(11, 11 + plan.spares))
        observer_ids = list(range(101, 101 + plan.observers))
        self.bootstrap_ids = voter_ids + spare_ids
        self.processes: dict[int, Process] = {}
        settings = QuorumSettings.defaults(
            fetch_snapshot_max_bytes="100",
            fetch_max_bytes="600",
            append_linger_ms=str(self.rng.choice([0, 25])),
            auto_join_enable="true" if plan.auto_join else "false",
        )
        addresses = {node_id: endpoint_of(node_id) for node_id in voter_ids}
        static_voters = None if plan.is_dynamic else VoterSet.static(LISTENER, addresses)
        for node_id in voter_ids + spare_ids + observer_ids:
            self.processes[node_id] = Process(
                self,
                node_id,
                self.new_storage(),
                settings,
                static_voters,
                can_become_voter=node_id not in observer_ids,
            )
        if plan.is_dynamic:
            self._format(VoterSet.of(self.processes[node_id].voter for node_id in voter_ids))
        for process in self.processes.values():
            process.start()
        self._schedule_faults()

    def make_node(self, **arguments: Any) -> RaftNode:
        return self._node_type(**arguments)

    def new_storage(self) -> Storage:
        self._disks += 1
        return Storage(Uuid(self._disks.to_bytes(16, "big")))

    def _format(self, voters: VoterSet) -> None:
        """What `kafka-storage format --initial-controllers` leaves on each of the first voters."""
        records = [control.snapshot_header(0), control.kraft_version(1), control.voters(voters)]
        content = control.build(records, base_offset=0, epoch=0, timestamp_ms=0)
        for voter in voters:
            self.processes[voter.id].storage.log.snapshots[BOOTSTRAP_SNAPSHOT_ID] = content

    # Messages

    def deliver_request(self, source: Process, peer: Peer, asked: Asked) -> None:
        target = self.processes[int(peer.endpoint.host.removeprefix("node"))]
        carried = asked._replace(request=self._carry(asked.request))
        self.network.send(source.node_id, target.node_id, lambda: target.receive(carried))
        if self.rng.random() < 0.2:
            # Sometimes the sender learns that nobody is there; otherwise it runs into its own timeout.
            self.after(self.rng.randrange(200) + 1, lambda: self._refuse(source, target, asked))

    def _refuse(self, source: Process, target: Process, asked: Asked) -> None:
        if target.node is None and source.life == asked.life:
            source.step(events.RequestFailed(asked.correlation_id))

    def deliver_response(self, source: Process, asked: Asked, response: Message) -> None:
        if asked.source == TOOL:
            assert isinstance(response, AddRaftVoterResponse | RemoveRaftVoterResponse)
            name = type(response).__name__.removesuffix("Response")
            self.counts[f"{name} {ErrorCode(response.error_code).name}"] += 1
            return
        target, carried = self.processes[asked.source], self._carry(response)

        def deliver() -> None:
            if target.life == asked.life:
                target.step(events.ResponseReceived(asked.correlation_id, carried))

        self.network.send(source.node_id, target.node_id, deliver)

    def _carry(self, message: Message) -> Message:
        """The message as it arrives: in some worlds as bytes that are written and read again."""
        if not self.plan.encodes:
            return message
        newest = type(message).valid_versions[-1]
        return decode(type(message), newest, encode(message, newest))

    def flush_delay_ms(self) -> int:
        return 1 if self._is_healed else self.rng.randrange(self.plan.flush_max_ms) + 1

    def stepped(self, process: Process, event: Event, result: list[Effect]) -> None:
        self.steps += 1
        shown = (self.now_ms, process.node_id, type(event).__name__, [type(effect).__name__ for effect in result])
        self.trace = crc32(repr(shown).encode(), self.trace)
        self.checks.stepped(process)
        for effect in result:
            if isinstance(effect, effects.BecameLeader | effects.InstallSnapshot | effects.Truncate):
                self.counts[type(effect).__name__] += 1
            elif isinstance(effect, effects.Send) and isinstance(effect.request, UpdateRaftVoterRequest):
                self.counts["UpdateRaftVoter"] += 1
            elif isinstance(effect, effects.Send) and isinstance(effect.request, AddRaftVoterRequest):
                process.joining_until_ms = self.now_ms + JOINING_MS

    # Faults

    def crash_after(self, effect_count: int) -> int | None:
        if self._is_healed or self.rng.random() >= self.plan.crash_per_step:
            return None
        return self.rng.randrange(effect_count + 1)

    def crash(self, process: Process) -> None:
        self.counts["crash"] += 1
        process.stop(is_power_cut=self.rng.random() < 0.7)
        if self.rng.random() < 0.1:
            process.port += 1
        # Short and long outages: some fall within an election, some outlast several.
        life = process.life
        self.after(self.rng.choice([10, 500, 5_000]) + self.rng.randrange(500), lambda: self._restart(process, life))

    def _restart(self, process: Process, life: int) -> None:
        if process.node is None and process.life == life:
            process.start()

    def _schedule_faults(self) -> None:
        plan = self.plan
        self._repeat(plan.append_every_ms, self._append, ends=False)
        self._repeat(plan.partition_every_ms, self._partition)
        self._repeat(plan.pause_every_ms, self._pause)
        self._repeat(plan.snapshot_every_ms, self._snapshot, ends=False)
        self._repeat(plan.voter_change_every_ms, self._change_voters)
        self._repeat(plan.disk_loss_every_ms, self._lose_disk)
        self._repeat(plan.resign_every_ms, self._resign)
        if plan.upgrade_after_ms:
            self._repeat(plan.upgrade_after_ms, self._upgrade, ends=False)

    def _repeat(self, every_ms: int, happen: Any, *, ends: bool = True) -> None:
        def run() -> None:
            if ends and self._is_healed:
                return
            happen()
            self.after(self.rng.randrange(2 * every_ms) + 1, run)

        if every_ms:
            self.after(self.rng.randrange(2 * every_ms) + 1, run)

    def _some(self) -> Process:
        return self.rng.choice(list(self.processes.values()))

    def leader_of_newest_epoch(self) -> Process | None:
        leading = [process for process in self.processes.values() if process.leader is not None]
        return max(leading, key=lambda process: process.leader.epoch if process.leader else -1, default=None)

    def _append(self) -> None:
        """A client writes to whoever believes to lead."""
        leading = [process for process in self.processes.values() if process.leader is not None]
        if not leading:
            return
        process = self.rng.choice(leading)
        assert process.node is not None
        self._appends += 1
        name = f"append-{self._appends}"
        count = self.rng.randrange(3) + 1
        records = [Record(delta, self.now_ms, None, name.encode()) for delta in range(count)]
        process.step(events.AppendRequested(name, process.node.epoch, build_batch(records)))

    def _partition(self) -> None:
        ids = list(self.processes)
        group = set(self.rng.sample(ids, self.rng.randrange(len(ids)) + 1))
        way = self.rng.choice(["both", "both", "inbound", "outbound"])
        self.network.isolate(group, set(ids), inbound=way != "outbound", outbound=way != "inbound")
        self.counts["partition"] += 1
        self.after(self.rng.choice([300, 3_000, 8_000]), self.network.heal)

    def _pause(self) -> None:
        process = self._some()
        process.paused_until_ms = self.now_ms + self.rng.choice([50, 1_500, 6_000])
        self.counts["pause"] += 1

    def _snapshot(self) -> None:
        process = self._some()
        if self.now_ms >= process.paused_until_ms:
            process.take_snapshot(deletes_log=self.rng.random() < 0.7)

    def _resign(self) -> None:
        process = self.leader_of_newest_epoch()
        if process is not None and process.node is not None:
            process.step(events.ResignationRequested(process.node.epoch))

    def _upgrade(self) -> None:
        process = self.leader_of_newest_epoch()
        if process is not None and process.node is not None:
            process.step(events.KRaftVersionUpgradeRequested("upgrade", process.node.epoch, 1))

    def live_voter_sets(self) -> list[VoterSet]:
        """The newest committed set, and those that some replica has after it."""
        found: dict[int, VoterSet] = {}
        committed_end = self.checks.committed_end
        for process in self.processes.values():
            history = control.load_history(process.storage.log, process.static_voters)
            if len(history.voters):
                found[-2 if history.voters_offset is None else history.voters_offset] = history.voters
            committed = history.voters_at(committed_end - 1)
            if committed is not None and process.storage.log.end.offset >= committed_end:
                offset = min(history.voters_offset or 0, committed_end - 1)
                found.setdefault(offset, committed)
        newest_committed = max((offset for offset in found if offset < committed_end), default=-2)
        return [voters for offset, voters in sorted(found.items()) if offset >= newest_committed]

    def _has_disk(self, voter: Voter) -> bool:
        return voter.key.admits(self.processes[voter.id].key)

    def _change_voters(self) -> None:
        """A tool adds a spare, or removes a voter: one whose disk is gone, or any while all disks are there."""
        leader = self.leader_of_newest_epoch()
        if leader is None or leader.node is None or self.now_ms < leader.paused_until_ms:
            return
        voters = leader.node.quorum.voters
        if any(not sets.overlaps(voters) for sets in self.live_voter_sets()):
            return
        gone = [voter for voter in voters if not self._has_disk(voter)]
        absent = [
            process
            for process in self.processes.values()
            if process.can_become_voter and process.node_id not in voters.ids
        ]
        if absent and not gone and (self.rng.random() < 0.6 or len(voters) == 1):
            self.add_voter(leader, self.rng.choice(absent))
        else:
            self.remove_voter(leader, self.rng.choice(gone or list(voters)))

    def add_voter(self, leader: Process, joiner: Process) -> None:
        joiner.joining_until_ms = self.now_ms + JOINING_MS
        host, port = endpoint_of(joiner.node_id, joiner.port)
        request = AddRaftVoterRequest(
            cluster_id=self.cluster_id,
            timeout_ms=1_000,
            voter_id=joiner.node_id,
            voter_directory_id=joiner.key.directory_id,
            listeners=[Listener(name=LISTENER, host=host, port=port)],
            ack_when_committed=self.rng.random() < 0.5,
        )
        leader.receive(Asked(TOOL, 0, 0, request))

    def remove_voter(self, leader: Process, leaver: Voter) -> None:
        request = RemoveRaftVoterRequest(
            cluster_id=self.cluster_id, voter_id=leaver.id, voter_directory_id=leaver.key.directory_id
        )
        leader.receive(Asked(TOOL, 0, 0, request))

    def _lose_disk(self) -> None:
        """A node comes back with an empty disk, where a majority of every live set is spared.

        One that asked to join may be added by a request that is still under way, and then would be missed.
        """
        process = self._some()
        if self.now_ms < process.joining_until_ms:
            return
        for voters in self.live_voter_sets():
            intact = [voter for voter in voters if self._has_disk(voter) and voter.id != process.node_id]
            if len(intact) < majority_size(len(voters)):
                return
        self.counts["disk loss"] += 1
        process.stop(is_power_cut=True)
        process.storage = self.new_storage()
        life = process.life
        self.after(self.rng.randrange(3_000), lambda: self._restart(process, life))

    # The end

    def attack(self) -> None:
        self.run(self.plan.duration_ms)

    def heal(self) -> list[Process]:
        """Mend a random majority of every live voter set, and the links within it."""
        self._is_healed = True
        everybody = list(self.processes.values())
        self.rng.shuffle(everybody)
        core: list[Process] = []
        for process in everybody:
            if not all(self._has_majority(core, voters) for voters in self.live_voter_sets()):
                core.append(process)
        outside = {process.node_id for process in everybody} - {process.node_id for process in core}
        self.network.conditions = Conditions()
        self.network.heal()
        self.network.isolate({process.node_id for process in core}, set(self.processes))
        for node_id in sorted(outside):
            if self.rng.random() < 0.5:
                self.processes[node_id].stop(is_power_cut=True)
        for process in core:
            process.paused_until_ms = 0
            if process.node is None:
                process.start()
        return core

    def _has_majority(self, core: list[Process], voters: VoterSet) -> bool:
        members = [process for process in core if voters.has_voter(process.key)]
        return len(members) >= majority_size(len(voters))

    def demand_progress(self, core: list[Process]) -> None:
        """The healed majority must commit something new, and all of it must hold what was ever committed."""
        target = self.checks.committed_end + 1

        def is_done() -> bool:
            return all((process.node.high_watermark or 0) >= target for process in core if process.node is not None)

        assert self.run(HEALING_MS, is_done), (
            f"no progress within {HEALING_MS} ms of healing {sorted(process.node_id for process in core)}"
        )


def simulate(seed: int, node_type: type[RaftNode] = RaftNode, plan: Plan | None = None) -> RaftWorld:
    """One whole run: attack, heal, demand progress. An AssertionError tells what went wrong."""
    world = RaftWorld(seed, plan, node_type)
    world.attack()
    world.demand_progress(world.heal())
    return world
