"""What a connection still has to send, in order: buffers gathered into one call, regions of files by sendfile.

Parts leave whole and in order however little the kernel takes at a time. A region's file is looked up when its turn
comes: one that has been closed or cut since fails the connection, for the length of the response is out already.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterable, Sequence
from typing import Any, Final, Protocol

from barnabas.ports.disk import Buffer, File

# What one sendmsg may gather (IOV_MAX on Linux and macOS).
_GATHERED_PARTS_MAX: Final = 1024
# A region up to this size is read and gathered with its neighbours, which costs less than a call of its own.
_READ_BYTES_MAX: Final = 32 * 1024
_MSG_MORE: Final = getattr(socket, "MSG_MORE", 0)
_BUFFERS: Final = (bytes, bytearray, memoryview)


class Region(Protocol):
    """Some bytes of a file."""

    @property
    def file(self) -> File: ...
    @property
    def position(self) -> int: ...
    def __len__(self) -> int: ...


Part = Buffer | Region


class Outbox:
    """Sends on a non-blocking socket; `unsent_bytes` counts what regions stand for, too."""

    __slots__ = ("_parts", "_region_sent_bytes", "_socket", "unsent_bytes")

    def __init__(self, to: socket.socket) -> None:
        self.unsent_bytes = 0
        self._socket = to
        self._parts: list[Any] = []
        self._region_sent_bytes = 0

    def add(self, parts: Iterable[Part]) -> None:
        for part in parts:
            size = len(part)
            if size:
                self._parts.append(part)
                self.unsent_bytes += size

    def send(self) -> int:
        """Send what the kernel takes; how many bytes that was. OSError means that the connection is gone."""
        parts = self._parts
        if not parts:
            return 0
        before = self.unsent_bytes
        try:
            if len(parts) == 1 and isinstance(parts[0], _BUFFERS):
                self._take_off(self._socket.send(parts[0]))
            while parts:
                buffers = self._leading_buffers()
                if buffers:
                    flags = _MSG_MORE if len(buffers) < len(parts) else 0
                    self._take_off(self._socket.sendmsg(buffers, (), flags))
                else:
                    self._send_region(parts[0])
        except (BlockingIOError, InterruptedError):
            pass
        return before - self.unsent_bytes

    def _leading_buffers(self) -> Sequence[Buffer]:
        """The parts before the first large region; small regions among them are read now."""
        parts = self._parts
        count = 0
        for count, part in enumerate(parts[:_GATHERED_PARTS_MAX]):
            if isinstance(part, _BUFFERS):
                continue
            size = len(part)
            if size > _READ_BYTES_MAX or (count == 0 and self._region_sent_bytes):
                return parts[:count]
            data = part.file.read_at(part.position, size)
            if len(data) < size:
                raise ConnectionAbortedError("the log was cut where a response was still to be sent from")
            parts[count] = data
        return parts[: count + 1]

    def _send_region(self, region: Region) -> None:
        done = self._region_sent_bytes
        missing = len(region) - done
        sent = os.sendfile(self._socket.fileno(), region.file.fileno(), region.position + done, missing)
        if not sent:
            raise ConnectionAbortedError("the log was cut where a response was still to be sent from")
        self.unsent_bytes -= sent
        if sent == missing:
            self._region_sent_bytes = 0
            del self._parts[0]
        else:
            self._region_sent_bytes = done + sent

    def _take_off(self, sent: int) -> None:
        """Forget the bytes at the front that have been sent; they were all in buffers."""
        self.unsent_bytes -= sent
        parts = self._parts
        if not self.unsent_bytes:
            parts.clear()
            return
        whole = 0
        while sent and sent >= len(parts[whole]):
            sent -= len(parts[whole])
            whole += 1
        del parts[:whole]
        if sent:
            parts[0] = memoryview(parts[0])[sent:]
