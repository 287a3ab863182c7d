"""Producer ids: each is given out once, blocks come before they are needed, and bad ones are refused."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.broker.call import Call, Client, Pending
from barnabas.broker.handlers.producer_ids import InitProducerId
from barnabas.broker.producer_ids import BadBlock, ProducerIds
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.allocate_producer_ids import AllocateProducerIdsRequest, AllocateProducerIdsResponse
from barnabas.protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from barnabas.protocol.messages.request_header import RequestHeader
from barnabas.protocol.schema import Message

HEADER = RequestHeader(request_api_key=22, request_api_version=5, correlation_id=1, client_id=None)
CALL = Call(HEADER, 5, Client("c", "127.0.0.1", 1, "L"), 0)


@given(st.lists(st.integers(1, 20), min_size=1, max_size=5), st.integers(0, 120))
def test_ids_are_those_of_the_blocks_in_their_order_and_each_is_given_once(sizes: list[int], count: int) -> None:
    ids = ProducerIds()
    expected: list[int | None] = []
    start = 0
    for size in sizes:
        ids.add(start, size)
        expected += range(start, start + size)
        start += size + 3
    given_out = [ids.take() for _ in range(count)]
    assert given_out == [*expected, *[None] * count][:count]


def test_a_block_is_wanted_when_a_tenth_of_the_last_is_left() -> None:
    ids = ProducerIds()
    assert ids.is_wanted
    ids.add(0, 100)
    for _ in range(89):
        ids.take()
    assert not ids.is_wanted
    ids.take()
    assert ids.is_wanted
    ids.add(100, 100)
    assert not ids.is_wanted


@pytest.mark.parametrize(("start", "length"), [(99, 10), (0, 10), (100, 0), (100, -1), (2**63 - 5, 10)])
def test_a_block_that_overlaps_or_is_none_is_refused(start: int, length: int) -> None:
    ids = ProducerIds()
    ids.add(0, 100)
    with pytest.raises(BadBlock):
        ids.add(start, length)


class Broker:
    """The handler, with a controller whose answers are given by hand."""

    def __init__(self) -> None:
        self.asked: list[tuple[AllocateProducerIdsRequest, asyncio.Future[AllocateProducerIdsResponse]]] = []
        self.tasks: list[asyncio.Task[None]] = []
        self.handler = InitProducerId(
            self._ask,
            lambda work: self.tasks.append(asyncio.ensure_future(work)),
            broker_id=1,
            broker_epoch=lambda: 77,
        )

    async def _ask(self, request: Message, _timeout_ms: int) -> Any:
        assert isinstance(request, AllocateProducerIdsRequest)
        answer: asyncio.Future[AllocateProducerIdsResponse] = asyncio.get_running_loop().create_future()
        self.asked.append((request, answer))
        return await answer

    def init(self, **fields: Any) -> Any:
        return self.handler.handle(
            InitProducerIdRequest(**{"transactional_id": None, "transaction_timeout_ms": 0} | fields), CALL
        )

    async def answer(self, start: int, length: int, code: int = 0) -> None:
        await asyncio.sleep(0)
        self.asked[-1][1].set_result(
            AllocateProducerIdsResponse(
                throttle_time_ms=0, error_code=code, producer_id_start=start, producer_id_len=length
            )
        )
        await asyncio.sleep(0)
        await asyncio.sleep(0)


def given_id(outcome: Any) -> tuple[int, int]:
    response = outcome.result() if isinstance(outcome, Pending) else outcome
    assert isinstance(response, InitProducerIdResponse)
    return response.error_code, response.producer_id


def test_who_asks_before_there_are_ids_waits_for_them_and_only_one_block_is_asked_for() -> None:
    async def scenario() -> None:
        broker = Broker()
        first, second = broker.init(), broker.init()
        await broker.answer(1_000, 1_000)
        assert [given_id(first), given_id(second)] == [(0, 1_000), (0, 1_001)]
        assert given_id(broker.init()) == (0, 1_002)
        assert [(request.broker_id, request.broker_epoch) for request, _ in broker.asked] == [(1, 77)]

    asyncio.run(scenario())


def test_the_next_block_comes_before_the_last_is_used_up() -> None:
    async def scenario() -> None:
        broker = Broker()
        first = broker.init()
        await broker.answer(0, 10)
        assert given_id(first) == (0, 0)
        for expected in range(1, 10):
            assert given_id(broker.init()) == (0, expected)
        await broker.answer(10, 10)
        assert len(broker.asked) == 2
        assert given_id(broker.init()) == (0, 10)

    asyncio.run(scenario())


@pytest.mark.parametrize(("start", "length", "code"), [(0, 0, ErrorCode.STALE_BROKER_EPOCH), (-5, 10, 0)])
def test_a_controller_that_gives_none_lets_clients_try_again(start: int, length: int, code: int) -> None:
    async def scenario() -> None:
        broker = Broker()
        waiting = broker.init()
        await broker.answer(start, length, code)
        assert given_id(waiting) == (ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, -1)

    asyncio.run(scenario())


def test_transactions_have_no_coordinator_and_half_an_identity_is_none() -> None:
    async def scenario() -> None:
        broker = Broker()
        assert given_id(broker.init(transactional_id="t"))[0] == ErrorCode.COORDINATOR_NOT_AVAILABLE
        assert given_id(broker.init(transactional_id=""))[0] == ErrorCode.INVALID_REQUEST
        assert given_id(broker.init(producer_id=5))[0] == ErrorCode.INVALID_REQUEST
        assert not broker.asked

    asyncio.run(scenario())
