"""What a controller answers: requests that the active one decides on, queries that any takes, tasks of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from barnabas.controller import (
    acls,
    alter_partition,
    client_quotas,
    config_changes,
    delegation_tokens,
    describe_cluster,
    directories,
    elections,
    features,
    fencing,
    heartbeats,
    partition_creation,
    producer_ids,
    reassignments,
    registration,
    scram,
    tasks,
    topic_deletion,
    topics,
)
from barnabas.controller.decision import Operation, Query
from barnabas.controller.tasks import PeriodicTask
from barnabas.protocol.schema import Message

_FAMILIES: Final = (
    registration,
    heartbeats,
    topics,
    topic_deletion,
    partition_creation,
    alter_partition,
    elections,
    reassignments,
    directories,
    config_changes,
    features,
    producer_ids,
    client_quotas,
    scram,
    acls,
    delegation_tokens,
)
_QUERY_FAMILIES: Final = (acls, describe_cluster)

OPERATIONS: Final[Mapping[type[Message], Operation]] = {
    request: operation for family in _FAMILIES for request, operation in family.OPERATIONS.items()
}
QUERIES: Final[Mapping[type[Message], Query]] = {
    request: query for family in _QUERY_FAMILIES for request, query in family.QUERIES.items()
}
TASKS: Final[tuple[PeriodicTask, ...]] = (
    fencing.FENCE_STALE_BROKERS,
    elections.BALANCE_LEADERS,
    elections.RECOVER_UNCLEANLY,
    delegation_tokens.REMOVE_EXPIRED_TOKENS,
    tasks.WRITE_NO_OP,
)
