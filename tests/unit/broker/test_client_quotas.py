"""Quotas are found by filters that make sense."""

from __future__ import annotations

import pytest

from barnabas.broker.client_quotas import describe_client_quotas
from barnabas.metadata.configs import ClientQuotas, QuotaEntityPart
from barnabas.metadata.sorted_map import SortedMap
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.describe_client_quotas import (
    ComponentData,
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
)

Entity = dict[str, str | None]
EXACT, DEFAULT, SPECIFIED = 0, 1, 2


def stored(*entities: Entity) -> ClientQuotas:
    return SortedMap(
        {
            tuple(QuotaEntityPart(kind, name is None, name or "") for kind, name in sorted(entity.items())): SortedMap(
                {"some_rate": float(number)}
            )
            for number, entity in enumerate(entities)
        }
    )


def describe(quotas: ClientQuotas, *components: ComponentData, strict: bool = False) -> DescribeClientQuotasResponse:
    return describe_client_quotas(quotas, DescribeClientQuotasRequest(components=list(components), strict=strict))


def component(kind: str, match_type: int, match: str | None = None) -> ComponentData:
    return ComponentData(entity_type=kind, match_type=match_type, match=match)


def test_filters_find_what_they_name() -> None:
    quotas = stored({"user": "a"}, {"user": None}, {"user": "a", "client-id": "c"}, {"client-id": "c"}, {"ip": "::1"})

    def found(*components: ComponentData, strict: bool = False) -> list[float]:
        response = describe(quotas, *components, strict=strict)
        assert response.entries is not None
        return sorted(value.value for each in response.entries for value in each.values)

    assert found() == [0, 1, 2, 3, 4]
    assert found(component("user", EXACT, "a")) == [0, 2]
    assert found(component("user", EXACT, "a"), strict=True) == [0]
    assert found(component("user", DEFAULT)) == [1]
    assert found(component("user", SPECIFIED)) == [0, 1, 2]
    assert found(component("user", SPECIFIED), component("client-id", EXACT, "c")) == [2]
    assert found(component("ip", SPECIFIED)) == [4]
    (entry,) = describe(quotas, component("user", DEFAULT)).entries or []
    assert [(part.entity_type, part.entity_name) for part in entry.entity] == [("user", None)]


@pytest.mark.parametrize(
    ("components", "expected"),
    [
        ([component("", SPECIFIED)], ErrorCode.INVALID_REQUEST),
        ([component("group", SPECIFIED)], ErrorCode.UNSUPPORTED_VERSION),
        ([component("user", 3)], ErrorCode.INVALID_REQUEST),
        ([component("user", EXACT)], ErrorCode.INVALID_REQUEST),
        ([component("user", DEFAULT, "a")], ErrorCode.INVALID_REQUEST),
        ([component("user", SPECIFIED), component("user", DEFAULT)], ErrorCode.INVALID_REQUEST),
        ([component("user", SPECIFIED), component("ip", DEFAULT)], ErrorCode.INVALID_REQUEST),
    ],
)
def test_a_filter_that_makes_no_sense_is_refused(components: list[ComponentData], expected: int) -> None:
    response = describe(SortedMap(), *components)
    assert (response.error_code, response.entries) == (expected, None)
