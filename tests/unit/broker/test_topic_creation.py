"""Topics on demand: what the controller is asked for, once at a time, by whose settings."""

from __future__ import annotations

import asyncio
from typing import Any

from barnabas.broker.call import Call, Client
from barnabas.broker.forwarding import Forwarding, refuse_bare
from barnabas.broker.topic_creation import TopicCreation
from barnabas.config.server_config import parse_server_config
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.framing import frame_response, read_request
from barnabas.protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from barnabas.protocol.messages.envelope import EnvelopeRequest, EnvelopeResponse
from barnabas.protocol.messages.request_header import RequestHeader
from barnabas.protocol.schema import Message
from node_settings import BROKER

HEADER = RequestHeader(request_api_key=3, request_api_version=12, correlation_id=9, client_id="me")
CALL = Call(HEADER, 12, Client("c", "127.0.0.1", 1, "L"), 0)


class Creating:
    def __init__(self, **settings: str) -> None:
        self.asked: list[list[CreatableTopic]] = []
        self.client_ids: list[str | None] = []
        self.code = 0
        self._tasks: list[asyncio.Task[None]] = []
        config = parse_server_config({**BROKER, **settings})

        def spawn(work: Any) -> None:
            self._tasks.append(asyncio.ensure_future(work))

        self.create = TopicCreation(Forwarding(self._ask, refuse_bare, spawn), spawn, lambda: config)

    async def _ask(self, request: Message, _timeout_ms: int) -> EnvelopeResponse:
        assert isinstance(request, EnvelopeRequest)
        inner = read_request(memoryview(request.request_data))
        assert isinstance(inner.body, CreateTopicsRequest)
        self.asked.append(inner.body.topics)
        self.client_ids.append(inner.header.client_id)
        await asyncio.sleep(0)
        response = CreateTopicsResponse(
            throttle_time_ms=0,
            topics=[
                CreatableTopicResult(name=topic.name, error_code=self.code, error_message=None)
                for topic in inner.body.topics
            ],
        )
        data = b"".join(frame_response(response, inner.version, inner.header.correlation_id))
        return EnvelopeResponse(response_data=data[4:], error_code=0)

    async def settle(self) -> None:
        await asyncio.gather(*self._tasks)


def test_a_topic_is_asked_for_once_while_it_is_being_made_and_again_when_that_failed() -> None:
    async def scenario() -> None:
        creating = Creating()
        creating.code = ErrorCode.POLICY_VIOLATION
        codes = creating.create(["a", "no name"], CALL)
        assert codes == {"a": ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "no name": ErrorCode.INVALID_TOPIC_EXCEPTION}
        creating.create(["a", "b"], CALL)
        await creating.settle()
        assert [[topic.name for topic in asked] for asked in creating.asked] == [["a"], ["b"]]
        creating.create(["a"], CALL)
        await creating.settle()
        assert len(creating.asked) == 3
        assert creating.client_ids == ["me"] * 3

    asyncio.run(scenario())


def test_the_controller_decides_what_this_brokers_properties_leave_open() -> None:
    async def scenario() -> None:
        open_to_it, given = Creating(), Creating(**{"num.partitions": "5", "default.replication.factor": "2"})
        for each in (open_to_it, given):
            each.create(["t"], CALL)
            await each.settle()
        sizes = [(each.asked[0][0].num_partitions, each.asked[0][0].replication_factor) for each in (open_to_it, given)]
        assert sizes == [(-1, -1), (5, 2)]

    asyncio.run(scenario())


def test_the_coordinators_topics_are_made_to_their_own_measure() -> None:
    async def scenario() -> None:
        creating = Creating(**{"offsets.topic.num.partitions": "7", "transaction.state.log.min.isr": "1"})
        names = ["__consumer_offsets", "__transaction_state", "__share_group_state"]
        creating.create(names, CALL)
        await creating.settle()
        (topics,) = creating.asked
        configs = {topic.name: {config.name: config.value for config in topic.configs} for topic in topics}
        assert [topic.num_partitions for topic in topics] == [7, 50, 50]
        assert configs["__consumer_offsets"] == {
            "cleanup.policy": "compact",
            "compression.type": "producer",
            "segment.bytes": "104857600",
        }
        assert configs["__transaction_state"]["min.insync.replicas"] == "1"
        assert configs["__share_group_state"]["retention.ms"] == "-1"

    asyncio.run(scenario())
