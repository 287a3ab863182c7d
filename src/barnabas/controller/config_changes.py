"""AlterConfigs and IncrementalAlterConfigs: settings of topics, brokers, groups and client metrics.

The older of the two replaces all that a resource has; the newer one names what changes. A change of
min.insync.replicas ends eligibility for leaderships, which was counted against the old number (KIP-966).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from enum import IntEnum

from barnabas.controller.config_access import require_config_access
from barnabas.controller.config_rules import (
    MIN_INSYNC_REPLICAS,
    check_configs,
    config_records,
    default_text,
    is_list,
)
from barnabas.controller.decision import Decision, Operation, RequestContext, Situation
from barnabas.controller.errors import InvalidConfig, InvalidRequest, UnsupportedVersion
from barnabas.metadata.configs import ConfigResource, ConfigResourceType
from barnabas.protocol.errors import ApiError
from barnabas.protocol.messages import alter_configs as legacy
from barnabas.protocol.messages import incremental_alter_configs as incremental
from barnabas.protocol.metadata_records.clear_elr import ClearElrRecord
from barnabas.protocol.metadata_records.config import ConfigRecord
from barnabas.protocol.schema import Message
from barnabas.security.acls import AclOperation


class ConfigOperation(IntEnum):
    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


def alter_configs(situation: Situation, request: legacy.AlterConfigsRequest, context: RequestContext) -> Decision:
    """Give resources these settings and no others."""
    counts = Counter((each.resource_type, each.resource_name) for each in request.resources)
    records: list[Message] = []
    responses: list[legacy.AlterConfigsResourceResponse] = []
    for asked in request.resources:
        try:
            resource = _resource(asked.resource_type, asked.resource_name, counts)
            require_config_access(context.access, AclOperation.ALTER_CONFIGS, resource)
            before = _configs(situation, resource)
            wanted = {config.name: config.value for config in asked.configs}
            changes = {name: value for name, value in wanted.items() if _is_written(resource, before.get(name), value)}
            implied: dict[str, None] = {name: None for name in before if name not in wanted}
            check_configs(
                situation, resource, changes, before=before, is_forwarded=context.is_forwarded, implied=implied
            )
            records += config_records(resource, {**changes, **implied})
        except ApiError as error:
            responses.append(_legacy_response(asked, error))
        else:
            responses.append(_legacy_response(asked, None))
    return Decision(
        legacy.AlterConfigsResponse(throttle_time_ms=0, responses=responses),
        [] if request.validate_only else [*records, *_ended_eligibility(situation, records)],
        is_atomic=True,
    )


def incremental_alter_configs(
    situation: Situation, request: incremental.IncrementalAlterConfigsRequest, context: RequestContext
) -> Decision:
    """Change the settings that are named and leave the others."""
    counts = Counter((each.resource_type, each.resource_name) for each in request.resources)
    records: list[Message] = []
    responses: list[incremental.AlterConfigsResourceResponse] = []
    for asked in request.resources:
        try:
            resource = _resource(asked.resource_type, asked.resource_name, counts)
            require_config_access(context.access, AclOperation.ALTER_CONFIGS, resource)
            before = _configs(situation, resource)
            changes: dict[str, str | None] = {}
            for config in asked.configs:
                value = _altered(resource, config, before.get(config.name))
                if _is_written(resource, before.get(config.name), value):
                    changes[config.name] = value
            check_configs(situation, resource, changes, before=before, is_forwarded=context.is_forwarded)
            records += config_records(resource, changes)
        except ApiError as error:
            responses.append(_incremental_response(asked, error))
        else:
            responses.append(_incremental_response(asked, None))
    return Decision(
        incremental.IncrementalAlterConfigsResponse(throttle_time_ms=0, responses=responses),
        [] if request.validate_only else [*records, *_ended_eligibility(situation, records)],
        is_atomic=True,
    )


def _resource(number: int, name: str, counts: Counter[tuple[int, str]]) -> ConfigResource:
    resource = ConfigResource(ConfigResourceType(number), name)
    if resource.type is ConfigResourceType.UNKNOWN:
        raise UnsupportedVersion(f"there is no type of resource with number {number}")
    if resource.type is ConfigResourceType.BROKER_LOGGER:
        raise InvalidRequest("the levels of loggers are a node's own; ask the node itself")
    if counts[number, name] > 1:
        raise InvalidRequest(f"{resource.type.name} {name} is named twice in the request")
    return resource


def _configs(situation: Situation, resource: ConfigResource) -> dict[str, str]:
    return dict(situation.image.configs.get(resource) or {})


def _is_written(resource: ConfigResource, before: str | None, value: str | None) -> bool:
    """Of brokers even what stays: they read files again that a setting names, such as a key store (KAFKA-14136)."""
    return before != value or resource.type is ConfigResourceType.BROKER


def _altered(resource: ConfigResource, config: incremental.AlterableConfig, before: str | None) -> str | None:
    try:
        operation = ConfigOperation(config.config_operation)
    except ValueError:
        raise InvalidRequest(f"there is no operation {config.config_operation} on settings") from None
    if operation is ConfigOperation.DELETE:
        return None
    if config.value is None:
        raise InvalidConfig(f"{config.name} has no value; delete it to get the default")
    if operation is ConfigOperation.SET:
        return config.value
    if not is_list(resource, config.name):
        raise InvalidConfig(f"{config.name} is no list, so one cannot {operation.name.lower()} to it")
    start = default_text(resource, config.name) if before is None else before
    members = [member for member in start.split(",") if member]
    for member in config.value.split(","):
        if operation is ConfigOperation.APPEND and member not in members:
            members.append(member)
        elif operation is ConfigOperation.SUBTRACT and member in members:
            members.remove(member)
    return ",".join(members)


def _ended_eligibility(situation: Situation, records: Iterable[Message]) -> list[Message]:
    if not situation.image.features.is_elr_enabled:
        return []
    return [
        ClearElrRecord(topic_name=record.resource_name if record.resource_type == ConfigResourceType.TOPIC else "")
        for record in records
        if isinstance(record, ConfigRecord) and record.name == MIN_INSYNC_REPLICAS
    ]


def _legacy_response(asked: legacy.AlterConfigsResource, error: ApiError | None) -> legacy.AlterConfigsResourceResponse:
    return legacy.AlterConfigsResourceResponse(
        error_code=0 if error is None else error.code,
        error_message=None if error is None else str(error),
        resource_type=asked.resource_type,
        resource_name=asked.resource_name,
    )


def _incremental_response(
    asked: incremental.AlterConfigsResource, error: ApiError | None
) -> incremental.AlterConfigsResourceResponse:
    return incremental.AlterConfigsResourceResponse(
        error_code=0 if error is None else error.code,
        error_message=None if error is None else str(error),
        resource_type=asked.resource_type,
        resource_name=asked.resource_name,
    )


def _refuse_legacy(request: legacy.AlterConfigsRequest, error: ApiError, _version: int) -> Message:
    responses = [_legacy_response(asked, error) for asked in request.resources]
    return legacy.AlterConfigsResponse(throttle_time_ms=0, responses=responses)


def _refuse_incremental(request: incremental.IncrementalAlterConfigsRequest, error: ApiError, _version: int) -> Message:
    responses = [_incremental_response(asked, error) for asked in request.resources]
    return incremental.IncrementalAlterConfigsResponse(throttle_time_ms=0, responses=responses)


OPERATIONS: Mapping[type[Message], Operation] = {
    legacy.AlterConfigsRequest: Operation(alter_configs, _refuse_legacy, needs=None),
    incremental.IncrementalAlterConfigsRequest: Operation(incremental_alter_configs, _refuse_incremental, needs=None),
}
