"""Whether settings make sense for a topic: each by itself, and some of them together."""

from __future__ import annotations

from collections.abc import Mapping

from barnabas.config.setting import ConfigError, Value
from barnabas.controller.effective_configs import TOPIC_SETTINGS_BY_NAME, EffectiveConfigs
from barnabas.controller.errors import InvalidConfig

# What `local.retention.*` is where it follows `retention.*`.
_AS_RETENTION = -2
_UNLIMITED = -1


def check_topic_configs(
    configs: Mapping[str, str], before: Mapping[str, str], effective: EffectiveConfigs, *, is_tiering_enabled: bool
) -> None:
    """Raise InvalidConfig with the setting that is wrong; `configs` are all that the topic will have of its own."""
    unknown = sorted(configs.keys() - TOPIC_SETTINGS_BY_NAME.keys())
    if unknown:
        raise InvalidConfig(f"there is no topic setting {', '.join(unknown)}")
    try:
        for name, text in configs.items():
            TOPIC_SETTINGS_BY_NAME[name].parse(text)
        values = {
            name: setting.parse(effective.resolve(name, configs).text)
            for name, setting in TOPIC_SETTINGS_BY_NAME.items()
        }
    except ConfigError as error:
        raise InvalidConfig(str(error)) from None
    least_ms, most_ms = _whole(values, "min.compaction.lag.ms"), _whole(values, "max.compaction.lag.ms")
    if least_ms > most_ms:
        raise InvalidConfig(f"min.compaction.lag.ms ({least_ms}) is above max.compaction.lag.ms ({most_ms})")
    _check_tiering(values, before, is_tiering_enabled=is_tiering_enabled)


def _check_tiering(values: Mapping[str, Value], before: Mapping[str, str], *, is_tiering_enabled: bool) -> None:
    if not values["remote.storage.enable"]:
        if before.get("remote.storage.enable") == "true" and not values["remote.log.delete.on.disable"]:
            raise InvalidConfig(
                "tiered storage is switched off only together with remote.log.delete.on.disable=true; to keep what is "
                "there and copy no more, leave it on and set remote.log.copy.disable=true"
            )
        return
    if not is_tiering_enabled:
        raise InvalidConfig("remote.storage.enable needs remote.log.storage.system.enable in the cluster")
    if values["cleanup.policy"] not in ((), ("delete",)):
        raise InvalidConfig("a topic with remote.storage.enable cannot be compacted")
    for unit in ("bytes", "ms"):
        total, local = _whole(values, f"retention.{unit}"), _whole(values, f"local.retention.{unit}")
        if local == _AS_RETENTION:
            continue
        if values["remote.log.copy.disable"] and local != total:
            raise InvalidConfig(
                f"with remote.log.copy.disable, local.retention.{unit} ({local}) is retention.{unit} ({total})"
            )
        if total != _UNLIMITED and (local == _UNLIMITED or local > total):
            raise InvalidConfig(f"local.retention.{unit} ({local}) is above retention.{unit} ({total})")


def _whole(values: Mapping[str, Value], name: str) -> int:
    value = values[name]
    assert isinstance(value, int)
    return value
