"""A seeded world of groups under attack: members come, go, freeze and come back, messages are lost, coordinators move.

Checked at each step: no two members were given one partition in one generation, nobody who asks misses an offset that
was acknowledged before, and the log never takes an offset back. At the end everything is healed, and the members that
are left must share all partitions; of those with one identity all but one must have learned that they lost it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any, ClassVar, Final

from barnabas.broker.dispatch import Parts
from barnabas.broker.handlers.coordinators import GROUPS_TOPIC
from barnabas.config.server_config import parse_server_config
from barnabas.coordinator.record_codec import RecordCodec
from barnabas.log.read import Isolation
from barnabas.metadata.delta import MetadataDelta
from barnabas.metadata.image import Provenance
from barnabas.metadata.topics import UNASSIGNED_DIRECTORY
from barnabas.protocol.api import APIS, ApiKey
from barnabas.protocol.framing import frame_request, read_response
from barnabas.protocol.group_records import KEYS, VALUES
from barnabas.protocol.group_records.offset_commit import OffsetCommitKey, OffsetCommitValue
from barnabas.protocol.metadata_records.partition import PartitionRecord
from barnabas.protocol.metadata_records.partition_change import PartitionChangeRecord
from barnabas.protocol.metadata_records.topic import TopicRecord
from barnabas.protocol.schema import Message
from barnabas.protocol.uuid import Uuid
from barnabas.records.batch import iterate_batches
from barnabas.records.record import iterate_records
from barnabas.sim.disk import SimDisk
from barnabas.sim.group_broker import GroupBroker, format_disk
from barnabas.sim.group_member import ANSWER_MS, REBALANCE_MS, TOPIC, Member
from barnabas.sim.network import Conditions, Network
from barnabas.sim.world import World

BROKERS: Final = (1, 2)
GROUPS_ID: Final = Uuid(b"consumer-offsets")
TOPIC_ID: Final = Uuid(b"what-is-consumed")
FIRST_MEMBER: Final = 100
FRAME_SIZE_BYTES: Final = 4
HEALED_MS: Final = 120_000
SETTINGS: Final = {
    "process.roles": "broker",
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
    "group.initial.rebalance.delay.ms": "500",
    "group.consumer.min.session.timeout.ms": "1000",
    "group.consumer.session.timeout.ms": "6000",
    "group.consumer.min.heartbeat.interval.ms": "100",
    "group.consumer.heartbeat.interval.ms": "300",
}


@dataclass(slots=True)
class Plan:
    """The shape of a world and the faults in it; how often, on average, each of these happens; 0 for never."""

    members: int = 3
    statics: int = 0
    partitions: int = 4
    duration_ms: int = 40_000
    conditions: Conditions = field(default_factory=Conditions)
    move_every_ms: int = 0
    crash_every_ms: int = 0
    cut_every_ms: int = 0
    come_every_ms: int = 0
    freeze_every_ms: int = 0
    restart_every_ms: int = 0

    @classmethod
    def draw(cls, seed: int) -> Plan:
        rng = World(seed).rng
        return cls(
            members=rng.choice([1, 2, 3, 5]),
            statics=rng.choice([0, 1, 3]),
            partitions=rng.choice([1, 4, 7]),
            duration_ms=rng.choice([20_000, 40_000]),
            conditions=Conditions(
                loss=rng.choice([0.0, 0.01, 0.05]),
                delay_max_ms=rng.choice([5, 50]),
                straggling=rng.choice([0.0, 0.02]),
                straggle_max_ms=12_000,
            ),
            move_every_ms=rng.choice([0, 2_000, 8_000]),
            crash_every_ms=rng.choice([0, 4_000, 12_000]),
            cut_every_ms=rng.choice([0, 5_000]),
            come_every_ms=rng.choice([0, 3_000]),
            freeze_every_ms=rng.choice([0, 4_000]),
            restart_every_ms=rng.choice([0, 4_000]),
        )


class GroupWorld:
    """Keeps the metadata that a controller would, and is what its members know of their surroundings."""

    member_type: ClassVar[type[Member]] = Member

    def __init__(self, seed: int, plan: Plan) -> None:
        self.world = World(seed)
        self.plan = plan
        self.counts: Counter[str] = Counter()
        self.steps = 0
        self.members: list[Member] = []
        self.checks = Checks()
        self._network = Network(self.world, plan.conditions)
        self._settings = parse_server_config(SETTINGS)
        self._disks: dict[int, SimDisk] = {node_id: format_disk(node_id) for node_id in BROKERS}
        self._brokers: dict[int, GroupBroker | None] = dict.fromkeys(BROKERS)
        # What the controller has decided, and how much of it each broker knows of.
        self._metadata: list[Message] = _topics(plan.partitions)
        self._applied: Counter[int] = Counter()
        self._leader = BROKERS[0]
        self._in_sync = set(BROKERS)
        self._is_under_fire = True
        self._correlation_id = 0
        self._connections: Counter[int] = Counter()
        self._frozen_until_ms: Counter[int] = Counter()
        for node_id in BROKERS:
            self._start(node_id)
        for _ in range(plan.members):
            self._add_member()
        for number in range(plan.statics):
            self._add_member(f"static-{number}")
        self._replicate()
        for period_ms, happen in (
            (plan.move_every_ms, self._move),
            (plan.crash_every_ms, self._crash),
            (plan.cut_every_ms, self._cut),
            (plan.come_every_ms, self._come_or_go),
            (plan.freeze_every_ms, self._freeze),
            (plan.restart_every_ms, self._restart_static),
        ):
            if period_ms:
                self._now_and_then(period_ms, happen)

    def _now_and_then(self, period_ms: int, happen: Callable[[], None]) -> None:
        def again() -> None:
            if self._is_under_fire:
                happen()
                self._now_and_then(period_ms, happen)

        self.world.after(self.rng.randrange(2 * period_ms) + 1, again)

    @property
    def rng(self) -> Random:
        return self.world.rng

    @property
    def partitions(self) -> int:
        return self.plan.partitions

    # Brokers

    def _start(self, node_id: int) -> None:
        broker = GroupBroker(self.world, node_id, self._disks[node_id], self._settings)
        self._brokers[node_id] = broker
        self._applied[node_id] = 0
        broker.loop.enter(lambda: self._catch_up(broker))

    def _decide(self, record: Message) -> None:
        """Let the controller decide something; each broker hears of it after a while."""
        self._metadata.append(record)
        for broker in self._brokers.values():
            if broker is not None:
                self._tell_later(broker)

    def _tell_later(self, broker: GroupBroker) -> None:
        delay_ms = self.rng.randrange(50 if self.rng.random() < 0.8 else 4_000)
        self.world.after(delay_ms, lambda: broker.loop.enter(lambda: self._catch_up(broker)))

    def _catch_up(self, broker: GroupBroker) -> None:
        """Tell a broker all that it has not heard of, at once, as one that starts hears of all that is."""
        news = self._metadata[self._applied[broker.node_id] :]
        if news:
            delta = MetadataDelta(broker.image)
            for record in news:
                delta.replay(record)
            self._applied[broker.node_id] = len(self._metadata)
            broker.apply(delta, delta.apply(Provenance()))

    @property
    def summary(self) -> str:
        return f"{self.steps} steps"

    def _replicate(self) -> None:
        """Let followers fetch, and let one that has caught up be in sync again."""
        self.steps += 1
        for node_id, broker in self._brokers.items():
            leader = self._brokers[self._leader]
            if broker is None or leader is None or broker is leader or self._is_cut(node_id, self._leader):
                continue
            has_all = broker.fetch_from(leader)
            if has_all and node_id not in self._in_sync:
                self._in_sync.add(node_id)
                self._metadata.append(_change(isr=sorted(self._in_sync)))
                # A leader counts a replica in before anybody else hears of it.
                self._catch_up(leader)
                self._tell_later(broker)
        self.world.after(self.rng.randrange(40) + 1, self._replicate)

    def _is_cut(self, one: int, other: int) -> bool:
        return bool(self._network.cut & {(one, other), (other, one)})

    def _move(self) -> None:
        """Let another replica that is in sync lead."""
        others = sorted(node_id for node_id in self._in_sync if node_id != self._leader and self._brokers[node_id])
        if others:
            self.counts["coordinator moved"] += 1
            self._leader = self.rng.choice(others)
            self._decide(_change(leader=self._leader))

    def _crash(self) -> None:
        node_id = self.rng.choice(BROKERS)
        broker = self._brokers[node_id]
        if broker is None or None in self._brokers.values():
            return
        self.counts["broker killed"] += 1
        broker.end()
        self._brokers[node_id] = None
        others = self._in_sync - {node_id}
        # The last that is in sync loses nothing, or what was acknowledged could be lost, as in Kafka.
        lasts = bool(others) and self.rng.random() < 0.5
        self._disks[node_id] = broker.disk.after_power_cut(self.rng) if lasts else broker.disk.after_kill()
        if others:
            self._in_sync = others
            self._leader = min(others)
            self._decide(_change(leader=self._leader, isr=sorted(others)))
        self.world.after(self.rng.randrange(5_000), lambda: self._restart(node_id))

    def _restart(self, node_id: int) -> None:
        if self._brokers[node_id] is None:
            self._start(node_id)
            if self._leader == node_id:
                self._decide(_change(leader=node_id))

    def _cut(self) -> None:
        """Cut brokers off from each other or from members, for a while."""
        self.counts["network cut"] += 1
        everybody = {*BROKERS, *(member.name for member in self.members)}
        group = {name for name in sorted(everybody) if self.rng.random() < 0.4}
        self._network.isolate(group, everybody, inbound=self.rng.random() < 0.8)
        self.world.after(self.rng.randrange(8_000), self._network.heal)

    # Members

    def _add_member(self, instance_id: str | None = None) -> None:
        name = FIRST_MEMBER + len(self.members)
        self.members.append(self.member_type(self, name, instance_id))

    def _alive(self) -> list[Member]:
        return [member for member in self.members if not member.is_gone]

    def _come_or_go(self) -> None:
        dynamic = [member for member in self._alive() if member.instance_id is None]
        if dynamic and self.rng.random() < 0.5:
            self.counts["member left"] += 1
            member = self.rng.choice(dynamic)
            member.leave() if self.rng.random() < 0.5 else member.end()
        elif len(dynamic) < 2 * self.plan.members:
            self.counts["member came"] += 1
            self._add_member()

    def _freeze(self) -> None:
        """Let a member stand still, perhaps for longer than its session."""
        alive = self._alive()
        if alive:
            self.counts["member frozen"] += 1
            member = self.rng.choice(alive)
            self._frozen_until_ms[member.name] = self.world.now_ms + self.rng.randrange(15_000)

    def _restart_static(self) -> None:
        """Start a process with the identity of one that was killed, or that is still there."""
        statics = [member for member in self._alive() if member.instance_id is not None]
        if statics:
            self.counts["static member restarted"] += 1
            member = self.rng.choice(statics)
            if self.rng.random() < 0.5:
                member.end()
            self._add_member(member.instance_id)

    # What members know

    def wait(self, member: Member, delay_ms: int, happen: Callable[[], None]) -> None:
        due_ms = max(self.world.now_ms + delay_ms, self._frozen_until_ms[member.name])

        def when_awake() -> None:
            if self.world.now_ms < self._frozen_until_ms[member.name]:
                self.world.at(self._frozen_until_ms[member.name], when_awake)
            else:
                happen()

        self.world.at(due_ms, when_awake)

    def send(self, member: Member, request: Message, version: int, told: Callable[[Any | None], None]) -> None:
        """Send on the member's connection to where it takes the coordinator to be."""
        self.steps += 1
        number = type(request).api_key
        assert number is not None, "only requests are sent"
        key = ApiKey(number)
        self._correlation_id += 1
        correlation_id = self._correlation_id
        frame = b"".join(frame_request(request, version, correlation_id, f"m{member.name}"))[FRAME_SIZE_BYTES:]
        node_id = self._leader if self.rng.random() < 0.95 else self.rng.choice(BROKERS)
        connection = self._connections[member.name]
        has_heard = False

        def is_open() -> bool:
            return self._connections[member.name] == connection

        def hear(answer: Any | None) -> None:
            nonlocal has_heard
            if not has_heard and is_open():
                has_heard = True
                if answer is None:
                    self._connections[member.name] += 1
                told(answer)

        def answered(parts: Parts) -> None:
            _, answer = read_response(memoryview(b"".join(parts))[FRAME_SIZE_BYTES:], APIS[key].response, version)
            self._network.send(node_id, member.name, lambda: self.wait(member, 0, lambda: hear(answer)))

        def arrive() -> None:
            broker = self._brokers[node_id]
            if broker is not None:
                client = f"m{member.name}-{connection}"
                broker.loop.enter(lambda: broker.answer(frame, client, answered) if is_open() else None)

        self._network.send(member.name, node_id, arrive)
        patience_ms = ANSWER_MS + (REBALANCE_MS if key is ApiKey.JOIN_GROUP else 0)
        self.wait(member, patience_ms, lambda: hear(None))

    def owns(self, member: Member) -> None:
        self.counts["assignment told"] += 1
        self.checks.own(member)

    def lost(self) -> None:
        self.counts["assignment lost"] += 1

    def committed(self, partition: int, offset: int) -> None:
        self.counts["commit acknowledged"] += 1
        self.checks.acknowledge(partition, offset)

    def least_committed(self) -> dict[int, int]:
        return dict(self.checks.acknowledged)

    def fetched(self, partition: int, offset: int, at_least: int) -> None:
        if offset < at_least:
            raise AssertionError(f"offset {offset} of partition {partition} was fetched after {at_least} was committed")

    # Its course

    def run(self) -> None:
        self.world.run(self.plan.duration_ms)
        self._is_under_fire = False
        self._network.heal()
        self._network.conditions = Conditions()
        self._frozen_until_ms.clear()
        for node_id in BROKERS:
            self._restart(node_id)
        self._decide(_change(leader=self._leader))
        if not self.world.run(HEALED_MS, self._has_settled):
            raise AssertionError(f"not settled after healing: {self._describe()}")
        self._check_log()

    def _has_settled(self) -> bool:
        """Whether those that are left share all partitions in one generation, one for each identity."""
        leader = self._brokers[self._leader]
        if leader is None or leader.leads is None or self._applied[self._leader] < len(self._metadata):
            return False
        alive = self._alive()
        identities = [member.instance_id for member in alive if member.instance_id is not None]
        if len(set(identities)) < len(identities):
            return False
        owned = [partition for member in alive for partition in member.owned]
        generations = {member.generation for member in alive}
        return not alive or (sorted(owned) == list(range(self.partitions)) and len(generations) == 1)

    def _describe(self) -> str:
        return ", ".join(f"{member.name} in {member.generation}: {sorted(member.owned)}" for member in self._alive())

    def _check_log(self) -> None:
        leader = self._brokers[self._leader]
        assert leader is not None, "every broker runs after healing"
        assert leader.leads is not None, "the leader knows that it leads after healing"
        log = leader.leads.log
        data = log.read(log.log_start_offset, 1 << 24, isolation=Isolation.LOG_END).region.bytes()
        codec = RecordCodec(KEYS, VALUES)
        latest: Counter[int] = Counter()
        for position, header in iterate_batches(data):
            for record in iterate_records(data, position, header):
                entry = codec.decode(record.key, record.value)
                assert entry is not None, "all types are known"
                if isinstance(entry.key, OffsetCommitKey) and isinstance(entry.value, OffsetCommitValue):
                    if entry.value.offset < latest[entry.key.partition]:
                        raise AssertionError(f"the offset of partition {entry.key.partition} went back")
                    latest[entry.key.partition] = entry.value.offset
        for partition, offset in self.checks.acknowledged.items():
            if latest[partition] < offset:
                raise AssertionError(f"offset {offset} of partition {partition} was acknowledged and lost")


class Checks:
    """What must hold of all that members are told."""

    def __init__(self) -> None:
        self.acknowledged: dict[int, int] = {}
        self._owners: dict[tuple[int, int], str] = {}

    def own(self, member: Member) -> None:
        """A partition has one owner in each generation; a static member may have been restarted in it."""
        owner = member.instance_id or member.member_id
        for partition in member.owned:
            known = self._owners.setdefault((member.generation, partition), owner)
            if known != owner:
                raise AssertionError(
                    f"partition {partition} was given to {known} and to {owner} in generation {member.generation}"
                )

    def acknowledge(self, partition: int, offset: int) -> None:
        self.acknowledged[partition] = max(offset, self.acknowledged.get(partition, -1))


def _topics(partitions: int) -> list[Message]:
    """The groups' topic on both brokers, and one to be consumed that nobody here hosts."""
    placed = [(GROUPS_ID, 0, list(BROKERS)), *((TOPIC_ID, index, [99]) for index in range(partitions))]
    return [
        TopicRecord(name=GROUPS_TOPIC, topic_id=GROUPS_ID),
        TopicRecord(name=TOPIC, topic_id=TOPIC_ID),
        *(
            PartitionRecord(
                partition_id=index,
                topic_id=topic_id,
                replicas=replicas,
                isr=replicas,
                removing_replicas=[],
                adding_replicas=[],
                leader=replicas[0],
                leader_epoch=0,
                partition_epoch=0,
                directories=[UNASSIGNED_DIRECTORY] * len(replicas),
            )
            for topic_id, index, replicas in placed
        ),
    ]


def _change(**changes: Any) -> PartitionChangeRecord:
    return PartitionChangeRecord(topic_id=GROUPS_ID, partition_id=0, **changes)


def simulate(seed: int, plan: Plan | None = None) -> GroupWorld:
    """Run a world to its end; raises where something is not as it must be."""
    world = GroupWorld(seed, Plan.draw(seed) if plan is None else plan)
    world.run()
    return world
