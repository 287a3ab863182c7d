"""The composition root: builds a node from its settings and runs it until it is asked to stop or has to.

The parts know each other only from here: every node follows or forms the quorum, and is a broker, a controller or both
on top of it.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable, Iterable
from dataclasses import replace
from random import Random, SystemRandom
from typing import TYPE_CHECKING, Final

from barnabas import __version__
from barnabas.broker.api_versions import Features
from barnabas.broker.dispatch import Dispatcher
from barnabas.config.listeners import Endpoint as ListenerEndpoint
from barnabas.config.listeners import SecurityProtocol
from barnabas.config.node import NodeConfig
from barnabas.config.node_rules import warnings
from barnabas.config.setting import ConfigError
from barnabas.metadata.features import KRAFT_VERSION, SUPPORTED_FEATURES
from barnabas.metadata.versions import METADATA_VERSION
from barnabas.ports.disk import Disk
from barnabas.runtime.clock import SystemClock
from barnabas.runtime.controller.part import ControllerPart
from barnabas.runtime.controller.serving import AUTHORIZER, authorizer_rules
from barnabas.runtime.descriptors import raise_descriptor_limit
from barnabas.runtime.disk import PosixDisk
from barnabas.runtime.garbage import keep_for_good
from barnabas.runtime.loop import stop_on_failure, stop_on_signals
from barnabas.runtime.metrics import Registry
from barnabas.runtime.node_settings import socket_settings
from barnabas.runtime.node_storage import NodeStorage, StorageRefused, open_storage
from barnabas.runtime.quorum.following import MetadataFollower
from barnabas.runtime.quorum.part import QuorumPart, QuorumRefused
from barnabas.runtime.socket_server import SocketServer
from barnabas.runtime.steady_clock import SteadyClock

if TYPE_CHECKING:
    from barnabas.runtime.broker.part import BrokerPart

LOG: Final = logging.getLogger(__name__)

GRACE_MS: Final = 1_000


class NodeRefused(Exception):  # noqa: N818 (says what became of the start)
    """A node that cannot be started as it is set up; the text says which setting, and what to do."""


def require_supported(node: NodeConfig) -> None:
    """Refuse what a node here cannot be, rather than start one that only looks like it."""
    for endpoint in node.listeners:
        if endpoint.protocol is not SecurityProtocol.PLAINTEXT:
            raise NodeRefused(
                f"listener.security.protocol.map: {endpoint.listener} is {endpoint.protocol.name}, and only PLAINTEXT "
                "can be served here yet"
            )
    try:
        rules = authorizer_rules(node)
    except ConfigError as error:
        raise NodeRefused(str(error)) from error
    if rules is not None and node.is_broker:
        raise NodeRefused(
            f"{AUTHORIZER}: controllers here check access and brokers do not yet; remove the setting, or set "
            "process.roles=controller"
        )


class Node:
    """A running node. `stopped` is done when it has stopped, with what stopped it if nobody asked it to."""

    def __init__(self, node: NodeConfig, disk: Disk, loop: asyncio.AbstractEventLoop) -> None:
        require_supported(node)
        self.config = node
        self.clock = SteadyClock(SystemClock())
        self.registry = Registry()
        self.stopped: asyncio.Future[None] = loop.create_future()
        self.controller: ControllerPart | None = None
        self.broker: BrokerPart | None = None
        self._loop = loop
        self._stopping: asyncio.Task[None] | None = None
        rng = Random(SystemRandom().getrandbits(64))
        try:
            self.storage = open_storage(disk, node, rng=rng, now_ms=self.clock.now_ms())
        except StorageRefused as error:
            raise NodeRefused(str(error)) from error
        try:
            self._build(node, disk, self.storage, rng)
        except QuorumRefused as error:
            self.storage.release()
            raise NodeRefused(str(error)) from error
        except BaseException:
            self.storage.release()
            raise

    def _build(self, node: NodeConfig, disk: Disk, storage: NodeStorage, rng: Random) -> None:
        loop, clock = self._loop, self.clock
        self.quorum = QuorumPart(node, storage, disk, clock=clock, loop=loop, rng=rng, failed=self.fail)
        self._sockets: list[SocketServer] = []
        if node.is_controller:
            self.controller = ControllerPart(
                node, storage, self.quorum, clock=clock, loop=loop, rng=rng, features=self._features
            )
            follower = self.controller.process.follower
            sockets = SocketServer(loop, clock, socket_settings(node), self.registry)
            self._sockets.append(sockets)
            endpoints = self._listen(
                sockets,
                node.controller_listeners,
                node.advertised_controller_listeners,
                self.controller.dispatcher(),
                is_accepting=self.controller.is_open_early,
            )
            self.controller.serve_on(sockets)
            self.quorum.join(self.controller.process, {at.listener: at for at in endpoints})
            self.controller.register_at({at.listener: at for at in endpoints})
            self.controller.measure(self.registry)
        else:
            follower = MetadataFollower(self.quorum.replay, loop=loop)
            self.quorum.join(follower, {})
        if node.is_broker:
            # A controller by itself does not wait for the modules of a broker.
            from barnabas.runtime.broker.part import BrokerPart

            self.broker = BrokerPart(
                node,
                storage,
                self.quorum,
                follower,
                disk=disk,
                clock=clock,
                loop=loop,
                rng=rng,
                features=self._features,
                failed=self.fail,
            )
            is_shared = len(node.broker_listeners) == 1
            protected = None if is_shared else node.inter_broker_listener_name
            sockets = SocketServer(loop, clock, socket_settings(node), self.registry, protected_listener=protected)
            self._sockets.insert(0, sockets)
            endpoints = self._listen(
                sockets,
                node.broker_listeners,
                node.advertised_broker_listeners,
                self.broker.dispatcher(),
                is_accepting=lambda _: False,
            )
            self.broker.serve_on(sockets, endpoints)
        self.quorum.measure(self.registry)

    # Its listeners

    def _listen(
        self,
        sockets: SocketServer,
        listeners: Iterable[ListenerEndpoint],
        advertised: Iterable[ListenerEndpoint],
        dispatcher: Dispatcher,
        *,
        is_accepting: Callable[[str], bool],
    ) -> list[ListenerEndpoint]:
        """Open listeners; where others are told to reach them."""
        bound = {}
        for at in listeners:
            try:
                _, bound[at.listener] = sockets.listen(
                    at.listener, at.host or "", at.port, dispatcher, is_accepting=is_accepting(at.listener)
                )
            except OSError as error:
                raise NodeRefused(
                    f"listeners: {at.listener} cannot listen at {at.host or ''}:{at.port}: {error}"
                ) from error
        return [replace(at, host=at.host or socket.getfqdn(), port=at.port or bound[at.listener]) for at in advertised]

    def _features(self) -> Features:
        image = self.quorum.image
        finalized: dict[str, int] = dict(image.features.levels.entries())
        if image.features.metadata_version is not None:
            finalized[METADATA_VERSION] = image.features.metadata_version
        finalized[KRAFT_VERSION] = self.quorum.raft.history.kraft_version
        return Features(
            {name: range(levels.lowest, levels.highest + 1) for name, levels in SUPPORTED_FEATURES.items()},
            finalized,
            image.provenance.last_contained_offset,
        )

    # Its life

    def start(self) -> None:
        """Take in what is on the disk, join the quorum and, as a broker, the cluster."""
        self.quorum.start()
        if self.broker is not None:
            self.broker.start()
        LOG.info(
            "node started" if self.broker is not None else "controller started",
            extra={
                "node_id": self.config.node_id,
                "cluster_id": self.storage.cluster_id,
                "directory_id": self.storage.metadata_directory_id,
                "log_end_offset": self.quorum.log.end.offset,
                "release": __version__,
            },
        )

    def stop(self) -> None:
        """Hand over and stop; `stopped` is done afterwards. Asked again, a broker does not wait for its controller."""
        if self._stopping is None:
            self._stopping = self._loop.create_task(self._stop())
        elif self.broker is not None:
            self.broker.hurry()

    async def _stop(self) -> None:
        try:
            await self._leave_and_close()
        except Exception as error:
            self.fail(error)

    async def _leave_and_close(self) -> None:
        if self.broker is not None:
            await self.broker.stop(GRACE_MS)
        if self.controller is not None:
            self.controller.stop_registering()
        await self.quorum.leave()
        for sockets in self._sockets:
            await sockets.stop(GRACE_MS)
        await self.abandon()
        if not self.stopped.done():
            self.quorum.close_log()
            self.storage.release()
            self.stopped.set_result(None)

    async def abandon(self) -> None:
        """Let nothing happen any more, as after a failure: nobody is answered, and the logs stay as they are."""
        for sockets in self._sockets:
            await sockets.stop(0)
        if self.broker is not None:
            await self.broker.abandon()
        if self.controller is not None:
            await self.controller.abandon()
        await self.quorum.abandon()

    def fail(self, error: Exception) -> None:
        """Stop at once: nobody gets an answer any more, for what was asked may not be kept."""
        self.quorum.give_up()
        if not self.stopped.done():
            self.stopped.set_exception(error)


async def run(node: NodeConfig) -> int:
    """Run a node to its end; the exit status. What stopped it is the last line of its log."""
    loop = asyncio.get_running_loop()
    raise_descriptor_limit()
    for warning in warnings(node):
        LOG.warning("odd setting", extra={"reason": warning})
    try:
        running = Node(node, PosixDisk(), loop)
    except (NodeRefused, ConfigError) as error:
        LOG.critical("cannot start", extra={"reason": str(error)})
        return 1
    stop_on_signals(loop, running.stop)
    stop_on_failure(loop, lambda: running.quorum.driver.fail(RuntimeError("an exception that nothing has caught")))
    try:
        running.start()
        keep_for_good()
        await running.stopped
    except Exception as error:
        await running.abandon()
        LOG.critical("stopped by a failure", exc_info=error, extra={"reason": f"{type(error).__name__}: {error}"})
        return 1
    LOG.info("node stopped" if node.is_broker else "controller stopped", extra={"node_id": node.node_id})
    return 0
