"""This broker's settings as they are now: what it was started with, under what the metadata says for it or for all.

Settings that Kafka reads only at the start stay as they were. What a broker could not be started with changes nothing,
for another controller may have let it through.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final

from barnabas.broker.node_configs import RunningConfigs
from barnabas.config.node import NodeConfig
from barnabas.config.node_rules import parse_node
from barnabas.config.server import SERVER_SETTINGS
from barnabas.config.server_config import ServerConfig
from barnabas.config.setting import ConfigError
from barnabas.controller.effective_configs import CLUSTER_DEFAULT, NodeConfigs
from barnabas.metadata.configs import ConfigResource, ConfigResourceType
from barnabas.metadata.delta import MetadataDelta
from barnabas.metadata.image import MetadataImage

LOG: Final = logging.getLogger(__name__)

Changed = Callable[[NodeConfig], object]


class DynamicSettings:
    """`node` is what holds now; whoever keeps something made of it subscribes."""

    def __init__(self, node: NodeConfig, configs: NodeConfigs) -> None:
        self.node = node
        self._configs = configs
        self._own = ConfigResource(ConfigResourceType.BROKER, str(node.node_id))
        self._subscribers: list[Changed] = []

    @property
    def current(self) -> ServerConfig:
        return self.node.settings

    def subscribe(self, changed: Changed) -> None:
        """Tell it of the settings whenever any has changed."""
        self._subscribers.append(changed)

    def apply(self, delta: MetadataDelta, image: MetadataImage) -> None:
        """Take in one published step of the metadata."""
        changes = delta.configs.changes
        if self._own not in changes and CLUSTER_DEFAULT not in changes:
            return
        try:
            node = parse_node(RunningConfigs(image, self._configs).given)
        except ConfigError as error:
            LOG.warning("settings of the cluster are not taken", extra={"reason": str(error)})
            return
        before, now = self.current.values, node.settings.values
        changed = [name for name in now if now[name] != before[name]]
        if not changed:
            return
        for name in changed:
            LOG.info("setting changed", extra={"setting": name, "value": SERVER_SETTINGS[name].shown(now[name])})
        self.node = node
        for subscriber in self._subscribers:
            subscriber(node)
