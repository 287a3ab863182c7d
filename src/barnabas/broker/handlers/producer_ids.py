"""InitProducerId: an id for a producer that is idempotent and has no transactions.

v0-v5 (6 may still change): 3 may name the id and epoch that the producer had, which matter to transactions only. An
asker who comes before the controller has sent ids waits for them. For transactional ids there is no coordinator here.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Final

from barnabas.broker.call import Call, Outcome, Pending
from barnabas.broker.producer_ids import BadBlock, ProducerIds
from barnabas.broker.routing import Route, ServedBy
from barnabas.protocol.api import APIS, ApiKey
from barnabas.protocol.errors import ApiError, ErrorCode
from barnabas.protocol.messages.allocate_producer_ids import AllocateProducerIdsRequest, AllocateProducerIdsResponse
from barnabas.protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from barnabas.protocol.schema import Message

LOG: Final = logging.getLogger(__name__)

VERSIONS: Final = APIS[ApiKey.INIT_PRODUCER_ID].versions
NO_ID: Final = -1
NO_EPOCH: Final = -1
# How long a controller may take to send ids before those who wait are told to ask again.
TIMEOUT_MS: Final = 5_000


class InitProducerId:
    """`ask` puts a request to the controller, `spawn` runs what waits for its answer."""

    def __init__(
        self,
        ask: Callable[[Message, int], Awaitable[Any]],
        spawn: Callable[[Coroutine[Any, Any, None]], object],
        *,
        broker_id: int,
        broker_epoch: Callable[[], int],
    ) -> None:
        self._ask = ask
        self._spawn = spawn
        self._broker_id = broker_id
        self._broker_epoch = broker_epoch
        self._ids = ProducerIds()
        self._waiting: list[Pending] = []
        self._is_asking = False

    @property
    def routes(self) -> tuple[Route, ...]:
        return (Route(ApiKey.INIT_PRODUCER_ID, VERSIONS, ServedBy.BROKER, self.handle),)

    def handle(self, request: InitProducerIdRequest, call: Call) -> Outcome:  # noqa: ARG002
        if (request.producer_id == NO_ID) != (request.producer_epoch == NO_EPOCH):
            return _refusal(ErrorCode.INVALID_REQUEST)
        if request.transactional_id is not None:
            has_name = bool(request.transactional_id)
            return _refusal(ErrorCode.COORDINATOR_NOT_AVAILABLE if has_name else ErrorCode.INVALID_REQUEST)
        producer_id = self._ids.take()
        self.prefetch()
        if producer_id is not None:
            return _answer(producer_id)
        pending = Pending()
        self._waiting.append(pending)
        return pending

    def prefetch(self) -> None:
        """Have a block of ids fetched, if that is due."""
        if self._ids.is_wanted and not self._is_asking:
            self._is_asking = True
            self._spawn(self._fetch())

    async def _fetch(self) -> None:
        try:
            await self._fetch_block()
        except (ApiError, BadBlock) as error:
            LOG.warning("no producer ids", extra={"reason": str(error)})
        except Exception as error:
            LOG.error("no producer ids", exc_info=error)
        # Whatever happened, those who wait are not left to wait.
        self._is_asking = False
        self._serve_waiting()

    async def _fetch_block(self) -> None:
        request = AllocateProducerIdsRequest(broker_id=self._broker_id, broker_epoch=self._broker_epoch())
        response: AllocateProducerIdsResponse = await self._ask(request, TIMEOUT_MS)
        code = ErrorCode(response.error_code)
        if code is not ErrorCode.NONE:
            raise BadBlock(f"the controller gives none: {code.name}")
        self._ids.add(response.producer_id_start, response.producer_id_len)

    def _serve_waiting(self) -> None:
        """Answer those who wait, with an id or with the wish that they come again."""
        waiting, self._waiting = self._waiting, []
        for pending in waiting:
            producer_id = self._ids.take()
            # Older clients take any other code for fatal.
            retry = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
            pending.complete(_refusal(retry) if producer_id is None else _answer(producer_id))
        if waiting:
            self.prefetch()


def _answer(producer_id: int) -> InitProducerIdResponse:
    return InitProducerIdResponse(throttle_time_ms=0, error_code=0, producer_id=producer_id, producer_epoch=0)


def _refusal(code: ErrorCode) -> InitProducerIdResponse:
    return InitProducerIdResponse(throttle_time_ms=0, error_code=code, producer_epoch=NO_EPOCH)
