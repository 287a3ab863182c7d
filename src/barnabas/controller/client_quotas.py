"""AlterClientQuotas: limits for users, client ids, both together, and addresses."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from ipaddress import ip_address
from math import isnan
from typing import Final

from barnabas.controller.decision import Decision, Operation, RequestContext, Situation
from barnabas.controller.errors import InvalidRequest
from barnabas.metadata.configs import CLIENT_ID, IP, USER, QuotaEntity, quota_entity
from barnabas.protocol.errors import ApiError
from barnabas.protocol.messages import alter_client_quotas as alter
from barnabas.protocol.metadata_records.client_quota import ClientQuotaRecord, EntityData
from barnabas.protocol.schema import Message
from barnabas.security.acls import AclOperation

# The greatest value of a quota that has to be a whole number, None where it may be a fraction.
_OF_CLIENTS: Final = {
    "producer_byte_rate": 2**63 - 1,
    "consumer_byte_rate": 2**63 - 1,
    "request_percentage": None,
    "controller_mutation_rate": None,
}
_OF_ADDRESSES: Final = {"connection_creation_rate": 2**31 - 1}
_HOST_NAME: Final = re.compile(r"(?!-)[A-Za-z0-9-]{1,63}(?<!-)(\.(?!-)[A-Za-z0-9-]{1,63}(?<!-))*")


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


OPERATIONS: Mapping[type[Message], Operation] = {
    alter.AlterClientQuotasRequest: Operation(alter_quotas, _refuse, needs=AclOperation.ALTER_CONFIGS)
}
