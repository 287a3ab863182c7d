"""Nodes that are broker and controller in the test's own process: real sockets and time, simulated disks."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from io import StringIO
from random import Random
from typing import Any

from barnabas.broker.lifecycle import BrokerState
from barnabas.cli.formatting.directories import StorageFormat, format_directories
from barnabas.config.node import NodeConfig
from barnabas.config.node_rules import parse_node
from barnabas.metadata.bootstrap import DEFAULT_BOOTSTRAP
from barnabas.protocol.messages.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from barnabas.protocol.schema import Message
from barnabas.protocol.uuid import Uuid
from barnabas.protocol.version_range import VersionRange
from barnabas.raft.replica import Endpoint, ReplicaKey
from barnabas.raft.voters import Voter, VoterSet
from barnabas.runtime.broker.part import BrokerPart
from barnabas.runtime.peer import Peer
from barnabas.server import Node
from barnabas.sim.disk import SimDisk
from controller_nodes import CLUSTER_ID, LISTENER, LONG_MS, QUICK, free_ports

DIRECTORIES = ("/a", "/b")
NODE_ID = 1


class BrokerNode:
    """A node of both roles over two log directories, `Node`s one after the other on the same disk."""

    def __init__(self, **settings: str) -> None:
        self.disk = SimDisk()
        self.port, self.controller_port = free_ports(2)
        self._settings = {name.replace("_", "."): value for name, value in settings.items()}
        self._running: Node | None = None
        directory_id = Uuid(bytes(14) + b"\xff\x01")
        endpoint = Endpoint("127.0.0.1", self.controller_port)
        voter = Voter(ReplicaKey(NODE_ID, directory_id), {LISTENER: endpoint}, VersionRange(0, 1))
        wanted = StorageFormat(
            cluster_id=CLUSTER_ID,
            node_id=NODE_ID,
            directories=DIRECTORIES,
            metadata_directory=DIRECTORIES[0],
            bootstrap=DEFAULT_BOOTSTRAP,
            kraft_version=1,
            voters=VoterSet.of([voter]),
            ignores_formatted=False,
        )
        format_directories(self.disk, wanted, 0, StringIO())

    def config(self, **settings: str) -> NodeConfig:
        return parse_node(
            {
                "process.roles": "broker,controller",
                "node.id": str(NODE_ID),
                "controller.listener.names": LISTENER,
                "controller.quorum.bootstrap.servers": f"127.0.0.1:{self.controller_port}",
                "listeners": f"PLAINTEXT://127.0.0.1:{self.port},{LISTENER}://127.0.0.1:{self.controller_port}",
                "log.dirs": ",".join(DIRECTORIES),
                **QUICK,
                **self._settings,
                **{name.replace("_", "."): value for name, value in settings.items()},
            }
        )

    @property
    def running(self) -> Node:
        assert self._running is not None, "the node is started first"
        return self._running

    @property
    def broker(self) -> BrokerPart:
        broker = self.running.broker
        assert broker is not None
        return broker

    async def start(self, **settings: str) -> None:
        """Start it, and wait until it serves."""
        self._running = Node(self.config(**settings), self.disk, asyncio.get_running_loop())
        self._running.start()
        await self.until(lambda: self.broker.life.life.state is BrokerState.RUNNING)

    async def stop(self) -> None:
        """As an operator would."""
        self.running.stop()
        await self.running.stopped

    async def cut_power(self) -> None:
        """End it at once, and leave of its disk what a power cut would."""
        await self.running.abandon()
        self.disk = self.disk.after_power_cut(Random(0))

    async def until(self, holds: Callable[[], bool]) -> None:
        """Let the node go on until something holds; the test's own limit ends what never does."""
        while not holds():
            if self.running.stopped.done():
                self.running.stopped.result()
            await asyncio.sleep(0.002)

    async def ask(self, request: Message, version: int | None = None) -> Any:
        peer = await Peer.connect("127.0.0.1", self.port, timeout_ms=LONG_MS, client_id="test")
        try:
            await peer.negotiate(LONG_MS)
            return await peer.send(request, peer.newest_version(type(request)) if version is None else version, LONG_MS)
        finally:
            peer.close("answered")

    async def create_topic(self, name: str, partitions: int = 1, **configs: str) -> None:
        topic = CreatableTopic(
            name=name,
            num_partitions=partitions,
            replication_factor=1,
            assignments=[],
            configs=[CreatableTopicConfig(name=key.replace("_", "."), value=value) for key, value in configs.items()],
        )
        response = await self.ask(CreateTopicsRequest(topics=[topic], timeout_ms=LONG_MS))
        assert response.topics[0].error_code == 0, response
        await self.until(lambda: self.broker.replicas.image.topics.by_name(name) is not None)


@asynccontextmanager
async def broker_node(**settings: str) -> AsyncIterator[BrokerNode]:
    """A node that is formatted and not started; if it runs at the end, it is ended."""
    node = BrokerNode(**settings)
    try:
        yield node
    finally:
        if node._running is not None:
            await node._running.abandon()
            if node._running.stopped.done():
                node._running.stopped.exception()
