"""AlterConfigs and IncrementalAlterConfigs: what concerns this broker is looked at here, the rest is the controller's.

AlterConfigs v0-v2, IncrementalAlterConfigs v0-v1. The levels of loggers are this process's own. Settings of brokers are
checked here before they are passed on, for only a broker knows its own properties. Each resource is answered by itself,
in the order in which they were asked for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any

from barnabas.broker.call import Call, Outcome, Pending
from barnabas.broker.forwarding import Forwarding
from barnabas.broker.logger_configs import LoggerConfigs, check_own_id
from barnabas.broker.node_configs import RunningConfigs, followed
from barnabas.broker.routing import Route, ServedBy
from barnabas.config.node_rules import parse_node
from barnabas.config.setting import ConfigError
from barnabas.controller.config_changes import ConfigOperation
from barnabas.controller.effective_configs import NodeConfigs
from barnabas.controller.errors import InvalidRequest
from barnabas.metadata.configs import ConfigResourceType
from barnabas.metadata.image import MetadataImage
from barnabas.protocol.api import APIS, ApiKey
from barnabas.protocol.errors import ApiError, UnknownServerError
from barnabas.protocol.messages import alter_configs as legacy
from barnabas.protocol.messages import incremental_alter_configs as incremental

Request = legacy.AlterConfigsRequest | incremental.IncrementalAlterConfigsRequest
Resource = legacy.AlterConfigsResource | incremental.AlterConfigsResource


class AlterConfigs:
    def __init__(
        self,
        forwarding: Forwarding,
        spawn: Callable[[Coroutine[Any, Any, None]], object],
        node: NodeConfigs,
        image: Callable[[], MetadataImage],
        loggers: LoggerConfigs,
    ) -> None:
        self._forwarding = forwarding
        self._spawn = spawn
        self._node = node
        self._image = image
        self._loggers = loggers

    @property
    def routes(self) -> tuple[Route, ...]:
        return tuple(
            Route(key, APIS[key].versions, ServedBy.CONTROLLER, self.handle)
            for key in (ApiKey.ALTER_CONFIGS, ApiKey.INCREMENTAL_ALTER_CONFIGS)
        )

    def handle(self, request: Request, call: Call) -> Outcome:
        counts = Counter((each.resource_type, each.resource_name) for each in _resources(request))
        settled: dict[int, ApiError | None] = {}
        for index, resource in enumerate(_resources(request)):
            try:
                if counts[resource.resource_type, resource.resource_name] > 1:
                    raise InvalidRequest("each resource may be named once")
                if self._is_settled(resource, is_dry=request.validate_only):
                    settled[index] = None
            except ApiError as error:
                settled[index] = error
        if len(settled) == len(request.resources):
            return _response(request, settled, {})
        pending = Pending()
        self._spawn(self._forward(pending, request, call, settled))
        return pending

    async def _forward(
        self, pending: Pending, request: Request, call: Call, settled: Mapping[int, ApiError | None]
    ) -> None:
        """Have the controller decide on what is left, and put the answers together."""
        rest: list[Any] = [each for index, each in enumerate(_resources(request)) if index not in settled]
        passed_on = type(request)(resources=rest, validate_only=request.validate_only)
        try:
            answer = await self._forwarding.forward(passed_on, call)
        except Exception as error:
            pending.fail(error)
            return
        decided = {(each.resource_type, each.resource_name): each for each in answer.responses}
        pending.complete(_response(request, settled, decided))

    # What concerns this broker

    def _is_settled(self, resource: Resource, *, is_dry: bool) -> bool:
        """Check a resource; whether nothing is left for the controller to do."""
        names = Counter(config.name for config in resource.configs)
        if any(times > 1 for times in names.values()):
            raise InvalidRequest("a setting is named twice")
        missing = [each.name for each in resource.configs if each.value is None and not _is_deletion(each)]
        if missing:
            raise InvalidRequest(f"there is no value for {', '.join(missing)}")
        match ConfigResourceType(resource.resource_type):
            case ConfigResourceType.BROKER_LOGGER if isinstance(resource, incremental.AlterConfigsResource):
                self._loggers.change(resource, is_dry=is_dry)
                return True
            case ConfigResourceType.BROKER:
                if resource.resource_name:
                    check_own_id(self._node.node_id, resource.resource_name)
                self._check_settings(resource)
            case ConfigResourceType.TOPIC | ConfigResourceType.CLIENT_METRICS | ConfigResourceType.GROUP:
                pass
            case _:
                raise InvalidRequest(f"there are no settings of resource type {resource.resource_type}")
        return False

    def _check_settings(self, resource: Resource) -> None:
        """Refuse what does not change while a broker runs, and what a broker could not be started with."""
        wanted = {each.name: each.value for each in resource.configs if each.value is not None and _is_set(each)}
        heeded = followed(wanted, is_cluster_default=not resource.resource_name)
        ignored = sorted(wanted.keys() - heeded.keys())
        if ignored:
            where = "for all brokers at once" if not resource.resource_name else "while a broker runs"
            raise InvalidRequest(
                f"these settings cannot be changed {where}, or not to such values: {', '.join(ignored)}"
            )
        running = RunningConfigs(self._image(), self._node).given
        try:
            parse_node({**running, **heeded})
        except ConfigError as error:
            raise InvalidRequest(str(error)) from error


def _resources(request: Request) -> Sequence[Resource]:
    return request.resources


def _is_deletion(config: legacy.AlterableConfig | incremental.AlterableConfig) -> bool:
    return isinstance(config, incremental.AlterableConfig) and config.config_operation == ConfigOperation.DELETE


def _is_set(config: legacy.AlterableConfig | incremental.AlterableConfig) -> bool:
    """What is appended to or taken from a list is the controller's to work out."""
    return isinstance(config, legacy.AlterableConfig) or config.config_operation == ConfigOperation.SET


def _response(
    request: Request, settled: Mapping[int, ApiError | None], decided: Mapping[tuple[int, str], Any]
) -> legacy.AlterConfigsResponse | incremental.IncrementalAlterConfigsResponse:
    is_legacy = isinstance(request, legacy.AlterConfigsRequest)
    kind: Any = legacy.AlterConfigsResourceResponse if is_legacy else incremental.AlterConfigsResourceResponse
    responses = []
    for index, resource in enumerate(_resources(request)):
        error: ApiError | None = None
        answer = decided.get((resource.resource_type, resource.resource_name))
        if index in settled:
            error, answer = settled[index], None
        elif answer is None:
            error = UnknownServerError("the controller did not answer for this resource")
        responses.append(
            answer
            or kind(
                error_code=0 if error is None else error.code,
                error_message=None if error is None else str(error),
                resource_type=resource.resource_type,
                resource_name=resource.resource_name,
            )
        )
    if is_legacy:
        return legacy.AlterConfigsResponse(throttle_time_ms=0, responses=responses)
    return incremental.IncrementalAlterConfigsResponse(throttle_time_ms=0, responses=responses)
