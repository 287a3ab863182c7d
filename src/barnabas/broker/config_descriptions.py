"""What a node tells of settings: the value in force, where it comes from, what else was given, and what it means.

Everything follows from the declarations of settings, the node's properties and the metadata. A value whose type nobody
knows may be a secret, and is not told.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import dropwhile
from typing import NamedTuple

from barnabas.broker.node_configs import RUNNING_ONLY, RunningConfigs, declaration, synonyms
from barnabas.config.server import SERVER_SETTINGS
from barnabas.config.setting import ConfigError, Reload, Setting
from barnabas.controller.client_metrics_configs import CLIENT_METRICS_SETTINGS
from barnabas.controller.effective_configs import (
    TOPIC_SETTINGS_BY_NAME,
    ConfigSource,
    EffectiveConfigs,
    NodeConfigs,
)
from barnabas.controller.group_configs import GROUP_SETTINGS
from barnabas.metadata.configs import ConfigResource, ConfigResourceType
from barnabas.metadata.image import MetadataImage


class GivenValue(NamedTuple):
    """A value that a setting has, or would have if those before it were taken away. Secrets have no text."""

    name: str
    text: str | None
    source: ConfigSource


class ConfigDescription(NamedTuple):
    """One setting of a resource. `setting` is None where nobody declared it."""

    name: str
    text: str | None
    given: tuple[GivenValue, ...]
    is_read_only: bool
    setting: Setting | None

    @property
    def source(self) -> ConfigSource:
        return self.given[0].source if self.given else ConfigSource.DEFAULT_CONFIG

    @property
    def is_sensitive(self) -> bool:
        return self.setting is None or self.setting.is_sensitive


class ConfigDescriptions:
    """Describes from one image and one node's properties. What resources have in common is worked out once."""

    def __init__(self, image: MetadataImage, node: NodeConfigs) -> None:
        self._image = image
        self._running = RunningConfigs(image, node)
        self._effective = EffectiveConfigs(image, node)
        self._given_by_name: dict[str, tuple[GivenValue, ...]] = {}

    def node(self) -> Iterator[ConfigDescription]:
        """Every setting of this node, also those that were given and that nobody declared."""
        given = self._running.given
        for name in sorted(given.keys() | SERVER_SETTINGS.keys()):
            setting = SERVER_SETTINGS.get(name)
            is_listed = setting is not None and not setting.is_internal and name not in RUNNING_ONLY
            if is_listed:
                yield self._of_node(name, self._running.value(name))
            elif name in given:
                yield self._of_node(name, given[name])

    def cluster_default(self) -> Iterator[ConfigDescription]:
        """The settings that all brokers were told while they run."""
        for name, text in sorted(self._running.of_cluster.items()):
            described = self._of_node(name, text)
            from_there = (each for each in described.given if each.source is ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG)
            yield described._replace(given=tuple(from_there))

    def topic(self, name: str) -> Iterator[ConfigDescription]:
        own = self._own(ConfigResourceType.TOPIC, name)
        for setting_name, setting in sorted(TOPIC_SETTINGS_BY_NAME.items()):
            text = _canonical(setting, self._effective.resolve(setting_name, own).text)
            behind = self._given(setting.synonyms[0].name, setting) if setting.synonyms else ()
            yield _of_resource(setting, text, own, ConfigSource.DYNAMIC_TOPIC_CONFIG, behind)

    def group(self, name: str) -> Iterator[ConfigDescription]:
        own = self._own(ConfigResourceType.GROUP, name)
        for setting_name, setting in sorted(GROUP_SETTINGS.items()):
            of_node = f"group.{setting_name}"
            default: str | None = setting.format(setting.default)
            behind: Iterable[GivenValue] = (GivenValue(setting_name, default, ConfigSource.DEFAULT_CONFIG),)
            if of_node in SERVER_SETTINGS:
                default, behind = self._running.value(of_node), self._given(of_node, setting)
            text = _canonical(setting, own[setting_name]) if setting_name in own else default
            yield _of_resource(setting, text, own, ConfigSource.GROUP_CONFIG, behind)

    def client_metrics(self, name: str) -> Iterator[ConfigDescription]:
        own = self._own(ConfigResourceType.CLIENT_METRICS, name)
        for setting_name, setting in sorted(CLIENT_METRICS_SETTINGS.items()):
            text = _canonical(setting, own.get(setting_name, setting.format(setting.default)))
            yield _of_resource(setting, text, own, ConfigSource.CLIENT_METRICS_CONFIG, ())

    def _own(self, resource_type: ConfigResourceType, name: str) -> Mapping[str, str]:
        return self._image.configs.get(ConfigResource(resource_type, name)) or {}

    def _of_node(self, name: str, text: str | None) -> ConfigDescription:
        setting = declaration(name)
        is_secret = setting is None or setting.is_sensitive
        exact = SERVER_SETTINGS.get(name)
        return ConfigDescription(
            name,
            None if is_secret else text,
            self._given(name, setting),
            exact is None or exact.reload is Reload.READ_ONLY,
            setting,
        )

    def _given(self, name: str, setting: Setting | None) -> tuple[GivenValue, ...]:
        """All that gives a node's setting its value, the one in force first.

        What stands before the first that goes by this very name is another's: the same in another unit, as a rule.
        """
        if name not in self._given_by_name:
            self._given_by_name[name] = self._find_given(name, is_secret=setting is None or setting.is_sensitive)
        return self._given_by_name[name]

    def _find_given(self, name: str, *, is_secret: bool) -> tuple[GivenValue, ...]:
        names = synonyms(name)
        found = (
            GivenValue(each, None if is_secret else layer[each], source)
            for source, layer in self._running.layers
            for each in names
            if each in layer
        )
        return tuple(dropwhile(lambda value: value.name != name, found))


def _of_resource(
    setting: Setting, text: str | None, own: Mapping[str, str], source: ConfigSource, behind: Iterable[GivenValue]
) -> ConfigDescription:
    given = (GivenValue(setting.name, text, source),) if setting.name in own else ()
    return ConfigDescription(setting.name, text, (*given, *behind), False, setting)


def _canonical(setting: Setting, text: str) -> str:
    """The text of the value that a text stands for. Others write to the metadata too, and may have checked less."""
    try:
        return setting.format(setting.parse(text))
    except ConfigError:
        return text
