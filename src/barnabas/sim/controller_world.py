"""A seeded cluster of whole controllers under attack, with brokers and a tool that ask things of them.

The controllers are the parts of the real process with their real driver. Safety is checked at each step. At the end a
random majority is healed and must create a topic; what lies outside it stays as broken as it is.
"""

from __future__ import annotations

import errno
from dataclasses import dataclass

from barnabas.metadata.bootstrap import BootstrapMetadata
from barnabas.metadata.features import ELIGIBLE_LEADER_REPLICAS_VERSION
from barnabas.metadata.retention import RetentionSettings
from barnabas.metadata.versions import LATEST_METADATA_VERSION, MetadataVersion
from barnabas.protocol.schema import Message
from barnabas.raft.settings import QuorumSettings
from barnabas.raft.voters import VoterSet
from barnabas.sim.controller_checks import Checks
from barnabas.sim.controller_clients import TOOL, Broker, Tool, create_topic
from barnabas.sim.controller_node import LISTENER, Machine, Reply, endpoint_of, log_config
from barnabas.sim.network import Conditions
from barnabas.sim.quorum_world import QuorumPlan, QuorumWorld
from barnabas.sim.world import World

HEARTBEAT_MS = 500
ASKING_MS = 1_000
HOUR_MS = 3_600_000
FIRST_BROKER = 1_001
NEW_TOPIC = "made-after-healing"


@dataclass(slots=True)
class Plan(QuorumPlan):
    """The shape of a world and the faults in it; drawn from the seed unless given."""

    brokers: int = 3
    metadata_version: MetadataVersion = LATEST_METADATA_VERSION
    has_elr: bool = True
    duration_ms: int = 15_000
    snapshot_bytes: int = 1 << 20
    segment_bytes: int = 1 << 20
    cut_per_operation: float = 0.0
    # By how much some clocks are faster than others, and some slower.
    clock_drift: float = 0.0
    # How often, on average, each of these happens; 0 for never.
    ask_every_ms: int = 100
    disk_fault_every_ms: int = 0
    clock_jump_every_ms: int = 0

    @classmethod
    def draw(cls, seed: int) -> Plan:
        rng = World(seed).rng
        version = rng.choice([MetadataVersion.V3_9_IV0, MetadataVersion.V4_0_IV1, LATEST_METADATA_VERSION])
        plan = cls(
            voters=rng.choice([1, 3, 3, 3, 5]),
            observers=rng.choice([0, 0, 1, 2]),
            brokers=rng.choice([1, 3, 4]),
            is_dynamic=rng.random() < 0.7,
            metadata_version=version,
            has_elr=version.has_eligible_leader_replicas and rng.random() < 0.6,
            duration_ms=rng.choice([8_000, 15_000]),
            flush_max_ms=rng.choice([1, 10, 50, 400]),
            snapshot_bytes=rng.choice([1_500, 4_000, 1 << 20]),
            segment_bytes=rng.choice([2_000, 1 << 20]),
            ask_every_ms=rng.choice([40, 100]),
            encodes=rng.random() < 0.2,
        )
        if rng.random() < 0.1:
            return plan
        plan.conditions = Conditions(
            loss=rng.choice([0.0, 0.01, 0.05]),
            duplication=rng.choice([0.0, 0.05, 0.3]),
            delay_max_ms=rng.choice([5, 30, 150]),
            straggling=rng.choice([0.0, 0.01, 0.05]),
            straggle_max_ms=rng.choice([2_000, 10_000]),
        )
        plan.cut_per_operation = rng.choice([0.0, 0.0002, 0.001])
        plan.partition_every_ms = rng.choice([0, 3_000, 8_000])
        plan.pause_every_ms = rng.choice([0, 4_000])
        plan.resign_every_ms = rng.choice([0, 3_000, 8_000])
        plan.disk_fault_every_ms = rng.choice([0, 4_000, 10_000])
        plan.voter_change_every_ms = rng.choice([0, 300, 1_500])
        plan.clock_drift = rng.choice([0.0, 0.01, 0.1])
        plan.clock_jump_every_ms = rng.choice([0, 1_000, 5_000])
        if plan.is_dynamic:
            plan.auto_join = rng.random() < 0.5
            plan.disk_loss_every_ms = rng.choice([0, 2_000, 5_000])
        return plan


class ControllerWorld(QuorumWorld[Machine]):
    PARTITIONS_MS = (300, 1_500, 5_000)
    PAUSES_MS = (50, 1_000, 4_000)

    def __init__(self, seed: int, plan: Plan | None = None) -> None:
        self.plan = plan = plan or Plan.draw(seed)
        super().__init__(seed, plan)
        self.session_timeout_ms = 4 * HEARTBEAT_MS
        self.checks = Checks(self)
        self.log_config = log_config(plan.segment_bytes)
        self.retention = RetentionSettings(
            max_retention_bytes=3 * plan.snapshot_bytes,
            max_retention_ms=-1,
            max_record_bytes_between_snapshots=plan.snapshot_bytes,
            max_snapshot_interval_ms=0,
        )
        self.quorum_settings = QuorumSettings.defaults(
            # Shorter than Kafka's: a world that waits for an election proves little meanwhile.
            election_timeout_ms="400",
            election_backoff_max_ms="300",
            fetch_timeout_ms="800",
            request_timeout_ms="600",
            fetch_snapshot_max_bytes="700",
            fetch_max_bytes="2000",
            append_linger_ms=str(self.rng.choice([0, 25])),
            auto_join_enable="true" if plan.auto_join else "false",
        )
        levels = {ELIGIBLE_LEADER_REPLICAS_VERSION: int(plan.has_elr)}
        self.bootstrap = BootstrapMetadata.of_features(plan.metadata_version, levels)
        voter_ids = list(range(1, plan.voters + 1))
        self.node_ids = [*voter_ids, *range(101, 101 + plan.observers)]
        self.members = self.machines = {node_id: Machine(self, node_id) for node_id in self.node_ids}
        self.static_voters: VoterSet | None = None
        initial: VoterSet | None = None
        if plan.is_dynamic:
            initial = VoterSet.of(self.machines[node_id].voter for node_id in voter_ids)
        else:
            self.static_voters = VoterSet.static(LISTENER, {each: endpoint_of(each) for each in voter_ids})
        for node_id, machine in self.machines.items():
            machine.format(initial if node_id in voter_ids else None)
            machine.start()
        broker_ids = list(range(FIRST_BROKER, FIRST_BROKER + plan.brokers))
        self.brokers = [Broker(self, broker_id) for broker_id in broker_ids]
        self.tool = Tool(self, broker_ids)
        self._schedule()

    def _schedule(self) -> None:
        plan = self.plan
        for broker in self.brokers:
            self.repeat(HEARTBEAT_MS // 2, broker.tick, ends=False)
        self.repeat(plan.ask_every_ms, self.tool.ask_for_something)
        self.repeat(plan.disk_fault_every_ms, self._damage_disk)
        self.repeat(plan.clock_jump_every_ms, self._set_clock)
        self.schedule_faults()

    @property
    def committed_end(self) -> int:
        return self.checks.committed_end

    @property
    def committed_voters(self) -> VoterSet | None:
        voters = self.checks.voters
        return voters[max(voters)] if voters else None

    def draw_clock_rate(self) -> float:
        return 1 + self.plan.clock_drift * self.rng.choice([-1, 0, 1])

    # Messages

    def send(self, source: int, target: int, request: Message, reply: Reply) -> None:
        """Carry a request to a controller, and its response back."""
        carried = self.carry(request)

        def answer(response: Message) -> None:
            returned = self.carry(response)
            self.network.send(target, source, lambda: reply(returned))

        self.network.send(source, target, lambda: self.machines[target].receive(carried, answer))

    def ask(self, source: int, request: Message, reply: Reply) -> None:
        """A client's request, to whoever it takes for the active controller."""
        active = [node_id for node_id, machine in self.machines.items() if machine.life and machine.life.is_leading]
        target = self.rng.choice(active or list(self.machines))
        self.send(source, target, request, reply)

    # Faults

    @property
    def cut_per_operation(self) -> float:
        return 0.0 if self.is_healed else self.plan.cut_per_operation

    def _damage_disk(self) -> None:
        """A disk fails once, or is full soon."""
        disk = self.some().disk
        if self.rng.random() < 0.5:
            disk.free_bytes = self.rng.randrange(2_000)
        else:
            operation, path_end = self.rng.choice([("write", ".log"), ("flush", ".log"), ("rename", ""), ("open", "")])
            disk.fail(operation, path_end, errno.EIO)
        self.counts["disk damaged"] += 1

    def _set_clock(self) -> None:
        """Somebody sets a clock, by a little or by far too much."""
        self.some().clock.skew_ms = self.rng.choice([-HOUR_MS, -3_000, 0, 50, 3_000, HOUR_MS])
        self.counts["clock set"] += 1

    # The end

    def heal(self) -> list[Machine]:
        """Mend a random majority of every live voter set and the links within it, and all brokers."""
        core = super().heal()
        for broker in self.brokers:
            broker.is_well = True
            broker.silent_until_ms = 0
        self.repeat(ASKING_MS, lambda: self.ask(TOOL, create_topic(NEW_TOPIC, 1, 1), lambda _: None), ends=False)
        return core

    def demand_progress(self, core: list[Machine]) -> None:
        """The healed majority must make a new topic, and all of it must know it."""

        def is_done() -> bool:
            return all(
                machine.life is not None and machine.life.replay.image.topics.by_name(NEW_TOPIC) is not None
                for machine in core
            )

        self.require(is_done, core)


def simulate(seed: int, plan: Plan | None = None) -> ControllerWorld:
    """One whole run: attack, heal, demand progress. An AssertionError tells what went wrong."""
    world = ControllerWorld(seed, plan)
    world.attack()
    world.demand_progress(world.heal())
    return world
