"""A seeded quorum under attack: voters, observers and spare controllers, a client that appends, and every fault.

Safety is checked at each step. At the end a random majority is healed and must elect a leader, commit, and agree; what
lies outside it stays as broken as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.add_raft_voter import AddRaftVoterRequest, AddRaftVoterResponse
from barnabas.protocol.messages.remove_raft_voter import RemoveRaftVoterResponse
from barnabas.protocol.messages.update_raft_voter import UpdateRaftVoterRequest
from barnabas.protocol.schema import Message
from barnabas.raft import control, effects, events
from barnabas.raft.effects import Effect
from barnabas.raft.events import Event
from barnabas.raft.log_view import BOOTSTRAP_SNAPSHOT_ID
from barnabas.raft.node import RaftNode
from barnabas.raft.replica import Peer
from barnabas.raft.settings import QuorumSettings
from barnabas.raft.voters import VoterSet
from barnabas.records.build import build_batch
from barnabas.records.record import Record
from barnabas.sim.network import Conditions
from barnabas.sim.quorum_world import QuorumPlan, QuorumWorld
from barnabas.sim.raft_checks import Checks
from barnabas.sim.raft_process import LISTENER, TOOL, Asked, Process, endpoint_of
from barnabas.sim.raft_storage import Storage
from barnabas.sim.world import World


@dataclass(slots=True)
class Plan(QuorumPlan):
    """The shape of a world and the faults in it; drawn from the seed unless given."""

    spares: int = 0
    crash_per_step: float = 0.0
    # How often, on average, each of these happens; 0 for never.
    append_every_ms: int = 150
    snapshot_every_ms: int = 0
    upgrade_after_ms: int = 0

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


class RaftWorld(QuorumWorld[Process]):
    PARTITIONS_MS = (300, 3_000, 8_000)
    PAUSES_MS = (50, 1_500, 6_000)

    def __init__(self, seed: int, plan: Plan | None = None, node_type: type[RaftNode] = RaftNode) -> None:
        self.plan = plan = plan or Plan.draw(seed)
        super().__init__(seed, plan)
        self.checks = Checks(self)
        self._node_type = node_type
        self._appends = 0
        voter_ids = list(range(1, plan.voters + 1))
        spare_ids = list(range(11, 11 + plan.spares))
        observer_ids = list(range(101, 101 + plan.observers))
        self.bootstrap_ids = voter_ids + spare_ids
        self.members = self.processes = dict[int, Process]()
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
        self._schedule()

    @property
    def committed_end(self) -> int:
        return self.checks.committed_end

    @property
    def committed_voters(self) -> VoterSet | None:
        quorums = self.checks.quorums
        return quorums[max(quorums)][0] if quorums else None

    def make_node(self, **arguments: Any) -> RaftNode:
        return self._node_type(**arguments)

    def new_storage(self) -> Storage:
        return Storage(self.new_directory_id())

    def _format(self, voters: VoterSet) -> None:
        """What `kafka-storage format --initial-controllers` leaves on each of the first voters."""
        records = [control.snapshot_header(0), control.kraft_version(1), control.voters(voters)]
        content = control.build(records, base_offset=0, epoch=0, timestamp_ms=0)
        for voter in voters:
            self.processes[voter.id].storage.log.snapshots[BOOTSTRAP_SNAPSHOT_ID] = content

    # Messages

    def deliver_request(self, source: Process, peer: Peer, asked: Asked) -> None:
        target = self.processes[int(peer.endpoint.host.removeprefix("node"))]
        carried = asked._replace(request=self.carry(asked.request))
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
        target, carried = self.processes[asked.source], self.carry(response)

        def deliver() -> None:
            if target.life == asked.life:
                target.step(events.ResponseReceived(asked.correlation_id, carried))

        self.network.send(source.node_id, target.node_id, deliver)

    def stepped(self, process: Process, event: Event, result: list[Effect]) -> None:
        self.note_step(process.node_id, event, result)
        self.checks.stepped(process)
        for effect in result:
            if isinstance(effect, effects.BecameLeader | effects.InstallSnapshot | effects.Truncate):
                self.counts[type(effect).__name__] += 1
            elif isinstance(effect, effects.Send) and isinstance(effect.request, UpdateRaftVoterRequest):
                self.counts["UpdateRaftVoter"] += 1
            elif isinstance(effect, effects.Send) and isinstance(effect.request, AddRaftVoterRequest):
                self.note_joining(process)

    # Faults

    def crash_after(self, effect_count: int) -> int | None:
        if self.is_healed or self.rng.random() >= self.plan.crash_per_step:
            return None
        return self.rng.randrange(effect_count + 1)

    def crash(self, process: Process) -> None:
        self.counts["crash"] += 1
        process.stop(is_power_cut=self.rng.random() < 0.7)
        if self.rng.random() < 0.1:
            process.port += 1
        # Short and long outages: some fall within an election, some outlast several.
        life = process.life
        self.after(self.rng.choice([10, 500, 5_000]) + self.rng.randrange(500), lambda: self.restart(process, life))

    def restart(self, process: Process, life: int) -> None:
        if process.node is None and process.life == life:
            process.start()

    def _schedule(self) -> None:
        plan = self.plan
        self.schedule_faults()
        self.repeat(plan.append_every_ms, self._append, ends=False)
        self.repeat(plan.snapshot_every_ms, self._snapshot, ends=False)
        self.repeat(plan.upgrade_after_ms, self._upgrade, ends=False)

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

    def _snapshot(self) -> None:
        process = self.some()
        if not process.is_paused:
            process.take_snapshot(deletes_log=self.rng.random() < 0.7)

    def _upgrade(self) -> None:
        process = self.leader_of_newest_epoch()
        if process is not None and process.node is not None:
            process.step(events.KRaftVersionUpgradeRequested("upgrade", process.node.epoch, 1))

    # The end

    def demand_progress(self, core: list[Process]) -> None:
        """The healed majority must commit something new, and all of it must hold what was ever committed."""
        target = self.checks.committed_end + 1

        def is_done() -> bool:
            return all(process.node and (process.node.high_watermark or 0) >= target for process in core)

        self.require(is_done, core)


def simulate(seed: int, node_type: type[RaftNode] = RaftNode, plan: Plan | None = None) -> RaftWorld:
    """One whole run: attack, heal, demand progress. An AssertionError tells what went wrong."""
    world = RaftWorld(seed, plan, node_type)
    world.attack()
    world.demand_progress(world.heal())
    return world
