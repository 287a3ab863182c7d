"""The listening sockets of a node and the connections that came in by them.

Connections are kept in the order of their last sign of life, so the idle ones are found without looking at the rest.
"""

from __future__ import annotations

import logging
import socket
from asyncio import AbstractEventLoop, Event, TimerHandle, timeout
from collections import OrderedDict
from itertools import count
from typing import Final

from barnabas.broker.call import Client
from barnabas.ports.clock import Clock
from barnabas.runtime.admission import Admission
from barnabas.runtime.connection import Connection, Service, Surroundings
from barnabas.runtime.inbox import Inbox, RequestMemory
from barnabas.runtime.listening import ListeningSocket, configure, open_listener
from barnabas.runtime.metrics import Registry
from barnabas.runtime.request_meters import RequestMeters
from barnabas.runtime.socket_settings import SocketSettings

LOG: Final = logging.getLogger(__name__)


class SocketServer:
    """Accepts on any number of listeners, watches the limits, and stops gracefully."""

    def __init__(
        self,
        loop: AbstractEventLoop,
        clock: Clock,
        settings: SocketSettings,
        registry: Registry,
        *,
        protected_listener: str | None = None,
    ) -> None:
        """`protected_listener` is the brokers' own, where clients have another."""
        self._loop = loop
        self._clock = clock
        self._settings = settings
        self._registry = registry
        self._protected_listener = protected_listener
        self._admission = Admission(settings, protected_listener)
        self._inbox = Inbox()
        self._memory = RequestMemory(settings.queued_max_request_bytes)
        self._listeners: list[ListeningSocket] = []
        self._waiting_listeners: list[ListeningSocket] = []
        self._connections: OrderedDict[Connection, None] = OrderedDict()
        self._serial = count()
        self._idle_timer: TimerHandle | None = None
        self._is_empty = Event()
        self._is_empty.set()
        self._accepted = registry.counter("connections_accepted")
        self._rejected = registry.counter("connections_rejected")
        registry.gauge("connections", lambda: len(self._connections))
        registry.gauge("request_memory_bytes", lambda: self._memory.used_bytes)

    def __len__(self) -> int:
        return len(self._connections)

    @property
    def memory(self) -> RequestMemory:
        return self._memory

    def listen(
        self, name: str, host: str, port: int, service: Service, *, is_accepting: bool = True
    ) -> tuple[str, int]:
        """Open a listener; the address that it got. An empty host listens everywhere.

        Where it is not accepting yet, those who connect wait until `accept`.
        """
        around = Surroundings(
            self._loop,
            self._clock,
            service,
            self,
            self._inbox,
            self._memory,
            RequestMeters(self._registry, name),
            self._settings.socket_request_max_bytes,
        )
        listener = ListeningSocket(
            name,
            open_listener(host, port, self._settings),
            self._loop,
            self._clock,
            self._admission,
            lambda accepted: self._admit(accepted, name, around),
        )
        if is_accepting:
            self._listeners.append(listener)
            listener.resume()
        else:
            self._waiting_listeners.append(listener)
        address = listener.address
        LOG.info("listening", extra={"listener": name, "host": address[0], "port": address[1]})
        return address

    def accept(self) -> None:
        """Take in those who wait, and all who come from now on."""
        waiting, self._waiting_listeners = self._waiting_listeners, []
        self._listeners += waiting
        for listener in waiting:
            listener.resume()

    def reconfigure(self, settings: SocketSettings) -> None:
        """Heed other limits from now on; who is connected stays, and keeps the buffers it has."""
        self._settings = settings
        self._admission.reconfigure(settings)
        for listener in self._listeners:
            listener.resume()

    async def stop(self, grace_ms: int) -> None:
        """Accept nothing more, let what is under way be answered within the grace, and close all connections."""
        for listener in (*self._listeners, *self._waiting_listeners):
            listener.close()
        self._listeners.clear()
        self._waiting_listeners.clear()
        for connection in list(self._connections):
            connection.finish()
        try:
            async with timeout(grace_ms / 1000):
                await self._is_empty.wait()
        except TimeoutError:
            LOG.warning("answers were still owed at the stop", extra={"connections": len(self._connections)})
        for connection in list(self._connections):
            connection.close("the node stops")
        if self._idle_timer is not None:
            self._idle_timer.cancel()

    # Connections coming and going

    def _admit(self, accepted: socket.socket, listener: str, around: Surroundings) -> None:
        host, port = accepted.getpeername()[:2]
        configure(accepted, self._settings)
        if not self._admission.enter(listener, host):
            self._rejected.value += 1
            LOG.info("connection refused", extra={"reason": "too many from its address", "host": host})
            accepted.close()
            return
        self._accepted.value += 1
        client = Client(f"{listener}-{host}:{port}-{next(self._serial)}", host, port, listener)
        self._connections[Connection(accepted, client, around)] = None
        self._is_empty.clear()
        if self._idle_timer is None:
            self._arm_idle_timer(self._settings.connections_max_idle_ms)
        if self._admission.is_exceeded:
            self._make_room()

    def touch(self, connection: Connection) -> None:
        connection.active_ms = self._clock.elapsed_ms()
        # A connection is touched while it is being set up, before it is kept.
        if connection in self._connections:
            self._connections.move_to_end(connection)

    def forget(self, connection: Connection) -> None:
        del self._connections[connection]
        self._admission.leave(connection.client.host)
        if not self._connections:
            self._is_empty.set()
        for listener in self._listeners:
            listener.resume()

    def close_idle(self) -> int:
        """Close the connections that have been silent for too long; in how many ms the next one may be."""
        idle_ms = self._settings.connections_max_idle_ms
        now_ms = self._clock.elapsed_ms()
        for connection in list(self._connections):
            remaining_ms = connection.active_ms + idle_ms - now_ms
            if remaining_ms > 0:
                return remaining_ms
            if connection.is_awaiting:
                # The client waits for us: its time begins anew.
                self.touch(connection)
            else:
                connection.close("idle for too long")
        return idle_ms

    def _arm_idle_timer(self, delay_ms: int) -> None:
        self._idle_timer = self._loop.call_later(delay_ms / 1000, self._on_idle_timer)

    def _on_idle_timer(self) -> None:
        self._arm_idle_timer(self.close_idle())

    def _make_room(self) -> None:
        for connection in self._connections:
            if connection.client.listener != self._protected_listener:
                connection.close("made room for a broker", logging.INFO)
                return
