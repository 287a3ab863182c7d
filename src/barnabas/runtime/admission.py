"""Which connections may come in: how many at once, how many from one address, how many in a second.

Over the limit of all connections, and over the rate, newcomers stay in the kernel's queue until there is room; over the
limit of an address they are closed. The listener of the brokers among themselves, where there is another for clients,
is never full: a client's connection makes room instead, or a crowd of clients would cut a broker off its cluster.
"""

from __future__ import annotations

from collections import Counter

from barnabas.runtime.socket_settings import SocketSettings


class Admission:
    """Counts the connections of a node over all its listeners; the time is handed in."""

    def __init__(self, settings: SocketSettings, protected_listener: str | None = None) -> None:
        self._settings = settings
        self._protected_listener = protected_listener
        self._by_host: Counter[str] = Counter()
        self._total = 0
        # A bucket that fills at the rate and holds one second's worth.
        self._allowance = float(settings.max_connection_creation_rate)
        self._refilled_ms: int | None = None

    def reconfigure(self, settings: SocketSettings) -> None:
        """Heed other limits from now on."""
        self._settings = settings
        self._allowance = min(self._allowance, float(settings.max_connection_creation_rate))

    @property
    def total(self) -> int:
        return self._total

    def has_room(self, listener: str) -> bool:
        return listener == self._protected_listener or self._total < self._settings.max_connections

    @property
    def is_exceeded(self) -> bool:
        """Whether a connection of a listener that is not protected has to make room."""
        return self._total > self._settings.max_connections

    def delay_ms(self, listener: str, now_ms: int) -> int:
        """How long newcomers have to wait for the rate's sake."""
        if listener == self._protected_listener:
            return 0
        rate = self._settings.max_connection_creation_rate
        if self._refilled_ms is not None:
            self._allowance = min(float(rate), self._allowance + (now_ms - self._refilled_ms) * rate / 1000)
        self._refilled_ms = now_ms
        if self._allowance >= 1:
            return 0
        return 1000 if rate == 0 else int((1 - self._allowance) * 1000 / rate) + 1

    def enter(self, listener: str, host: str) -> bool:
        """Count a newcomer in; false, and not counted, where its address has too many."""
        limit = self._settings.max_connections_per_ip_overrides.get(host, self._settings.max_connections_per_ip)
        if listener != self._protected_listener:
            self._allowance -= 1
        if self._by_host[host] >= limit:
            return False
        self._by_host[host] += 1
        self._total += 1
        return True

    def leave(self, host: str) -> None:
        self._total -= 1
        self._by_host[host] -= 1
        if not self._by_host[host]:
            del self._by_host[host]
