"""What a coordinator decides: records to write, answers to give once they are committed, timers to set.

A decision is carried out in this order: its records are appended as one batch, all or none; they are replayed; its
timers are set; its answers leave when the high watermark has passed whatever the shard had written by then. Where the
append fails, none of it happens: its answers become refusals, and the shard is told.

What answers nobody may be too much for one batch: without `is_atomic` its records are written in as many as it takes.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import NamedTuple

from barnabas.protocol.schema import Message

# Names an answer that is owed; whoever asked made it up.
Token = Hashable
# What a timer is for, and of whom: the first part tells who is to be told of it.
TimerKey = tuple[str, ...]


class CoordinatorRecord(NamedTuple):
    """A record of a coordinator's topic; without a value it deletes what its key names."""

    key: Message
    value: Message | None = None
    value_version: int = 0


class Respond(NamedTuple):
    token: Token
    response: Message


class SetTimer(NamedTuple):
    """Fire once after this time; a timer that is set again counts from then."""

    key: TimerKey
    delay_ms: int


class CancelTimer(NamedTuple):
    key: TimerKey


@dataclass(slots=True)
class Decision:
    """A decision while it is being made. `now_ms` is the time of day at which it is made."""

    now_ms: int
    records: list[CoordinatorRecord] = field(default_factory=list)
    responses: list[Respond] = field(default_factory=list)
    timers: list[SetTimer | CancelTimer] = field(default_factory=list)
    is_atomic: bool = True

    def write(self, key: Message, value: Message, version: int) -> None:
        self.records.append(CoordinatorRecord(key, value, version))

    def delete(self, key: Message) -> None:
        self.records.append(CoordinatorRecord(key))

    def respond(self, token: Token, response: Message) -> None:
        self.responses.append(Respond(token, response))

    def set_timer(self, key: TimerKey, delay_ms: int) -> None:
        self.timers.append(SetTimer(key, delay_ms))

    def cancel_timer(self, key: TimerKey) -> None:
        self.timers.append(CancelTimer(key))
