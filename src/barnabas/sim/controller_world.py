"""A seeded cluster of whole controllers under attack, with brokers and a tool that ask things of them.

The controllers are the parts of the real process with their real driver. Safety is checked at each step. At the end a
random majority is healed and must create a topic; what lies outside it stays as broken as it is.
"""

from __future__ import annotations

import errno
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from zlib import crc32

from barnabas.controller.effects import Effect, Event
from barnabas.metadata.bootstrap import BootstrapMetadata
from barnabas.metadata.features import ELIGIBLE_LEADER_REPLICAS_VERSION
from barnabas.metadata.retention import RetentionSettings
from barnabas.metadata.versions import LATEST_METADATA_VERSION, MetadataVersion
from barnabas.protocol.codec import decode, encode
from barnabas.protocol.schema import Message
from barnabas.raft.majority import majority_size
from barnabas.raft.settings import QuorumSettings
from barnabas.raft.voters import VoterSet
from barnabas.sim.controller_checks import Checks
from barnabas.sim.controller_clients import TOOL, Broker, Tool, create_topic
from barnabas.sim.controller_node import LISTENER, Machine, Reply, endpoint_of, log_config
from barnabas.sim.network import Conditions, Network
from barnabas.sim.world import World

HEALING_MS = 120_000
HEARTBEAT_MS = 500
ASKING_MS = 1_000
FIRST_BROKER = 1_001
NEW_TOPIC = "made-after-healing"


@dataclass(slots=True)
class Plan:
    """The shape of a world and the faults in it; drawn from the seed unless given."""

    voters: int = 3
    observers: int = 0
    brokers: int = 3
    is_dynamic: bool = True
    metadata_version: MetadataVersion = LATEST_METADATA_VERSION
    has_elr: bool = True
    duration_ms: int = 15_000
    conditions: Conditions = field(default_factory=Conditions)
    flush_max_ms: int = 5
    snapshot_bytes: int = 1 << 20
    segment_bytes: int = 1 << 20
    cut_per_operation: float = 0.0
    # How often, on average, each of these happens; 0 for never.
    ask_every_ms: int = 100
    partition_every_ms: int = 0
    pause_every_ms: int = 0
    resign_every_ms: int = 0
    disk_fault_every_ms: int = 0
    voter_change_every_ms: int = 0
    encodes: bool = False

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
        return plan


class ControllerWorld(World):
    def __init__(self, seed: int, plan: Plan | None = None) -> None:
        super().__init__(seed)
        self.plan = plan = plan or Plan.draw(seed)
        self.cluster_id = f"simulated-{seed}"
        self.session_timeout_ms = 4 * HEARTBEAT_MS
        self.network = Network(self, plan.conditions)
        self.checks = Checks(self)
        self.counts: Counter[str] = Counter()
        self.steps = 0
        self.trace = 0
        self._is_healed = False
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
        )
        levels = {ELIGIBLE_LEADER_REPLICAS_VERSION: int(plan.has_elr)}
        self.bootstrap = BootstrapMetadata.of_features(plan.metadata_version, levels)
        voter_ids = list(range(1, plan.voters + 1))
        self.node_ids = [*voter_ids, *range(101, 101 + plan.observers)]
        self.machines = {node_id: Machine(self, node_id) for node_id in self.node_ids}
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
            self._repeat(HEARTBEAT_MS // 2, broker.tick, ends=False)
        self._repeat(plan.ask_every_ms, self.tool.ask_for_something)
        self._repeat(plan.partition_every_ms, self._partition)
        self._repeat(plan.pause_every_ms, self._pause)
        self._repeat(plan.resign_every_ms, self._resign)
        self._repeat(plan.disk_fault_every_ms, self._damage_disk)
        self._repeat(plan.voter_change_every_ms, self._change_voters)

    def _repeat(self, every_ms: int, happen: Callable[[], object], *, ends: bool = True) -> None:
        def run() -> None:
            if ends and self._is_healed:
                return
            happen()
            self.after(self.rng.randrange(2 * every_ms) + 1, run)

        if every_ms:
            self.after(self.rng.randrange(2 * every_ms) + 1, run)

    # Messages

    def send(self, source: int, target: int, request: Message, reply: Reply) -> None:
        """Carry a request to a controller, and its response back."""
        carried = self._carry(request)

        def answer(response: Message) -> None:
            returned = self._carry(response)
            self.network.send(target, source, lambda: reply(returned))

        self.network.send(source, target, lambda: self.machines[target].receive(carried, answer))

    def ask(self, source: int, request: Message, reply: Reply) -> None:
        """A client's request, to whoever it takes for the active controller."""
        active = [node_id for node_id, machine in self.machines.items() if machine.life and machine.life.is_leading]
        target = self.rng.choice(active or list(self.machines))
        self.send(source, target, request, reply)

    def _carry(self, message: Message) -> Message:
        """The message as it arrives: in some worlds as bytes that are written and read again."""
        if not self.plan.encodes:
            return message
        newest = type(message).valid_versions[-1]
        return decode(type(message), newest, encode(message, newest))

    def flush_delay_ms(self) -> int:
        return 1 if self._is_healed else self.rng.randrange(self.plan.flush_max_ms) + 1

    def stepped(self, node_id: int, event: Event, result: list[Effect]) -> None:
        self.steps += 1
        shown = self.now_ms, node_id, type(event).__name__, [type(effect).__name__ for effect in result]
        self.trace = crc32(repr(shown).encode(), self.trace)

    # Faults

    @property
    def cut_per_operation(self) -> float:
        return 0.0 if self._is_healed else self.plan.cut_per_operation

    def _some(self) -> Machine:
        return self.rng.choice(list(self.machines.values()))

    def _partition(self) -> None:
        ids = list(self.machines)
        group = set(self.rng.sample(ids, self.rng.randrange(len(ids)) + 1))
        way = self.rng.choice(["both", "both", "inbound", "outbound"])
        self.network.isolate(group, set(ids), inbound=way != "outbound", outbound=way != "inbound")
        self.counts["partition"] += 1
        self.after(self.rng.choice([300, 1_500, 5_000]), self._heal_network)

    def _heal_network(self) -> None:
        if not self._is_healed:
            self.network.heal()

    def _pause(self) -> None:
        machine = self._some()
        if machine.life is not None:
            machine.life.loop.paused_until_ms = self.now_ms + self.rng.choice([50, 1_000, 4_000])
            self.counts["pause"] += 1

    def _resign(self) -> None:
        for machine in self.machines.values():
            life = machine.life
            if life is not None and life.is_leading:
                life.loop.enter(life.resign)

    def _damage_disk(self) -> None:
        """A disk fails once, or is full soon."""
        disk = self._some().disk
        if self.rng.random() < 0.5:
            disk.free_bytes = self.rng.randrange(2_000)
        else:
            operation, path_end = self.rng.choice([("write", ".log"), ("flush", ".log"), ("rename", ""), ("open", "")])
            disk.fail(operation, path_end, errno.EIO)
        self.counts["disk damaged"] += 1

    def _change_voters(self) -> None:
        """Have a controller join the voters or leave them, where they are not fixed by their settings.

        The request is there at once: one that arrives after the healing could take the healed majority away.
        """
        leading = [machine for machine in self.machines.values() if machine.life and machine.life.is_leading]
        if not leading:
            return
        leader = self.rng.choice(leading)
        voter_ids = leader.voters.ids
        machine = self._some()
        if machine.node_id not in voter_ids:
            leader.receive(machine.joining_request(), lambda _: None)
        elif len(voter_ids) > 1:
            leader.receive(machine.leaving_request(), lambda _: None)

    # The end

    def attack(self) -> None:
        self.run(self.plan.duration_ms)

    def _live_voter_sets(self) -> list[VoterSet]:
        """The newest committed set, and those that some replica has after it."""
        committed_end = self.checks.committed_end
        found = dict(each for machine in self.machines.values() for each in machine.voter_sets(committed_end))
        newest_committed = max((offset for offset in found if offset < committed_end), default=-2)
        return [voters for offset, voters in sorted(found.items()) if offset >= newest_committed]

    def heal(self) -> list[Machine]:
        """Mend a random majority of every live voter set and the links within it, and all brokers."""
        self._is_healed = True
        for machine in self.machines.values():
            if self.plan.voter_change_every_ms and machine.life is not None and machine.life.is_leading:
                # With it goes the change of voters that it may be about to make.
                machine.stop(is_power_cut=False)
            machine.mend()
        shuffled = self.rng.sample(list(self.machines.values()), len(self.machines))
        voter_sets = self._live_voter_sets()
        core: list[Machine] = []
        for machine in shuffled:
            if not all(_has_majority(core, voters) for voters in voter_sets):
                core.append(machine)
        self.network.conditions = Conditions()
        self.network.heal()
        self.network.isolate({machine.node_id for machine in core}, set(self.machines))
        for machine in shuffled:
            if machine not in core and self.rng.random() < 0.5:
                machine.stop(is_power_cut=True)
        for broker in self.brokers:
            broker.is_well = True
            broker.silent_until_ms = 0
        self._repeat(ASKING_MS, lambda: self.ask(TOOL, create_topic(NEW_TOPIC, 1, 1), lambda _: None), ends=False)
        return core

    def demand_progress(self, core: list[Machine]) -> None:
        """The healed majority must make a new topic, and all of it must know it."""

        def is_done() -> bool:
            return all(
                machine.life is not None and machine.life.replay.image.topics.by_name(NEW_TOPIC) is not None
                for machine in core
            )

        assert self.run(HEALING_MS, is_done), (
            f"no progress within {HEALING_MS} ms of healing {sorted(machine.node_id for machine in core)}"
        )


def _has_majority(core: list[Machine], voters: VoterSet) -> bool:
    return len([machine for machine in core if voters.has_voter(machine.key)]) >= majority_size(len(voters))


def simulate(seed: int, plan: Plan | None = None) -> ControllerWorld:
    """One whole run: attack, heal, demand progress. An AssertionError tells what went wrong."""
    world = ControllerWorld(seed, plan)
    world.attack()
    world.demand_progress(world.heal())
    return world
