"""Entities whose settings are those of a resource: which resource, and what it calls settings of its own."""

from __future__ import annotations

from typing import Final

from barnabas.cli.configuring.entities import BROKER_LOGGERS, BROKERS, CLIENT_METRICS, GROUPS, TOPICS
from barnabas.client.admin.configs import ConfigSource
from barnabas.metadata.configs import ConfigResource, ConfigResourceType

RESOURCE_TYPES: Final = {
    TOPICS: ConfigResourceType.TOPIC,
    BROKERS: ConfigResourceType.BROKER,
    BROKER_LOGGERS: ConfigResourceType.BROKER_LOGGER,
    CLIENT_METRICS: ConfigResourceType.CLIENT_METRICS,
    GROUPS: ConfigResourceType.GROUP,
}
_OWN_SOURCES: Final = {
    TOPICS: ConfigSource.DYNAMIC_TOPIC_CONFIG,
    BROKERS: ConfigSource.DYNAMIC_BROKER_CONFIG,
    CLIENT_METRICS: ConfigSource.DYNAMIC_CLIENT_METRICS_CONFIG,
    GROUPS: ConfigSource.DYNAMIC_GROUP_CONFIG,
}


def resource_of(kind: str, name: str) -> ConfigResource:
    return ConfigResource(RESOURCE_TYPES[kind], name)


def own_source(kind: str, name: str) -> ConfigSource | None:
    """The source of settings that were set for the entity itself; None where that is no question, as for loggers."""
    if kind == BROKERS and not name:
        return ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG
    return _OWN_SOURCES.get(kind)
