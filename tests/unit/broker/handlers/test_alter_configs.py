"""AlterConfigs and IncrementalAlterConfigs on a broker: what is settled here, what goes to the controller."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from barnabas.broker.call import Call, Client, Pending
from barnabas.broker.forwarding import Forwarding, refuse_bare
from barnabas.broker.handlers.alter_configs import AlterConfigs
from barnabas.broker.logger_configs import LoggerConfigs
from barnabas.broker.topic_configs import BrokerConfigs
from barnabas.metadata.configs import ConfigResourceType
from barnabas.metadata.image import EMPTY_IMAGE
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.framing import frame_response, read_request
from barnabas.protocol.messages import alter_configs as legacy
from barnabas.protocol.messages import incremental_alter_configs as incremental
from barnabas.protocol.messages.envelope import EnvelopeRequest, EnvelopeResponse
from barnabas.protocol.messages.request_header import RequestHeader
from barnabas.protocol.schema import Message
from node_settings import BROKER as BROKER_PROPERTIES

TOPIC, BROKER, LOGGER = ConfigResourceType.TOPIC, ConfigResourceType.BROKER, ConfigResourceType.BROKER_LOGGER
SET, DELETE, APPEND = 0, 1, 2


class Broker:
    """Broker 1, whose controller does whatever it is asked to."""

    def __init__(self) -> None:
        self.levels = {"root": "INFO", "barnabas": "INFO"}
        self.passed_on: list[tuple[int, str]] = []
        self._tasks: list[asyncio.Task[None]] = []
        self.handler = AlterConfigs(
            Forwarding(self._ask, refuse_bare, self._spawn),
            self._spawn,
            BrokerConfigs(1, BROKER_PROPERTIES),
            lambda: EMPTY_IMAGE,
            LoggerConfigs(1, lambda: self.levels, self._set_level),
        )

    def _spawn(self, work: Any) -> None:
        self._tasks.append(asyncio.ensure_future(work))

    def _set_level(self, name: str, level: str | None) -> None:
        self.levels[name] = level or "INFO"

    async def _ask(self, request: Message, _timeout_ms: int) -> EnvelopeResponse:
        assert isinstance(request, EnvelopeRequest)
        inner = read_request(memoryview(request.request_data))
        body: Any = inner.body
        kind: Any = legacy if isinstance(body, legacy.AlterConfigsRequest) else incremental
        answers = []
        for each in body.resources:
            self.passed_on.append((each.resource_type, each.resource_name))
            answers.append(
                kind.AlterConfigsResourceResponse(
                    error_code=0,
                    error_message=None,
                    resource_type=each.resource_type,
                    resource_name=each.resource_name,
                )
            )
        name = "AlterConfigsResponse" if kind is legacy else "IncrementalAlterConfigsResponse"
        response = getattr(kind, name)(throttle_time_ms=0, responses=answers)
        data = b"".join(frame_response(response, inner.version, inner.header.correlation_id))
        return EnvelopeResponse(response_data=data[4:], error_code=0)

    async def alter(
        self, *resources: tuple[int, str, Mapping[str, tuple[int, str | None]]], validate_only: bool = False
    ) -> list[int]:
        request = incremental.IncrementalAlterConfigsRequest(
            resources=[
                incremental.AlterConfigsResource(
                    resource_type=kind,
                    resource_name=name,
                    configs=[
                        incremental.AlterableConfig(name=key, config_operation=operation, value=value)
                        for key, (operation, value) in changes.items()
                    ],
                )
                for kind, name, changes in resources
            ],
            validate_only=validate_only,
        )
        return await self._answer(request)

    async def replace(self, kind: int, name: str, **configs: str) -> list[int]:
        changes = [legacy.AlterableConfig(name=key.replace("_", "."), value=value) for key, value in configs.items()]
        resource = legacy.AlterConfigsResource(resource_type=kind, resource_name=name, configs=changes)
        return await self._answer(legacy.AlterConfigsRequest(resources=[resource], validate_only=False))

    async def _answer(self, request: Any) -> list[int]:
        version = request.valid_versions[-1]
        header = RequestHeader(
            request_api_key=request.api_key, request_api_version=version, correlation_id=3, client_id="me"
        )
        outcome: Any = self.handler.handle(request, Call(header, version, Client("c", "127.0.0.1", 1, "L"), 0))
        if isinstance(outcome, Pending):
            await asyncio.gather(*self._tasks)
            outcome = outcome.result()
        return [each.error_code for each in outcome.responses]


def test_resources_are_answered_in_their_order_whoever_decides_on_them() -> None:
    async def scenario() -> None:
        broker = Broker()
        codes = await broker.alter(
            (TOPIC, "t", {"retention.ms": (SET, "1")}),
            (LOGGER, "1", {"barnabas": (SET, "DEBUG")}),
            (BROKER, "2", {"log.retention.ms": (SET, "1")}),
            (BROKER, "", {"log.retention.ms": (SET, "1000")}),
            (99, "x", {}),
        )
        assert codes == [0, 0, ErrorCode.INVALID_REQUEST, 0, ErrorCode.INVALID_REQUEST]
        assert broker.passed_on == [(TOPIC, "t"), (BROKER, "")]
        assert broker.levels["barnabas"] == "DEBUG"

    asyncio.run(scenario())


def test_what_is_asked_for_twice_is_refused() -> None:
    async def scenario() -> None:
        broker = Broker()
        twice = (TOPIC, "t", {"retention.ms": (SET, "1")})
        assert await broker.alter(twice, twice, (TOPIC, "u", {})) == [ErrorCode.INVALID_REQUEST] * 2 + [0]
        assert await broker.alter((TOPIC, "t", {"retention.ms": (SET, None)})) == [ErrorCode.INVALID_REQUEST]
        assert await broker.alter((TOPIC, "t", {"retention.ms": (DELETE, None)})) == [0]

    asyncio.run(scenario())


def test_settings_of_brokers_must_be_such_as_change_and_leave_a_broker_that_could_start() -> None:
    async def scenario() -> None:
        broker = Broker()
        assert await broker.alter((BROKER, "1", {"log.dirs": (SET, "/c")})) == [ErrorCode.INVALID_REQUEST]
        assert await broker.alter((BROKER, "1", {"max.connections": (SET, "many")})) == [ErrorCode.INVALID_REQUEST]
        # Where a broker listens is its own.
        assert await broker.alter((BROKER, "", {"listeners": (SET, "PLAINTEXT://:1")})) == [ErrorCode.INVALID_REQUEST]
        assert await broker.alter((BROKER, "1", {"cordoned.log.dirs": (SET, "/c")})) == [ErrorCode.INVALID_REQUEST]
        assert await broker.alter((BROKER, "1", {"cordoned.log.dirs": (SET, "/data/a")})) == [0]
        assert await broker.replace(BROKER, "1", max_connections="5") == [0]
        assert await broker.replace(BROKER, "1", process_roles="broker") == [ErrorCode.INVALID_REQUEST]
        assert broker.passed_on == [(BROKER, "1")] * 2

    asyncio.run(scenario())


def test_levels_are_only_tried_where_that_is_asked_and_the_older_api_has_none() -> None:
    async def scenario() -> None:
        broker = Broker()
        assert await broker.alter((LOGGER, "1", {"barnabas": (SET, "DEBUG")}), validate_only=True) == [0]
        assert broker.levels["barnabas"] == "INFO"
        assert await broker.replace(LOGGER, "1", barnabas="DEBUG") == [ErrorCode.INVALID_REQUEST]

    asyncio.run(scenario())
