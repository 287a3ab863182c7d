"""The controller's part of a node: decisions on the quorum's log, its listeners, and its registration."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from random import Random, SystemRandom

from barnabas.broker.api_versions import Features
from barnabas.broker.dispatch import Dispatcher
from barnabas.config.listeners import Endpoint as ListenerEndpoint
from barnabas.config.node import NodeConfig
from barnabas.controller.controller import Controller
from barnabas.controller.operations import OPERATIONS, QUERIES, TASKS
from barnabas.metadata.features import SUPPORTED_FEATURES
from barnabas.ports.clock import Clock
from barnabas.protocol.uuid import Uuid
from barnabas.runtime.clock import SystemClock
from barnabas.runtime.controller.contexts import LoadedAcls
from barnabas.runtime.controller.guarded import guarded_operations, guarded_queries, guarded_tasks
from barnabas.runtime.controller.policies import load_policies
from barnabas.runtime.controller.process import ControllerProcess
from barnabas.runtime.controller.registration import ControllerRegistration, registration_request
from barnabas.runtime.controller.serving import authorizer_rules, controller_table
from barnabas.runtime.metrics import Registry
from barnabas.runtime.node_settings import controller_settings
from barnabas.runtime.node_storage import NodeStorage
from barnabas.runtime.quorum.part import QuorumPart
from barnabas.runtime.quorum.peers import Peers
from barnabas.runtime.socket_server import SocketServer


class ControllerPart:
    """Its `process` is the state machine of the quorum's part; `features` tells what ApiVersions says of them."""

    def __init__(
        self,
        node: NodeConfig,
        storage: NodeStorage,
        quorum: QuorumPart,
        *,
        clock: Clock,
        loop: asyncio.AbstractEventLoop,
        rng: Random,
        features: Callable[[], Features],
    ) -> None:
        self._node = node
        self._quorum = quorum
        self._loop = loop
        self._features = features
        # Requests of a connection are answered in their order: a registration, which is answered once it is committed,
        # must not stand before the fetch by which that comes about.
        self._acls = LoadedAcls(quorum.replay, lambda: quorum.raft.high_watermark)
        self._sockets: SocketServer | None = None
        self._peers = Peers(f"controller-{node.node_id}", quorum.settings.request_timeout_ms)
        self.controller = Controller(
            settings=replace(controller_settings(node, storage.cluster_id), policies=load_policies(node.settings)),
            rng=rng,
            bootstrap=[record.message for record in storage.bootstrap.records],
            operations=guarded_operations(OPERATIONS),
            queries=guarded_queries(QUERIES),
            tasks=guarded_tasks(TASKS),
        )
        self.process = ControllerProcess(
            self.controller,
            quorum.replay,
            clock=clock,
            wall_clock=SystemClock(),
            loop=loop,
            published=self._consider,
        )

    def dispatcher(self) -> Dispatcher:
        """What answers on the controller's listeners."""
        quorum = self._quorum
        table = controller_table(
            self._node,
            replay=quorum.replay,
            acls=self._acls,
            features=self._features,
            ask_controller=self.process.ask,
            ask_quorum=lambda *asked: quorum.driver.ask(*asked),
        )
        return Dispatcher(table)

    def is_open_early(self, listener: str) -> bool:
        """Whether a listener serves before it is known who may do what; then only super users get through."""
        return authorizer_rules(self._node) is None or listener in self._node.early_start_listener_names

    def serve_on(self, sockets: SocketServer) -> None:
        """Take in those who wait at the other listeners, as soon as it is known."""
        self._sockets = sockets

    def _consider(self) -> None:
        self.registration.consider()
        if self._sockets is not None and self._acls() is not None:
            self._sockets.accept()
            self._sockets = None

    def register_at(self, endpoints: Mapping[str, ListenerEndpoint]) -> None:
        """Be known as listening there, as soon as there is a controller to say so to."""
        self.registration = ControllerRegistration(
            registration_request(self._node.node_id, Uuid(SystemRandom().randbytes(16)), endpoints, SUPPORTED_FEATURES),
            peers=self._peers,
            leader=lambda: self._quorum.leader,
            image=lambda: self._quorum.image,
            loop=self._loop,
        )

    def measure(self, registry: Registry) -> None:
        registry.gauge("active_controller", lambda: int(self.controller.active_epoch is not None))

    def stop_registering(self) -> None:
        self.registration.close()

    async def abandon(self) -> None:
        """Let nothing happen any more."""
        self.registration.close()
        self.process.close()
        await self._peers.close()
