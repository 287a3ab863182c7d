"""DescribeConfigs: settings of this node, of all brokers, of topics, groups, client metrics, and levels of loggers.

v1-v4: 3 brings types and documentation, 4 is flexible. A node describes itself and no other; the rest follows from the
metadata, so that brokers and controllers answer alike, each with the defaults of its own properties.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from barnabas.broker.call import Call
from barnabas.broker.config_descriptions import ConfigDescription, ConfigDescriptions
from barnabas.broker.logger_configs import check_own_id
from barnabas.broker.routing import Route, ServedBy
from barnabas.controller.config_access import require_config_access
from barnabas.controller.effective_configs import ConfigSource, NodeConfigs
from barnabas.controller.errors import InvalidRequest, UnknownTopicOrPartition
from barnabas.controller.topic_names import check_topic_name
from barnabas.metadata.configs import ConfigResource, ConfigResourceType
from barnabas.metadata.image import MetadataImage
from barnabas.protocol.api import APIS, ApiKey
from barnabas.protocol.errors import ApiError
from barnabas.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)
from barnabas.security.acls import AclOperation
from barnabas.security.authorizer import Access

UNKNOWN_TYPE: Final = 0


class DescribeConfigs:
    """The handler of one node. `loggers` gives the level of each logger by its name."""

    def __init__(
        self,
        node: NodeConfigs,
        *,
        image: Callable[[], MetadataImage],
        access: Callable[[Call], Access],
        loggers: Callable[[], Mapping[str, str]],
    ) -> None:
        self._node = node
        self._image = image
        self._access = access
        self._loggers = loggers

    @property
    def routes(self) -> tuple[Route, ...]:
        key = ApiKey.DESCRIBE_CONFIGS
        return (Route(key, APIS[key].versions, ServedBy.BROKER, self.handle),)

    def handle(self, request: DescribeConfigsRequest, call: Call) -> DescribeConfigsResponse:
        """Resources by themselves; but one of no type that there is makes the whole of a request senseless."""
        unknown = [each.resource_type for each in request.resources if not _is_known(each.resource_type)]
        if unknown:
            error = InvalidRequest(f"there is no type of resource with number {unknown[0]}")
            return _response(_refused(resource, error) for resource in request.resources)
        access = self._access(call)
        descriptions = ConfigDescriptions(self._image(), self._node)
        results = []
        for resource in request.resources:
            try:
                require_config_access(access, AclOperation.DESCRIBE_CONFIGS, _named(resource))
                entries = self._entries(resource, request, descriptions)
            except ApiError as error:
                results.append(_refused(resource, error))
            else:
                results.append(_result(resource, entries))
        return _response(results)

    def _entries(
        self, resource: DescribeConfigsResource, request: DescribeConfigsRequest, descriptions: ConfigDescriptions
    ) -> list[DescribeConfigsResourceResult]:
        wanted = set(resource.configuration_keys or ())
        if resource.resource_type == ConfigResourceType.BROKER_LOGGER:
            check_own_id(self._node.node_id, resource.resource_name)
            return [
                _logger_entry(name, level)
                for name, level in sorted(self._loggers().items())
                if not wanted or name in wanted
            ]
        return [
            _entry(described, has_synonyms=request.include_synonyms, has_documentation=request.include_documentation)
            for described in self._described(resource, descriptions)
            if not wanted or described.name in wanted
        ]

    def _described(
        self, resource: DescribeConfigsResource, descriptions: ConfigDescriptions
    ) -> Iterable[ConfigDescription]:
        name = resource.resource_name
        match ConfigResourceType(resource.resource_type):
            case ConfigResourceType.TOPIC:
                check_topic_name(name)
                if name not in self._image().topics.ids:
                    raise UnknownTopicOrPartition(f"there is no topic {name}")
                return descriptions.topic(name)
            case ConfigResourceType.BROKER:
                if not name:
                    return descriptions.cluster_default()
                check_own_id(self._node.node_id, name)
                return descriptions.node()
            case ConfigResourceType.CLIENT_METRICS:
                if not name:
                    raise InvalidRequest("a subscription to client metrics has a name")
                return descriptions.client_metrics(name)
            case _:
                if not name:
                    raise InvalidRequest("there are no settings for groups in general: name one")
                return descriptions.group(name)


def _is_known(number: int) -> bool:
    return ConfigResourceType(number) is not ConfigResourceType.UNKNOWN


def _named(resource: DescribeConfigsResource) -> ConfigResource:
    return ConfigResource(ConfigResourceType(resource.resource_type), resource.resource_name)


def _entry(
    described: ConfigDescription, *, has_synonyms: bool, has_documentation: bool
) -> DescribeConfigsResourceResult:
    setting = described.setting
    return DescribeConfigsResourceResult(
        name=described.name,
        value=described.text,
        read_only=described.is_read_only,
        config_source=described.source,
        is_sensitive=described.is_sensitive,
        synonyms=[
            DescribeConfigsSynonym(name=each.name, value=each.text, source=each.source)
            for each in (described.given if has_synonyms else ())
        ],
        config_type=UNKNOWN_TYPE if setting is None else setting.kind.value,
        documentation=setting.doc if has_documentation and setting is not None else None,
    )


def _logger_entry(name: str, level: str) -> DescribeConfigsResourceResult:
    return DescribeConfigsResourceResult(
        name=name,
        value=level,
        read_only=False,
        config_source=ConfigSource.DYNAMIC_BROKER_LOGGER_CONFIG,
        is_sensitive=False,
        synonyms=[],
    )


def _result(resource: DescribeConfigsResource, entries: list[DescribeConfigsResourceResult]) -> DescribeConfigsResult:
    return DescribeConfigsResult(
        error_code=0,
        error_message=None,
        resource_type=resource.resource_type,
        resource_name=resource.resource_name,
        configs=entries,
    )


def _refused(resource: DescribeConfigsResource, error: ApiError) -> DescribeConfigsResult:
    return DescribeConfigsResult(
        error_code=error.code,
        error_message=str(error),
        resource_type=resource.resource_type,
        resource_name=resource.resource_name,
        configs=[],
    )


def _response(results: Iterable[DescribeConfigsResult]) -> DescribeConfigsResponse:
    return DescribeConfigsResponse(throttle_time_ms=0, results=list(results))
