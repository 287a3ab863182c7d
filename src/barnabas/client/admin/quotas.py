"""Quotas of users, clients and addresses."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import Final

from barnabas.client.cluster import Cluster
from barnabas.client.errors import check_code
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

USER: Final = "user"
CLIENT_ID: Final = "client-id"
IP: Final = "ip"

# Each part of an entity by its type; the default of a type has no name.
QuotaEntity = Mapping[str, str | None]


class Match(IntEnum):
    """Which entities of a type are meant, by the numbers of DescribeClientQuotas."""

    EXACT = 0
    DEFAULT = 1
    ANY = 2


def describe_client_quotas(
    cluster: Cluster, filters: Mapping[str, tuple[Match, str | None]]
) -> list[tuple[QuotaEntity, dict[str, float]]]:
    """The quotas of entities that have all these types, and no other, and match in each."""
    request = DescribeClientQuotasRequest(
        components=[
            ComponentData(entity_type=kind, match_type=match, match=name) for kind, (match, name) in filters.items()
        ],
        strict=True,
    )

    def read(response: DescribeClientQuotasResponse) -> list[tuple[QuotaEntity, dict[str, float]]]:
        check_code(response.error_code, response.error_message)
        return [
            (
                {part.entity_type: part.entity_name for part in entry.entity},
                {value.key: value.value for value in entry.values},
            )
            for entry in response.entries or ()
        ]

    return cluster.call(
        "describeClientQuotas", lambda _: request, DescribeClientQuotasResponse, read, is_for_brokers=True
    )


def alter_client_quotas(cluster: Cluster, entity: QuotaEntity, changes: Mapping[str, float | None]) -> None:
    """Set quotas of one entity, and remove those that have no new value."""
    entry = RequestEntryData(
        entity=[RequestEntityData(entity_type=kind, entity_name=name) for kind, name in entity.items()],
        ops=[
            OpData(key=name, value=0.0 if value is None else value, remove=value is None)
            for name, value in changes.items()
        ],
    )
    request = AlterClientQuotasRequest(entries=[entry], validate_only=False)

    def read(response: AlterClientQuotasResponse) -> None:
        for each in response.entries:
            check_code(each.error_code, each.error_message)

    cluster.call("alterClientQuotas", lambda _: request, AlterClientQuotasResponse, read, is_for_brokers=True)
