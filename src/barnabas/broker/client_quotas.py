"""DescribeClientQuotas: the limits of users, client ids, both together, and addresses, by a filter.

v0-v1: 1 is flexible. A broker answers it from its own image; controllers are not asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum

from barnabas.controller.errors import InvalidRequest, UnsupportedVersion
from barnabas.metadata.configs import CLIENT_ID, IP, USER, ClientQuotas, QuotaEntity
from barnabas.protocol.errors import ApiError
from barnabas.protocol.messages.describe_client_quotas import (
    ComponentData,
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
    EntityData,
    EntryData,
    ValueData,
)


class MatchType(IntEnum):
    EXACT = 0
    DEFAULT = 1
    SPECIFIED = 2


def describe_client_quotas(quotas: ClientQuotas, request: DescribeClientQuotasRequest) -> DescribeClientQuotasResponse:
    """The quotas of entities that match every component; of those only, if the request is strict."""
    try:
        entries = _matching(quotas, request)
    except ApiError as error:
        return DescribeClientQuotasResponse(
            throttle_time_ms=0, error_code=error.code, error_message=str(error), entries=None
        )
    return DescribeClientQuotasResponse(throttle_time_ms=0, error_code=0, error_message=None, entries=entries)


def _matching(quotas: ClientQuotas, request: DescribeClientQuotasRequest) -> list[EntryData]:
    wanted: dict[str, ComponentData] = {}
    for component in request.components:
        _check_component(component)
        if component.entity_type in wanted:
            raise InvalidRequest(f"type {component.entity_type} is named twice in the filter")
        wanted[component.entity_type] = component
    if IP in wanted and len(wanted) > 1:
        raise InvalidRequest("the quotas of addresses are not asked for together with users or client ids")
    return [
        EntryData(
            entity=[
                EntityData(entity_type=part.type, entity_name=None if part.is_default else part.name) for part in entity
            ],
            values=[ValueData(key=key, value=value) for key, value in values.entries()],
        )
        for entity, values in quotas.entries()
        if _matches(entity, wanted, is_strict=request.strict)
    ]


def _check_component(component: ComponentData) -> None:
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


def _matches(entity: QuotaEntity, wanted: Mapping[str, ComponentData], *, is_strict: bool) -> bool:
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
