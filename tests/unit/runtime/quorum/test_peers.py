"""Requests to other nodes end in one call each, over one connection a place that is made anew when it was lost."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from barnabas.broker.api_versions import ApiVersions, Features
from barnabas.broker.dispatch import Dispatcher
from barnabas.broker.routing import Route, ServedBy, build_table
from barnabas.protocol.api import ApiKey
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from barnabas.protocol.messages.vote import VoteRequest
from barnabas.protocol.schema import Message
from barnabas.raft.replica import Endpoint
from barnabas.runtime.metrics import Registry
from barnabas.runtime.quorum.peers import Peers
from barnabas.runtime.socket_server import SocketServer
from barnabas.runtime.socket_settings import SocketSettings
from controller_nodes import free_ports, run
from unit.runtime.scripted import VirtualClock
from unit.runtime.toy_service import ToyService

TIMEOUT_MS = 5_000


def heartbeat(number: int) -> HeartbeatRequest:
    return HeartbeatRequest(group_id="g", generation_id=number, member_id="m")


async def ask(peers: Peers, endpoint: Endpoint, request: Message) -> Message | ErrorCode:
    outcome: asyncio.Future[Message | ErrorCode] = asyncio.get_running_loop().create_future()
    peers.send(endpoint, request, outcome.set_result, outcome.set_result)
    return await outcome


def with_peers(scenario: Callable[[Peers, SocketServer, Endpoint], Awaitable[None]]) -> None:
    async def whole() -> None:
        server = SocketServer(asyncio.get_running_loop(), VirtualClock(), SocketSettings(), Registry())
        endpoint = Endpoint(*server.listen("L", "127.0.0.1", 0, ToyService().dispatcher))
        peers = Peers("us", TIMEOUT_MS)
        try:
            await scenario(peers, server, endpoint)
        finally:
            await peers.close()
            await server.stop(0)

    run(whole)


def test_requests_that_come_together_share_a_connection() -> None:
    async def scenario(peers: Peers, server: SocketServer, endpoint: Endpoint) -> None:
        answers = await asyncio.gather(*(ask(peers, endpoint, heartbeat(number)) for number in range(5)))
        assert [each.throttle_time_ms for each in answers if isinstance(each, HeartbeatResponse)] == list(range(5))
        assert len(server) == 1

    with_peers(scenario)


def test_a_connection_that_was_lost_is_made_anew() -> None:
    async def scenario(peers: Peers, server: SocketServer, endpoint: Endpoint) -> None:
        await ask(peers, endpoint, heartbeat(1))
        await server.stop(0)
        assert await ask(peers, endpoint, heartbeat(2)) is ErrorCode.NETWORK_EXCEPTION
        server.listen("L", endpoint.host, endpoint.port, ToyService().dispatcher)
        while isinstance(answer := await ask(peers, endpoint, heartbeat(3)), ErrorCode):
            assert answer is ErrorCode.NETWORK_EXCEPTION
        assert answer == HeartbeatResponse(error_code=0, throttle_time_ms=3)

    with_peers(scenario)


@pytest.mark.parametrize("host", ["127.0.0.1", "a" * 300 + ".example", "nul\0byte", ""])
def test_a_place_where_nobody_can_be_reached_is_a_failure_like_any_other(host: str) -> None:
    async def scenario(peers: Peers, _: SocketServer, __: Endpoint) -> None:
        nowhere = Endpoint(host, free_ports(1)[0])
        assert await ask(peers, nowhere, heartbeat(1)) is ErrorCode.NETWORK_EXCEPTION

    with_peers(scenario)


def test_what_the_other_side_does_not_serve_is_told_apart() -> None:
    async def scenario(peers: Peers, _: SocketServer, endpoint: Endpoint) -> None:
        request = VoteRequest(cluster_id=None, topics=[])
        assert await ask(peers, endpoint, request) is ErrorCode.UNSUPPORTED_VERSION

    with_peers(scenario)


def test_what_an_older_version_of_the_other_side_cannot_say_is_not_supported_by_it() -> None:
    async def scenario(peers: Peers, server: SocketServer, _: Endpoint) -> None:
        versions = ApiVersions(Features)
        route = Route(ApiKey.HEARTBEAT, range(3), ServedBy.BROKER, lambda *_: HeartbeatResponse(error_code=0))
        table = build_table(versions.routes, [route])
        versions.advertise(table)
        older = Endpoint(*server.listen("OLDER", "127.0.0.1", 0, Dispatcher(table)))
        assert isinstance(await ask(peers, older, heartbeat(1)), HeartbeatResponse)
        by_instance = heartbeat(1)
        by_instance.group_instance_id = "i"
        assert await ask(peers, older, by_instance) is ErrorCode.UNSUPPORTED_VERSION

    with_peers(scenario)


def test_a_request_that_is_none_in_any_version_says_nothing_of_the_other_side() -> None:
    async def scenario(peers: Peers, _: SocketServer, endpoint: Endpoint) -> None:
        assert await ask(peers, endpoint, heartbeat(1 << 40)) is ErrorCode.UNKNOWN_SERVER_ERROR

    with_peers(scenario)


def test_a_place_that_does_not_answer_or_refuses_is_told_of_once(caplog: pytest.LogCaptureFixture) -> None:
    codes = [ErrorCode.INCONSISTENT_CLUSTER_ID] * 3 + [ErrorCode.NONE, ErrorCode.INCONSISTENT_CLUSTER_ID]
    answers = iter([HeartbeatResponse(error_code=code) for code in codes])

    async def scenario(peers: Peers, server: SocketServer, _: Endpoint) -> None:
        versions = ApiVersions(Features)
        route = Route(ApiKey.HEARTBEAT, range(5), ServedBy.BROKER, lambda *_: next(answers))
        table = build_table(versions.routes, [route])
        versions.advertise(table)
        other_cluster = Endpoint(*server.listen("OTHER", "127.0.0.1", 0, Dispatcher(table)))
        nowhere = Endpoint("127.0.0.1", free_ports(1)[0])
        for number in range(len(codes)):
            await ask(peers, other_cluster, heartbeat(number))
            await ask(peers, nowhere, heartbeat(number))

    with caplog.at_level("INFO", logger="barnabas.runtime.quorum.peers"):
        with_peers(scenario)
    assert sorted(record.getMessage() for record in caplog.records) == ["no answer", "refused", "refused"]
    assert {vars(each)["error"] for each in caplog.records if each.levelname == "WARNING"} == {
        "INCONSISTENT_CLUSTER_ID"
    }
