"""Whether a resource may have the settings that somebody wants for it, by the registry and by what the cluster needs.

A controller takes settings of brokers more lightly than those of topics: names that it does not know may be a broker's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from barnabas.config.server import SERVER_SETTINGS
from barnabas.config.setting import ConfigError, Kind
from barnabas.controller.client_metrics_configs import CLIENT_METRICS_SETTINGS, check_client_metrics
from barnabas.controller.decision import Situation
from barnabas.controller.effective_configs import TOPIC_SETTINGS_BY_NAME, EffectiveConfigs
from barnabas.controller.errors import (
    BrokerIdNotRegistered,
    InvalidConfig,
    InvalidRequest,
    UnknownTopicOrPartition,
)
from barnabas.controller.group_configs import GROUP_SETTINGS, check_group_configs
from barnabas.controller.policies import ConfigChange
from barnabas.controller.small_segments import check_segment_bytes
from barnabas.controller.topic_configs import check_topic_configs
from barnabas.controller.topic_names import check_topic_name
from barnabas.metadata.configs import ConfigResource, ConfigResourceType
from barnabas.protocol.metadata_records.config import ConfigRecord
from barnabas.protocol.schema import Message

VALUE_LENGTH_MAX: Final = 2**15 - 1
MIN_INSYNC_REPLICAS: Final = "min.insync.replicas"
CORDONED_LOG_DIRS: Final = "cordoned.log.dirs"
_SETTINGS: Final = {
    ConfigResourceType.TOPIC: TOPIC_SETTINGS_BY_NAME,
    ConfigResourceType.BROKER: SERVER_SETTINGS,
    ConfigResourceType.GROUP: GROUP_SETTINGS,
    ConfigResourceType.CLIENT_METRICS: CLIENT_METRICS_SETTINGS,
}


def creation_records(situation: Situation, topic: str, configs: Mapping[str, str]) -> list[Message]:
    """The settings of a topic that is about to be created."""
    resource = ConfigResource(ConfigResourceType.TOPIC, topic)
    check_configs(situation, resource, configs, before={}, is_forwarded=True, is_new=True)
    return config_records(resource, configs)


def config_records(resource: ConfigResource, configs: Mapping[str, str | None]) -> list[Message]:
    """What changes, None for what goes back to its default."""
    return [
        ConfigRecord(resource_type=resource.type, resource_name=resource.name, name=name, value=value)
        for name, value in configs.items()
    ]


def is_list(resource: ConfigResource, name: str) -> bool:
    """Whether one can append to a setting and subtract from it."""
    setting = _SETTINGS[resource.type].get(name)
    return setting is not None and setting.kind is Kind.LIST


def default_text(resource: ConfigResource, name: str) -> str:
    setting = _SETTINGS[resource.type][name]
    return setting.format(setting.default)


def check_configs(
    situation: Situation,
    resource: ConfigResource,
    changes: Mapping[str, str | None],
    *,
    before: Mapping[str, str],
    is_forwarded: bool,
    is_new: bool = False,
    implied: Mapping[str, None] | None = None,
) -> None:
    """Raise an ApiError where the changes are not allowed. Those that are only implied are not shown to a policy."""
    all_changes = {**changes, **(implied or {})}
    for name, value in all_changes.items():
        _check_change(situation, resource, name, value, before.get(name), is_forwarded=is_forwarded)
    merged = {**before, **all_changes}
    configs = {name: value for name, value in merged.items() if value is not None}
    _check_resource(situation, resource, configs, before)
    if not is_new:
        _check_existence(situation, resource)
    policy = situation.settings.policies.alter_configs
    if policy is not None:
        policy(ConfigChange(resource_type=resource.type, resource_name=resource.name, configs=changes))


def _check_change(
    situation: Situation,
    resource: ConfigResource,
    name: str,
    value: str | None,
    before: str | None,
    *,
    is_forwarded: bool,
) -> None:
    if value is not None and len(value) > VALUE_LENGTH_MAX:
        raise InvalidConfig(f"the value of {name} has {len(value)} characters, the most is {VALUE_LENGTH_MAX}")
    if resource.type is not ConfigResourceType.BROKER:
        return
    if name == MIN_INSYNC_REPLICAS and situation.image.features.is_elr_enabled:
        # Who is eligible depends on it, so it has to be the same wherever the leader is (KIP-966).
        if resource.name:
            raise InvalidConfig(f"with eligible leader replicas, {name} is set for all brokers and not for one")
        if value is None:
            raise InvalidConfig(f"with eligible leader replicas, {name} of the cluster cannot be removed")
    if name == CORDONED_LOG_DIRS:
        if not situation.metadata_version.has_cordoned_log_dirs:
            raise InvalidConfig(f"{name} needs metadata.version 4.3-IV0")
        if not is_forwarded and value and value.strip() and not _words(value) <= _words(before or ""):
            raise InvalidConfig(f"a controller, which does not know a broker's directories, only takes off {name}")


def _words(text: str) -> set[str]:
    return {word.strip() for word in text.split(",")}


def _check_resource(
    situation: Situation, resource: ConfigResource, configs: Mapping[str, str], before: Mapping[str, str]
) -> None:
    match resource.type:
        case ConfigResourceType.TOPIC:
            if not resource.name:
                raise InvalidRequest("there are no settings for topics in general: name one")
            check_topic_name(resource.name)
            check_topic_configs(
                configs,
                before,
                EffectiveConfigs(situation.image, situation.settings),
                is_tiering_enabled=_is_tiering_enabled(situation),
            )
            check_segment_bytes(situation.image, configs)
        case ConfigResourceType.BROKER:
            _check_broker(resource, configs)
        case ConfigResourceType.GROUP:
            if not resource.name:
                raise InvalidRequest("there are no settings for groups in general: name one")
            check_group_configs(configs, situation.settings.static_configs)
        case ConfigResourceType.CLIENT_METRICS:
            if not resource.name:
                raise InvalidRequest("a subscription to client metrics has a name")
            check_client_metrics(configs)
        case _:
            raise InvalidRequest(f"settings of {resource.type.name} are not kept by controllers")


def _is_tiering_enabled(situation: Situation) -> bool:
    return situation.settings.static_configs.get("remote.log.storage.system.enable", "").strip().lower() == "true"


def _check_broker(resource: ConfigResource, configs: Mapping[str, str]) -> None:
    if resource.name and not resource.name.isdecimal():
        raise InvalidRequest(f"{resource.name!r} is no broker id")
    try:
        for name, text in configs.items():
            if name in SERVER_SETTINGS:
                SERVER_SETTINGS[name].parse(text)
    except ConfigError as error:
        raise InvalidConfig(str(error)) from None


def _check_existence(situation: Situation, resource: ConfigResource) -> None:
    image = situation.image
    if resource.type is ConfigResourceType.TOPIC and resource.name not in image.topics.ids:
        raise UnknownTopicOrPartition(f"there is no topic {resource.name}")
    if resource.type is ConfigResourceType.BROKER and resource.name:
        node_id = int(resource.name)
        is_known = (
            node_id in image.cluster.brokers or node_id in image.cluster.controllers or node_id in situation.voter_ids
        )
        if not is_known:
            raise BrokerIdNotRegistered(f"there is no node with id {node_id}")
