"""Quotas are kept for entities that make sense."""

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
from unit.controller.controlled_cluster import ControlledCluster

Entity = dict[str, str | None]


def entry(entity: Entity, values: dict[str, float | None]) -> RequestEntryData:
    return RequestEntryData(
        entity=[RequestEntityData(entity_type=kind, entity_name=name) for kind, name in entity.items()],
        ops=[OpData(key=key, value=value or 0.0, remove=value is None) for key, value in values.items()],
    )


def alter(cluster: ControlledCluster, *entries: RequestEntryData, validate_only: bool = False) -> list[int]:
    request = AlterClientQuotasRequest(entries=list(entries), validate_only=validate_only)
    return [each.error_code for each in cluster.ask(request, AlterClientQuotasResponse).entries]


def kept(cluster: ControlledCluster) -> list[tuple[Entity, dict[str, float]]]:
    return [
        ({part.type: None if part.is_default else part.name for part in entity}, dict(values.entries()))
        for entity, values in cluster.image.client_quotas.entries()
    ]


def test_quotas_are_set_changed_and_removed() -> None:
    cluster = ControlledCluster()
    user: Entity = {"user": "ada"}
    assert alter(cluster, entry(user, {"producer_byte_rate": 5.0, "request_percentage": 0.5})) == [0]
    assert kept(cluster) == [(user, {"producer_byte_rate": 5.0, "request_percentage": 0.5})]
    end_offset = cluster.end_offset
    assert alter(cluster, entry(user, {"producer_byte_rate": 5.0, "consumer_byte_rate": None})) == [0]
    assert cluster.end_offset == end_offset
    assert alter(cluster, entry(user, {"producer_byte_rate": None, "request_percentage": None})) == [0]
    assert kept(cluster) == []


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
    assert len(kept(cluster)) == is_taken


def test_one_bad_entity_spares_its_neighbours() -> None:
    cluster = ControlledCluster()
    good, bad = entry({"user": "a"}, {"producer_byte_rate": 1}), entry({"user": "b"}, {"no_such": 1})
    twice = entry({"user": "c"}, {"producer_byte_rate": 1})
    doubled = entry({"user": "d"}, {"producer_byte_rate": 1})
    doubled.ops *= 2
    invalid = ErrorCode.INVALID_REQUEST
    assert alter(cluster, good, bad, twice, twice, doubled) == [0, invalid, invalid, invalid, invalid]
    assert [entity for entity, _ in kept(cluster)] == [{"user": "a"}]


def test_validation_alone_writes_nothing() -> None:
    cluster = ControlledCluster()
    assert alter(cluster, entry({"user": "a"}, {"producer_byte_rate": 1}), validate_only=True) == [0]
    assert kept(cluster) == []
