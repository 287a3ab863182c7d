"""The table of Kafka's APIs: number, name, versions, and the listeners on which each may be asked.

These are the facts of the schemas. What a node advertises is narrower or, for Produce, wider, and is the broker's
business. Looking at the table imports no message; the classes come with the first use of an API.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from barnabas.protocol.api_table import ROWS, ApiKey
from barnabas.protocol.messages import REQUESTS, RESPONSES
from barnabas.protocol.schema import Message

__all__ = ["APIS", "Api", "ApiKey", "Listener"]


class Listener(StrEnum):
    """The kinds of listener: clients and brokers talk to the one, nodes of the quorum to the other."""

    BROKER = "broker"
    CONTROLLER = "controller"


@dataclass(frozen=True, slots=True)
class Api:
    """One API; `stable_versions` leaves out the newest version where Kafka still changes it."""

    key: ApiKey
    name: str
    versions: range
    stable_versions: range
    listeners: frozenset[Listener]

    @property
    def request(self) -> type[Message]:
        return REQUESTS[self.key]

    @property
    def response(self) -> type[Message]:
        return RESPONSES[self.key]


def _api(key: ApiKey, name: str, oldest: int, newest: int, listeners: str, is_newest_unstable: bool = False) -> Api:
    versions = range(oldest, newest + 1)
    stable = versions[:-1] if is_newest_unstable else versions
    return Api(key, name, versions, stable, frozenset(map(Listener, listeners.split())))


APIS: Final = {row[0]: _api(*row) for row in ROWS}
