"""The settings of a group. Most have a default and bounds among those of a node: `consumer.session.timeout.ms`, for
one, lies between `group.consumer.min.session.timeout.ms` and `group.consumer.max.session.timeout.ms`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from barnabas.config.server import SERVER_SETTINGS
from barnabas.config.setting import AtLeast, ConfigError, Kind, OneOf, Setting, Value
from barnabas.controller.errors import InvalidConfig

_DURATION: Final = re.compile(r"P(?=.)(\d+D)?(T(?=.)(\d+H)?(\d+M)?(\d+(\.\d{0,9})?S)?)?", re.IGNORECASE)
_BY_DURATION: Final = "by_duration:"
# The least value of each that is a number, whatever a node's settings allow.
_NUMBERS: Final = {
    "consumer.session.timeout.ms": 1,
    "consumer.heartbeat.interval.ms": 1,
    "consumer.assignment.interval.ms": 0,
    "share.session.timeout.ms": 1,
    "share.heartbeat.interval.ms": 1,
    "share.record.lock.duration.ms": 1_000,
    "share.delivery.count.limit": 2,
    "share.partition.max.record.locks": 100,
    "share.assignment.interval.ms": 0,
    "streams.session.timeout.ms": 1,
    "streams.heartbeat.interval.ms": 1,
    "streams.num.standby.replicas": 0,
    "streams.initial.rebalance.delay.ms": 0,
    "streams.assignment.interval.ms": 0,
}
# The bound that is not called after its setting.
_STANDBY_MAX: Final = {"streams.num.standby.replicas": "group.streams.max.standby.replicas"}


def _number(name: str, least: int) -> Setting:
    of_node = SERVER_SETTINGS[f"group.{name}"]
    return Setting(name=name, kind=Kind.INT, default=of_node.default, allowed=AtLeast(least), doc=of_node.doc)


GROUP_SETTINGS: Final[Mapping[str, Setting]] = {
    **{name: _number(name, least) for name, least in _NUMBERS.items()},
    **{
        setting.name: setting
        for setting in (
            Setting(
                name="share.auto.offset.reset",
                kind=Kind.STRING,
                default="latest",
                doc="Where a share group begins: `earliest`, `latest`, or `by_duration:` and how long ago, as in PT1H.",
            ),
            Setting(
                name="share.isolation.level",
                kind=Kind.STRING,
                default="read_uncommitted",
                allowed=OneOf(("read_committed", "read_uncommitted")),
                doc="Whether a share group is given records of transactions that are open or aborted.",
            ),
            Setting(
                name="share.renew.acknowledge.enable",
                kind=Kind.BOOLEAN,
                default=True,
                doc="Whether members of a share group may keep records for longer.",
            ),
        )
    },
}


def check_group_configs(configs: Mapping[str, str], static_configs: Mapping[str, str]) -> None:
    """Raise InvalidConfig with the setting that is wrong, by itself or beside another."""
    unknown = sorted(configs.keys() - GROUP_SETTINGS.keys())
    if unknown:
        raise InvalidConfig(f"there is no group setting {', '.join(unknown)}")
    try:
        values = {name: setting.value_in(configs) for name, setting in GROUP_SETTINGS.items()}
        for name in _NUMBERS:
            if name in configs:
                _check_bounds(name, values[name], static_configs)
            elif (of_node := f"group.{name}") in static_configs:
                values[name] = SERVER_SETTINGS[of_node].parse(static_configs[of_node])
    except ConfigError as error:
        raise InvalidConfig(str(error)) from None
    for kind in ("consumer", "share", "streams"):
        heartbeat_ms, session_ms = values[f"{kind}.heartbeat.interval.ms"], values[f"{kind}.session.timeout.ms"]
        assert isinstance(heartbeat_ms, int)
        assert isinstance(session_ms, int)
        if session_ms <= heartbeat_ms:
            raise InvalidConfig(
                f"{kind}.session.timeout.ms ({session_ms}) is above {kind}.heartbeat.interval.ms ({heartbeat_ms})"
            )
    reset = values["share.auto.offset.reset"]
    assert isinstance(reset, str)
    is_by_duration = reset.startswith(_BY_DURATION) and _DURATION.fullmatch(reset.removeprefix(_BY_DURATION))
    if reset not in ("earliest", "latest") and not is_by_duration:
        raise InvalidConfig(
            f"share.auto.offset.reset is earliest, latest or {_BY_DURATION} with a duration as in PT1H, not {reset}"
        )


def _check_bounds(name: str, value: Value, static_configs: Mapping[str, str]) -> None:
    kind, _, rest = name.partition(".")
    assert isinstance(value, int)
    least_name = f"group.{kind}.min.{rest}"
    most_name = _STANDBY_MAX.get(name, f"group.{kind}.max.{rest}")
    if least_name in SERVER_SETTINGS:
        least = SERVER_SETTINGS[least_name].value_in(static_configs)
        if isinstance(least, int) and value < least:
            raise InvalidConfig(f"{name} is at least {least} by {least_name}, not {value}")
    if most_name in SERVER_SETTINGS:
        most = SERVER_SETTINGS[most_name].value_in(static_configs)
        if isinstance(most, int) and value > most:
            raise InvalidConfig(f"{name} is at most {most} by {most_name}, not {value}")
