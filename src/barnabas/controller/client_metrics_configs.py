"""The settings of a subscription to clients' metrics (KIP-714)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from barnabas.config.setting import Between, ConfigError, Kind, Setting
from barnabas.controller.errors import InvalidConfig, InvalidRequest

_MATCH_PARAMETERS: Final = frozenset(
    (
        "client_instance_id",
        "client_id",
        "client_software_name",
        "client_software_version",
        "client_source_address",
        "client_source_port",
    )
)

CLIENT_METRICS_SETTINGS: Final[Mapping[str, Setting]] = {
    setting.name: setting
    for setting in (
        Setting(
            name="metrics",
            kind=Kind.LIST,
            default=(),
            doc="What clients send: prefixes of metric names, or `*` for all.",
        ),
        Setting(
            name="interval.ms",
            kind=Kind.INT,
            default=300_000,
            allowed=Between(100, 3_600_000),
            doc="How often clients send.",
        ),
        Setting(
            name="match",
            kind=Kind.LIST,
            default=(),
            doc="Which clients send: pairs of a property and a regular expression. Without any, all do.",
        ),
    )
}


def check_client_metrics(configs: Mapping[str, str]) -> None:
    """Raise an ApiError with the setting that is wrong."""
    for name, text in configs.items():
        if name not in CLIENT_METRICS_SETTINGS:
            raise InvalidRequest(f"there is no setting {name} for client metrics")
        try:
            value = CLIENT_METRICS_SETTINGS[name].parse(text)
        except ConfigError as error:
            raise InvalidRequest(str(error)) from None
        if name == "match":
            assert isinstance(value, tuple)
            for pattern in value:
                _check_pattern(pattern)


def _check_pattern(pattern: str) -> None:
    parameter, separator, expression = pattern.partition("=")
    if not separator or "=" in expression or parameter.strip() not in _MATCH_PARAMETERS:
        raise InvalidConfig(
            f"{pattern!r} matches no client: it is one of {', '.join(sorted(_MATCH_PARAMETERS))}, =, "
            "and a regular expression"
        )
    try:
        re.compile(expression.strip())
    except re.error as error:
        raise InvalidConfig(f"{pattern!r} has no regular expression: {error}") from None
