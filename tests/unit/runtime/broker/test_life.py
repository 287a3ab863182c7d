"""The driver of a broker's life: requests go out and come back as events, states and ends are told."""

from __future__ import annotations

import asyncio
from typing import Any

from barnabas.broker import lifecycle
from barnabas.broker.lifecycle import BrokerLife, BrokerState, LifeSettings
from barnabas.metadata.delta import MetadataDelta
from barnabas.metadata.image import EMPTY_IMAGE, Provenance
from barnabas.protocol.errors import ApiError, ErrorCode
from barnabas.protocol.messages.broker_heartbeat import BrokerHeartbeatRequest, BrokerHeartbeatResponse
from barnabas.protocol.messages.broker_registration import BrokerRegistrationRequest, BrokerRegistrationResponse
from barnabas.protocol.metadata_records.register_broker import RegisterBrokerRecord
from barnabas.protocol.schema import Message
from barnabas.runtime.broker.life import LifeDriver
from barnabas.runtime.clock import SystemClock
from barnabas.runtime.steady_clock import SteadyClock
from unit.controller.controlled_cluster import registration

EPOCH = 40


class Unreachable(ApiError):  # noqa: N818 (says what is the matter)
    code = ErrorCode.REQUEST_TIMED_OUT


class Controller:
    """Takes the broker in, and unfences it once it has seen itself."""

    def __init__(self, failures: int = 0) -> None:
        self.failures = failures
        self.asked: list[str] = []

    async def ask(self, request: Message, _timeout_ms: int) -> Any:
        self.asked.append(type(request).__name__)
        await asyncio.sleep(0)
        if self.failures:
            self.failures -= 1
            raise Unreachable
        if isinstance(request, BrokerRegistrationRequest):
            return BrokerRegistrationResponse(throttle_time_ms=0, error_code=0, broker_epoch=EPOCH)
        assert isinstance(request, BrokerHeartbeatRequest)
        has_seen = request.current_metadata_offset >= EPOCH
        return BrokerHeartbeatResponse(
            throttle_time_ms=0,
            error_code=0,
            is_caught_up=has_seen,
            is_fenced=not has_seen or request.want_fence,
            should_shut_down=request.want_shut_down,
        )


class Driven:
    def __init__(self, controller: Controller, **settings: Any) -> None:
        self.states: list[BrokerState] = []
        self.reasons: list[str] = []
        self.driver = LifeDriver(
            BrokerLife(registration(1), LifeSettings(**settings)),
            ask=controller.ask,
            clock=SteadyClock(SystemClock()),
            loop=asyncio.get_running_loop(),
            request_timeout_ms=1_000,
            entered=self._entered,
            gave_up=self.reasons.append,
        )

    def _entered(self, state: BrokerState) -> None:
        self.states.append(state)
        if state is BrokerState.RECOVERY:
            self.driver.receive(lifecycle.Recovered())

    def publish(self) -> None:
        """The metadata with this very incarnation in it."""
        own = self.driver.life.registration
        delta = MetadataDelta(EMPTY_IMAGE)
        delta.replay(
            RegisterBrokerRecord(
                broker_id=1,
                incarnation_id=own.incarnation_id,
                broker_epoch=EPOCH,
                end_points=[],
                features=[],
                rack=None,
            )
        )
        self.driver.publish(delta, delta.apply(Provenance(last_contained_offset=EPOCH)))

    async def until(self, state: BrokerState) -> None:
        async with asyncio.timeout(20):
            while not self.states or self.states[-1] is not state:
                await asyncio.sleep(0.001)


def test_a_broker_is_driven_from_its_registration_to_its_stop() -> None:
    async def scenario() -> None:
        controller = Controller(failures=2)
        driven = Driven(controller)
        driven.driver.receive(lifecycle.Started())
        while driven.driver.broker_epoch != EPOCH:
            await asyncio.sleep(0.001)
        driven.publish()
        await driven.until(BrokerState.RUNNING)
        driven.driver.receive(lifecycle.ShutdownRequested())
        await driven.until(BrokerState.SHUTTING_DOWN)
        driven.driver.close()
        assert controller.asked[:3] == ["BrokerRegistrationRequest"] * 3
        assert set(controller.asked[3:]) == {"BrokerHeartbeatRequest"}
        assert not driven.reasons

    asyncio.run(scenario())


def test_a_broker_that_gives_up_says_why_and_stops() -> None:
    async def scenario() -> None:
        driven = Driven(Controller(failures=10**6), initial_registration_timeout_ms=30)
        driven.driver.receive(lifecycle.Started())
        await driven.until(BrokerState.SHUTTING_DOWN)
        driven.driver.close()
        assert driven.reasons == ["the broker could not be registered within 30 ms"]

    asyncio.run(scenario())
