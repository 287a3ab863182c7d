"""`kafka-configs --alter`: settings of resources, quotas and SCRAM credentials are changed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, TextIO

from barnabas.cli.cluster_access import ToolError, parse_number
from barnabas.cli.configuring.entities import BROKER_LOGGERS, CLIENTS, IPS, USERS, Entities
from barnabas.cli.configuring.quotas import QUOTA_TYPES, describe_quotas
from barnabas.cli.configuring.resources import resource_of
from barnabas.client.admin.configs import alter_configs, describe_configs
from barnabas.client.admin.quotas import alter_client_quotas
from barnabas.client.admin.scram import NewCredential, alter_user_scram_credentials
from barnabas.client.cluster import Cluster
from barnabas.client.outcomes import raise_first
from barnabas.security.scram import ITERATIONS_MIN, ScramMechanism

CLIENT_QUOTAS: Final = ("producer_byte_rate", "consumer_byte_rate", "request_percentage", "controller_mutation_rate")
IP_QUOTAS: Final = ("connection_creation_rate",)
_MECHANISMS: Final = {mechanism.value: mechanism for mechanism in ScramMechanism}
_CREDENTIAL: Final = re.compile(r"(?:iterations=(-?[0-9]*),)?password=(.*)")


def alter(cluster: Cluster, entities: Entities, added: Mapping[str, str], deleted: Sequence[str], out: TextIO) -> None:
    """Delete settings and add others, and say so."""
    if entities.type in (USERS, CLIENTS):
        _alter_clients(cluster, entities, added, deleted)
    elif entities.type == IPS:
        unknown = [name for name in (*added, *deleted) if name not in IP_QUOTAS]
        if unknown:
            raise ToolError(
                f"Only connection quota configs can be added for '{IPS}' using --bootstrap-server. Unexpected config "
                f"names: {','.join(unknown)}"
            )
        _alter_quotas(cluster, entities, added, deleted)
    else:
        _alter_resource(cluster, entities, added, deleted)
    name = entities.name
    if name:
        print(f"Completed updating config for {entities.type[:-1]} {name}.", file=out)
    else:
        print(f"Completed updating default config for {entities.type} in the cluster.", file=out)


def _alter_resource(cluster: Cluster, entities: Entities, added: Mapping[str, str], deleted: Sequence[str]) -> None:
    resource = resource_of(entities.type, entities.names[0])
    if entities.type == BROKER_LOGGERS:
        loggers = {config.name for config in raise_first(describe_configs(cluster, [resource]))[resource]}
        unknown = [name for name in (*deleted, *added) if name not in loggers]
        if unknown:
            raise ToolError(f"Invalid broker logger(s): {','.join(unknown)}")
    changes: dict[str, str | None] = {**dict.fromkeys(deleted), **added}
    raise_first(alter_configs(cluster, {resource: changes}))


def _alter_clients(cluster: Cluster, entities: Entities, added: Mapping[str, str], deleted: Sequence[str]) -> None:
    credentials = [name for name in (*added, *deleted) if name in _MECHANISMS]
    quotas = [name for name in (*added, *deleted) if name in CLIENT_QUOTAS]
    is_user = entities.types == [USERS]
    allowed = {*CLIENT_QUOTAS, *_MECHANISMS} if is_user else set(CLIENT_QUOTAS)
    for names, action in ((added, "added"), (deleted, "deleted")):
        unknown = [name for name in names if name not in allowed]
        if unknown:
            what, whom = ("quota and SCRAM credential", USERS) if is_user else ("quota", CLIENTS)
            raise ToolError(
                f"Only {what} configs can be {action} for '{whom}' using --bootstrap-server. Unexpected config names: "
                f"{', '.join(unknown)}"
            )
    if not credentials:
        _alter_quotas(cluster, entities, added, deleted)
        return
    if "" in entities.names:
        raise ToolError(
            "The use of --entity-default or --user-defaults is not allowed with User SCRAM Credentials using "
            "--bootstrap-server."
        )
    if quotas:
        raise ToolError(
            f"Cannot alter both quota and SCRAM credential configs simultaneously for '{USERS}' using "
            "--bootstrap-server."
        )
    upsertions = [_parse_credential(_MECHANISMS[name], value) for name, value in added.items()]
    alter_user_scram_credentials(cluster, entities.names[0], upsertions, [_MECHANISMS[name] for name in deleted])


def _parse_credential(mechanism: ScramMechanism, text: str) -> NewCredential:
    match = _CREDENTIAL.fullmatch(text)
    if match is None:
        # What was given holds a password, so it is not repeated.
        raise ToolError(f"Invalid credential property {mechanism.name}, which is not [iterations=N,password=...]")
    given, password = match.groups()
    iterations = ITERATIONS_MIN if given in (None, "-1") else parse_number(given)
    if iterations < ITERATIONS_MIN:
        raise ToolError(
            f"Iterations {iterations} is less than the minimum {ITERATIONS_MIN} required for {mechanism.value}"
        )
    return NewCredential(mechanism, iterations, password)


def _alter_quotas(cluster: Cluster, entities: Entities, added: Mapping[str, str], deleted: Sequence[str]) -> None:
    described = describe_quotas(cluster, entities)
    present = described[0][1] if described else {}
    missing = [name for name in deleted if name not in present]
    if missing:
        raise ToolError(f"Invalid config(s): {','.join(missing)}")
    entity = {QUOTA_TYPES[kind]: name or None for kind, name in zip(entities.types, entities.names, strict=True)}
    changes: dict[str, float | None] = {name: _parse_quota(name, value) for name, value in added.items()}
    alter_client_quotas(cluster, entity, changes | dict.fromkeys(deleted))


def _parse_quota(name: str, value: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise ToolError(f"Cannot parse quota configuration value for {name}: {value}") from None
