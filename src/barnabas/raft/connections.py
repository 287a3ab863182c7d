"""One request at a time to each peer: which are under way, which have failed and wait before they are asked again.

A failure doubles the wait of its peer, with some of it drawn by chance so that nodes do not fall into step; a success
forgets the failures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from barnabas.ports.rng import Rng
from barnabas.protocol.schema import Message
from barnabas.raft.replica import Peer

BACKOFF_MAX_MS = 1_000
JITTER = 0.2
DOUBLINGS_MAX = 16


class Inflight(NamedTuple):
    peer: Peer
    request: type[Message]


@dataclass(slots=True)
class _Connection:
    """Awaiting a response while `correlation_id` is set, otherwise backing off until `until_ms`."""

    peer: Peer
    request: type[Message]
    correlation_id: int | None
    until_ms: int
    failures: int


class Connections:
    def __init__(self, bootstrap: Sequence[Peer], retry_backoff_ms: int, request_timeout_ms: int, rng: Rng) -> None:
        self._bootstrap = list(bootstrap)
        self._retry_backoff_ms = retry_backoff_ms
        self._request_timeout_ms = request_timeout_ms
        self._rng = rng
        self._by_peer_id: dict[int, _Connection] = {}
        self._last_correlation_id = 0

    def open(self, peer: Peer, request: Message, now_ms: int) -> int:
        """Note that a request goes out; its correlation id comes back."""
        self._last_correlation_id += 1
        known = self._by_peer_id.get(peer.id)
        self._by_peer_id[peer.id] = _Connection(
            peer,
            type(request),
            self._last_correlation_id,
            now_ms + self._request_timeout_ms,
            known.failures if known else 0,
        )
        return self._last_correlation_id

    def inflight(self, correlation_id: int) -> Inflight | None:
        """What is under way by this id; None where nobody waits for it any more."""
        for connection in self._by_peer_id.values():
            if connection.correlation_id == correlation_id:
                return Inflight(connection.peer, connection.request)
        return None

    def close(self, correlation_id: int, *, is_success: bool, now_ms: int) -> None:
        """Note how a request ended; after a failure its peer rests."""
        for connection in self._by_peer_id.values():
            if connection.correlation_id == correlation_id:
                if is_success:
                    del self._by_peer_id[connection.peer.id]
                else:
                    connection.correlation_id = None
                    connection.until_ms = now_ms + self._backoff_ms(connection.failures)
                    connection.failures += 1
                return

    def _backoff_ms(self, failures: int) -> int:
        backoff = min(BACKOFF_MAX_MS, self._retry_backoff_ms << min(failures, DOUBLINGS_MAX))
        return backoff + int(backoff * JITTER * self._rng.random())

    def has_timed_out(self, peer_id: int, now_ms: int) -> bool:
        """Whether the answer of this peer is overdue; should it come yet, it is still taken."""
        connection = self._by_peer_id.get(peer_id)
        return connection is not None and connection.correlation_id is not None and connection.until_ms <= now_ms

    def is_ready(self, peer_id: int, now_ms: int) -> bool:
        connection = self._by_peer_id.get(peer_id)
        return connection is None or connection.until_ms <= now_ms

    def is_backing_off(self, peer_id: int, now_ms: int) -> bool:
        connection = self._by_peer_id.get(peer_id)
        return connection is not None and connection.correlation_id is None and now_ms < connection.until_ms

    def has_inflight(self, now_ms: int) -> bool:
        return any(
            connection.correlation_id is not None and now_ms < connection.until_ms
            for connection in self._by_peer_id.values()
        )

    def ready_bootstrap(self, now_ms: int) -> Peer | None:
        """Some bootstrap server that may be asked, while no request at all is under way."""
        if self.has_inflight(now_ms) or not self._bootstrap:
            return None
        first = self._rng.randrange(len(self._bootstrap))
        for peer in self._bootstrap[first:] + self._bootstrap[:first]:
            if self.is_ready(peer.id, now_ms):
                return peer
        return None

    def next_change_ms(self, now_ms: int) -> int | None:
        """When the first of the present waits ends."""
        return min((c.until_ms for c in self._by_peer_id.values() if c.until_ms > now_ms), default=None)

    def forget(self, peer_id: int) -> None:
        self._by_peer_id.pop(peer_id, None)

    def reset(self) -> None:
        """Forget everything under way: after a change of role no old answer is wanted."""
        self._by_peer_id.clear()
