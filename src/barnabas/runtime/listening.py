"""A listening socket: accepts newcomers while there is room for them, and rests where there is none."""

from __future__ import annotations

import logging
import socket
from asyncio import AbstractEventLoop, TimerHandle
from collections.abc import Callable
from typing import Final

from barnabas.ports.clock import Clock
from barnabas.runtime.admission import Admission
from barnabas.runtime.socket_settings import SocketSettings

LOG: Final = logging.getLogger(__name__)

# Newcomers that are taken in before others get their turn.
_ACCEPTED_AT_ONCE: Final = 32
# How long a listener rests after the system refused it a descriptor.
_OUT_OF_DESCRIPTORS_REST_MS: Final = 100


class ListeningSocket:
    """Hands each accepted socket to `take`."""

    def __init__(
        self,
        name: str,
        listening: socket.socket,
        loop: AbstractEventLoop,
        clock: Clock,
        admission: Admission,
        take: Callable[[socket.socket], None],
    ) -> None:
        self._name = name
        self._socket = listening
        self._loop = loop
        self._clock = clock
        self._admission = admission
        self._take = take
        self._is_accepting = False
        self._rest: TimerHandle | None = None

    @property
    def address(self) -> tuple[str, int]:
        host, port = self._socket.getsockname()[:2]
        return str(host), int(port)

    def resume(self) -> None:
        """Accept again, where it was given up for lack of room."""
        if not self._is_accepting and self._rest is None and self._admission.has_room(self._name):
            self._loop.add_reader(self._socket, self._on_acceptable)
            self._is_accepting = True

    def close(self) -> None:
        self._pause()
        if self._rest is not None:
            self._rest.cancel()
        self._socket.close()

    def _on_acceptable(self) -> None:
        for _ in range(_ACCEPTED_AT_ONCE):
            if not self._admission.has_room(self._name):
                self._pause()
                return
            delay_ms = self._admission.delay_ms(self._name, self._clock.elapsed_ms())
            if delay_ms:
                self._pause_for(delay_ms)
                return
            try:
                accepted, _ = self._socket.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:
                # Without this the loop would find the listener readable for ever.
                LOG.error("cannot accept", extra={"listener": self._name, "reason": str(error)})
                self._pause_for(_OUT_OF_DESCRIPTORS_REST_MS)
                return
            try:
                self._take(accepted)
            except OSError as error:
                LOG.debug("lost on arrival", extra={"listener": self._name, "reason": str(error)})
                accepted.close()

    def _pause_for(self, delay_ms: int) -> None:
        self._pause()
        self._rest = self._loop.call_later(delay_ms / 1000, self._on_rested)

    def _on_rested(self) -> None:
        self._rest = None
        self.resume()

    def _pause(self) -> None:
        if self._is_accepting:
            self._loop.remove_reader(self._socket)
            self._is_accepting = False


def open_listener(host: str, port: int, settings: SocketSettings) -> socket.socket:
    """A listening socket on one address; without a host on all, of both families where the system has them."""
    family = socket.AF_INET6 if ":" in host or (not host and socket.has_dualstack_ipv6()) else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            listening.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1 if host else 0)
        if settings.socket_receive_buffer_bytes > 0:
            # Connections inherit it; the window is agreed on before they are accepted.
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, settings.socket_receive_buffer_bytes)
        listening.setblocking(False)
        listening.bind((host, port))
        listening.listen(settings.socket_listen_backlog_size)
    except OSError:
        listening.close()
        raise
    return listening


def configure(accepted: socket.socket, settings: SocketSettings) -> None:
    """Make a socket fit for the loop: small answers go at once, and the system notices a peer that is gone."""
    accepted.setblocking(False)
    accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    accepted.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    if settings.socket_send_buffer_bytes > 0:
        accepted.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, settings.socket_send_buffer_bytes)
