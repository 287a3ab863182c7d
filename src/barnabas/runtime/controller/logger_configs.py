"""IncrementalAlterConfigs at a controller's listener: levels of loggers are this process's, the rest is decided on.

v0-v1. The levels are changed on whichever controller is asked, active or not; only its own are its to change.
"""

from __future__ import annotations

from collections.abc import Sequence

from barnabas.broker.call import Call, Pending
from barnabas.broker.logger_configs import LoggerConfigs
from barnabas.broker.routing import Route, ServedBy
from barnabas.metadata.configs import ConfigResourceType
from barnabas.protocol.api import APIS, ApiKey
from barnabas.protocol.errors import ApiError
from barnabas.protocol.messages.incremental_alter_configs import (
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from barnabas.runtime.controller.contexts import RequestContexts
from barnabas.runtime.controller.routes import AskController
from barnabas.security.acls import AclOperation
from barnabas.security.authorizer import Access


class AlterConfigsOrLoggers:
    def __init__(self, loggers: LoggerConfigs, ask: AskController, contexts: RequestContexts) -> None:
        self._loggers = loggers
        self._ask = ask
        self._contexts = contexts

    @property
    def route(self) -> Route:
        key = ApiKey.INCREMENTAL_ALTER_CONFIGS
        return Route(key, APIS[key].versions, ServedBy.CONTROLLER, self.handle)

    def handle(self, request: IncrementalAlterConfigsRequest, call: Call) -> IncrementalAlterConfigsResponse | Pending:
        context = self._contexts.direct(call)
        of_loggers = [each for each in request.resources if _is_of_loggers(each)]
        if not of_loggers:
            return self._ask(request, context)
        changed = [self._change(each, context.access, is_dry=request.validate_only) for each in of_loggers]
        others = [each for each in request.resources if not _is_of_loggers(each)]
        if not others:
            return IncrementalAlterConfigsResponse(throttle_time_ms=0, responses=changed)
        rest = IncrementalAlterConfigsRequest(resources=others, validate_only=request.validate_only)
        answer, pending = self._ask(rest, context), Pending()
        answer.when_completed(lambda: _join(answer, changed, pending))
        return pending

    def _change(self, resource: AlterConfigsResource, access: Access, *, is_dry: bool) -> AlterConfigsResourceResponse:
        error: ApiError | None = None
        try:
            access.require_of_cluster(AclOperation.CLUSTER_ACTION)
            self._loggers.change(resource, is_dry=is_dry)
        except ApiError as refusal:
            error = refusal
        return AlterConfigsResourceResponse(
            error_code=0 if error is None else error.code,
            error_message=None if error is None else str(error),
            resource_type=resource.resource_type,
            resource_name=resource.resource_name,
        )


def _is_of_loggers(resource: AlterConfigsResource) -> bool:
    return resource.resource_type == ConfigResourceType.BROKER_LOGGER


def _join(answer: Pending, changed: Sequence[AlterConfigsResourceResponse], pending: Pending) -> None:
    try:
        decided = answer.result()
    except Exception as error:
        pending.fail(error)
        return
    assert isinstance(decided, IncrementalAlterConfigsResponse)
    pending.complete(
        IncrementalAlterConfigsResponse(
            throttle_time_ms=decided.throttle_time_ms, responses=[*decided.responses, *changed]
        )
    )
