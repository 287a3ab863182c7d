"""Quotas of the users, clients and addresses that a command line names."""

from __future__ import annotations

from itertools import zip_longest
from typing import Final

from barnabas.cli.cluster_access import ToolError
from barnabas.cli.configuring.entities import CLIENTS, IPS, USERS, Entities
from barnabas.cli.java_order import in_hash_order, string_hash
from barnabas.client.admin.quotas import CLIENT_ID, IP, USER, Match, QuotaEntity, describe_client_quotas
from barnabas.client.cluster import Cluster

QUOTA_TYPES: Final = {USERS: USER, CLIENTS: CLIENT_ID, IPS: IP}
_SHOWN: Final = {USER: "user-principal", CLIENT_ID: "client-id", IP: "ip"}


def describe_quotas(cluster: Cluster, entities: Entities) -> list[tuple[QuotaEntity, dict[str, float]]]:
    """Those of the entities; a type without a name stands for all of that type."""
    filters: dict[str, tuple[Match, str | None]] = {}
    for kind, name in zip_longest(entities.types, entities.names):
        if kind is None:
            raise ToolError("More entity names specified than entity types")
        filters[QUOTA_TYPES[kind]] = _filter(name)
    return describe_client_quotas(cluster, filters)


def quota_line(entity: QuotaEntity, quotas: dict[str, float]) -> str:
    parts = [
        f"the default {shown}" if entity[kind] is None else f"{shown} '{entity[kind]}'"
        for kind, shown in _SHOWN.items()
        if kind in entity
    ]
    ordered = in_hash_order(quotas, string_hash, capacity=len(quotas))
    values = ", ".join(f"{name}={_double(quotas[name])}" for name in ordered)
    return f"Quota configs for {', '.join(parts)} are {values}"


def entity_hash(entity: QuotaEntity) -> int:
    """Java's hash of an entity, which is that of a map."""
    return 31 + sum(string_hash(kind) ^ string_hash(name or "") for kind, name in entity.items()) & 0xFFFF_FFFF


def _filter(name: str | None) -> tuple[Match, str | None]:
    if name is None:
        return Match.ANY, None
    return (Match.EXACT, name) if name else (Match.DEFAULT, None)


def _double(value: float) -> str:
    """As Java writes it: with a point, and with an exponent from ten million on and below a thousandth."""
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return repr(value)
    shortest = next(text for places in range(18) if float(text := f"{value:.{places}e}") == value)
    digits, _, exponent = shortest.partition("e")
    return f"{digits if '.' in digits else digits + '.0'}E{int(exponent)}"
