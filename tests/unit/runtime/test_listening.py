"""A listening socket: when it accepts, when it rests, and what it opens."""

from __future__ import annotations

import errno
import socket
from collections import deque
from collections.abc import Callable
from typing import Any, cast

import pytest

from barnabas.runtime.admission import Admission
from barnabas.runtime.listening import ListeningSocket, open_listener
from barnabas.runtime.socket_settings import SocketSettings
from unit.runtime.scripted import ScriptedLoop, ScriptedSocket, VirtualClock


class Queue(ScriptedSocket):
    """A listening socket with newcomers, or errors, in its queue."""

    def __init__(self) -> None:
        super().__init__()
        self.newcomers: deque[str | OSError] = deque()

    @property
    def is_readable(self) -> bool:
        return bool(self.newcomers)

    def accept(self) -> tuple[str, None]:
        if not self.newcomers:
            raise BlockingIOError
        newcomer = self.newcomers.popleft()
        if isinstance(newcomer, OSError):
            raise newcomer
        return newcomer, None


class RestingLoop(ScriptedLoop):
    """Takes timers, and lets them ring when told."""

    def __init__(self) -> None:
        super().__init__()
        self.rests: list[tuple[float, Callable[[], None]]] = []

    def call_later(self, delay: float, call: Callable[[], None]) -> Any:
        self.rests.append((delay * 1000, call))
        return self.rests[-1]


class Door:
    def __init__(self, **settings: Any) -> None:
        self.loop = RestingLoop()
        self.clock = VirtualClock()
        self.queue = Queue()
        self.admission = Admission(SocketSettings(**settings))
        self.taken: list[str] = []
        self.listening = ListeningSocket(
            "L", cast(Any, self.queue), self.loop.as_loop(), self.clock, self.admission, self._take
        )
        self.listening.resume()

    def _take(self, newcomer: Any) -> None:
        self.admission.enter("L", newcomer)
        self.taken.append(newcomer)


def test_newcomers_are_taken_in_while_there_is_room() -> None:
    door = Door(max_connections=2)
    door.queue.newcomers.extend("abc")
    door.loop.run()
    assert door.taken == ["a", "b"]
    assert not door.loop.readers
    door.listening.resume()
    assert not door.loop.readers, "there is no room yet"
    door.admission.leave("a")
    door.listening.resume()
    door.loop.run()
    assert door.taken == ["a", "b", "c"]


def test_over_the_rate_the_listener_rests_as_long_as_it_takes() -> None:
    door = Door(max_connection_creation_rate=2)
    door.queue.newcomers.extend("abc")
    door.loop.run()
    assert door.taken == ["a", "b"]
    ((delay_ms, wake),) = door.loop.rests
    assert delay_ms == pytest.approx(500, abs=2)
    # A connection that leaves meanwhile does not end the rest.
    door.admission.leave("a")
    door.listening.resume()
    assert not door.loop.readers
    door.clock.ms += round(delay_ms)
    wake()
    door.loop.run()
    assert door.taken == ["a", "b", "c"]


def test_when_the_system_has_no_descriptor_left_the_listener_rests(caplog: pytest.LogCaptureFixture) -> None:
    door = Door()
    door.queue.newcomers.extend([OSError(errno.EMFILE, "Too many open files"), "a"])
    door.loop.run()
    assert not door.taken
    assert "cannot accept" in caplog.text
    ((_, wake),) = door.loop.rests
    wake()
    door.loop.run()
    assert door.taken == ["a"]


def test_a_newcomer_that_has_left_again_costs_nobody_else_a_place() -> None:
    door = Door()
    door.queue.newcomers.extend([ConnectionAbortedError(), "a"])
    door.loop.run()
    assert door.taken == ["a"]


@pytest.mark.parametrize("host", ["127.0.0.1", ""])
def test_a_listener_is_reached_at_the_address_that_it_has(host: str) -> None:
    with (
        open_listener(host, 0, SocketSettings()) as listening,
        socket.create_connection(("127.0.0.1", listening.getsockname()[1])) as client,
    ):
        assert client.getpeername()[0] == "127.0.0.1"
