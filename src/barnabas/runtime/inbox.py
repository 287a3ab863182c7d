"""What connections receive into: one buffer for all of them, others for large requests, and how much is in use.

A wake-up receives into the shared buffer and handles whole frames in place, so a connection that has nothing to say
takes no memory. Nothing is overwritten that somebody still looks at: a buffer of which views are held when it comes
back is left to their holders, and another takes its place. Python itself counts those views.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final

INBOX_BYTES: Final = 256 * 1024
# Memory that was used for large requests is kept up to this size: to get it anew from the system costs more than to
# receive into it.
SPARE_BYTES_MAX: Final = 8 * 1024 * 1024


class Inbox:
    """The shared buffer, lent to one connection at a time, and spare ones for frames that do not fit into it."""

    def __init__(self, size_bytes: int = INBOX_BYTES, spare_bytes_max: int = SPARE_BYTES_MAX) -> None:
        self.size_bytes = size_bytes
        self._buffer: bytearray | None = bytearray(size_bytes)
        self._spares: list[bytearray] = []
        self._spare_bytes_max = spare_bytes_max

    def lend(self) -> bytearray:
        buffer = self._buffer
        assert buffer is not None, "a wake-up gives the buffer back before the next one begins"
        self._buffer = None
        return buffer

    def give_back(self, buffer: bytearray) -> None:
        self._buffer = buffer if has_no_views(buffer) else bytearray(self.size_bytes)

    def begin_large(self, frame_bytes: int, received_bytes: int) -> bytearray:
        """A buffer for a frame of which a little is there: a spare one that takes all of it, or a small one to grow."""
        for spare in self._spares:
            if len(spare) >= frame_bytes:
                self._spares.remove(spare)
                return spare
        return bytearray(min(frame_bytes, max(2 * received_bytes, self.size_bytes)))

    def end_large(self, buffer: bytearray) -> None:
        """Keep a buffer for the next large frame, if nobody looks at it and there are few."""
        kept_bytes = sum(map(len, self._spares))
        if kept_bytes + len(buffer) <= self._spare_bytes_max and has_no_views(buffer):
            self._spares.append(buffer)


def has_no_views(buffer: bytearray) -> bool:
    """Whether nobody holds a view: Python does not let a bytearray change its size while somebody does."""
    try:
        buffer.append(0)
    except BufferError:
        return False
    buffer.pop()
    return True


class RequestMemory:
    """Counts the bytes of requests that are not whole or not answered yet, against queued.max.request.bytes.

    While it is full no connection begins a request. One that was begun is always finished, or they would wait for each
    other; so the limit may be exceeded by the last that came in.
    """

    def __init__(self, bytes_max: int = -1) -> None:
        """A limit below 1 is none, as in Kafka."""
        self.used_bytes = 0
        self._bytes_max = bytes_max
        self._waiting: deque[Callable[[], None]] = deque()

    @property
    def is_full(self) -> bool:
        return 0 < self._bytes_max <= self.used_bytes

    def wait(self, retry: Callable[[], None]) -> None:
        """Have `retry` called when there is room again, in order of asking."""
        self._waiting.append(retry)

    def change(self, difference_bytes: int) -> None:
        """Count that a connection holds more, or less, than before."""
        self.used_bytes += difference_bytes
        assert self.used_bytes >= 0, "what is let go was held"
        # Whoever finds no room again waits behind the others, so each is called once here.
        for _ in range(len(self._waiting)):
            if self.is_full:
                break
            self._waiting.popleft()()
