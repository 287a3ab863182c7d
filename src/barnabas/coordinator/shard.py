"""What the runtime of coordinators carries out: one machine for each partition of their topic that is led here.

A shard is a pure machine: events and the time go in, a decision comes out. Its persistent state, that is what its log
says, changes by `replay` and nothing else, so that a shard which was loaded from the log and one which wrote it are
the same. What is in no record (who waits for an answer, who was asked to come back) may change in `step`; it is gone
when another broker takes the partition over, and whoever it concerned asks again.
"""

from __future__ import annotations

from typing import Protocol

from barnabas.coordinator.decision import Decision
from barnabas.coordinator.events import Event
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.schema import Message


class Shard(Protocol):
    def step(self, event: Event, now_ms: int) -> Decision:
        """Decide what an event calls for; `now_ms` is the time of day."""
        ...

    def replay(self, offset: int, producer_id: int, key: Message, value: Message | None) -> None:
        """Take in a record of the log; `producer_id` is -1 unless it is part of a transaction that has not ended."""
        ...

    def replay_end_of_transaction(self, producer_id: int, *, is_commit: bool) -> None:
        """Take in the marker that ends a producer's transaction."""
        ...

    def refuse(self, request: Message, code: ErrorCode) -> Message:
        """The answer that all of a request failed with this code."""
        ...
