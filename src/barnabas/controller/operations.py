"""Every request that the active controller decides on, and every task that it does by itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from barnabas.controller import (
    alter_partition,
    config_changes,
    directories,
    elections,
    fencing,
    heartbeats,
    partition_creation,
    reassignments,
    registration,
    tasks,
    topic_deletion,
    topics,
)
from barnabas.controller.decision import Operation
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
)

OPERATIONS: Final[Mapping[type[Message], Operation]] = {
    request: operation for family in _FAMILIES for request, operation in family.OPERATIONS.items()
}

TASKS: Final[tuple[PeriodicTask, ...]] = (
    fencing.FENCE_STALE_BROKERS,
    elections.BALANCE_LEADERS,
    elections.RECOVER_UNCLEANLY,
    tasks.WRITE_NO_OP,
)
