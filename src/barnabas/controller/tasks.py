"""Work that the active controller does by itself, each at its own interval."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from barnabas.controller.decision import Decision, Situation
from barnabas.controller.settings import ControllerSettings
from barnabas.protocol.metadata_records.no_op import NoOpRecord


class Outcome(NamedTuple):
    """What a task decided, and whether it stopped before it was through."""

    decision: Decision
    has_more: bool = False


class PeriodicTask(NamedTuple):
    """`interval_ms` gives None where the settings switch the task off."""

    name: str
    interval_ms: Callable[[ControllerSettings], int | None]
    decide: Callable[[Situation], Outcome]


def write_no_op(_situation: Situation) -> Outcome:
    """So that the log's end moves, and with it what followers and lagging brokers can be told from."""
    return Outcome(Decision(records=[NoOpRecord()]))


WRITE_NO_OP = PeriodicTask("write no-op records", lambda settings: settings.max_idle_interval_ms, write_no_op)
