"""Brings the policies that the settings name, and keeps a controller up when one of them fails.

A policy that cannot be brought stops the start. One that raises what is no refusal costs the topic or resource that it
was asked about, and a line in the log.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from importlib import import_module
from typing import Any, Final, TypeVar

from barnabas.config.server_config import ServerConfig
from barnabas.config.setting import ConfigError
from barnabas.controller.policies import Policies
from barnabas.protocol.errors import ApiError, UnknownServerError

LOG: Final = logging.getLogger(__name__)

CREATE_TOPIC_POLICY: Final = "create.topic.policy.class.name"
ALTER_CONFIG_POLICY: Final = "alter.config.policy.class.name"
T = TypeVar("T")


def load_policies(settings: ServerConfig) -> Policies:
    """The policies of a node; ConfigError names the setting, and what it should be."""
    return Policies(
        create_topic=_load(CREATE_TOPIC_POLICY, settings), alter_configs=_load(ALTER_CONFIG_POLICY, settings)
    )


def _load(setting: str, settings: ServerConfig) -> Callable[[Any], None] | None:
    path = (settings.text_or_none(setting) or "").strip()
    if not path:
        return None
    expected = (
        "it should be the path of a Python class, as in package.module.Class, "
        "with configure(settings) and validate(request)"
    )
    module, _, name = path.rpartition(".")
    try:
        policy = getattr(import_module(module), name)()
        validate = policy.validate
        policy.configure(settings.given)
    except Exception as error:
        raise ConfigError(f"{setting}: {path} cannot be used: {type(error).__name__}: {error}; {expected}") from error
    return _guarded(setting, validate)


def _guarded(setting: str, validate: Callable[[T], object]) -> Callable[[T], None]:
    def check(asked: T) -> None:
        try:
            validate(asked)
        except ApiError:
            raise
        except Exception as error:
            LOG.error("policy failed", exc_info=error, extra={"setting": setting, "asked": repr(asked)})
            raise UnknownServerError(f"the policy of {setting} failed: {type(error).__name__}") from error

    return check
