"""`kafka-configs --describe`: settings with where they come from, quotas, and SCRAM credentials."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Final, TextIO

from barnabas.cli.cluster_access import ToolError
from barnabas.cli.configuring.entities import (
    BROKER_LOGGERS,
    BROKERS,
    CLIENT_METRICS,
    CLIENTS,
    GROUPS,
    IPS,
    TOPICS,
    USERS,
    Entities,
)
from barnabas.cli.configuring.quotas import describe_quotas, entity_hash, quota_line
from barnabas.cli.configuring.resources import own_source, resource_of
from barnabas.cli.error_lines import exception_name
from barnabas.cli.java_order import in_hash_order, string_hash
from barnabas.client.admin.cluster import describe_cluster
from barnabas.client.admin.configs import ConfigSource, describe_configs, list_config_resources
from barnabas.client.cluster import Cluster
from barnabas.client.errors import ClientError
from barnabas.client.outcomes import raise_first
from barnabas.metadata.configs import ConfigResourceType
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.describe_configs import DescribeConfigsResourceResult

_DEFAULT: Final = ""
_TOPIC_NAME: Final = re.compile(r"[a-zA-Z0-9._-]+")


def describe(cluster: Cluster, entities: Entities, *, shows_all: bool, out: TextIO) -> None:
    if entities.type in (USERS, CLIENTS, IPS):
        _describe_quotas(cluster, entities, out)
        if entities.types == [USERS] and _DEFAULT not in entities.names:
            _describe_credentials(cluster, entities.names, out)
        return
    kind, name = entities.type, entities.name
    if name is not None and kind == TOPICS and not _TOPIC_NAME.fullmatch(name):
        raise ToolError(
            f"Topic name is invalid: '{name}' contains one or more characters other than ASCII alphanumerics, '.', '_' "
            "and '-'"
        )
    if name is not None and not shows_all and not _exists(cluster, kind, name):
        print(f"The {kind[:-1]} '{name}' doesn't exist and doesn't have dynamic config.", file=out)
        return
    for each in _list_names(cluster, kind) if name is None else [name]:
        _describe_resource(cluster, kind, each, shows_all, out)


def _describe_resource(cluster: Cluster, kind: str, name: str, shows_all: bool, out: TextIO) -> None:
    if kind == BROKERS and name == _DEFAULT:
        print(f"Default configs for {kind} in the cluster are:", file=out)
    else:
        print(f"{'All' if shows_all else 'Dynamic'} configs for {kind[:-1]} {name} are:", file=out)
    resource = resource_of(kind, name)
    configs = raise_first(describe_configs(cluster, [resource], includes_synonyms=True))[resource]
    source = None if shows_all else own_source(kind, name)
    for config in sorted(configs, key=lambda config: config.name):
        if source is None or config.config_source == source:
            print(f"  {_config_line(config)}", file=out)


def _config_line(config: DescribeConfigsResourceResult) -> str:
    synonyms = ", ".join(
        f"{ConfigSource(each.source).name}:{each.name}={_shown(each.value)}" for each in config.synonyms
    )
    sensitive = "true" if config.is_sensitive else "false"
    return f"{config.name}={_shown(config.value)} sensitive={sensitive} synonyms={{{synonyms}}}"


def _shown(value: str | None) -> str:
    return "null" if value is None else value


def _exists(cluster: Cluster, kind: str, name: str) -> bool:
    return (name == _DEFAULT and kind in (BROKERS, BROKER_LOGGERS)) or name in _list_names(cluster, kind)


def _list_names(cluster: Cluster, kind: str) -> Sequence[str]:
    """Everything of this type that can have settings."""
    if kind == TOPICS:
        from barnabas.client.admin.topics import list_topics

        return in_hash_order((topic.name for topic in list_topics(cluster)), string_hash)
    if kind == CLIENT_METRICS:
        return list_config_resources(cluster, ConfigResourceType.CLIENT_METRICS)
    if kind == GROUPS:
        from barnabas.client.admin.groups import list_groups

        return sorted({*(group.group_id for group in list_groups(cluster)), *_list_group_resources(cluster)})
    return [*(str(broker.broker_id) for broker in describe_cluster(cluster).brokers), _DEFAULT]


def _list_group_resources(cluster: Cluster) -> Collection[str]:
    """None from a broker that cannot list them or may not tell (KIP-1142)."""
    try:
        return list_config_resources(cluster, ConfigResourceType.GROUP)
    except ClientError as error:
        if error.code not in (ErrorCode.UNSUPPORTED_VERSION, ErrorCode.CLUSTER_AUTHORIZATION_FAILED):
            raise
        return ()


def _describe_quotas(cluster: Cluster, entities: Entities, out: TextIO) -> None:
    found = describe_quotas(cluster, entities)
    for entity, quotas in in_hash_order(found, lambda each: entity_hash(each[0]), capacity=len(found)):
        print(quota_line(entity, quotas), file=out)


def _describe_credentials(cluster: Cluster, users: Sequence[str], out: TextIO) -> None:
    from barnabas.client.admin.scram import describe_user_scram_credentials

    for user, credentials in describe_user_scram_credentials(cluster, users):
        if isinstance(credentials, ClientError):
            name = exception_name(credentials.code).rpartition(".")[2]
            print(
                f"Error retrieving SCRAM credential configs for user-principal '{user}': {name}: {credentials}",
                file=out,
            )
            continue
        shown = ", ".join(f"{mechanism.value}=iterations={iterations}" for mechanism, iterations in credentials)
        print(f"SCRAM credential configs for user-principal '{user}' are {shown}", file=out)
