"""The broker's part of a node: its life in the cluster, the replicas it hosts, and what its listeners answer.

It takes part in this order: it registers while it follows the metadata; when it has caught up it opens its logs, hosts
what the metadata assigns to it, asks to be unfenced and, once it finds itself among the living, accepts connections:
the first who ask get an answer with this broker in it. It stops in the reverse order.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterable
from random import Random, SystemRandom
from typing import Any, Final

from barnabas.broker import lifecycle
from barnabas.broker.api_versions import Features
from barnabas.broker.directory_assignments import DirectoryAssignments, ReplicaId
from barnabas.broker.dispatch import Dispatcher
from barnabas.broker.dynamic_settings import DynamicSettings
from barnabas.broker.forwarding import Forwarding, refuse_bare
from barnabas.broker.lifecycle import BrokerLife, BrokerState, LifeSettings
from barnabas.broker.registration import registration_request
from barnabas.broker.replica_moves import ReplicaMoves
from barnabas.broker.replicas import Replicas
from barnabas.broker.topic_configs import BrokerConfigs, TopicConfigs
from barnabas.broker.waiting_room import WaitingRoom
from barnabas.config.listeners import Endpoint as ListenerEndpoint
from barnabas.config.node import NodeConfig
from barnabas.controller.operations import OPERATIONS
from barnabas.log.cleaner.log_cleaner import LogCleaner
from barnabas.log.directories import LogDirectories
from barnabas.log.directory_opening import LogDirectoryError
from barnabas.metadata.delta import MetadataDelta
from barnabas.metadata.image import MetadataImage
from barnabas.ports.clock import Clock
from barnabas.ports.disk import Disk
from barnabas.protocol.errors import ApiError
from barnabas.protocol.schema import Message
from barnabas.protocol.uuid import Uuid
from barnabas.runtime.broker.assigning import AssignmentsDriver
from barnabas.runtime.broker.controller_channel import ControllerChannel
from barnabas.runtime.broker.life import LifeDriver
from barnabas.runtime.broker.log_loading import load_logs, previous_broker_epoch, side_by_side
from barnabas.runtime.broker.serving import ServingParts, broker_table
from barnabas.runtime.coordinator.groups import group_coordinator
from barnabas.runtime.log_keeping.keeping import LogKeeping
from barnabas.runtime.log_keeping.moving import MoveDriver
from barnabas.runtime.log_keeping.settings import KeepingSettings, cleaner_config
from barnabas.runtime.node_settings import socket_settings
from barnabas.runtime.node_storage import NodeStorage
from barnabas.runtime.off_loop import OffLoop
from barnabas.runtime.quorum.following import MetadataFollower
from barnabas.runtime.quorum.part import QuorumPart
from barnabas.runtime.socket_server import SocketServer
from barnabas.runtime.timers import DeadlineTimer

LOG: Final = logging.getLogger(__name__)


class BrokerGaveUp(Exception):  # noqa: N818 (says what happened)
    """The broker is of no use to its cluster; the text says why."""


class BrokerPart:
    """`failed` is told of what ends the broker, and with it the node."""

    def __init__(
        self,
        node: NodeConfig,
        storage: NodeStorage,
        quorum: QuorumPart,
        follower: MetadataFollower,
        *,
        disk: Disk,
        clock: Clock,
        loop: asyncio.AbstractEventLoop,
        rng: Random,
        features: Callable[[], Features],
        failed: Callable[[Exception], None],
    ) -> None:
        assert storage.logs is not None, "a broker's storage has its log directories"
        self._node = node
        self._storage = storage
        self._quorum = quorum
        self._follower = follower
        self._disk = disk
        self._clock = clock
        self._loop = loop
        self._rng = rng
        self._features = features
        self._failed = failed
        self._has_ended = asyncio.Event()
        self._is_accepting = False
        self._tasks: set[asyncio.Task[None]] = set()
        # Its own threads, so that the quorum's flushes do not wait behind a broker's.
        self._off_loop = OffLoop(loop)
        self.directories: LogDirectories = storage.logs
        self.directories.run_all = side_by_side
        self._directory_ids = dict(self.directories.directory_ids)
        configs = BrokerConfigs(node.node_id, node.settings.given)
        self.settings = DynamicSettings(node, configs)
        self._configs = TopicConfigs(configs)
        self._waiting_timer = DeadlineTimer(loop, clock, lambda now_ms: self.waiting_room.expire(now_ms))
        self.waiting_room = WaitingRoom(self._waiting_timer.arm)
        self._keeping = self._make_keeping()
        self.replicas = Replicas(
            node.node_id,
            self.directories,
            self._configs,
            self.waiting_room,
            self._storage_failed,
            self._keeping.settle_flush,
        )
        timeout_ms = node.settings.integer("controller.socket.timeout.ms")
        self._channel = ControllerChannel(lambda: quorum.leader, f"broker-{node.node_id}-forwarding", timeout_ms)
        self._session_ms = node.settings.integer("broker.session.timeout.ms")
        self._life_channel = ControllerChannel(
            lambda: quorum.leader, f"broker-{node.node_id}-heartbeat", min(timeout_ms, self._session_ms // 2)
        )
        self._moving = MoveDriver(
            lambda: self.settings.current.integer("replica.alter.log.dirs.io.max.bytes.per.second"),
            loop=loop,
            clock=clock,
        )
        self.moves = ReplicaMoves(
            self.replicas,
            self.directories,
            assign=self._assign,
            flush=lambda log, then: self._keeping.flusher.flush(log, log.log_end_offset, then),
            wake=self._moving.wake,
        )
        self._assignments = DirectoryAssignments(node.node_id, self.directories, self.moves.is_handed_over)
        self._assigning = AssignmentsDriver(
            self._assignments,
            self._channel.ask,
            image=lambda: self.replicas.image,
            broker_epoch=lambda: self.life.broker_epoch,
            timeout_ms=timeout_ms,
            loop=loop,
        )
        self.forwarding = Forwarding(self._channel.ask, _refuse, self._spawn)
        self.groups = group_coordinator(self.replicas, lambda: self.settings.current, loop=loop, clock=clock, rng=rng)

    def _make_keeping(self) -> LogKeeping:
        settings = self._node.settings
        cleaner = None
        if settings.boolean("log.cleaner.enable"):
            cleaner = LogCleaner(
                self._disk, cleaner_config(settings), self.directories.logs, self._take_offline, rng=self._rng
            )
        self.directories.cleaner = cleaner
        return LogKeeping(
            self._disk,
            self.directories,
            cleaner,
            lambda: KeepingSettings.of(self.settings.current),
            loop=self._loop,
            clock=self._clock,
            off_loop=self._off_loop,
            failed=self._take_offline,
        )

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def dispatcher(self) -> Dispatcher:
        """What answers on the broker's listeners."""
        table = broker_table(
            ServingParts(
                node=self._node,
                cluster_id=self._storage.cluster_id,
                settings=self.settings,
                directories=self.directories,
                replicas=self.replicas,
                alter_log_dir=lambda name, path: self.moves.alter(name, path, self._clock.now_ms()),
                forwarding=self.forwarding,
                groups=self.groups,
                rng=self._rng,
                features=self._features,
                broker_epoch=lambda: self.life.broker_epoch,
                ask_controller=self._channel.ask,
                controller_versions=lambda: self._channel.versions,
                spawn=self._spawn,
                run_off_loop=self._off_loop.run,
            )
        )
        return Dispatcher(table)

    def serve_on(self, sockets: SocketServer, endpoints: Iterable[ListenerEndpoint]) -> None:
        """Be reached there, by listeners that accept nobody yet."""
        self._sockets = sockets
        settings = self._node.settings
        request = registration_request(
            broker_id=self._node.node_id,
            cluster_id=self._storage.cluster_id,
            incarnation_id=Uuid(SystemRandom().randbytes(16)),
            listeners=endpoints,
            rack=settings.text_or_none("broker.rack"),
            directories=self._directory_ids.values(),
            previous_broker_epoch=previous_broker_epoch(self._disk, self.directories),
        )
        life = BrokerLife(
            request,
            LifeSettings(
                session_timeout_ms=self._session_ms,
                heartbeat_interval_ms=settings.integer("broker.heartbeat.interval.ms"),
                initial_registration_timeout_ms=settings.integer("initial.broker.registration.timeout.ms"),
                log_dir_failure_timeout_ms=settings.integer("log.dir.failure.timeout.ms"),
                is_shutdown_controlled=settings.boolean("controlled.shutdown.enable"),
            ),
        )
        self.life = LifeDriver(
            life,
            ask=self._life_channel.ask,
            clock=self._clock,
            loop=self._loop,
            request_timeout_ms=self._session_ms // 2,
            entered=self._entered,
            gave_up=lambda reason: self._failed(BrokerGaveUp(reason)),
        )

    # Its life

    def start(self) -> None:
        self._follower.subscribe(self.life.publish)
        self.settings.subscribe(self._take_settings)
        self._take_log_settings(self._node)
        self.life.receive(lifecycle.Started())

    def _take_settings(self, node: NodeConfig) -> None:
        """What changes while the broker runs and is not read when it is needed."""
        self._sockets.reconfigure(socket_settings(node))
        self._take_log_settings(node)

    def _take_log_settings(self, node: NodeConfig) -> None:
        self.directories.expire_producers_after(node.settings.integer("producer.id.expiration.ms"))
        if self.directories.cleaner is not None:
            self.directories.cleaner.reconfigure(cleaner_config(node.settings))
        self.directories.cordoned = frozenset(node.cordoned_log_dirs)
        ids = self._directory_ids
        cordoned = tuple(ids[path] for path in node.cordoned_log_dirs if path in ids)
        self.life.receive(lifecycle.DirectoriesCordoned(cordoned))

    def _entered(self, state: BrokerState) -> None:
        if state is BrokerState.RECOVERY:
            image = self._quorum.image
            # Nothing else touches the logs before they are loaded.
            self._off_loop.run(lambda: self._load(image), lambda _: self._loaded(), self._load_failed)
        elif state is BrokerState.SHUTTING_DOWN:
            self._has_ended.set()

    def _load(self, image: MetadataImage) -> None:
        self._configs.apply(MetadataDelta(image), image)
        load_logs(self._disk, self.directories, self._configs.log_config_of, image, self._node.node_id, self._clock)

    def _load_failed(self, error: Exception) -> None:
        self._failed(BrokerGaveUp(str(error)) if isinstance(error, LogDirectoryError) else error)

    def _loaded(self) -> None:
        if self._has_ended.is_set():
            return
        self.replicas.let_failed_go()
        self._follower.subscribe(self._apply)
        self._keeping.start()
        self._moving.start(self.moves)
        self.life.receive(lifecycle.Recovered())

    def _apply(self, delta: MetadataDelta, image: MetadataImage) -> None:
        self.settings.apply(delta, image)
        self.replicas.apply(delta, image, self._clock.now_ms())
        self.moves.follow()
        self._assignments.follow(delta, image)
        self._assigning.wake()
        self.groups.apply(delta, image)
        if not self._is_accepting:
            own = image.cluster.brokers.get(self._node.node_id)
            if own is not None and own.epoch == self.life.broker_epoch and not own.is_fenced:
                self._is_accepting = True
                self._spawn(self._channel.connect())
                self._sockets.accept()
                LOG.info(
                    "broker serving", extra={"broker_id": self._node.node_id, "broker_epoch": self.life.broker_epoch}
                )

    def _assign(self, replica: ReplicaId, directory: Uuid, accepted: Callable[[], object] | None) -> None:
        self._assignments.assign(replica, directory, accepted)
        self._assigning.wake()

    def _take_offline(self, path: str, error: OSError) -> None:
        self.directories.take_offline(path, error)
        self.replicas.let_failed_go()

    def _storage_failed(self, path: str, error: OSError) -> None:
        LOG.error("log directory offline", extra={"path": path, "reason": str(error)})
        if path == self._node.metadata_log_dir or not self.directories.online:
            self._failed(error)
        elif path in self._directory_ids:
            self.moves.follow()
            self.life.receive(lifecycle.DirectoryFailed(self._directory_ids[path]))

    # Its end

    def hurry(self) -> None:
        """Wait for the controller no longer."""
        self.life.receive(lifecycle.ShutdownRequested())

    async def stop(self, grace_ms: int) -> None:
        """Let others lead what is led here, answer what was asked, and close the logs as whole ones."""
        self.life.receive(lifecycle.ShutdownRequested())
        await self._has_ended.wait()
        self.groups.close()
        await self._sockets.stop(grace_ms)
        await self._let_go()
        await self._off_loop.settle()  # No log is closed while a thread flushes it.
        closed = self._loop.create_future()
        self._off_loop.run(
            lambda: self.directories.close(broker_epoch=self.life.broker_epoch, now_ms=self._clock.now_ms()),
            closed.set_result,
            closed.set_exception,
        )
        await closed

    async def abandon(self) -> None:
        """Let nothing happen any more; the logs stay as they are."""
        self._has_ended.set()
        await self._let_go()
        self._off_loop.close()

    async def _let_go(self) -> None:
        self.groups.close()
        self._keeping.close()
        self._moving.close()
        self._assigning.close()
        self._waiting_timer.cancel()
        self.life.close()
        self._life_channel.close()
        self._channel.close()
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _refuse(request: Message, error: ApiError, version: int) -> Message | None:
    """The refusal of a whole request, as the controller would put it."""
    operation = OPERATIONS.get(type(request))
    return refuse_bare(request, error, version) if operation is None else operation.refuse(request, error, version)
