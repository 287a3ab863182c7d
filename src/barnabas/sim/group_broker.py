"""Brokers that coordinate groups, as far as groups can tell: real logs, replicas, coordinator and handlers.

The log of `__consumer_offsets` is copied from its leader to the other broker by a stand-in for replication that follows
its rules: a follower cuts its log to where the leader's history parts from its own, and the leader's high watermark
waits for all replicas in sync.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Final

from barnabas.broker.call import Client, Pending
from barnabas.broker.dispatch import Dispatcher, Parts
from barnabas.broker.handlers.coordinators import GROUPS_TOPIC
from barnabas.broker.handlers.groups import Groups
from barnabas.broker.handlers.groups_consumer import ConsumerGroups
from barnabas.broker.handlers.groups_offsets import GroupOffsets
from barnabas.broker.replicas import Replicas
from barnabas.broker.routing import build_table
from barnabas.broker.topic_configs import BrokerConfigs, TopicConfigs
from barnabas.broker.waiting_room import WaitingRoom
from barnabas.config.server_config import ServerConfig
from barnabas.log.directories import LogDirectories
from barnabas.log.log_config import LogConfig
from barnabas.log.meta_properties import MetaProperties, write_meta_properties
from barnabas.log.partition_log import PartitionLog
from barnabas.log.read import Isolation
from barnabas.metadata.delta import MetadataDelta
from barnabas.metadata.image import MetadataImage
from barnabas.protocol.uuid import Uuid
from barnabas.replication.follower import Follower
from barnabas.replication.leader import Leader
from barnabas.runtime.coordinator.groups import group_coordinator
from barnabas.runtime.timers import DeadlineTimer
from barnabas.sim.disk import SimDisk
from barnabas.sim.virtual_loop import VirtualClock, VirtualLoop
from barnabas.sim.world import World

DIRECTORY: Final = "/data"
LISTENER: Final = "PLAINTEXT"
COPY_BYTES: Final = 4_096
SMALL_INDEXES: Final[Mapping[str, str]] = {"log.index.size.max.bytes": "4096"}


def format_disk(node_id: int) -> SimDisk:
    disk = SimDisk()
    disk.make_directory(DIRECTORY)
    meta = MetaProperties(cluster_id="c", node_id=node_id, directory_id=Uuid(bytes(14) + bytes((1, node_id))))
    write_meta_properties(disk, DIRECTORY, meta, 0)
    return disk


class GroupBroker:
    """One life of a broker on its disk."""

    def __init__(self, world: World, node_id: int, disk: SimDisk, settings: ServerConfig) -> None:
        self.node_id = node_id
        self.disk = disk
        self.clock = VirtualClock(world)
        self.loop = VirtualLoop(world, self.clock, self.end)  # type: ignore[abstract]  # No more of it is called.
        directories = LogDirectories(disk, [DIRECTORY], rng=Random(node_id))
        directories.load(lambda _: LogConfig(), now_ms=self.clock.now_ms())
        timer = DeadlineTimer(self.loop, self.clock, lambda now_ms: waiting_room.expire(now_ms))
        waiting_room = WaitingRoom(timer.arm)
        self.replicas = Replicas(
            node_id,
            directories,
            TopicConfigs(BrokerConfigs(node_id, SMALL_INDEXES)),
            waiting_room,
            lambda _path, error: _fail(error),
            _nothing_to_flush,
        )
        self.groups = group_coordinator(
            self.replicas, lambda: settings, loop=self.loop, clock=self.clock, rng=Random(world.rng.randrange(1 << 30))
        )
        offsets = GroupOffsets(self.groups, lambda: self.replicas.image)
        consumers = ConsumerGroups(self.groups, lambda: True)
        self._dispatcher = Dispatcher(build_table(Groups(self.groups).routes, consumers.routes, offsets.routes))

    @property
    def image(self) -> MetadataImage:
        return self.replicas.image

    def apply(self, delta: MetadataDelta, image: MetadataImage) -> None:
        self.replicas.apply(delta, image, self.clock.now_ms())
        self.groups.apply(delta, image)

    def answer(self, frame: bytes, client: str, answered: Callable[[Parts], None]) -> None:
        """Take a frame in; `answered` is told the response when there is one."""
        asker = Client(client, "127.0.0.1", 1, LISTENER)
        outcome = self._dispatcher.answer(memoryview(bytearray(frame)), asker, self.clock.now_ms())
        if not isinstance(outcome, Pending):
            assert outcome is not None, "every request of a group is answered"
            answered(outcome)
            return

        def finish() -> None:
            parts = self._dispatcher.finish(outcome)
            assert parts is not None, "every request of a group is answered"
            answered(parts)

        def arrange() -> None:
            self.loop.call_soon(finish)

        outcome.when_completed(arrange)

    def end(self) -> None:
        """Let nothing happen any more; what is on the disk stays."""
        self.loop.is_dead = True

    # Its replicas

    @property
    def leads(self) -> Leader | None:
        replica = self._replica
        return replica if isinstance(replica, Leader) else None

    @property
    def _replica(self) -> Leader | Follower | None:
        topic = self.image.topics.by_name(GROUPS_TOPIC)
        if topic is None:
            return None
        found = self.replicas.find(GROUPS_TOPIC, 0)
        assert isinstance(found, Leader | Follower)
        return found

    def fetch_from(self, other: GroupBroker) -> bool:
        """Copy some more of what another leads in the same leader epoch; whether there is nothing left to copy."""
        own, leader = self._replica, other.leads
        if leader is None or not isinstance(own, Follower) or own.leader_epoch != leader.leader_epoch:
            return False
        log, now_ms = own.log, self.clock.now_ms()
        if log.truncate_to(_agreed_end(log, leader.log), now_ms):
            # What is left may part from the leader's earlier still.
            return False
        if log.log_end_offset < leader.log.log_end_offset:
            read = leader.log.read(log.log_end_offset, COPY_BYTES, isolation=Isolation.LOG_END)
            log.append_as_follower(read.region.bytes(), leader.leader_epoch, now_ms)
        log.update_high_watermark(min(leader.log.high_watermark, log.log_end_offset))
        if leader.follower_fetched(self.node_id, log.log_end_offset):
            other.loop.call_soon(other.replicas.waiting_room.wake, leader.name)
        return log.log_end_offset == leader.log.log_end_offset


def _agreed_end(log: PartitionLog, leaders: PartitionLog) -> int:
    """Up to where a follower's log may agree with its leader's, by the latest epoch that both know of."""
    latest = log.leader_epochs.latest_epoch
    if latest is None:
        return log.log_end_offset
    theirs = leaders.end_offset_for_epoch(latest)
    own = None if theirs is None else log.end_offset_for_epoch(theirs.epoch)
    if theirs is None or own is None:
        return log.log_start_offset
    return min(theirs.end_offset, own.end_offset)


def _nothing_to_flush(_log: PartitionLog, _then: Callable[[OSError | None], object]) -> None:
    raise AssertionError("no topic of this world asks for flushes")


def _fail(error: OSError) -> None:
    raise AssertionError("no disk fails in this world") from error
