"""Settings of topics, brokers, loggers, client metrics and groups: what they are, where they come from, changes.

What concerns one broker is asked of that broker; everything else of any.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import IntEnum

from barnabas.client.cluster import Cluster, Target
from barnabas.client.errors import ClientError, check_code
from barnabas.client.outcomes import Outcomes, find_error, gather, unanswered
from barnabas.metadata.configs import ConfigResource, ConfigResourceType
from barnabas.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
)
from barnabas.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from barnabas.protocol.messages.list_config_resources import ListConfigResourcesRequest, ListConfigResourcesResponse


class ConfigSource(IntEnum):
    """Where a value comes from, by the numbers of DescribeConfigs and the names that Kafka's tools print."""

    UNKNOWN = 0
    DYNAMIC_TOPIC_CONFIG = 1
    DYNAMIC_BROKER_CONFIG = 2
    DYNAMIC_DEFAULT_BROKER_CONFIG = 3
    STATIC_BROKER_CONFIG = 4
    DEFAULT_CONFIG = 5
    DYNAMIC_BROKER_LOGGER_CONFIG = 6
    DYNAMIC_CLIENT_METRICS_CONFIG = 7
    DYNAMIC_GROUP_CONFIG = 8

    @classmethod
    def _missing_(cls, _value: object) -> ConfigSource:
        return cls.UNKNOWN


class ConfigOperation(IntEnum):
    """What becomes of a setting, by the numbers of IncrementalAlterConfigs."""

    SET = 0
    DELETE = 1


Described = dict[ConfigResource, list[DescribeConfigsResourceResult] | ClientError]


def describe_configs(
    cluster: Cluster, resources: Iterable[ConfigResource], *, includes_synonyms: bool = False
) -> Described:
    """All settings of each resource, as the response lists them."""
    found: Described = {}
    for node, asked in _by_node(resources, asks_controllers=False):
        found |= _describe(cluster, node, asked, includes_synonyms)
    return found


def alter_configs(
    cluster: Cluster, changes: Mapping[ConfigResource, Mapping[str, str | None]]
) -> Outcomes[ConfigResource]:
    """Set each setting to its new value, or delete it where there is none. The others stay as they are."""
    outcomes: Outcomes[ConfigResource] = {}
    for node, resources in _by_node(changes, asks_controllers=cluster.asks_controllers):
        outcomes |= _alter(cluster, node, {resource: changes[resource] for resource in resources})
    return outcomes


def list_config_resources(cluster: Cluster, kind: ConfigResourceType) -> list[str]:
    """The names of all resources of a kind that have settings of their own."""
    request = ListConfigResourcesRequest(resource_types=[kind])

    def read(response: ListConfigResourcesResponse) -> list[str]:
        check_code(response.error_code)
        return [each.resource_name for each in response.config_resources if each.resource_type == kind]

    return cluster.call(
        "listConfigResources", lambda _: request, ListConfigResourcesResponse, read, is_for_brokers=True
    )


def _describe(
    cluster: Cluster, node: Target | int, resources: Sequence[ConfigResource], includes_synonyms: bool
) -> Described:
    request = DescribeConfigsRequest(
        resources=[
            DescribeConfigsResource(resource_type=each.type, resource_name=each.name, configuration_keys=None)
            for each in resources
        ],
        include_synonyms=includes_synonyms,
    )

    def read(response: DescribeConfigsResponse) -> Described:
        found: Described = {resource: unanswered(resource.name) for resource in resources}
        for result in response.results:
            resource = ConfigResource(ConfigResourceType(result.resource_type), result.resource_name)
            found[resource] = find_error(result.error_code, result.error_message) or result.configs
        return found

    return cluster.call("describeConfigs", lambda _: request, DescribeConfigsResponse, read, to=node)


def _alter(
    cluster: Cluster, node: Target | int, changes: Mapping[ConfigResource, Mapping[str, str | None]]
) -> Outcomes[ConfigResource]:
    request = IncrementalAlterConfigsRequest(
        resources=[
            AlterConfigsResource(
                resource_type=resource.type,
                resource_name=resource.name,
                configs=[
                    AlterableConfig(
                        name=name,
                        config_operation=ConfigOperation.DELETE if value is None else ConfigOperation.SET,
                        value=value,
                    )
                    for name, value in settings.items()
                ],
            )
            for resource, settings in changes.items()
        ],
        validate_only=False,
    )

    def read(response: IncrementalAlterConfigsResponse) -> Outcomes[ConfigResource]:
        results = (
            (
                ConfigResource(ConfigResourceType(each.resource_type), each.resource_name),
                each.error_code,
                each.error_message,
            )
            for each in response.responses
        )
        return gather(changes, results)

    return cluster.call("incrementalAlterConfigs", lambda _: request, IncrementalAlterConfigsResponse, read, to=node)


def _by_node(
    resources: Iterable[ConfigResource], *, asks_controllers: bool
) -> Iterator[tuple[Target | int, Sequence[ConfigResource]]]:
    """Whom to ask for which; controllers take the changes of all brokers, but not those of their loggers."""
    anyone = []
    for resource in resources:
        is_logger = resource.type is ConfigResourceType.BROKER_LOGGER
        is_broker = resource.type is ConfigResourceType.BROKER and resource.name != ""
        if is_logger or (is_broker and not asks_controllers):
            yield int(resource.name), [resource]
        else:
            anyone.append(resource)
    if anyone:
        yield Target.ANYONE, anyone
