"""Quotas are kept for entities that make sense, and found again by filters."""

from __future__ import annotations

import pytest

from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasResponse,
    OpData,
    RequestEntityData,
    RequestEntryData,
)
from barnabas.protocol.messages.describe_client_quotas import (
    ComponentData,
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
)
from unit.controller.controlled_cluster import ControlledCluster

Entity = dict[str, str | None]
EXACT, DEFAULT, SPECIFIED = 0, 1, 2


def entry(entity: Entity, values: dict[str, float | None]) -> RequestEntryData:
    return RequestEntryData(
        entity=[RequestEntityData(entity_type=kind, entity_name=name) for kind, name in entity.items()],
        ops=[OpData(key=key, value=value or 0.0, remove=value is None) for key, value in values.items()],
    )


def alter(cluster: ControlledCluster, *entries: RequestEntryData, validate_only: bool = False) -> list[int]:
    request = AlterClientQuotasRequest(entries=list(entries), validate_only=validate_only)
    return [each.error_code for each in cluster.ask(request, AlterClientQuotasResponse).entries]


def describe(
    cluster: ControlledCluster, *components: ComponentData, strict: bool = False
) -> DescribeClientQuotasResponse:
    request = DescribeClientQuotasRequest(components=list(components), strict=strict)
    return cluster.ask(request, DescribeClientQuotasResponse)


def found(response: DescribeClientQuotasResponse) -> list[tuple[Entity, dict[str, float]]]:
    return [
        (
            {part.entity_type: part.entity_name for part in each.entity},
            {value.key: value.value for value in each.values},
        )
        for each in response.entries or []
    ]


def component(kind: str, match_type: int, match: str | None = None) -> ComponentData:
    return ComponentData(entity_type=kind, match_type=match_type, match=match)


def test_quotas_are_set_changed_and_removed() -> None:
    cluster = ControlledCluster()
    user: Entity = {"user": "ada"}
    assert alter(cluster, entry(user, {"producer_byte_rate": 5.0, "request_percentage": 0.5})) == [0]
    assert found(describe(cluster)) == [(user, {"producer_byte_rate": 5.0, "request_percentage": 0.5})]
    end_offset = cluster.end_offset
    assert alter(cluster, entry(user, {"producer_byte_rate": 5.0, "consumer_byte_rate": None})) == [0]
    assert cluster.end_offset == end_offset
    assert alter(cluster, entry(user, {"producer_byte_rate": None, "request_percentage": None})) == [0]
    assert found(describe(cluster)) == []


@pytest.mark.parametrize(
    ("entity", "key", "value", "is_taken"),
    [
        ({}, "producer_byte_rate", 1, False),
        ({"user": ""}, "producer_byte_rate", 1, False),
        ({"user": None}, "producer_byte_rate", 1, True),
        ({"user": "a", "client-id": None}, "consumer_byte_rate", 1, True),
        ({"group": "a"}, "producer_byte_rate", 1, False),
        ({"user": "a"}, "connection_creation_rate", 1, False),
        ({"user": "a"}, "no_such", 1, False),
        ({"user": "a"}, "producer_byte_rate", 0, False),
        ({"user": "a"}, "producer_byte_rate", 1.5, False),
        ({"user": "a"}, "producer_byte_rate", 1e19, False),
        ({"user": "a"}, "producer_byte_rate", float("nan"), False),
        ({"user": "a"}, "controller_mutation_rate", 1.5, True),
        ({"ip": "127.0.0.1"}, "connection_creation_rate", 2**31 - 1, True),
        ({"ip": "::1"}, "connection_creation_rate", 2**31, False),
        ({"ip": None}, "connection_creation_rate", 1, True),
        ({"ip": "host.example"}, "connection_creation_rate", 1, True),
        ({"ip": "not a host"}, "connection_creation_rate", 1, False),
        ({"ip": "127.0.0.1", "user": "a"}, "connection_creation_rate", 1, False),
        ({"ip": "127.0.0.1"}, "producer_byte_rate", 1, False),
    ],
)
def test_only_quotas_that_make_sense_are_taken(entity: Entity, key: str, value: float, is_taken: bool) -> None:
    cluster = ControlledCluster()
    request = entry(entity, {})
    request.ops = [OpData(key=key, value=value, remove=False)]
    assert alter(cluster, request) == [0 if is_taken else ErrorCode.INVALID_REQUEST]
    assert len(found(describe(cluster))) == is_taken


def test_one_bad_entity_spares_its_neighbours() -> None:
    cluster = ControlledCluster()
    good, bad = entry({"user": "a"}, {"producer_byte_rate": 1}), entry({"user": "b"}, {"no_such": 1})
    twice = entry({"user": "c"}, {"producer_byte_rate": 1})
    doubled = entry({"user": "d"}, {"producer_byte_rate": 1})
    doubled.ops *= 2
    invalid = ErrorCode.INVALID_REQUEST
    assert alter(cluster, good, bad, twice, twice, doubled) == [0, invalid, invalid, invalid, invalid]
    assert [entity for entity, _ in found(describe(cluster))] == [{"user": "a"}]


def test_validation_alone_writes_nothing() -> None:
    cluster = ControlledCluster()
    assert alter(cluster, entry({"user": "a"}, {"producer_byte_rate": 1}), validate_only=True) == [0]
    assert found(describe(cluster)) == []


def test_filters_find_what_they_name() -> None:
    cluster = ControlledCluster()
    entities: list[Entity] = [
        {"user": "a"},
        {"user": None},
        {"user": "a", "client-id": "c"},
        {"client-id": "c"},
        {"ip": "::1"},
    ]
    for entity in entities:
        key = "connection_creation_rate" if "ip" in entity else "producer_byte_rate"
        assert alter(cluster, entry(entity, {key: 1})) == [0]

    def names(*components: ComponentData, strict: bool = False) -> list[int]:
        matching = [entity for entity, _ in found(describe(cluster, *components, strict=strict))]
        return sorted(entities.index(dict(sorted(entity.items(), reverse=True))) for entity in matching)

    assert names() == [0, 1, 2, 3, 4]
    assert names(component("user", EXACT, "a")) == [0, 2]
    assert names(component("user", EXACT, "a"), strict=True) == [0]
    assert names(component("user", DEFAULT)) == [1]
    assert names(component("user", SPECIFIED)) == [0, 1, 2]
    assert names(component("user", SPECIFIED), component("client-id", EXACT, "c")) == [2]
    assert names(component("ip", SPECIFIED)) == [4]


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
    response = describe(ControlledCluster(), *components)
    assert (response.error_code, response.entries) == (expected, None)
