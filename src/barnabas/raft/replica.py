"""Who takes part in the quorum: a replica is its node id together with the id of its log directory (KIP-853).

A node that lost its disk comes back under the same node id with another directory id, and is another replica: it may
not vote for what the lost disk had promised.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple, Protocol

from barnabas.protocol.schema import ZERO_UUID
from barnabas.protocol.uuid import Uuid

NO_LEADER_ID = -1


class ReplicaKey(NamedTuple):
    """A replica by node and directory; the zero directory id stands for one that is not known."""

    id: int
    directory_id: Uuid = ZERO_UUID

    @property
    def has_directory(self) -> bool:
        return self.directory_id != ZERO_UUID

    def admits(self, other: ReplicaKey) -> bool:
        """Whether `other` is meant by this key: an unknown directory here admits any there, not the other way."""
        return self.id == other.id and (not self.has_directory or self.directory_id == other.directory_id)

    def __str__(self) -> str:
        return f"{self.id} in {self.directory_id}" if self.has_directory else str(self.id)


class Endpoint(NamedTuple):
    """Where a listener can be reached."""

    host: str
    port: int


# By listener name.
Endpoints = Mapping[str, Endpoint]


class Peer(NamedTuple):
    """Where a request goes. A bootstrap server whose node id nobody knows yet has a negative one of its own."""

    id: int
    endpoint: Endpoint


class NamedEndpoint(Protocol):
    """The shape that endpoints have in every message that carries them by listener name."""

    name: str
    host: str
    port: int


def endpoints_of(listeners: Iterable[NamedEndpoint]) -> dict[str, Endpoint]:
    return {listener.name: Endpoint(listener.host, listener.port) for listener in listeners}
