"""A loop, a socket and a clock that do as they are told: no descriptor, no thread, no time but what a test gives."""

from __future__ import annotations

import asyncio
import socket
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from itertools import cycle
from typing import Any, cast


class VirtualClock:
    def __init__(self) -> None:
        self.ms = 1_000

    def now_ms(self) -> int:
        return 1_700_000_000_000 + self.ms

    def elapsed_ms(self) -> int:
        return self.ms


class ScriptedSocket:
    """Hands out what a client sent in given chunks, and takes as much at a time as it is told; 0 is a full buffer."""

    def __init__(self, chunks: Iterable[bytes] = (), takes: Iterable[int] = (2**30,)) -> None:
        self.chunks = deque(chunks)
        self.sent = bytearray()
        self.is_closed = False
        self.has_ended = False
        self.calls = 0
        self._takes = cycle(takes)

    @property
    def is_readable(self) -> bool:
        return bool(self.chunks) or self.has_ended

    def recv(self, size: int, flags: int) -> bytes:
        """A look at what is there to be received."""
        assert flags == socket.MSG_PEEK
        if not self.chunks and not self.has_ended:
            raise BlockingIOError
        return self.chunks[0][:size] if self.chunks else b""

    def recv_into(self, view: memoryview) -> int:
        if not self.chunks:
            if self.has_ended:
                return 0
            raise BlockingIOError
        chunk = self.chunks.popleft()
        taken = min(len(chunk), len(view))
        view[:taken] = chunk[:taken]
        if taken < len(chunk):
            self.chunks.appendleft(chunk[taken:])
        return taken

    def send(self, data: Any) -> int:
        return self.sendmsg([data])

    def sendmsg(self, buffers: Sequence[Any], _: Any = (), __: int = 0) -> int:
        if self.is_closed:
            raise OSError("closed")
        self.calls += 1
        taken = b"".join(buffers)[: next(self._takes)]
        if not taken:
            raise BlockingIOError
        self.sent += taken
        return len(taken)

    def close(self) -> None:
        self.is_closed = True


class ScriptedLoop:
    """Calls readers while their sockets have something, writers always, in turns until nothing is left to do."""

    def __init__(self) -> None:
        self.readers: dict[ScriptedSocket, Callable[[], None]] = {}
        self.writers: dict[ScriptedSocket, Callable[[], None]] = {}
        self.soon: deque[tuple[Callable[..., object], tuple[Any, ...]]] = deque()

    def add_reader(self, of: ScriptedSocket, call: Callable[[], None]) -> None:
        assert not of.is_closed
        self.readers[of] = call

    def remove_reader(self, of: ScriptedSocket) -> None:
        assert not of.is_closed, "a reader is removed before its socket is closed"
        del self.readers[of]

    def add_writer(self, of: ScriptedSocket, call: Callable[[], None]) -> None:
        assert not of.is_closed
        self.writers[of] = call

    def remove_writer(self, of: ScriptedSocket) -> None:
        assert not of.is_closed, "a writer is removed before its socket is closed"
        del self.writers[of]

    def call_soon(self, call: Callable[..., object], *arguments: Any) -> None:
        self.soon.append((call, arguments))

    def run(self) -> None:
        while True:
            if self.soon:
                call, arguments = self.soon.popleft()
                call(*arguments)
                continue
            ready = [call for of, call in self.readers.items() if of.is_readable] + list(self.writers.values())
            if not ready:
                return
            ready[0]()

    def as_loop(self) -> asyncio.AbstractEventLoop:
        return cast(asyncio.AbstractEventLoop, self)
