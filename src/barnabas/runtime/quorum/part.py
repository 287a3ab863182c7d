"""The quorum's part of a node: the metadata log, raft over it, and what carries raft's effects out.

Every node has one, whatever its roles: a controller votes, a broker by itself only follows.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from random import Random
from typing import Final, Protocol

from barnabas.config.listeners import Endpoint as ListenerEndpoint
from barnabas.config.node import NodeConfig
from barnabas.metadata.features import KRAFT_VERSION, SUPPORTED_FEATURES
from barnabas.metadata.image import MetadataImage
from barnabas.metadata.retention import RetentionSettings
from barnabas.ports.clock import Clock
from barnabas.ports.disk import Disk
from barnabas.protocol.errors import CorruptMessage, KafkaStorageError
from barnabas.protocol.schema import ProtocolError
from barnabas.raft import control, events
from barnabas.raft.history import QuorumHistory
from barnabas.raft.node import RaftNode
from barnabas.raft.quorum_state import BadQuorumState, QuorumState
from barnabas.raft.replica import NO_LEADER_ID, Endpoint, Peer, ReplicaKey
from barnabas.raft.settings import QuorumSettings
from barnabas.raft.voters import Voter, VoterSet
from barnabas.runtime.metrics import Registry
from barnabas.runtime.node_settings import metadata_log_config
from barnabas.runtime.node_storage import NodeStorage
from barnabas.runtime.off_loop import OffLoop
from barnabas.runtime.quorum.driver import RaftDriver, StateMachine
from barnabas.runtime.quorum.metadata_log import DamagedMetadataLog, MetadataLog
from barnabas.runtime.quorum.peers import Peers
from barnabas.runtime.quorum.replay import MetadataReplay
from barnabas.runtime.quorum.snapshotting import Snapshotter

LOG: Final = logging.getLogger(__name__)

SHUTDOWN_TIMEOUT_MS: Final = 5_000


class QuorumRefused(Exception):  # noqa: N818 (says what became of the start)
    """A metadata log that a node must not start with."""


class FollowingMachine(StateMachine, Protocol):
    """A state machine that keeps the committed metadata."""

    def attach(self, driver: RaftDriver, snapshotter: Snapshotter, /) -> None: ...
    def load(self) -> None: ...


class QuorumPart:
    """Made in two steps, because others stand between them: what is on the disk, then raft with its state machine.

    `failed` is told of what ends the quorum's part, and with it the node.
    """

    def __init__(
        self,
        node: NodeConfig,
        storage: NodeStorage,
        disk: Disk,
        *,
        clock: Clock,
        loop: asyncio.AbstractEventLoop,
        rng: Random,
        failed: Callable[[Exception], None],
    ) -> None:
        self._node = node
        self._storage = storage
        self._clock = clock
        self._loop = loop
        self._rng = rng
        self._failed = failed
        self._has_left = asyncio.Event()
        self.settings = QuorumSettings.of(node.settings.values)
        self.log = _open_log(disk, node, rng, clock.now_ms())
        self._saved, self._history = _read_quorum(self.log, node)
        self.off_loop = OffLoop(loop)
        self.peers = Peers(f"raft-client-{node.node_id}", self.settings.request_timeout_ms)
        self.replay = MetadataReplay(self.log)

    def join(self, machine: FollowingMachine, endpoints: Mapping[str, ListenerEndpoint]) -> None:
        """Make raft for a state machine; `endpoints` are where others reach this node as a controller."""
        self._machine = machine
        self.raft = self._make_raft(endpoints)
        self.driver = RaftDriver(
            self.raft,
            self.log,
            machine=machine,
            peers=self.peers,
            off_loop=self.off_loop,
            clock=self._clock,
            loop=self._loop,
            failed=self._failed,
            shut_down=self._has_left.set,
        )
        self.snapshotter = Snapshotter(
            self.log,
            RetentionSettings.of(self._node.settings.values),
            off_loop=self.off_loop,
            clock=self._clock,
            loop=self._loop,
            generated=lambda snapshot_id: self.driver.receive(events.SnapshotGenerated(snapshot_id)),
            failed=self.driver.fail,
            safe_offset=self._safe_offset,
        )
        machine.attach(self.driver, self.snapshotter)

    def _safe_offset(self) -> int:
        # A node that never votes never flushes, either: its fetches promise nothing.
        replayed = self.replay.next_offset
        return min(self.driver.flushed_offset, replayed) if self._node.is_controller else replayed

    def _make_raft(self, endpoints: Mapping[str, ListenerEndpoint]) -> RaftNode:
        node, storage = self._node, self._storage
        if node.bootstrap_servers:
            bootstrap = [Peer(-2 - index, Endpoint(*at)) for index, at in enumerate(node.bootstrap_servers)]
        else:
            bootstrap = [Peer(voter, Endpoint(*at)) for voter, at in node.voters.items() if voter != node.node_id]
        return RaftNode(
            local=Voter(
                ReplicaKey(node.node_id, storage.metadata_directory_id),
                {name: Endpoint(at.host or "", at.port) for name, at in endpoints.items()},
                SUPPORTED_FEATURES[KRAFT_VERSION],
            ),
            cluster_id=storage.cluster_id,
            listener=node.controller_listener_names[0],
            log=self.log,
            history=self._history,
            saved=self._saved,
            settings=self.settings,
            rng=self._rng,
            bootstrap=bootstrap,
            can_become_voter=node.is_controller,
        )

    @property
    def image(self) -> MetadataImage:
        """The metadata as it is committed."""
        return self.replay.image

    @property
    def leader(self) -> Endpoint | None:
        """Where the active controller is reached, or the one that is about to be."""
        return self.driver.leader_endpoint

    @property
    def leader_id(self) -> int | None:
        return self.raft.role.leader_id

    def measure(self, registry: Registry) -> None:
        """What the quorum's state comes to in numbers."""
        gauge, raft = registry.gauge, self.raft
        gauge("quorum_epoch", lambda: raft.epoch)
        gauge("quorum_leader_id", lambda: NO_LEADER_ID if raft.role.leader_id is None else raft.role.leader_id)
        gauge("quorum_high_watermark", lambda: raft.high_watermark or 0)
        gauge("metadata_log_start_offset", lambda: self.log.start_offset)
        gauge("metadata_log_end_offset", lambda: self.log.end.offset)
        gauge("metadata_replayed_offset", lambda: self.replay.next_offset)

    # Its life

    def start(self) -> None:
        """Take in what is on the disk and join the quorum."""
        self._machine.load()
        self.driver.receive(events.Started())
        self.snapshotter.start()

    async def leave(self) -> None:
        """Hand over what this node leads, within reason."""
        self.driver.receive(events.ShutdownRequested(SHUTDOWN_TIMEOUT_MS))
        try:
            async with asyncio.timeout(2 * SHUTDOWN_TIMEOUT_MS / 1000):
                await self._has_left.wait()
        except TimeoutError:
            LOG.warning("the quorum was not left in time")

    def give_up(self) -> None:
        """Wait no longer for anybody: the node has failed."""
        self._has_left.set()

    async def abandon(self) -> None:
        """Let nothing happen any more; the log stays as it is."""
        self.snapshotter.close()
        self.driver.close()
        await self.peers.close()
        self.off_loop.close()

    def close_log(self) -> None:
        self.log.close(self._clock.now_ms())


def _open_log(disk: Disk, node: NodeConfig, rng: Random, now_ms: int) -> MetadataLog:
    try:
        return MetadataLog(disk, node.metadata_log_dir, metadata_log_config(node), rng=rng, now_ms=now_ms)
    except (DamagedMetadataLog, OSError, KafkaStorageError) as error:
        raise QuorumRefused(f"the metadata log in {node.metadata_log_dir} cannot be opened: {error}") from error


def _read_quorum(log: MetadataLog, node: NodeConfig) -> tuple[QuorumState | None, QuorumHistory]:
    """What this node remembers of the quorum: its own vote, and the voters that its log and settings name."""
    static = {node_id: Endpoint(*address) for node_id, address in node.voters.items()}
    voters = VoterSet.static(node.controller_listener_names[0], static) if static else None
    try:
        saved, history = log.read_quorum_state(), control.load_history(log, voters)
    except (BadQuorumState, CorruptMessage, ProtocolError) as error:
        raise QuorumRefused(f"the metadata log in {node.metadata_log_dir} cannot be read: {error}") from error
    if history.kraft_version not in SUPPORTED_FEATURES[KRAFT_VERSION]:
        raise QuorumRefused(f"{KRAFT_VERSION} {history.kraft_version} of this cluster is from a later release")
    return saved, history
