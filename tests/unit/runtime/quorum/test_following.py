"""A node without the controller role follows controllers over real sockets: what its subscribers hear, and when."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from itertools import pairwise
from random import Random

import pytest

from barnabas.metadata.bootstrap import DEFAULT_BOOTSTRAP
from barnabas.metadata.delta import MetadataDelta
from barnabas.metadata.image import EMPTY_IMAGE, MetadataImage
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.incremental_alter_configs import AlterableConfig, IncrementalAlterConfigsRequest
from barnabas.protocol.schema import Message
from barnabas.protocol.uuid import Uuid
from barnabas.raft.leader import Leader
from barnabas.raft.replica import Endpoint, ReplicaKey
from barnabas.runtime.clock import SystemClock
from barnabas.runtime.node_storage import NodeStorage
from barnabas.runtime.quorum import replay as replay_module
from barnabas.runtime.quorum.following import MetadataFollower
from barnabas.runtime.quorum.metadata_log import MetadataLog
from barnabas.runtime.quorum.part import QuorumPart
from barnabas.runtime.quorum.peers import Peers
from barnabas.runtime.quorum.replay import MetadataReplay
from barnabas.runtime.steady_clock import SteadyClock
from barnabas.sim.disk import SimDisk
from controller_nodes import CLUSTER_ID, DIRECTORY, Controllers, config_change, controllers, run

KEY = ReplicaKey(9, Uuid(b"o" * 16))
# A snapshot after every few records, and nothing kept that it makes superfluous.
SHORT = {
    "metadata.log.max.record.bytes.between.snapshots": "400",
    "metadata.max.retention.bytes": "1",
    "internal.metadata.log.segment.bytes": "600",
}


class CutPeers(Peers):
    """Peers behind a cable that can be pulled."""

    is_cut = False

    def send(
        self,
        endpoint: Endpoint,
        request: Message,
        answered: Callable[[Message], object],
        failed: Callable[[ErrorCode], object],
    ) -> None:
        if self.is_cut:
            asyncio.get_running_loop().call_soon(failed, ErrorCode.NETWORK_EXCEPTION)
        else:
            super().send(endpoint, request, answered, failed)


class WatchedReplay(MetadataReplay):
    """Notes at which turn of the loop each piece of an installed snapshot is loaded."""

    def __init__(self, log: MetadataLog) -> None:
        super().__init__(log)
        self.turn = 0
        self.turns_of_pieces: list[int] = []

    def count_turns(self) -> None:
        self.turn += 1
        asyncio.get_running_loop().call_soon(self.count_turns)

    def load_snapshot_piece(self) -> bool:
        self.turns_of_pieces.append(self.turn)
        return super().load_snapshot_piece()


class Observer:
    """A node of the broker role as far as it follows the quorum, and all that its subscriber has heard."""

    def __init__(self, nodes: Controllers, disk: SimDisk, settings: Mapping[str, str]) -> None:
        loop = asyncio.get_running_loop()
        roles = {"process.roles": "broker", "node.id": str(KEY.id), "listeners": "PLAINTEXT://127.0.0.1:0"}
        self.heard: list[tuple[MetadataDelta, MetadataImage]] = []
        self.failures: list[Exception] = []
        self.part = QuorumPart(
            nodes.config(1, **roles, **settings),
            NodeStorage(CLUSTER_ID, KEY.directory_id, DEFAULT_BOOTSTRAP, (), None),
            disk,
            clock=SteadyClock(SystemClock()),
            loop=loop,
            rng=Random(9),
            failed=self.failures.append,
        )
        self.peers = self.part.peers = CutPeers("raft-client-9", self.part.settings.request_timeout_ms)
        self.replay = self.part.replay = WatchedReplay(self.part.log)
        self.follower = MetadataFollower(self.replay, loop=loop)
        self.follower.subscribe(lambda delta, image: self.heard.append((delta, image)))
        self.part.join(self.follower, {})
        self.log = self.part.log

    async def close(self) -> None:
        await self.part.abandon()
        assert self.failures == []


@asynccontextmanager
async def observing(nodes: Controllers, disk: SimDisk, **settings: str) -> AsyncIterator[Observer]:
    observer = Observer(nodes, disk, settings)
    try:
        observer.part.start()
        yield observer
    finally:
        await observer.close()


def formatted() -> SimDisk:
    disk = SimDisk()
    disk.make_directory(DIRECTORY)
    return disk


async def change(nodes: Controllers, name: str, value: str | None) -> int:
    """Set a setting of all brokers, or take it out; where the log then ends."""
    request: IncrementalAlterConfigsRequest = config_change(name, value or "")
    if value is None:
        request.resources[0].configs = [AlterableConfig(name=name, config_operation=1, value=None)]
    active = await nodes.active()
    (answer,) = (await nodes.ask(active, request)).responses
    assert answer.error_code == ErrorCode.NONE, answer
    return nodes.offset(active)


def settings_of(image: MetadataImage) -> dict[str, str]:
    return {name: value for values in image.configs.contents() for name, value in values.entries()}


def changes_of(delta: MetadataDelta) -> dict[str, str | None]:
    return {name: value for inner in delta.configs.changes.values() for name, value in inner.changes.items()}


def test_an_observer_hears_the_whole_once_it_has_caught_up_and_then_every_change() -> None:
    async def scenario() -> None:
        async with controllers(3) as nodes:
            nodes.start()
            for number in range(3):
                end = await change(nodes, "log.retention.ms", str(1000 + number))
            async with observing(nodes, formatted()) as observer:
                await nodes.until(lambda: observer.follower.is_caught_up and observer.replay.next_offset >= end)
                first, image = observer.heard[0]
                assert first.base is EMPTY_IMAGE
                assert first.apply(image.provenance) == image
                assert all(delta.base is before for (_, before), (delta, _) in pairwise(observer.heard))
                end = await change(nodes, "log.retention.bytes", "77")
                await nodes.until(lambda: observer.replay.next_offset >= end)
                delta, image = next(each for each in observer.heard if "log.retention.bytes" in changes_of(each[0]))
                assert changes_of(delta) == {"log.retention.bytes": "77"}
                assert settings_of(image) == {"log.retention.ms": "1002", "log.retention.bytes": "77"}
                late: list[MetadataImage] = []
                observer.follower.subscribe(lambda _, image: late.append(image))
                assert late == [observer.replay.image]
                role = nodes.running[await nodes.active()].quorum.raft.role
                assert isinstance(role, Leader)
                assert KEY in role.observers
                assert role.voters.keys() == {1, 2, 3}

    run(scenario)


def test_an_observer_makes_snapshots_of_its_own_and_starts_from_them() -> None:
    async def scenario() -> None:
        async with controllers(3) as nodes:
            nodes.start()
            disk = formatted()
            async with observing(nodes, disk, **SHORT) as observer:
                await nodes.until(lambda: observer.follower.is_caught_up)
                for number in range(10):
                    end = await change(nodes, "log.retention.ms", str(1000 + number))
                    await nodes.until(lambda: observer.replay.next_offset >= end)  # noqa: B023
                await nodes.until(lambda: observer.log.start_offset > 0)
                assert observer.replay.turns_of_pieces == [], "it follows the log: the snapshot is its own"
            # It has never flushed the log, and needs no more of it than what is behind the snapshot.
            async with observing(nodes, disk.after_power_cut(Random(0)), **SHORT) as again:
                assert again.replay.next_offset > 0
                assert again.heard == []
                await nodes.until(lambda: again.follower.is_caught_up and again.replay.next_offset >= end)
                assert settings_of(again.heard[-1][1]) == {"log.retention.ms": "1009"}

    run(scenario)


def test_an_installed_snapshot_is_loaded_in_turns_and_tells_what_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replay_module, "PIECE_RECORDS", 2)

    async def scenario() -> None:
        async with controllers(3, 0, **SHORT) as nodes:
            nodes.start()
            await change(nodes, "log.retention.ms", "5")
            end = await change(nodes, "log.retention.bytes", "6")
            async with observing(nodes, formatted()) as observer:
                await nodes.until(lambda: observer.follower.is_caught_up and observer.replay.next_offset >= end)
                observer.peers.is_cut = True
                await change(nodes, "log.retention.bytes", None)
                number = 0
                # Each makes its snapshots at its own time, when something is committed.
                while any(node.quorum.log.start_offset <= observer.log.end.offset for node in nodes.running.values()):
                    number += 1
                    end = await change(nodes, "num.partitions", str(number))
                heard = len(observer.heard)
                observer.replay.turns_of_pieces.clear()
                observer.replay.count_turns()
                observer.peers.is_cut = False
                await nodes.until(lambda: observer.replay.next_offset >= end)
                turns = observer.replay.turns_of_pieces
                assert len(turns) > 2
                assert all(later > earlier for earlier, later in pairwise(turns))
                delta, image = observer.heard[heard]
                assert delta.base is observer.heard[heard - 1][1]
                assert image.provenance.last_contained_offset + 1 == observer.log.start_offset
                assert {**changes_of(delta), "num.partitions": str(number)} == {
                    "log.retention.bytes": None,
                    "num.partitions": str(number),
                }
                assert settings_of(observer.replay.image) == {"log.retention.ms": "5", "num.partitions": str(number)}

    run(scenario)
