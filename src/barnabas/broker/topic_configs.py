"""What the settings of a topic come to on this broker, for its logs and its leaders.

A topic without settings of its own has the same value as all others like it, the very same object, so that thousands
of them cost one look at the settings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Final, NamedTuple

from barnabas.config.setting import ConfigError
from barnabas.controller.effective_configs import CLUSTER_DEFAULT, TOPIC_SETTINGS_BY_NAME, EffectiveConfigs
from barnabas.log.log_config import LogConfig
from barnabas.metadata.configs import ConfigResource, ConfigResourceType
from barnabas.metadata.delta import MetadataDelta
from barnabas.metadata.image import EMPTY_IMAGE, MetadataImage

# The setting behind each field of LogConfig.
_LOG_SETTINGS: Final = {field.name: TOPIC_SETTINGS_BY_NAME[field.name.replace("_", ".")] for field in fields(LogConfig)}
_MIN_INSYNC_REPLICAS: Final = TOPIC_SETTINGS_BY_NAME["min.insync.replicas"]
_NOTHING: Final[Mapping[str, str]] = {}


class TopicConfig(NamedTuple):
    log: LogConfig
    min_insync_replicas: int


@dataclass(frozen=True, slots=True)
class BrokerConfigs:
    """This broker, and the text of the properties that it was started with."""

    node_id: int
    static_configs: Mapping[str, str]


class TopicConfigs:
    """Resolves topics' settings against the latest image that it was shown."""

    def __init__(self, node: BrokerConfigs) -> None:
        self._node = node
        self._resolved = _Resolved(EMPTY_IMAGE, node)
        self._broker = ConfigResource(ConfigResourceType.BROKER, str(node.node_id))

    def apply(self, delta: MetadataDelta, image: MetadataImage) -> set[str] | None:
        """Take in a metadata step; the topics whose settings it changes, or None where it may be all of them."""
        self._resolved = _Resolved(image, self._node)
        changes = delta.configs.changes
        if CLUSTER_DEFAULT in changes or self._broker in changes:
            return None
        return {resource.name for resource in changes if resource.type is ConfigResourceType.TOPIC}

    def of(self, topic: str) -> TopicConfig:
        return self._resolved.of(topic)

    def log_config_of(self, topic: str) -> LogConfig:
        return self._resolved.of(topic).log


class _Resolved:
    """The settings as one image has them."""

    def __init__(self, image: MetadataImage, node: BrokerConfigs) -> None:
        self._effective = EffectiveConfigs(image, node)

    def of(self, topic: str) -> TopicConfig:
        own = self._effective.of_topic(topic)
        return self._resolve(own) if own else self._without_own

    @cached_property
    def _without_own(self) -> TopicConfig:
        return self._resolve(_NOTHING)

    def _resolve(self, own: Mapping[str, str]) -> TopicConfig:
        values = {name: self._value(setting.name, own) for name, setting in _LOG_SETTINGS.items()}
        values["cleanup_policy"] = frozenset(values["cleanup_policy"])
        return TopicConfig(LogConfig(**values), self._value(_MIN_INSYNC_REPLICAS.name, own))

    def _value(self, name: str, own: Mapping[str, str]) -> Any:
        setting = TOPIC_SETTINGS_BY_NAME[name]
        try:
            return setting.parse(self._effective.resolve(name, own).text)
        except ConfigError:
            # Another controller may have let through what this broker does not know. The topic then goes without it.
            return setting.parse(self._effective.resolve(name, _NOTHING).text)
