"""Connections to other nodes: responses to those who asked, and a clean failure for everybody when it breaks."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from barnabas.protocol.framing import frame_request, frame_response
from barnabas.protocol.messages.api_versions import ApiVersion, ApiVersionsResponse
from barnabas.protocol.messages.fetch import FetchRequest
from barnabas.protocol.messages.find_coordinator import FindCoordinatorRequest
from barnabas.protocol.messages.heartbeat import HeartbeatRequest
from barnabas.protocol.messages.vote import VoteRequest
from barnabas.runtime.metrics import Registry
from barnabas.runtime.peer import Peer, PeerLost, PeerTimeout, UnsupportedByPeer
from barnabas.runtime.socket_server import SocketServer
from barnabas.runtime.socket_settings import SocketSettings
from unit.runtime.scripted import VirtualClock
from unit.runtime.toy_service import ToyService, ask_at_once

LONG_MS = 60_000


def heartbeat(number: int) -> HeartbeatRequest:
    return HeartbeatRequest(group_id="g", generation_id=number, member_id="m")


def run(scenario: Callable[[], Awaitable[None]]) -> None:
    async def within_reason() -> None:
        async with asyncio.timeout(30):
            await scenario()

    asyncio.run(within_reason())


@asynccontextmanager
async def connected() -> AsyncIterator[tuple[Peer, ToyService]]:
    """A peer that is one of our own servers."""
    service = ToyService()
    server = SocketServer(asyncio.get_running_loop(), VirtualClock(), SocketSettings(), Registry())
    _, port = server.listen("L", "127.0.0.1", 0, service.dispatcher)
    peer = await Peer.connect("127.0.0.1", port, timeout_ms=LONG_MS, client_id="us")
    try:
        yield peer, service
    finally:
        peer.close("the test is over")
        await server.stop(grace_ms=0)


class RawPeer:
    """The other end of a peer, to be played by the test byte by byte."""

    def __init__(self, peer: Peer, end: socket.socket) -> None:
        self.peer = peer
        self.end = end


@asynccontextmanager
async def played() -> AsyncIterator[RawPeer]:
    near, far = socket.socketpair()
    near.setblocking(False)
    far.setblocking(False)
    peer = Peer(near, "played:1", None, 1_000_000)
    try:
        yield RawPeer(peer, far)
    finally:
        peer.close("the test is over")
        far.close()


def test_requests_go_out_together_and_each_gets_its_own_response() -> None:
    async def scenario() -> None:
        async with connected() as (peer, _):
            futures = [peer.send(heartbeat(number), 4, LONG_MS) for number in range(100)]
            responses = await asyncio.gather(*futures)
            assert [response.throttle_time_ms for response in responses] == list(range(100))

    run(scenario)


def test_records_in_a_response_stay_as_they_are() -> None:
    async def scenario() -> None:
        async with connected() as (peer, service):
            request = FetchRequest(max_wait_ms=0, min_bytes=0, topics=[])
            kept = []
            for number in range(20):
                service.fetched = bytes([number]) * (10_000 * number)
                response = await peer.send(request, 12, LONG_MS)
                kept.append(response.responses[0].partitions[0].records)
            assert [bytes(records) for records in kept] == [bytes([n]) * (10_000 * n) for n in range(20)]

    run(scenario)


@settings(max_examples=20)
@given(cuts=st.lists(st.integers(1, 400), max_size=12), count=st.integers(1, 12))
def test_responses_may_arrive_in_any_pieces(cuts: list[int], count: int) -> None:
    async def scenario() -> None:
        async with played() as raw:
            futures = [raw.peer.send(heartbeat(number), 4, LONG_MS) for number in range(count)]
            data = b"".join(ask_at_once(number + 1, number)[1] for number in range(count))
            for start, end in zip([0, *sorted(cuts)], [*sorted(cuts), len(data)], strict=True):
                raw.end.sendall(data[start:end])
                await asyncio.sleep(0)
            responses = await asyncio.gather(*futures)
            assert [response.throttle_time_ms for response in responses] == list(range(count))

    run(scenario)


def test_versions_are_agreed_on() -> None:
    async def scenario() -> None:
        async with connected() as (peer, _):
            await peer.negotiate(LONG_MS)
            assert peer.newest_version(HeartbeatRequest) == 4
            with pytest.raises(UnsupportedByPeer, match="share no version of VoteRequest"):
                peer.newest_version(VoteRequest)

    run(scenario)


def test_an_older_peer_is_asked_again_in_its_own_version() -> None:
    async def receive_header(end: socket.socket) -> tuple[int, ...]:
        loop = asyncio.get_running_loop()
        (size,) = struct.unpack(">i", await loop.sock_recv(end, 4))
        return struct.unpack_from(">hhi", await loop.sock_recv(end, size))

    async def scenario() -> None:
        async with played() as raw:
            negotiating = asyncio.ensure_future(raw.peer.negotiate(LONG_MS))
            assert await receive_header(raw.end) == (18, 4, 1)
            own = ApiVersion(api_key=18, min_version=0, max_version=2)
            refusal = ApiVersionsResponse(error_code=35, api_keys=[own])
            raw.end.sendall(b"".join(frame_response(refusal, 0, 1)))
            assert await receive_header(raw.end) == (18, 2, 2)
            older = ApiVersion(api_key=12, min_version=0, max_version=3)
            offered = ApiVersionsResponse(error_code=0, api_keys=[older])
            raw.end.sendall(b"".join(frame_response(offered, 2, 2)))
            await negotiating
            assert raw.peer.newest_version(HeartbeatRequest) == 3

    run(scenario)


def test_when_the_peer_is_gone_everything_awaited_fails_and_so_does_what_comes_after() -> None:
    async def scenario() -> None:
        async with played() as raw:
            futures = [raw.peer.send(heartbeat(number), 4, LONG_MS) for number in range(3)]
            raw.end.close()
            for future in futures:
                with pytest.raises(PeerLost):
                    await future
            assert raw.peer.is_closed
            with pytest.raises(PeerLost, match="is closed"):
                await raw.peer.send(heartbeat(4), 4, LONG_MS)

    run(scenario)


def test_a_response_that_is_late_ends_the_connection() -> None:
    async def scenario() -> None:
        async with connected() as (peer, _):
            late = peer.send(FindCoordinatorRequest(key="never"), 3, 1)
            behind = peer.send(heartbeat(1), 4, LONG_MS)
            with pytest.raises(PeerTimeout, match=r"no FindCoordinatorResponse from 127\.0\.0\.1:\d+ within 1 ms"):
                await late
            with pytest.raises(PeerLost):
                await behind
            assert peer.is_closed

    run(scenario)


def test_a_response_that_nobody_waits_for_any_more_is_passed_over() -> None:
    async def scenario() -> None:
        async with connected() as (peer, _):
            given_up, wanted = peer.send(heartbeat(1), 4, LONG_MS), peer.send(heartbeat(2), 4, LONG_MS)
            given_up.cancel()
            assert (await wanted).throttle_time_ms == 2

    run(scenario)


@pytest.mark.parametrize(
    "data",
    [
        struct.pack(">i", -1),
        struct.pack(">i", 1_000_001),
        struct.pack(">i", 2) + b"ab",
        ask_at_once(99, 0)[1],
        ask_at_once(2, 0)[1],
        struct.pack(">iib", 6, 1, 0) + b"\x00",
    ],
    ids=["negative", "oversized", "no header", "not asked", "out of order", "cut short"],
)
def test_nonsense_ends_the_connection(data: bytes) -> None:
    async def scenario() -> None:
        async with played() as raw:
            futures = [raw.peer.send(heartbeat(number), 4, LONG_MS) for number in range(2)]
            raw.end.sendall(data)
            for future in futures:
                with pytest.raises(PeerLost):
                    await future

    run(scenario)


def test_a_large_request_leaves_as_the_peer_takes_it() -> None:
    async def scenario() -> None:
        async with played() as raw:
            large = FindCoordinatorRequest(key_type=0, coordinator_keys=["k" * 30_000] * 100)
            futures = [raw.peer.send(large, 4, LONG_MS), raw.peer.send(heartbeat(1), 4, LONG_MS)]
            expected = b"".join([*frame_request(large, 4, 1, None), *frame_request(heartbeat(1), 4, 2, None)])
            received = b""
            while len(received) < len(expected):
                received += await asyncio.get_running_loop().sock_recv(raw.end, 100_000)
            assert received == expected
            raw.peer.close("enough")
            for future in futures:
                with pytest.raises(PeerLost, match="enough"):
                    await future

    run(scenario)


def test_nobody_there_is_said_with_the_address() -> None:
    async def scenario() -> None:
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            port = taken.getsockname()[1]
            with pytest.raises(PeerLost, match=f"no connection to 127.0.0.1:{port}"):
                await Peer.connect("127.0.0.1", port, timeout_ms=LONG_MS)

    run(scenario)
