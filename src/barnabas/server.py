"""The composition root: builds a node from its settings and runs it until it is asked to stop or has to.

The parts know each other only from here. A node of the controller role runs; the broker role is refused by name.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from dataclasses import replace
from random import Random, SystemRandom
from typing import Final

from barnabas import __version__
from barnabas.broker.api_versions import Features
from barnabas.broker.dispatch import Dispatcher
from barnabas.config.listeners import Endpoint as ListenerEndpoint
from barnabas.config.listeners import SecurityProtocol
from barnabas.config.node import NodeConfig
from barnabas.config.node_rules import warnings
from barnabas.config.setting import ConfigError
from barnabas.controller.controller import Controller
from barnabas.controller.operations import OPERATIONS, QUERIES, TASKS
from barnabas.metadata.features import KRAFT_VERSION, SUPPORTED_FEATURES
from barnabas.metadata.retention import RetentionSettings
from barnabas.metadata.versions import METADATA_VERSION
from barnabas.ports.disk import Disk
from barnabas.protocol.errors import CorruptMessage, KafkaStorageError
from barnabas.protocol.schema import ProtocolError
from barnabas.protocol.uuid import Uuid
from barnabas.raft import control, events
from barnabas.raft.history import QuorumHistory
from barnabas.raft.node import RaftNode
from barnabas.raft.quorum_state import BadQuorumState, QuorumState
from barnabas.raft.replica import NO_LEADER_ID, Endpoint, Peer, ReplicaKey
from barnabas.raft.settings import QuorumSettings
from barnabas.raft.voters import VersionRange, Voter, VoterSet
from barnabas.runtime.clock import SystemClock
from barnabas.runtime.controller.guarded import guarded_operations, guarded_queries
from barnabas.runtime.controller.process import ControllerProcess
from barnabas.runtime.controller.registration import ControllerRegistration, registration_request
from barnabas.runtime.controller.serving import authorizer_rules, controller_table
from barnabas.runtime.disk import PosixDisk
from barnabas.runtime.loop import stop_on_failure, stop_on_signals
from barnabas.runtime.metrics import Registry
from barnabas.runtime.node_settings import controller_settings, metadata_log_config, socket_settings
from barnabas.runtime.node_storage import NodeStorage, StorageRefused, open_storage
from barnabas.runtime.off_loop import OffLoop
from barnabas.runtime.quorum.driver import RaftDriver
from barnabas.runtime.quorum.metadata_log import DamagedMetadataLog, MetadataLog
from barnabas.runtime.quorum.peers import Peers
from barnabas.runtime.quorum.replay import MetadataReplay
from barnabas.runtime.quorum.snapshotting import Snapshotter
from barnabas.runtime.socket_server import SocketServer
from barnabas.runtime.steady_clock import SteadyClock

LOG: Final = logging.getLogger(__name__)

SHUTDOWN_TIMEOUT_MS: Final = 5_000
GRACE_MS: Final = 1_000


class NodeRefused(Exception):  # noqa: N818 (says what became of the start)
    """A node that cannot be started as it is set up; the text says which setting, and what to do."""


def require_supported(node: NodeConfig) -> None:
    """Refuse what a node here cannot be, rather than start one that only looks like it."""
    if node.is_broker:
        raise NodeRefused(
            "process.roles: the broker role cannot be started here yet; set process.roles=controller, and let an "
            "Apache Kafka broker join this controller by controller.quorum.bootstrap.servers"
        )
    for endpoint in node.controller_listeners:
        if endpoint.protocol is not SecurityProtocol.PLAINTEXT:
            raise NodeRefused(
                f"listener.security.protocol.map: {endpoint.listener} is {endpoint.protocol.name}, and only PLAINTEXT "
                "can be served here yet"
            )
    try:
        authorizer_rules(node)
    except ConfigError as error:
        raise NodeRefused(str(error)) from error
    for name in ("create.topic.policy.class.name", "alter.config.policy.class.name"):
        if node.settings.values[name] is not None:
            raise NodeRefused(f"{name}: policies are Java classes, which cannot be loaded here; remove the setting")


class ControllerNode:
    """A running controller. `stopped` is done when it has stopped, with what stopped it if nobody asked it to."""

    def __init__(self, node: NodeConfig, disk: Disk, loop: asyncio.AbstractEventLoop) -> None:
        require_supported(node)
        self.config = node
        self.clock = SteadyClock(SystemClock())
        self.registry = Registry()
        self.stopped: asyncio.Future[None] = loop.create_future()
        self._loop = loop
        self._is_stopping = False
        self._has_left = asyncio.Event()
        try:
            self.storage = open_storage(disk, node, rng=SystemRandom(), now_ms=self.clock.now_ms())
        except StorageRefused as error:
            raise NodeRefused(str(error)) from error
        try:
            self._build(node, disk, self.storage)
        except BaseException:
            self.storage.release()
            raise

    def _build(self, node: NodeConfig, disk: Disk, storage: NodeStorage) -> None:
        loop, clock, values = self._loop, self.clock, node.settings.values
        quorum_settings = QuorumSettings.of(values)
        rng = Random(SystemRandom().getrandbits(64))
        self.log = _open_log(disk, node, rng, clock.now_ms())
        saved, history = _read_quorum(self.log, node)
        self.sockets = SocketServer(loop, clock, socket_settings(node), self.registry)
        self.off_loop = OffLoop(loop)
        self.peers = Peers(f"raft-client-{node.node_id}", quorum_settings.request_timeout_ms)
        # Requests of a connection are answered in their order: a registration, which is answered once it is committed,
        # must not stand before the fetch by which that comes about.
        self.registering_peers = Peers(f"controller-{node.node_id}", quorum_settings.request_timeout_ms)
        self.replay = MetadataReplay(self.log)
        self.controller = Controller(
            settings=controller_settings(node, storage.cluster_id),
            rng=rng,
            bootstrap=[record.message for record in storage.bootstrap.records],
            operations=guarded_operations(OPERATIONS),
            queries=guarded_queries(QUERIES),
            tasks=TASKS,
        )
        self.process = ControllerProcess(
            self.controller,
            self.replay,
            clock=clock,
            wall_clock=SystemClock(),
            loop=loop,
            published=lambda: self.registration.consider(),
        )
        self.listeners = self._listen(node)
        self.raft = self._make_raft(node, storage, saved, history, quorum_settings, rng)
        self.driver = RaftDriver(
            self.raft,
            self.log,
            machine=self.process,
            peers=self.peers,
            off_loop=self.off_loop,
            clock=clock,
            loop=loop,
            failed=self._failed,
            shut_down=self._has_left.set,
        )
        self.snapshotter = Snapshotter(
            self.log,
            RetentionSettings.of(values),
            off_loop=self.off_loop,
            clock=clock,
            loop=loop,
            generated=lambda snapshot_id: self.driver.receive(events.SnapshotGenerated(snapshot_id)),
            failed=self.driver.fail,
            safe_offset=lambda: min(self.driver.flushed_offset, self.replay.next_offset),
        )
        self.process.attach(self.driver, self.snapshotter)
        self.registration = ControllerRegistration(
            registration_request(node.node_id, Uuid(SystemRandom().randbytes(16)), self.listeners, SUPPORTED_FEATURES),
            peers=self.registering_peers,
            leader=lambda: self.driver.leader_endpoint,
            image=lambda: self.replay.image,
            loop=loop,
        )
        self._measure()

    def _measure(self) -> None:
        """What the quorum's state comes to in numbers."""
        gauge, raft = self.registry.gauge, self.raft
        gauge("quorum_epoch", lambda: raft.epoch)
        gauge("quorum_leader_id", lambda: NO_LEADER_ID if raft.role.leader_id is None else raft.role.leader_id)
        gauge("quorum_high_watermark", lambda: raft.high_watermark or 0)
        gauge("metadata_log_start_offset", lambda: self.log.start_offset)
        gauge("metadata_log_end_offset", lambda: self.log.end.offset)
        gauge("metadata_replayed_offset", lambda: self.replay.next_offset)
        gauge("active_controller", lambda: int(self.controller.active_epoch is not None))

    # Its listeners

    def _listen(self, node: NodeConfig) -> dict[str, ListenerEndpoint]:
        """Open the listeners; by name, where others reach this controller."""
        table = controller_table(
            node,
            replay=self.replay,
            high_watermark=lambda: self.raft.high_watermark,
            features=self._features,
            ask_controller=self.process.ask,
            ask_quorum=lambda *asked: self.driver.ask(*asked),
        )
        dispatcher = Dispatcher(table)
        bound = {}
        for at in node.controller_listeners:
            try:
                _, bound[at.listener] = self.sockets.listen(at.listener, at.host or "", at.port, dispatcher)
            except OSError as error:
                raise NodeRefused(
                    f"listeners: {at.listener} cannot listen at {at.host or ''}:{at.port}: {error}"
                ) from error
        return {
            at.listener: replace(at, host=at.host or socket.getfqdn(), port=at.port or bound[at.listener])
            for at in node.advertised_controller_listeners
        }

    def _features(self) -> Features:
        image = self.replay.image
        finalized: dict[str, int] = dict(image.features.levels.entries())
        if image.features.metadata_version is not None:
            finalized[METADATA_VERSION] = image.features.metadata_version
        finalized[KRAFT_VERSION] = self.raft.history.kraft_version
        return Features(
            {name: range(levels.lowest, levels.highest + 1) for name, levels in SUPPORTED_FEATURES.items()},
            finalized,
            image.provenance.last_contained_offset,
        )

    def _make_raft(
        self,
        node: NodeConfig,
        storage: NodeStorage,
        saved: QuorumState | None,
        history: QuorumHistory,
        settings: QuorumSettings,
        rng: Random,
    ) -> RaftNode:
        endpoints = {name: Endpoint(at.host or "", at.port) for name, at in self.listeners.items()}
        if node.bootstrap_servers:
            bootstrap = [Peer(-2 - index, Endpoint(*at)) for index, at in enumerate(node.bootstrap_servers)]
        else:
            bootstrap = [Peer(voter, Endpoint(*at)) for voter, at in node.voters.items() if voter != node.node_id]
        return RaftNode(
            local=Voter(
                ReplicaKey(node.node_id, storage.metadata_directory_id),
                endpoints,
                VersionRange(*SUPPORTED_FEATURES[KRAFT_VERSION]),
            ),
            cluster_id=storage.cluster_id,
            listener=node.controller_listener_names[0],
            log=self.log,
            history=history,
            saved=saved,
            settings=settings,
            rng=rng,
            bootstrap=bootstrap,
        )

    # Its life

    def start(self) -> None:
        """Take in what is on the disk and join the quorum."""
        self.process.load()
        self.driver.receive(events.Started())
        self.snapshotter.start()
        LOG.info(
            "controller started",
            extra={
                "node_id": self.config.node_id,
                "cluster_id": self.storage.cluster_id,
                "directory_id": self.storage.metadata_directory_id,
                "log_end_offset": self.log.end.offset,
                "release": __version__,
            },
        )

    def stop(self) -> None:
        """Hand over and stop; `stopped` is done afterwards. Asking again does no harm."""
        if not self._is_stopping:
            self._is_stopping = True
            self._task = self._loop.create_task(self._stop())

    async def _stop(self) -> None:
        try:
            await self._leave_and_close()
        except Exception as error:
            self._failed(error)

    async def _leave_and_close(self) -> None:
        self.registration.close()
        self.driver.receive(events.ShutdownRequested(SHUTDOWN_TIMEOUT_MS))
        try:
            async with asyncio.timeout(2 * SHUTDOWN_TIMEOUT_MS / 1000):
                await self._has_left.wait()
        except TimeoutError:
            LOG.warning("the quorum was not left in time")
        await self.sockets.stop(GRACE_MS)
        await self.abandon()
        if not self.stopped.done():
            self.log.close(self.clock.now_ms())
            self.storage.release()
            self.stopped.set_result(None)

    async def abandon(self) -> None:
        """Let nothing happen any more, as after a failure: nobody is answered, and the log stays as it is."""
        await self.sockets.stop(0)
        self.registration.close()
        self.snapshotter.close()
        self.process.close()
        self.driver.close()
        await self.registering_peers.close()
        await self.peers.close()
        self.off_loop.close()

    def _failed(self, error: Exception) -> None:
        """Stop at once: nobody gets an answer any more, for what was asked may not be kept."""
        self._has_left.set()
        if not self.stopped.done():
            self.stopped.set_exception(error)


def _open_log(disk: Disk, node: NodeConfig, rng: Random, now_ms: int) -> MetadataLog:
    try:
        return MetadataLog(disk, node.metadata_log_dir, metadata_log_config(node), rng=rng, now_ms=now_ms)
    except (DamagedMetadataLog, OSError, KafkaStorageError) as error:
        raise NodeRefused(f"the metadata log in {node.metadata_log_dir} cannot be opened: {error}") from error


def _read_quorum(log: MetadataLog, node: NodeConfig) -> tuple[QuorumState | None, QuorumHistory]:
    """What this node remembers of the quorum: its own vote, and the voters that its log and settings name."""
    static = {node_id: Endpoint(*address) for node_id, address in node.voters.items()}
    voters = VoterSet.static(node.controller_listener_names[0], static) if static else None
    try:
        saved, history = log.read_quorum_state(), control.load_history(log, voters)
    except (BadQuorumState, CorruptMessage, ProtocolError) as error:
        raise NodeRefused(f"the metadata log in {node.metadata_log_dir} cannot be read: {error}") from error
    if history.kraft_version not in SUPPORTED_FEATURES[KRAFT_VERSION]:
        raise NodeRefused(f"{KRAFT_VERSION} {history.kraft_version} of this cluster is from a later release")
    return saved, history


async def run(node: NodeConfig) -> int:
    """Run a node to its end; the exit status. What stopped it is the last line of its log."""
    loop = asyncio.get_running_loop()
    for warning in warnings(node):
        LOG.warning("odd setting", extra={"reason": warning})
    try:
        controller = ControllerNode(node, PosixDisk(), loop)
    except (NodeRefused, ConfigError) as error:
        LOG.critical("cannot start", extra={"reason": str(error)})
        return 1
    stop_on_signals(loop, controller.stop)
    stop_on_failure(loop, lambda: controller.driver.fail(RuntimeError("an exception that nothing has caught")))
    try:
        controller.start()
        await controller.stopped
    except Exception as error:
        await controller.abandon()
        LOG.critical("stopped by a failure", exc_info=error, extra={"reason": f"{type(error).__name__}: {error}"})
        return 1
    LOG.info("controller stopped", extra={"node_id": node.node_id})
    return 0
