"""AlterClientQuotas and DescribeClientQuotas: limits for users, client ids, both together, and addresses."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from enum import IntEnum
from ipaddress import ip_address
from math import isnan
from typing import Final

from barnabas.controller.decision import CommittedView, Decision, Operation, Query, RequestContext, Situation
from barnabas.controller.errors import InvalidRequest, UnsupportedVersion
from barnabas.metadata.configs import QuotaEntity, quota_entity
from barnabas.protocol.errors import ApiError
from barnabas.protocol.messages import alter_client_quotas as alter
from barnabas.protocol.messages import describe_client_quotas as describe
from barnabas.protocol.metadata_records.client_quota import ClientQuotaRecord, EntityData
from barnabas.protocol.schema import Message

USER: Final = "user"
CLIENT_ID: Final = "client-id"
IP: Final = "ip"
# The greatest value of a quota that has to be a whole number, None where it may be a fraction.
_OF_CLIENTS: Final = {
    "producer_byte_rate": 2**63 - 1,
    "consumer_byte_rate": 2**63 - 1,
    "request_percentage": None,
    "controller_mutation_rate": None,
}
_OF_ADDRESSES: Final = {"connection_creation_rate": 2**31 - 1}
_HOST_NAME: Final = re.compile(r"(?!-)[A-Za-z0-9-]{1,63}(?<!-)(\.(?!-)[A-Za-z0-9-]{1,63}(?<!-))*")


class MatchType(IntEnum):
    EXACT = 0
    DEFAULT = 1
    SPECIFIED = 2


def alter_quotas(situation: Situation, request: alter.AlterClientQuotasRequest, _context: RequestContext) -> Decision:
    """Each entity by itself, and only once."""
    counts = Counter(_entity(entry) for entry in request.entries)
    records: list[Message] = []
    results = []
    for entry in request.entries:
        try:
            if counts[_entity(entry)] > 1:
                raise InvalidRequest("the same entity is named twice in the request")
            records += _changes(situation, entry)
        except ApiError as error:
            results.append(_result(entry, error))
        else:
            results.append(_result(entry, None))
    return Decision(
        alter.AlterClientQuotasResponse(throttle_time_ms=0, entries=results),
        [] if request.validate_only else records,
        is_atomic=True,
    )


def _entity(entry: alter.RequestEntryData) -> QuotaEntity:
    return quota_entity(_data(entry))


def _data(entry: alter.RequestEntryData) -> list[EntityData]:
    return [EntityData(entity_type=part.entity_type, entity_name=part.entity_name) for part in entry.entity]


def _changes(situation: Situation, entry: alter.RequestEntryData) -> list[Message]:
    limits = _limits(entry.entity)
    keys = Counter(op.key for op in entry.ops)
    current: Mapping[str, float] = situation.image.client_quotas.get(_entity(entry)) or {}
    records: list[Message] = []
    for op in entry.ops:
        if keys[op.key] > 1:
            raise InvalidRequest(f"quota {op.key} is named twice for the same entity")
        if op.remove:
            if op.key in current:
                records.append(ClientQuotaRecord(entity=_data(entry), key=op.key, value=0.0, remove=True))
            continue
        _check_value(limits, op.key, op.value)
        if current.get(op.key) != op.value:
            records.append(ClientQuotaRecord(entity=_data(entry), key=op.key, value=op.value, remove=False))
    return records


def _limits(entity: Sequence[alter.RequestEntityData]) -> Mapping[str, int | None]:
    """The quotas that this kind of entity can have."""
    types = [part.entity_type for part in entity]
    if not types:
        raise InvalidRequest("a quota is of somebody: a user, a client id or an address")
    if len(set(types)) < len(types):
        raise InvalidRequest("an entity has one user, one client id and one address at most")
    for part in entity:
        if part.entity_type not in (USER, CLIENT_ID, IP):
            raise InvalidRequest(f"there are no quotas of type {part.entity_type}")
        if part.entity_name == "":
            raise InvalidRequest(f"the name of a {part.entity_type} is not empty; the default of all has none")
    if IP not in types:
        return _OF_CLIENTS
    if len(types) > 1:
        raise InvalidRequest("the quota of an address is not combined with a user or client id")
    name = entity[0].entity_name
    if name is not None and not _is_address(name):
        raise InvalidRequest(f"{name} is neither an address nor the name of a host")
    return _OF_ADDRESSES


def _is_address(name: str) -> bool:
    """Names are not looked up here: that would be a question to somebody else."""
    try:
        ip_address(name)
    except ValueError:
        return _HOST_NAME.fullmatch(name) is not None
    return True


def _check_value(limits: Mapping[str, int | None], key: str, value: float) -> None:
    if key not in limits:
        raise InvalidRequest(f"this entity has no quota {key}, only {', '.join(limits)}")
    if isnan(value) or value <= 0:
        raise InvalidRequest(f"quota {key} is above 0, not {value}")
    most = limits[key]
    if most is None:
        return
    if value > most:
        raise InvalidRequest(f"quota {key} is at most {most}, not {value}")
    if value % 1 > 1e-6:
        raise InvalidRequest(f"quota {key} is a whole number, not {value}")


def describe_quotas(
    view: CommittedView, request: describe.DescribeClientQuotasRequest, _context: RequestContext
) -> Message:
    """The quotas of entities that match every component; of those only, if the request is strict."""
    wanted: dict[str, describe.ComponentData] = {}
    for component in request.components:
        _check_component(component)
        if component.entity_type in wanted:
            raise InvalidRequest(f"type {component.entity_type} is named twice in the filter")
        wanted[component.entity_type] = component
    if IP in wanted and len(wanted) > 1:
        raise InvalidRequest("the quotas of addresses are not asked for together with users or client ids")
    entries = [
        describe.EntryData(
            entity=[
                describe.EntityData(entity_type=part.type, entity_name=None if part.is_default else part.name)
                for part in entity
            ],
            values=[describe.ValueData(key=key, value=value) for key, value in values.entries()],
        )
        for entity, values in view.image.client_quotas.entries()
        if _matches(entity, wanted, is_strict=request.strict)
    ]
    return describe.DescribeClientQuotasResponse(throttle_time_ms=0, error_code=0, error_message=None, entries=entries)


def _check_component(component: describe.ComponentData) -> None:
    if not component.entity_type:
        raise InvalidRequest("a component of the filter has no type")
    if component.entity_type not in (USER, CLIENT_ID, IP):
        raise UnsupportedVersion(f"there are no quotas of type {component.entity_type}")
    try:
        kind = MatchType(component.match_type)
    except ValueError:
        raise InvalidRequest(f"there is no way to match with number {component.match_type}") from None
    if (kind is MatchType.EXACT) != (component.match is not None):
        raise InvalidRequest("a name is given with an exact match and only with that")


def _matches(entity: QuotaEntity, wanted: Mapping[str, describe.ComponentData], *, is_strict: bool) -> bool:
    parts = {part.type: part for part in entity}
    for entity_type, component in wanted.items():
        part = parts.get(entity_type)
        if part is None:
            return False
        if component.match_type == MatchType.EXACT and (part.is_default or part.name != component.match):
            return False
        if component.match_type == MatchType.DEFAULT and not part.is_default:
            return False
    return not is_strict or len(parts) == len(wanted)


def _result(entry: alter.RequestEntryData, error: ApiError | None) -> alter.ResponseEntryData:
    return alter.ResponseEntryData(
        error_code=0 if error is None else error.code,
        error_message=None if error is None else str(error),
        entity=[
            alter.ResponseEntityData(entity_type=part.entity_type, entity_name=part.entity_name)
            for part in entry.entity
        ],
    )


def _refuse(request: alter.AlterClientQuotasRequest, error: ApiError, _version: int) -> Message:
    entries = [_result(entry, error) for entry in request.entries]
    return alter.AlterClientQuotasResponse(throttle_time_ms=0, entries=entries)


def _refuse_description(_request: describe.DescribeClientQuotasRequest, error: ApiError, _version: int) -> Message:
    return describe.DescribeClientQuotasResponse(
        throttle_time_ms=0, error_code=error.code, error_message=str(error), entries=None
    )


OPERATIONS: Mapping[type[Message], Operation] = {alter.AlterClientQuotasRequest: Operation(alter_quotas, _refuse)}
QUERIES: Mapping[type[Message], Query] = {
    describe.DescribeClientQuotasRequest: Query(describe_quotas, _refuse_description)
}
