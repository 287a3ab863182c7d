"""A node's own settings as they are in force: its properties, with what the metadata changes in them while it runs.

What a broker is told later goes before what all brokers are told, and that before the properties. Settings that have
one meaning in several units, such as `log.roll.ms` and `log.roll.hours`, replace each other. What cannot change while a
node runs, or not in this way, is kept in the metadata and not followed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import Final

from barnabas.config.server import SERVER_SETTINGS
from barnabas.config.setting import ConfigError, Reload, Setting
from barnabas.controller.effective_configs import CLUSTER_DEFAULT, ConfigSource, NodeConfigs
from barnabas.metadata.configs import ConfigResource, ConfigResourceType
from barnabas.metadata.image import MetadataImage

_OF_A_LISTENER: Final = re.compile(r"listener\.name\.[^.]*\.(?P<rest>.*)")
_OF_A_MECHANISM: Final = (
    "sasl.jaas.config",
    "sasl.login.callback.handler.class",
    "sasl.login.class",
    "sasl.server.callback.handler.class",
    "connections.max.reauth.ms",
)
_UNITS: Final = (
    ("log.roll.ms", "log.roll.hours"),
    ("log.roll.jitter.ms", "log.roll.jitter.hours"),
    ("log.retention.ms", "log.retention.minutes", "log.retention.hours"),
)
_FLUSH: Final = ("log.flush.interval.ms", "log.flush.scheduler.interval.ms")
# Limits that listeners may have of their own without concerning one broker only.
_OF_ALL_BROKERS: Final = ("max.connections", "max.connection.creation.rate", "num.network.threads")
# Secrets and key stores change for one listener, never for all at once.
_BY_LISTENER_ONLY: Final = re.compile(r"ssl\.(keystore|truststore)\..*|ssl\.key\.password")
# Limits that only a running broker has, so no properties give them a default.
RUNNING_ONLY: Final = frozenset(
    (
        "leader.replication.throttled.rate",
        "follower.replication.throttled.rate",
        "replica.alter.log.dirs.io.max.bytes.per.second",
    )
)
DEFAULTS: Final[Mapping[str, str]] = {
    name: setting.format(setting.default)
    for name, setting in SERVER_SETTINGS.items()
    if setting.default is not None and name not in RUNNING_ONLY
}


def synonyms(name: str, *, with_base: bool = True) -> tuple[str, ...]:
    """The names that a setting goes by, its own among them; that of a listener also by the one that it stands for."""
    if name == _FLUSH[0]:
        return _FLUSH
    for family in _UNITS:
        if name in family:
            return family
    of_listener = _OF_A_LISTENER.fullmatch(name) if with_base else None
    if of_listener is None:
        return (name,)
    rest = of_listener["rest"]
    return (name, next((each for each in _OF_A_MECHANISM if rest.endswith(each)), rest))


def declaration(name: str) -> Setting | None:
    """What is known of a setting, which may be one of a listener."""
    return next((SERVER_SETTINGS[each] for each in (name, *synonyms(name)) if each in SERVER_SETTINGS), None)


def followed(configs: Mapping[str, str], *, is_cluster_default: bool) -> dict[str, str]:
    """The settings in the metadata that a running node heeds."""
    return {name: text for name, text in configs.items() if _is_followed(name, text, is_cluster_default)}


def _is_followed(name: str, text: str, is_cluster_default: bool) -> bool:
    of_listener = _OF_A_LISTENER.fullmatch(name)
    setting = declaration(name)
    try:
        if setting is not None:
            setting.parse(text)
    except ConfigError:
        return False
    if of_listener is not None:
        return not is_cluster_default or of_listener["rest"] in _OF_ALL_BROKERS
    if setting is None:
        return True
    if setting.reload is Reload.READ_ONLY or _BY_LISTENER_ONLY.fullmatch(name):
        return False
    return not is_cluster_default or setting.reload is not Reload.PER_BROKER


class RunningConfigs:
    """The settings of one node at one moment of the metadata."""

    def __init__(self, image: MetadataImage, node: NodeConfigs) -> None:
        own = ConfigResource(ConfigResourceType.BROKER, str(node.node_id))
        self.of_node = followed(image.configs.get(own) or {}, is_cluster_default=False)
        self.of_cluster = followed(image.configs.get(CLUSTER_DEFAULT) or {}, is_cluster_default=True)
        self.layers: tuple[tuple[ConfigSource, Mapping[str, str]], ...] = (
            (ConfigSource.DYNAMIC_BROKER_CONFIG, self.of_node),
            (ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG, self.of_cluster),
            (ConfigSource.STATIC_BROKER_CONFIG, node.static_configs),
            (ConfigSource.DEFAULT_CONFIG, DEFAULTS),
        )
        self._properties = node.static_configs

    @cached_property
    def given(self) -> Mapping[str, str]:
        """The text of every setting that somebody gave, as a file would have to say it."""
        merged = dict(self._properties)
        for changes in (self.of_cluster, self.of_node):
            for name, text in changes.items():
                for other in synonyms(name, with_base=False):
                    merged.pop(other, None)
                merged[name] = text
        return merged

    def value(self, name: str) -> str | None:
        """A declared setting's value in its own unit, None where it has none."""
        setting = SERVER_SETTINGS[name]
        value = setting.value_in(self.given)
        return None if value is None else setting.format(value)
