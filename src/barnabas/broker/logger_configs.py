"""Changes of loggers' levels, which are a process's own: checked as a whole, then made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from barnabas.controller.config_changes import ConfigOperation
from barnabas.controller.errors import InvalidConfig, InvalidRequest
from barnabas.protocol.messages.incremental_alter_configs import AlterConfigsResource

LEVELS: Final = ("DEBUG", "ERROR", "FATAL", "INFO", "TRACE", "WARN")
ROOT_LOGGER: Final = "root"

# Gives a logger a level by Kafka's name for it, or takes its own away.
SetLevel = Callable[[str, str | None], None]


class LoggerConfigs:
    """`levels` gives the level of each logger by its name, `set_level` changes one."""

    def __init__(self, node_id: int, levels: Callable[[], Mapping[str, str]], set_level: SetLevel) -> None:
        self._node_id = node_id
        self._levels = levels
        self._set_level = set_level

    def change(self, resource: AlterConfigsResource, *, is_dry: bool) -> None:
        """Do what is asked, or only look whether one could; an ApiError where something is wrong, and nothing done."""
        check_own_id(self._node_id, resource.resource_name)
        known = self._levels()
        changes: dict[str, str | None] = {}
        for config in resource.configs:
            if config.name not in known:
                raise InvalidConfig(f"there is no logger {config.name}")
            match config.config_operation:
                case ConfigOperation.SET if config.value in LEVELS:
                    changes[config.name] = config.value
                case ConfigOperation.SET:
                    raise InvalidConfig(f"{config.value} is no level of a logger; there are {', '.join(LEVELS)}")
                case ConfigOperation.DELETE if config.name != ROOT_LOGGER:
                    changes[config.name] = None
                case ConfigOperation.DELETE:
                    raise InvalidRequest("the root logger cannot be without a level")
                case _:
                    raise InvalidRequest("the level of a logger can be set and deleted, nothing else")
        if not is_dry:
            for name, level in changes.items():
                self._set_level(name, level)


def check_own_id(node_id: int, name: str) -> None:
    """Raise InvalidRequest where a resource is another node than the one that is asked."""
    if not name.isdecimal():
        raise InvalidRequest(f"a node goes by its id, a whole number, not {name!r}")
    if int(name) != node_id:
        raise InvalidRequest(f"this is node {node_id}, which cannot speak for node {name}")
