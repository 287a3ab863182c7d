"""A controller changes the levels of its own loggers by itself, and decides on the rest of a request."""

from __future__ import annotations

from barnabas.broker.call import Call, Client, Pending
from barnabas.broker.logger_configs import LoggerConfigs
from barnabas.controller.decision import RequestContext
from barnabas.metadata.sorted_map import SortedMap
from barnabas.protocol.api import ApiKey
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from barnabas.protocol.messages.request_header import RequestHeader
from barnabas.protocol.schema import Message
from barnabas.runtime.controller.contexts import RequestContexts
from barnabas.runtime.controller.logger_configs import AlterConfigsOrLoggers
from barnabas.security.authorizer import Authorizer, AuthorizerRules
from barnabas.security.mutation_quotas import MutationQuotas

TOPIC, LOGGER = 2, 8


class Controller:
    """Says yes to everything, later."""

    def __init__(self, authorizer: Authorizer | None = None) -> None:
        self.levels: dict[str, str | None] = {}
        self.asked: list[Message] = []
        self.answer = Pending()
        quotas = MutationQuotas(SortedMap, window_num=1, window_size_seconds=1)
        loggers = LoggerConfigs(1, lambda: {"root": "INFO"}, self.levels.__setitem__)
        self._handler = AlterConfigsOrLoggers(loggers, self._ask, RequestContexts(authorizer, quotas))

    def _ask(self, request: Message, _context: RequestContext) -> Pending:
        self.asked.append(request)
        return self.answer

    def handle(self, *kinds: int) -> IncrementalAlterConfigsResponse | Pending:
        change = AlterableConfig(name="root", config_operation=0, value="WARN")
        resources = [AlterConfigsResource(resource_type=kind, resource_name="1", configs=[change]) for kind in kinds]
        request = IncrementalAlterConfigsRequest(resources=resources, validate_only=False)
        key = ApiKey.INCREMENTAL_ALTER_CONFIGS
        header = RequestHeader(request_api_key=key, request_api_version=1, correlation_id=1, client_id=None)
        return self._handler.handle(request, Call(header, 1, Client("c", "127.0.0.1", 1, "CONTROLLER"), 0))


def codes(response: Message | Pending | None) -> list[tuple[int, int]]:
    if isinstance(response, Pending):
        response = response.result()
    assert isinstance(response, IncrementalAlterConfigsResponse)
    return [(each.resource_type, each.error_code) for each in response.responses]


def test_levels_alone_need_no_decision() -> None:
    controller = Controller()
    assert codes(controller.handle(LOGGER)) == [(LOGGER, 0)]
    assert controller.levels == {"root": "WARN"}
    assert controller.asked == []


def test_what_is_no_level_goes_on_as_it_is() -> None:
    controller = Controller()
    assert controller.handle(TOPIC) is controller.answer
    assert controller.levels == {}


def test_the_answers_to_both_come_together() -> None:
    controller = Controller()
    outcome = controller.handle(LOGGER, TOPIC)
    (passed_on,) = controller.asked
    assert isinstance(passed_on, IncrementalAlterConfigsRequest)
    assert [each.resource_type for each in passed_on.resources] == [TOPIC]
    decided = AlterConfigsResourceResponse(error_code=7, error_message=None, resource_type=TOPIC, resource_name="1")
    controller.answer.complete(IncrementalAlterConfigsResponse(throttle_time_ms=0, responses=[decided]))
    assert codes(outcome) == [(TOPIC, 7), (LOGGER, 0)]


def test_levels_are_not_everybodys_to_change() -> None:
    controller = Controller(Authorizer(AuthorizerRules(), SortedMap))
    assert codes(controller.handle(LOGGER)) == [(LOGGER, ErrorCode.CLUSTER_AUTHORIZATION_FAILED)]
    assert controller.levels == {}
