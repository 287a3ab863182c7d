"""The value of a topic's setting, from the nearest place that gives one: topic, node, cluster, properties, default."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import Final, NamedTuple, Protocol

from barnabas.config.setting import ConfigError, Setting
from barnabas.config.topic import TOPIC_SETTINGS
from barnabas.metadata.configs import ConfigResource, ConfigResourceType
from barnabas.metadata.image import MetadataImage
from barnabas.metadata.topics import Topic

TOPIC_SETTINGS_BY_NAME: Final[Mapping[str, Setting]] = {setting.name: setting for setting in TOPIC_SETTINGS}
CLUSTER_DEFAULT: Final = ConfigResource(ConfigResourceType.BROKER, "")
_NOTHING: Final[Mapping[str, str]] = {}


class ConfigSource(IntEnum):
    """Where a value comes from, by the numbers of DescribeConfigs."""

    DYNAMIC_TOPIC_CONFIG = 1
    DYNAMIC_BROKER_CONFIG = 2
    DYNAMIC_DEFAULT_BROKER_CONFIG = 3
    STATIC_BROKER_CONFIG = 4
    DEFAULT_CONFIG = 5
    DYNAMIC_BROKER_LOGGER_CONFIG = 6
    CLIENT_METRICS_CONFIG = 7
    GROUP_CONFIG = 8


class EffectiveValue(NamedTuple):
    text: str
    source: ConfigSource


class NodeConfigs(Protocol):
    """The node that asks, and the text of the properties that it was started with."""

    @property
    def node_id(self) -> int: ...
    @property
    def static_configs(self) -> Mapping[str, str]: ...


class EffectiveConfigs:
    """The settings of topics as one node resolves them. Another may have other defaults in its properties."""

    def __init__(self, image: MetadataImage, settings: NodeConfigs) -> None:
        self._image = image
        node = ConfigResource(ConfigResourceType.BROKER, str(settings.node_id))
        self._defaults = (
            (ConfigSource.DYNAMIC_BROKER_CONFIG, image.configs.get(node) or _NOTHING),
            (ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG, image.configs.get(CLUSTER_DEFAULT) or _NOTHING),
            (ConfigSource.STATIC_BROKER_CONFIG, settings.static_configs),
        )
        self._without_topic: dict[str, EffectiveValue] = {}

    def resolve(self, name: str, topic_configs: Mapping[str, str]) -> EffectiveValue:
        """The value of a setting for a topic that has these of its own."""
        own = topic_configs.get(name)
        if own is not None:
            return EffectiveValue(own, ConfigSource.DYNAMIC_TOPIC_CONFIG)
        if name not in self._without_topic:
            self._without_topic[name] = self._default(TOPIC_SETTINGS_BY_NAME[name])
        return self._without_topic[name]

    def _default(self, setting: Setting) -> EffectiveValue:
        for source, configs in self._defaults:
            for synonym in setting.synonyms:
                text = configs.get(synonym.name)
                if text is None:
                    continue
                try:
                    value = setting.parse(text)
                except ConfigError:
                    continue  # Others write to this log too, and may have checked less.
                if isinstance(value, int) and synonym.factor > 1:
                    text = str(value * synonym.factor)
                return EffectiveValue(text, source)
        return EffectiveValue(setting.format(setting.default), ConfigSource.DEFAULT_CONFIG)

    def of_topic(self, topic: str) -> Mapping[str, str]:
        """What was set for the topic itself."""
        return self._image.configs.get(ConfigResource(ConfigResourceType.TOPIC, topic)) or _NOTHING

    def min_isr(self, topic: Topic) -> int:
        """How many replicas must be in sync, which is never more than there are."""
        wanted = int(self.resolve("min.insync.replicas", self.of_topic(topic.name)).text)
        first = topic.partitions.get(0)
        return wanted if first is None else min(wanted, len(first.replicas))

    def is_unclean_election_enabled(self, topic: str) -> bool:
        text = self.resolve("unclean.leader.election.enable", self.of_topic(topic)).text
        return text.strip().lower() == "true"
