"""Runs a broker's life: carries its requests to the active controller, keeps its timer, tells of its states."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Final, assert_never

from barnabas.broker import lifecycle
from barnabas.broker.lifecycle import BrokerLife, BrokerState, Effect, Event
from barnabas.metadata.delta import MetadataDelta
from barnabas.metadata.image import MetadataImage
from barnabas.ports.clock import Clock
from barnabas.protocol.errors import ApiError, ErrorCode
from barnabas.protocol.schema import Message
from barnabas.runtime.timers import DeadlineTimer

LOG: Final = logging.getLogger(__name__)

# Refusals that time mends by itself, and that are no news to anybody.
_PASSING: Final = (ErrorCode.NOT_CONTROLLER, ErrorCode.REQUEST_TIMED_OUT)


class LifeDriver:
    """`ask` puts a request to the active controller within a time, or raises an ApiError.

    `entered` is told of every state, `gave_up` of why the broker has to stop where it does not want to.
    """

    def __init__(
        self,
        life: BrokerLife,
        *,
        ask: Callable[[Message, int], Awaitable[Any]],
        clock: Clock,
        loop: asyncio.AbstractEventLoop,
        request_timeout_ms: int,
        entered: Callable[[BrokerState], None],
        gave_up: Callable[[str], None],
    ) -> None:
        self.life = life
        self._ask_controller = ask
        self._clock = clock
        self._loop = loop
        self._request_timeout_ms = request_timeout_ms
        self._entered = entered
        self._gave_up = gave_up
        self._events: list[Event] = []
        self._is_stepping = False
        self._request: asyncio.Task[None] | None = None
        self._timer = DeadlineTimer(loop, clock, lambda _: self.receive(lifecycle.TimerFired()))

    @property
    def broker_epoch(self) -> int:
        return self.life.broker_epoch

    def receive(self, event: Event) -> None:
        """Step with this event, now or when the present one is through."""
        self._events.append(event)
        if self._is_stepping:
            return
        self._is_stepping = True
        try:
            while self._events:
                for effect in self.life.step(self._events.pop(0), self._clock.now_ms()):
                    self._carry_out(effect)
        finally:
            self._is_stepping = False

    def publish(self, _delta: MetadataDelta, image: MetadataImage) -> None:
        """A step of the metadata, by which a broker knows that it has caught up with its own registration."""
        own = image.cluster.brokers.get(self.life.registration.broker_id)
        is_own = own is not None and own.incarnation_id == self.life.registration.incarnation_id
        version = image.features.metadata_version
        self.receive(
            lifecycle.MetadataPublished(
                image.provenance.last_contained_offset,
                own.epoch if own is not None and is_own else None,
                version is not None and version.has_cordoned_log_dirs,
            )
        )

    def close(self) -> None:
        self._timer.cancel()
        if self._request is not None:
            self._request.cancel()

    def _carry_out(self, effect: Effect) -> None:
        match effect:
            case lifecycle.Register(request):
                self._request = self._loop.create_task(self._ask(request, lifecycle.RegistrationAnswered))
            case lifecycle.SendHeartbeat(request):
                self._request = self._loop.create_task(self._ask(request, lifecycle.HeartbeatAnswered))
            case lifecycle.SetTimer(at_ms):
                self._timer.cancel()
                self._timer.arm(at_ms)
            case lifecycle.EnterState(state):
                LOG.info("broker state", extra={"state": state.name, "broker_epoch": self.life.broker_epoch})
                self._entered(state)
            case lifecycle.GiveUp(reason):
                self._gave_up(reason)
            case _:
                assert_never(effect)

    async def _ask(
        self,
        request: Message,
        answered: type[lifecycle.RegistrationAnswered] | type[lifecycle.HeartbeatAnswered],
    ) -> None:
        try:
            response = await self._ask_controller(request, self._request_timeout_ms)
        except ApiError as error:
            self._log_refusal(request, error.code, str(error))
            self.receive(lifecycle.RequestFailed(error.code))
            return
        except Exception as error:
            # Whatever it is, a broker that stopped asking would be fenced and never find out.
            LOG.error("controller not asked", exc_info=error, extra={"request": type(request).__name__})
            self.receive(lifecycle.RequestFailed(ErrorCode.UNKNOWN_SERVER_ERROR))
            return
        code = ErrorCode(response.error_code)
        if code is not ErrorCode.NONE:
            self._log_refusal(request, code, code.message)
        self.receive(answered(response))

    def _log_refusal(self, request: Message, code: ErrorCode, reason: str) -> None:
        level = logging.INFO if code in _PASSING else logging.WARNING
        LOG.log(
            level,
            "the controller refuses",
            extra={"request": type(request).__name__, "error": code.name, "why": reason},
        )
