"""The server on real sockets: many clients, slow ones, rude ones, too many, and the stop."""

from __future__ import annotations

import asyncio
import os
import random
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from barnabas.log.segment import FileRegion
from barnabas.runtime.disk import PosixDisk
from barnabas.runtime.metrics import Registry
from barnabas.runtime.socket_server import SocketServer
from barnabas.runtime.socket_settings import SocketSettings
from unit.runtime.scripted import VirtualClock
from unit.runtime.toy_service import ToyService, ask_at_once, ask_later, get, put

IDLE_MS = 10_000


class ServedNode:
    """A server with a listener for clients and one for brokers, under a clock that stands still."""

    def __init__(self, **settings: Any) -> None:
        self.clock = VirtualClock()
        self.service = ToyService()
        self.registry = Registry()
        loop = asyncio.get_running_loop()
        chosen = SocketSettings(connections_max_idle_ms=IDLE_MS, **settings)
        self.server = SocketServer(loop, self.clock, chosen, self.registry, protected_listener="INTERNAL")
        _, self.port = self.server.listen("CLIENTS", "127.0.0.1", 0, self.service.dispatcher)
        _, self.internal_port = self.server.listen("INTERNAL", "127.0.0.1", 0, self.service.dispatcher)
        self.clients: list[TestClient] = []

    async def connect(self, port: int | None = None, **options: int) -> TestClient:
        client = TestClient(**options)
        self.clients.append(client)
        await client.connect(port or self.port)
        return client


class TestClient:
    __test__ = False

    def __init__(self, receive_buffer_bytes: int = 0) -> None:
        self.socket = socket.socket()
        self.socket.setblocking(False)
        if receive_buffer_bytes:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer_bytes)
        self._loop = asyncio.get_running_loop()

    async def connect(self, port: int) -> None:
        await self._loop.sock_connect(self.socket, ("127.0.0.1", port))

    async def send(self, data: bytes) -> None:
        await self._loop.sock_sendall(self.socket, data)

    async def receive(self, size: int) -> bytes:
        received = b""
        while len(received) < size:
            data = await self._loop.sock_recv(self.socket, size - len(received))
            if not data:
                return received
            received += data
        return received

    async def ask(self, pair: tuple[bytes, bytes]) -> None:
        """Send a request and get its answer."""
        await self.send(pair[0])
        assert await self.receive(len(pair[1])) == pair[1]

    async def is_ended(self) -> bool:
        try:
            return await self._loop.sock_recv(self.socket, 1) == b""
        except ConnectionResetError:
            return True


@asynccontextmanager
async def serving(**settings: Any) -> AsyncIterator[ServedNode]:
    node = ServedNode(**settings)
    try:
        yield node
    finally:
        for client in node.clients:
            client.socket.close()
        await node.server.stop(grace_ms=0)
        assert node.server.memory.used_bytes == 0


def run(scenario: Callable[[], Awaitable[None]]) -> None:
    async def within_reason() -> None:
        # Only a hang is cut off here: nothing is measured.
        async with asyncio.timeout(30):
            await scenario()

    asyncio.run(within_reason())


async def settle(is_settled: Callable[[], bool]) -> None:
    """Give the loop turns until something has come about."""
    while not is_settled():
        await asyncio.sleep(0)


def test_clients_are_served_side_by_side() -> None:
    async def scenario() -> None:
        async with serving() as node:
            first, second = await node.connect(), await node.connect()
            await first.send(ask_later(1, "later")[0])
            await settle(lambda: bool(node.service.promises))
            for number in range(5):
                await second.ask(ask_at_once(number, number))
            node.service.keep_promises()
            answer = ask_later(1, "later")[1]
            assert await first.receive(len(answer)) == answer

    run(scenario)


def test_a_slow_reader_gets_every_byte_and_holds_up_nobody(tmp_path: Path) -> None:
    content = os.urandom(2_000_000)
    (tmp_path / "0.log").write_bytes(content)

    async def scenario() -> None:
        async with serving() as node:
            file = PosixDisk().open(str(tmp_path / "0.log"))
            node.service.fetched = FileRegion(file, 0, len(content))
            slow, other = await node.connect(receive_buffer_bytes=4096), await node.connect()
            expected = get(1, content)[1] * 3
            await slow.send(get(1)[0] * 3)
            received = b""
            number = 0
            while len(received) < len(expected):
                received += await slow.receive(min(300_000, len(expected) - len(received)))
                number += 1
                await other.ask(ask_at_once(number, number))
            assert received == expected
            file.close()

    run(scenario)


def test_a_client_that_is_gone_in_the_middle_of_an_answer_is_forgotten() -> None:
    async def scenario() -> None:
        async with serving() as node:
            node.service.fetched = bytes(20_000_000)
            rude, other = await node.connect(receive_buffer_bytes=4096), await node.connect()
            await rude.send(get(1)[0])
            assert await rude.receive(1_000)
            rude.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            rude.socket.close()
            await settle(lambda: len(node.server) == 1)
            await other.ask(ask_at_once(2, 2))

    run(scenario)


def test_idle_connections_are_closed_and_those_that_await_an_answer_are_not() -> None:
    async def scenario() -> None:
        async with serving() as node:
            idle, waiting, active = await node.connect(), await node.connect(), await node.connect()
            await waiting.send(ask_later(1, "key")[0])
            await settle(lambda: bool(node.service.promises))
            node.clock.ms += IDLE_MS - 1
            assert node.server.close_idle() == 1
            await active.ask(ask_at_once(2, 2))
            node.clock.ms += 1
            assert node.server.close_idle() == IDLE_MS - 1
            assert await idle.is_ended()
            assert len(node.server) == 2
            node.service.keep_promises()
            answer = ask_later(1, "key")[1]
            assert await waiting.receive(len(answer)) == answer

    run(scenario)


def test_half_a_frame_has_a_deadline_that_trickling_does_not_move() -> None:
    async def scenario() -> None:
        async with serving() as node:
            slow = await node.connect()
            data = put(1, bytes(1_000_000), acks=1)[0]
            await slow.send(data[:10])
            await settle(lambda: node.server.memory.used_bytes == len(data))
            for byte in data[10:20]:
                node.clock.ms += IDLE_MS // 10
                await slow.send(bytes([byte]))
                await asyncio.sleep(0)
            node.server.close_idle()
            assert await slow.is_ended()
            assert node.server.memory.used_bytes == 0

    run(scenario)


def test_a_reader_that_has_stopped_reading_has_a_deadline() -> None:
    async def scenario() -> None:
        async with serving() as node:
            node.service.fetched = bytes(20_000_000)
            stuck = await node.connect(receive_buffer_bytes=4096)
            await stuck.send(get(1)[0])
            assert await stuck.receive(100)
            node.clock.ms += IDLE_MS
            node.server.close_idle()
            assert len(node.server) == 0

    run(scenario)


def test_a_connection_too_many_waits_until_one_leaves() -> None:
    async def scenario() -> None:
        async with serving(max_connections=1) as node:
            first = await node.connect()
            await first.ask(ask_at_once(1, 1))
            # The kernel has taken it, we have not.
            second = await node.connect()
            await second.send(ask_at_once(2, 2)[0])
            await first.ask(ask_at_once(3, 3))
            assert len(node.server) == 1
            first.socket.close()
            answer = ask_at_once(2, 2)[1]
            assert await second.receive(len(answer)) == answer

    run(scenario)


def test_a_broker_takes_the_place_of_the_client_that_was_silent_longest() -> None:
    async def scenario() -> None:
        async with serving(max_connections=2) as node:
            first, second = await node.connect(), await node.connect()
            await second.ask(ask_at_once(1, 1))
            await first.ask(ask_at_once(1, 1))
            broker = await node.connect(node.internal_port)
            await broker.ask(ask_at_once(2, 2))
            assert await second.is_ended()
            await first.ask(ask_at_once(3, 3))

    run(scenario)


def test_connections_of_an_address_beyond_its_limit_are_closed() -> None:
    async def scenario() -> None:
        async with serving(max_connections_per_ip=5, max_connections_per_ip_overrides={"127.0.0.1": 1}) as node:
            first = await node.connect()
            await first.ask(ask_at_once(1, 1))
            second = await node.connect()
            assert await second.is_ended()
            await first.ask(ask_at_once(2, 2))
            assert node.registry.counter("connections_rejected").value == 1

    run(scenario)


@pytest.mark.parametrize("seed", range(20))
def test_garbage_does_not_stop_the_server(seed: int) -> None:
    rng = random.Random(seed)
    sound = [ask_at_once(1, 1)[0], ask_later(2, "key")[0], put(3, bytes(50), acks=1)[0], get(4)[0]]

    def garbage() -> bytes:
        data = bytearray(rng.choice([rng.randbytes(rng.randrange(1, 2_000)), rng.choice(sound)]))
        for _ in range(rng.randrange(4)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        # A size that may be right lets the rest be looked at.
        return rng.choice([bytes(data), struct.pack(">i", len(data)) + data])

    async def scenario() -> None:
        async with serving() as node:
            for _ in range(10):
                rude = await node.connect()
                await rude.send(garbage())
                rude.socket.close()
            await settle(lambda: len(node.server) == 0 or bool(node.service.promises))
            node.service.keep_promises()
            await (await node.connect()).ask(ask_at_once(9, 9))

    run(scenario)


def test_a_stop_lets_what_is_under_way_be_answered_and_takes_nothing_more() -> None:
    async def scenario() -> None:
        async with serving() as node:
            waiting, idle = await node.connect(), await node.connect()
            await waiting.send(ask_later(1, "key")[0])
            await settle(lambda: bool(node.service.promises))
            stopping = asyncio.ensure_future(node.server.stop(grace_ms=60_000))
            assert await idle.is_ended()
            with pytest.raises(ConnectionRefusedError):
                await node.connect()
            assert not stopping.done()
            node.service.keep_promises()
            answer = ask_later(1, "key")[1]
            assert await waiting.receive(len(answer)) == answer
            await stopping
            assert await waiting.is_ended()

    run(scenario)


def test_a_stop_without_grace_leaves_nobody() -> None:
    async def scenario() -> None:
        async with serving() as node:
            waiting = await node.connect()
            await waiting.send(ask_later(1, "key")[0])
            await settle(lambda: bool(node.service.promises))
            await node.server.stop(grace_ms=0)
            assert await waiting.is_ended()
            # What is completed now is for nobody.
            node.service.keep_promises()

    run(scenario)


def test_a_port_that_is_taken_is_an_error_of_the_start() -> None:
    async def scenario() -> None:
        async with serving() as node:
            with pytest.raises(OSError, match="in use"):
                node.server.listen("OTHER", "127.0.0.1", node.port, node.service.dispatcher)

    run(scenario)


def test_who_connects_too_early_is_served_when_the_node_accepts() -> None:
    async def scenario() -> None:
        async with serving() as node:
            _, port = node.server.listen("EARLY", "127.0.0.1", 0, node.service.dispatcher, is_accepting=False)
            early = await node.connect(port)
            request, answer = ask_at_once(1, 1)
            await early.send(request)
            # Another one comes, is served and goes, which must not open the listener by the way.
            other = await node.connect()
            await other.ask(ask_at_once(2, 2))
            other.socket.close()
            await settle(lambda: len(node.server) == 0)
            node.server.accept()
            assert await early.receive(len(answer)) == answer

    run(scenario)


def test_a_limit_that_is_raised_lets_those_in_who_wait() -> None:
    async def scenario() -> None:
        async with serving(max_connections=1) as node:
            first = await node.connect()
            await first.ask(ask_at_once(1, 1))
            second = await node.connect()
            request, answer = ask_at_once(2, 2)
            await second.send(request)
            node.server.reconfigure(SocketSettings(max_connections=2))
            assert await second.receive(len(answer)) == answer

    run(scenario)
