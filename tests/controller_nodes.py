"""Controllers of ours in the test's own process: real sockets and time, simulated disks that a test can break."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from io import StringIO
from random import Random
from socket import create_server
from typing import Any

from barnabas.cli.formatting.directories import StorageFormat, format_directories
from barnabas.config.node import NodeConfig
from barnabas.config.node_rules import parse_node
from barnabas.metadata.bootstrap import DEFAULT_BOOTSTRAP
from barnabas.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from barnabas.protocol.schema import Message
from barnabas.protocol.uuid import Uuid
from barnabas.protocol.version_range import VersionRange
from barnabas.raft.replica import Endpoint, ReplicaKey
from barnabas.raft.voters import Voter, VoterSet
from barnabas.runtime.controller.part import ControllerPart
from barnabas.runtime.peer import Peer
from barnabas.server import Node
from barnabas.sim.disk import SimDisk

CLUSTER_ID = "barnabasBarnabasBarnab"
DIRECTORY = "/data"
LISTENER = "CONTROLLER"
LONG_MS = 20_000
BROKER_RESOURCE = 4

# Elections within a moment, and no records but those that a test asks for. A fetch that finds nothing new waits for
# half a second, which must not look like a leader that is gone.
QUICK: Mapping[str, str] = {
    "controller.quorum.election.timeout.ms": "100",
    "controller.quorum.fetch.timeout.ms": "700",
    "controller.quorum.election.backoff.max.ms": "50",
    "controller.quorum.append.linger.ms": "1",
    "metadata.max.idle.interval.ms": "0",
}


def run(scenario: Callable[[], Awaitable[None]]) -> None:
    async def within_reason() -> None:
        async with asyncio.timeout(LONG_MS / 1000):
            await scenario()

    asyncio.run(within_reason())


def free_ports(count: int) -> list[int]:
    sockets = [create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [int(each.getsockname()[1]) for each in sockets]
    for each in sockets:
        each.close()
    return ports


def config_change(name: str, value: str) -> IncrementalAlterConfigsRequest:
    """Set a setting of all brokers: a record that needs no broker to be there."""
    change = AlterableConfig(name=name, config_operation=0, value=value)
    resource = AlterConfigsResource(resource_type=BROKER_RESOURCE, resource_name="", configs=[change])
    return IncrementalAlterConfigsRequest(resources=[resource], validate_only=False)


class Controllers:
    """Nodes 1 to `voters` vote; further ones join as observers. Every node has a disk of its own."""

    def __init__(self, voters: int, observers: int = 0, **settings: str) -> None:
        self.running: dict[int, Node] = {}
        self.disks = {node_id: SimDisk() for node_id in range(1, voters + observers + 1)}
        self._ports = dict(zip(self.disks, free_ports(len(self.disks)), strict=True))
        self._settings = {**QUICK, **{name.replace("_", "."): value for name, value in settings.items()}}
        self._voters = VoterSet.of(
            Voter(
                ReplicaKey(node_id, Uuid(bytes(14) + b"\xff" + bytes([node_id]))),
                {LISTENER: Endpoint("127.0.0.1", self._ports[node_id])},
                VersionRange(0, 1),
            )
            for node_id in range(1, voters + 1)
        )
        for node_id in self.disks:
            self.format(node_id)

    def config(self, node_id: int, **settings: str) -> NodeConfig:
        servers = ",".join(f"127.0.0.1:{port}" for port in self._ports.values())
        return parse_node(
            {
                "process.roles": "controller",
                "node.id": str(node_id),
                "controller.listener.names": LISTENER,
                "controller.quorum.bootstrap.servers": servers,
                "listeners": f"{LISTENER}://127.0.0.1:{self._ports[node_id]}",
                "log.dirs": DIRECTORY,
                **self._settings,
                **settings,
            }
        )

    def format(self, node_id: int) -> None:
        wanted = StorageFormat(
            cluster_id=CLUSTER_ID,
            node_id=node_id,
            directories=(DIRECTORY,),
            metadata_directory=DIRECTORY,
            bootstrap=DEFAULT_BOOTSTRAP,
            kraft_version=1,
            voters=self._voters if node_id in self._voters.ids else None,
            ignores_formatted=False,
        )
        format_directories(self.disks[node_id], wanted, 0, StringIO())

    def start(self, *node_ids: int) -> None:
        for node_id in node_ids or self.disks:
            node = Node(self.config(node_id), self.disks[node_id], asyncio.get_running_loop())
            self.running[node_id] = node
            node.start()

    async def stop(self, node_id: int) -> None:
        """As an operator would."""
        node = self.running.pop(node_id)
        node.stop()
        await node.stopped

    async def cut_power(self, node_id: int) -> None:
        """End a node at once, and leave of its disk what a power cut would."""
        node = self.running.pop(node_id)
        await node.abandon()
        self.disks[node_id] = self.disks[node_id].after_power_cut(Random(node_id))

    def part(self, node_id: int) -> ControllerPart:
        """What makes a running node a controller."""
        part = self.running[node_id].controller
        assert part is not None
        return part

    def port(self, node_id: int) -> int:
        return self._ports[node_id]

    async def ask(self, node_id: int, request: Message) -> Any:
        peer = await Peer.connect("127.0.0.1", self._ports[node_id], timeout_ms=LONG_MS)
        try:
            await peer.negotiate(LONG_MS)
            return await peer.send(request, peer.newest_version(type(request)), LONG_MS)
        finally:
            peer.close("answered")

    async def active(self) -> int:
        """The active controller, when there is one."""

        def find() -> int | None:
            return next((each for each in self.running if self.part(each).controller.active_epoch is not None), None)

        await self.until(lambda: find() is not None)
        found = find()
        assert found is not None
        return found

    async def until(self, holds: Callable[[], bool]) -> None:
        """Let the nodes go on until something holds; the test's own limit ends what never does."""
        while not holds():
            for node in self.running.values():
                if node.stopped.done():
                    node.stopped.result()
            await asyncio.sleep(0.002)

    def offset(self, node_id: int) -> int:
        """How far a node has replayed the committed log."""
        return self.running[node_id].quorum.replay.next_offset

    def setting(self, node_id: int, name: str) -> str | None:
        """A setting of all brokers, as the committed metadata of a node has it."""
        for resource, values in self.running[node_id].quorum.replay.image.configs.entries():
            if resource.type == BROKER_RESOURCE:
                return values.get(name)
        return None


@asynccontextmanager
async def controllers(voters: int, observers: int = 0, **settings: str) -> AsyncIterator[Controllers]:
    """Controllers that are formatted and not started; whatever runs at the end is ended."""
    nodes = Controllers(voters, observers, **settings)
    try:
        yield nodes
    finally:
        for node in nodes.running.values():
            await node.abandon()
            if node.stopped.done():
                node.stopped.exception()
