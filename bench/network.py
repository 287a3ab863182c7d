"""Requests over sockets: Produce into a log and Fetch out of it, beside a bare server that moves the same bytes.

Both servers run in a process of their own and are driven by the same pipelining client. What is compared is the CPU
time that the server's process takes for a request, kernel included: it travels between machines better than rates do.
"""

from __future__ import annotations

import asyncio
import importlib.util
import multiprocessing
import os
import socket
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection as Pipe
from statistics import median
from struct import Struct as Layout
from typing import Any, cast

from barnabas.protocol.framing import frame_request
from barnabas.protocol.messages import fetch, produce
from barnabas.records.build import build_batch
from barnabas.records.record import Record
from barnabas.runtime.clock import SystemClock
from barnabas.runtime.metrics import Registry
from barnabas.runtime.socket_server import SocketServer
from barnabas.runtime.socket_settings import SocketSettings
from bench.hosted_topic import TOPIC, HostedTopic
from bench.measure import Row

TITLE = "network: CPU of the server for a request, five in flight"
IN_FLIGHT = 5
ROUNDS = 5
PARTITIONS = 6
SIZE = Layout(">i")
PRODUCE_VERSION, FETCH_VERSION = 11, 12


def run() -> list[Row]:
    loops = ["asyncio", "uvloop"] if importlib.util.find_spec("uvloop") else ["asyncio"]
    works = [
        ("Produce of 16 KiB", produce_frames(TOPIC, range(PARTITIONS), 16, 1000), 2_000),
        ("Produce of 1 MB", produce_frames(TOPIC, range(PARTITIONS), 1000, 1000), 60),
        ("Produce of 1 KiB", produce_frames(TOPIC, range(PARTITIONS), 1, 1000), 4_000),
        ("Fetch of 16 KiB", _fetch_frames(16 * 1024), 2_000),
        ("Fetch of 1 MB", _fetch_frames(1024 * 1024), 200),
    ]
    rows = []
    for name in loops:
        with _serving(serve_log, name) as ours:
            # What there is to fetch.
            _drive(ours.port, produce_frames(TOPIC, range(PARTITIONS), 16, 1000), 2_000)
            for work, frames, times in works:
                response_bytes = _response_bytes(ours.port, frames[0])
                with _serving(serve_bare, name, response_bytes) as bare:
                    rows.append(_compare(f"{work}, {name}", frames, times, ours, bare))
    return rows


class Served:
    """A server process, and what it says of its CPU time."""

    def __init__(self, port: int, pipe: Pipe) -> None:
        self.port = port
        self._pipe = pipe

    def cpu_s(self) -> float:
        self._pipe.send("cpu")
        return float(self._pipe.recv())


def _compare(work: str, frames: list[bytes], times: int, ours: Served, bare: Served) -> Row:
    ours_us: list[float] = []
    bare_us: list[float] = []
    for _ in range(ROUNDS):
        for served, taken in ((bare, bare_us), (ours, ours_us)):
            begin = served.cpu_s()
            _drive(served.port, frames, times)
            taken.append((served.cpu_s() - begin) / times * 1e6)
    ours_figure, bare_figure = median(ours_us), median(bare_us)
    return Row(work, "bare protocol", bare_figure, ours_figure, "µs", bare_figure / ours_figure)


# The client


def _drive(port: int, frames: list[bytes], times: int) -> None:
    """Ask `times` times, with a few requests ahead of their answers."""
    with socket.create_connection(("127.0.0.1", port)) as client:
        buffer = bytearray(4 * 1024 * 1024)
        sent = answered = 0
        while answered < times:
            while sent < times and sent - answered < IN_FLIGHT:
                client.sendall(frames[sent % len(frames)])
                sent += 1
            receive_response(client, buffer)
            answered += 1


def receive_response(client: socket.socket, buffer: bytearray) -> int:
    """Read one response; how many bytes it had."""
    view = memoryview(buffer)
    filled, wanted = 0, 4
    while filled < wanted:
        received = client.recv_into(view[filled:wanted])
        assert received, "the server hung up"
        filled += received
        if filled == 4:
            wanted = 4 + SIZE.unpack_from(buffer)[0]
    return wanted


def _response_bytes(port: int, frame: bytes) -> int:
    with socket.create_connection(("127.0.0.1", port)) as client:
        client.sendall(frame)
        return receive_response(client, bytearray(4 * 1024 * 1024))


def produce_frames(topic_name: str, partitions: Iterable[int], records: int, record_bytes: int) -> list[bytes]:
    """A request with one batch for each partition."""
    now_ms = SystemClock().now_ms()
    batch = build_batch([Record(i, now_ms + i, b"key-%04d" % i, os.urandom(record_bytes)) for i in range(records)])
    frames = []
    for partition in partitions:
        data = produce.PartitionProduceData(index=partition, records=memoryview(batch))
        topic = produce.TopicProduceData(name=topic_name, partition_data=[data])
        request = produce.ProduceRequest(acks=-1, timeout_ms=30_000, topic_data=[topic])
        frames.append(b"".join(frame_request(request, PRODUCE_VERSION, partition, "bench")))
    return frames


def _fetch_frames(max_bytes: int) -> list[bytes]:
    frames = []
    for partition in range(PARTITIONS):
        asked = fetch.FetchPartition(partition=partition, fetch_offset=0, partition_max_bytes=max_bytes)
        topic = fetch.FetchTopic(topic=TOPIC, partitions=[asked])
        request = fetch.FetchRequest(max_wait_ms=500, min_bytes=1, max_bytes=max_bytes, topics=[topic])
        frames.append(b"".join(frame_request(request, FETCH_VERSION, partition, "bench")))
    return frames


# The servers


@contextmanager
def _serving(serve: Callable[..., None], loop: str, *arguments: Any) -> Iterator[Served]:
    context = multiprocessing.get_context("spawn")
    near, far = context.Pipe()
    process = context.Process(target=serve, args=(far, loop, *arguments), daemon=True)
    process.start()
    # So that a server that failed is an end of file here and not silence.
    far.close()
    try:
        yield Served(near.recv(), near)
    finally:
        near.send("stop")
        process.join()


def _make_loop(name: str) -> asyncio.AbstractEventLoop:
    if name == "asyncio":
        return asyncio.new_event_loop()
    loop: asyncio.AbstractEventLoop = importlib.import_module("uvloop").new_event_loop()
    return loop


def _obey(loop: asyncio.AbstractEventLoop, pipe: Pipe) -> None:
    """Answer what the benchmark asks until it says to stop."""

    def on_question() -> None:
        if pipe.recv() == "cpu":
            pipe.send(time.process_time())
        else:
            loop.remove_reader(pipe.fileno())
            loop.stop()

    loop.add_reader(pipe.fileno(), on_question)
    loop.run_forever()
    loop.close()


def serve_log(pipe: Pipe, loop_name: str) -> None:
    """Real requests into and out of real logs, without a cluster around them."""
    loop = _make_loop(loop_name)
    with tempfile.TemporaryDirectory() as directory:
        clock = SystemClock()
        hosted = HostedTopic(f"{directory}/logs", PARTITIONS, clock.now_ms())
        server = SocketServer(loop, clock, SocketSettings(), Registry())
        _, port = server.listen("PLAINTEXT", "127.0.0.1", 0, hosted.dispatcher)
        pipe.send(port)
        _obey(loop, pipe)


def serve_bare(pipe: Pipe, loop_name: str, response_bytes: int) -> None:
    """The loop's own transport: looks at nothing but sizes, and answers each request with as many bytes as ours."""
    loop = _make_loop(loop_name)
    server = loop.run_until_complete(loop.create_server(lambda: BareProtocol(response_bytes), "127.0.0.1", 0))
    pipe.send(server.sockets[0].getsockname()[1])
    _obey(loop, pipe)


class BareProtocol(asyncio.Protocol):
    def __init__(self, response_bytes: int) -> None:
        self._response = SIZE.pack(response_bytes - 4) + bytes(response_bytes - 4)
        self._head = b""
        self._missing = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        position, answers = 0, 0
        while position < len(data):
            if self._missing:
                taken = min(self._missing, len(data) - position)
                self._missing -= taken
                position += taken
                answers += not self._missing
                continue
            head = self._head + data[position : position + 4 - len(self._head)]
            position += len(head) - len(self._head)
            self._head = head if len(head) < 4 else b""
            if len(head) == 4:
                (self._missing,) = SIZE.unpack(head)
        if answers:
            self._transport.write(self._response * answers)
