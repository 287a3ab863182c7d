"""Every request that the active controller decides on, and every task that it does by itself."""

from __future__ import annotations

from collections.abc import Mapping

from barnabas.controller import fencing, heartbeats, registration, tasks
from barnabas.controller.decision import Operation
from barnabas.controller.tasks import PeriodicTask
from barnabas.protocol.schema import Message

_FAMILIES = (registration, heartbeats)

OPERATIONS: Mapping[type[Message], Operation] = {
    request: operation for family in _FAMILIES for request, operation in family.OPERATIONS.items()
}

TASKS: tuple[PeriodicTask, ...] = (fencing.FENCE_STALE_BROKERS, tasks.WRITE_NO_OP)
