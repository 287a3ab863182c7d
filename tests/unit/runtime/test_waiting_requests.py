"""Produce and Fetch over real sockets: answers leave in the order of requests, however long one of them waits."""

from __future__ import annotations

import asyncio
import socket
from contextlib import closing
from struct import unpack
from typing import Any

from barnabas.protocol.api import APIS, ApiKey
from barnabas.protocol.framing import frame_request, read_response
from barnabas.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from barnabas.protocol.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from barnabas.protocol.schema import Message
from barnabas.records.batch import iterate_batches
from barnabas.runtime.metrics import Registry
from barnabas.runtime.socket_server import SocketServer
from barnabas.runtime.socket_settings import SocketSettings
from builders import make_batch
from unit.broker.hosting import LISTENER, NODE, OTHER, Hosting, produce_request, topic_id
from unit.runtime.scripted import VirtualClock

WAIT_MS = 60_000


class Talk:
    """A client that sends many requests before it looks at any answer."""

    def __init__(self, port: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._port = port
        self._asked: list[tuple[ApiKey, int]] = []
        self.socket = socket.socket()
        self.socket.setblocking(False)

    async def connect(self) -> None:
        await self._loop.sock_connect(self.socket, ("127.0.0.1", self._port))

    async def send(self, *requests: Message) -> None:
        frames = b""
        for request in requests:
            key = ApiKey(type(request).api_key or 0)
            version = APIS[key].versions[-1]
            frames += b"".join(frame_request(request, version, len(self._asked), "talk"))
            self._asked.append((key, version))
        await self._loop.sock_sendall(self.socket, frames)

    async def receive(self) -> tuple[int, Any]:
        """The next answer, with the number of its request."""
        (size,) = unpack(">i", await self._exactly(4))
        frame = await self._exactly(size)
        (number,) = unpack(">i", frame[:4])
        key, version = self._asked[number]
        return number, read_response(memoryview(frame), APIS[key].response, version)[1]

    async def _exactly(self, size: int) -> bytes:
        received = b""
        while len(received) < size:
            data = await self._loop.sock_recv(self.socket, size - len(received))
            assert data, "the server hung up"
            received += data
        return received

    async def is_silent(self) -> bool:
        """Whether nothing has come after the server has had its turns."""
        for _ in range(5):
            await asyncio.sleep(0)
        try:
            self.socket.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return True
        return False


def fetch(offset: int = 0) -> FetchRequest:
    partition = FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=10_000)
    topic = FetchTopic(topic_id=topic_id("t"), partitions=[partition])
    return FetchRequest(max_wait_ms=WAIT_MS, min_bytes=1, topics=[topic])


def latest() -> ListOffsetsRequest:
    asked = ListOffsetsPartition(partition_index=0, timestamp=-1)
    return ListOffsetsRequest(replica_id=-1, topics=[ListOffsetsTopic(name="t", partitions=[asked])])


async def serve(hosting: Hosting, clients: int) -> tuple[SocketServer, list[Talk]]:
    server = SocketServer(asyncio.get_running_loop(), VirtualClock(), SocketSettings(), Registry())
    _, port = server.listen(LISTENER, "127.0.0.1", 0, hosting.dispatcher)
    talks = [Talk(port) for _ in range(clients)]
    for talk in talks:
        await talk.connect()
    return server, talks


def test_a_fetch_that_waits_holds_back_what_its_connection_asks_next_and_nobody_else() -> None:
    async def run() -> None:
        hosting = Hosting()
        hosting.create()
        server, (consumer, producer) = await serve(hosting, 2)
        with closing(consumer.socket), closing(producer.socket):
            await consumer.send(fetch(0), latest(), fetch(0), latest())
            assert await consumer.is_silent()
            await producer.send(*(produce_request(make_batch(2)) for _ in range(3)))
            numbers = [await producer.receive() for _ in range(3)]
            offsets = [answer.responses[0].partition_responses[0].base_offset for _, answer in numbers]
            assert offsets == [0, 2, 4]
            first, second, third, fourth = [await consumer.receive() for _ in range(4)]
            assert [number for number, _ in (first, second, third, fourth)] == [0, 1, 2, 3]
            records = first[1].responses[0].partitions[0].records
            assert next(iterate_batches(records))[1].base_offset == 0
            assert fourth[1].topics[0].partitions[0].offset == 6
        await server.stop(0)

    asyncio.run(run())


def test_batches_of_a_connection_keep_their_order_while_one_waits_for_replicas_or_for_its_compression() -> None:
    async def run() -> None:
        hosting = Hosting()
        hosting.create(replicas=(NODE, OTHER))
        hosting.create("zipped", configs={"compression.type": "lz4"})
        server, (producer,) = await serve(hosting, 1)
        with closing(producer.socket):
            await producer.send(
                produce_request(make_batch(1), "zipped"),
                produce_request(make_batch(2), timeout_ms=WAIT_MS),
                produce_request(make_batch(3), timeout_ms=WAIT_MS, acks=1),
            )
            assert await producer.is_silent()
            leader = hosting.replicas.find_leader("t", 0)
            assert leader.log.log_end_offset == 0
            hosting.work_off_loop()
            assert (await producer.receive())[0] == 0
            assert await producer.is_silent()
            assert leader.log.log_end_offset == 2
            leader.follower_fetched(OTHER, 2)
            hosting.waiting_room.wake(leader.name)
            numbered = [await producer.receive() for _ in range(2)]
            assert [number for number, _ in numbered] == [1, 2]
            bases = [answer.responses[0].partition_responses[0].base_offset for _, answer in numbered]
            assert bases == [0, 2]
        await server.stop(0)

    asyncio.run(run())


def test_who_hangs_up_waits_no_longer() -> None:
    async def run() -> None:
        hosting = Hosting()
        hosting.create(replicas=(NODE, OTHER))
        server, (consumer, producer) = await serve(hosting, 2)
        await consumer.send(fetch(0))
        await producer.send(produce_request(make_batch(2), timeout_ms=WAIT_MS))
        while len(hosting.waiting_room) < 2:
            await asyncio.sleep(0)
        consumer.socket.close()
        producer.socket.close()
        while len(server):
            await asyncio.sleep(0)
        assert len(hosting.waiting_room) == 0
        await server.stop(0)

    asyncio.run(run())
