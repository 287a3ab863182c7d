"""This broker's settings as they are now: what it was started with, under what the metadata says for it or for all.

Settings that Kafka reads only at the start stay as they were. A value that cannot be read is left out, for another
controller may have let it through.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from barnabas.config.server import SERVER_SETTINGS
from barnabas.config.server_config import ServerConfig
from barnabas.config.setting import ConfigError, Reload, Value
from barnabas.controller.effective_configs import CLUSTER_DEFAULT
from barnabas.metadata.configs import ConfigResource, ConfigResourceType
from barnabas.metadata.delta import MetadataDelta
from barnabas.metadata.image import MetadataImage

LOG: Final = logging.getLogger(__name__)

Changed = Callable[[ServerConfig], object]


class DynamicSettings:
    """`current` is what holds now; whoever keeps something made of it subscribes."""

    def __init__(self, static: ServerConfig, node_id: int) -> None:
        self.current = static
        self._static = static
        self._own = ConfigResource(ConfigResourceType.BROKER, str(node_id))
        self._subscribers: list[Changed] = []

    def subscribe(self, changed: Changed) -> None:
        """Tell it of the settings whenever any has changed."""
        self._subscribers.append(changed)

    def apply(self, delta: MetadataDelta, image: MetadataImage) -> None:
        """Take in one published step of the metadata."""
        changes = delta.configs.changes
        if self._own not in changes and CLUSTER_DEFAULT not in changes:
            return
        text, values = dict(self._static.given), dict(self._static.values)
        for name, given, value in self._dynamic(image):
            text[name], values[name] = given, value
        if values == self.current.values:
            return
        for name in sorted(name for name in values if values[name] != self.current.values[name]):
            LOG.info("setting changed", extra={"setting": name, "value": SERVER_SETTINGS[name].shown(values[name])})
        self.current = replace(self._static, values=MappingProxyType(values), given=MappingProxyType(text))
        for changed in self._subscribers:
            changed(self.current)

    def _dynamic(self, image: MetadataImage) -> Iterator[tuple[str, str, Value]]:
        """What the metadata says, its own last, so that it outweighs what is said for all."""
        per_broker = (Reload.PER_BROKER, Reload.CLUSTER_WIDE)
        for resource, scopes in ((CLUSTER_DEFAULT, (Reload.CLUSTER_WIDE,)), (self._own, per_broker)):
            configs: Mapping[str, str] = image.configs.get(resource) or {}
            for name, given in configs.items():
                setting = SERVER_SETTINGS.get(name)
                if setting is None or setting.reload not in scopes:
                    continue
                try:
                    yield name, given, setting.parse(given)
                except ConfigError as error:
                    LOG.warning("setting of the cluster not taken", extra={"setting": name, "reason": str(error)})
