"""The way to the active controller over real sockets: found, lost, moved, and given up in time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from barnabas.broker.api_versions import ApiVersions, Features
from barnabas.broker.call import Call, Outcome, Pending
from barnabas.broker.dispatch import Dispatcher
from barnabas.broker.routing import Route, ServedBy, build_table
from barnabas.protocol.api import ApiKey, Listener
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.allocate_producer_ids import AllocateProducerIdsRequest
from barnabas.protocol.messages.broker_heartbeat import BrokerHeartbeatRequest, BrokerHeartbeatResponse
from barnabas.raft.replica import Endpoint
from barnabas.runtime.broker.controller_channel import ControllerChannel, ControllerTooOld, ControllerUnreachable
from barnabas.runtime.clock import SystemClock
from barnabas.runtime.metrics import Registry
from barnabas.runtime.socket_server import SocketServer
from barnabas.runtime.socket_settings import SocketSettings

LONG_MS = 20_000
REQUEST = BrokerHeartbeatRequest(broker_id=1, current_metadata_offset=0, want_fence=False, want_shut_down=False)


class Controller:
    """Answers heartbeats, with NOT_CONTROLLER where it is not active. It knows no other API."""

    def __init__(self) -> None:
        self.is_active = True
        self.is_silent = False
        self.asked = 0
        self.server = SocketServer(asyncio.get_running_loop(), SystemClock(), SocketSettings(), Registry())
        versions = ApiVersions(Features)
        route = Route(ApiKey.BROKER_HEARTBEAT, range(3), ServedBy.CONTROLLER, self._handle)
        table = build_table(versions.routes, [route], listener=Listener.CONTROLLER)
        versions.advertise(table)
        _, port = self.server.listen("CONTROLLER", "127.0.0.1", 0, Dispatcher(table))
        self.endpoint = Endpoint("127.0.0.1", port)

    def _handle(self, _request: BrokerHeartbeatRequest, _call: Call) -> Outcome:
        self.asked += 1
        if self.is_silent:
            return Pending()
        code = ErrorCode.NONE if self.is_active else ErrorCode.NOT_CONTROLLER
        return BrokerHeartbeatResponse(throttle_time_ms=0, error_code=code, should_shut_down=False)


class World:
    def __init__(self) -> None:
        self.controllers = [Controller(), Controller()]
        self.leader: Endpoint | None = self.controllers[0].endpoint
        self.channel = ControllerChannel(lambda: self.leader, "test", request_timeout_ms=LONG_MS)

    async def ask(self, timeout_ms: int = LONG_MS) -> int:
        response: BrokerHeartbeatResponse = await self.channel.ask(REQUEST, timeout_ms)
        return response.error_code


@asynccontextmanager
async def world() -> AsyncIterator[World]:
    made = World()
    try:
        yield made
    finally:
        made.channel.close()
        for controller in made.controllers:
            await controller.server.stop(0)


def run(scenario: Callable[[World], Awaitable[None]]) -> None:
    async def within_reason() -> None:
        # Only a hang is cut off here: nothing is measured.
        async with asyncio.timeout(30), world() as made:
            await scenario(made)

    asyncio.run(within_reason())


def test_questions_share_a_connection_by_which_the_controllers_versions_are_known() -> None:
    async def scenario(world: World) -> None:
        assert world.channel.versions is None
        assert await asyncio.gather(*(world.ask() for _ in range(5))) == [0] * 5
        assert len(world.controllers[0].server) == 1
        assert world.channel.versions is not None
        assert world.channel.versions[ApiKey.BROKER_HEARTBEAT] == range(3)

    run(scenario)


def test_who_is_not_active_any_more_is_asked_again_until_another_one_is_known() -> None:
    async def scenario(world: World) -> None:
        first, second = world.controllers
        first.is_active = False
        asking = asyncio.ensure_future(world.ask())
        while first.asked < 2:
            await asyncio.sleep(0)
        world.leader = second.endpoint
        assert await asking == 0
        assert second.asked == 1

    run(scenario)


def test_a_controller_that_nobody_knows_yet_is_waited_for() -> None:
    async def scenario(world: World) -> None:
        world.leader = None
        asking = asyncio.ensure_future(world.ask())
        await asyncio.sleep(0)
        world.leader = world.controllers[1].endpoint
        assert await asking == 0

    run(scenario)


def test_a_connection_that_is_lost_is_made_again() -> None:
    async def scenario(world: World) -> None:
        first, second = world.controllers
        assert await world.ask() == 0
        await first.server.stop(0)
        asking = asyncio.ensure_future(world.ask())
        await asyncio.sleep(0)
        world.leader = second.endpoint
        assert await asking == 0

    run(scenario)


def test_what_no_controller_answers_in_time_is_given_up() -> None:
    async def scenario(world: World) -> None:
        world.controllers[0].is_silent = True
        with pytest.raises(ControllerUnreachable):
            await world.ask(timeout_ms=50)
        world.leader = None
        with pytest.raises(ControllerUnreachable, match="no controller is known"):
            await world.ask(timeout_ms=30)

    run(scenario)


def test_an_api_that_the_controller_does_not_serve_fails_at_once() -> None:
    async def scenario(world: World) -> None:
        with pytest.raises(ControllerTooOld):
            await world.channel.ask(AllocateProducerIdsRequest(broker_id=1), LONG_MS)

    run(scenario)


def test_who_closes_waits_for_nobody() -> None:
    async def scenario(world: World) -> None:
        world.controllers[0].is_silent = True
        asking = asyncio.ensure_future(world.ask())
        while not world.controllers[0].asked:
            await asyncio.sleep(0)
        world.channel.close()
        with pytest.raises(ControllerUnreachable):
            await asking

    run(scenario)


def test_versions_are_known_to_who_connects_ahead_and_nobody_to_connect_to_is_no_error() -> None:
    async def scenario(world: World) -> None:
        leader, world.leader = world.leader, None
        await world.channel.connect()
        assert world.channel.versions is None
        world.leader = leader
        await world.channel.connect()
        assert world.channel.versions is not None
        assert world.controllers[0].asked == 0

    run(scenario)


def test_a_controller_at_what_is_no_host_is_one_that_does_not_answer() -> None:
    async def scenario(world: World) -> None:
        world.leader = Endpoint("x" * 70, 9)
        with pytest.raises(ControllerUnreachable, match="is no host"):
            await world.ask(timeout_ms=50)

    run(scenario)
