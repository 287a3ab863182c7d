"""One connection to this node: frames are handled where they were received, answers leave in the order of requests.

Requests of a connection are handled one after the other, as Kafka does: while one waits for its answer, or an answer
for the reader to take it, nothing further is handled and soon nothing further received. So a producer's batches keep
their order, and a slow client holds no more than the little that it sent ahead. There is no task and no future in the
way of a request: the loop says that the socket is readable, and when that call returns all answers are on their way.
"""

from __future__ import annotations

import logging
import socket
from asyncio import AbstractEventLoop
from dataclasses import dataclass
from struct import Struct as Layout
from time import perf_counter_ns
from typing import Final, Protocol

from barnabas.broker.call import Client, Disconnect, Pending
from barnabas.broker.dispatch import Parts
from barnabas.ports.clock import Clock
from barnabas.runtime.inbox import Inbox, RequestMemory
from barnabas.runtime.outbox import Outbox
from barnabas.runtime.request_meters import RequestMeters

LOG: Final = logging.getLogger(__name__)

_SIZE: Final = Layout(">i")
# Answers of one wake-up are gathered up to this size before they are sent.
_GATHERED_BYTES_MAX: Final = 256 * 1024


class Service(Protocol):
    """What answers frames: a dispatcher."""

    def answer(self, frame: memoryview, client: Client, now_ms: int, /) -> Parts | Pending | None: ...
    def finish(self, pending: Pending, /) -> Parts | None: ...


class Host(Protocol):
    """What keeps connections: it is told of signs of life, and of the end."""

    def touch(self, connection: Connection, /) -> None: ...
    def forget(self, connection: Connection, /) -> None: ...


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What all connections of a listener share."""

    loop: AbstractEventLoop
    clock: Clock
    service: Service
    host: Host
    inbox: Inbox
    memory: RequestMemory
    meters: RequestMeters
    frame_bytes_max: int


class Connection:
    """Owns its socket from the first call on; the loop's reader and writer are gone before it is closed."""

    __slots__ = (
        "_around",
        "_awaited_begin_ns",
        "_awaited_key",
        "_counted_bytes",
        "_filled",
        "_is_finishing",
        "_is_paused",
        "_is_starved",
        "_is_writing",
        "_kept",
        "_large",
        "_large_bytes",
        "_outbox",
        "_pending",
        "_socket",
        "active_ms",
        "client",
        "is_closed",
    )

    def __init__(self, connected: socket.socket, client: Client, around: Surroundings) -> None:
        self.client = client
        self.is_closed = False
        self.active_ms = around.clock.elapsed_ms()
        self._socket = connected
        self._around = around
        self._outbox = Outbox(connected)
        # The bytes behind the last frame that was handled: the beginning of one, or more while an answer is awaited.
        self._kept: bytes = b""
        # A frame that is larger than the inbox, as much of it as came, and what it will be.
        self._large: bytearray | None = None
        self._filled = 0
        self._large_bytes = 0
        self._pending: Pending | None = None
        self._awaited_key = 0
        self._awaited_begin_ns = 0
        self._counted_bytes = 0
        self._is_starved = False
        self._is_writing = False
        self._is_finishing = False
        self._is_paused = True
        self._read_on()

    @property
    def is_awaiting(self) -> bool:
        """Whether the next move is ours."""
        return self._pending is not None

    def finish(self) -> None:
        """Take no further request, send what is owed, and close."""
        self._is_finishing = True
        self._close_if_finished()

    def close(self, reason: str, level: int = logging.DEBUG) -> None:
        """End the connection now; a promise that is completed later is not sent."""
        if self.is_closed:
            return
        self.is_closed = True
        self._pause()
        if self._is_writing:
            self._around.loop.remove_writer(self._socket)
        self._socket.close()
        self._kept, self._large = b"", None
        if self._pending is not None:
            self._pending.abandon()
        LOG.log(level, "connection closed", extra={"reason": reason, "connection": self.client.connection_id})
        self._around.host.forget(self)
        self._count_held(0)

    # Receiving

    def _on_readable(self) -> None:
        if self._is_blocked():
            # Found out only now that something came meanwhile: most clients wait for an answer before they ask again.
            if self._pending is not None and self._has_hung_up():
                self.close("closed by the client before its answer")
            else:
                self._pause()
        elif self._large is not None:
            self._receive_large(self._large)
        elif self._around.memory.is_full and not self._counted_bytes:
            self._is_starved = True
            self._around.memory.wait(self._on_memory)
            self._pause()
        else:
            self._receive(is_more_awaited=True)

    def _has_hung_up(self) -> bool:
        """Whether the end of the stream is all that came; what else came is left where it is."""
        try:
            return not self._socket.recv(1, socket.MSG_PEEK)
        except (BlockingIOError, InterruptedError):
            return False
        except OSError:
            return True

    def _receive(self, *, is_more_awaited: bool) -> None:
        """Receive once, unless what was kept is enough, and handle the whole frames."""
        inbox, kept = self._around.inbox, self._kept
        buffer = inbox.lend()
        view = memoryview(buffer)
        end = len(kept)
        try:
            if end:
                view[:end] = kept
            if is_more_awaited:
                received = self._socket.recv_into(view[end:] if end else view)
                if not received:
                    self.close("closed by the client")
                    return
                end += received
            self._handle(view, end)
        except (BlockingIOError, InterruptedError):
            return
        except OSError as error:
            self.close(f"lost: {error}")
            return
        except Disconnect as error:
            self._refuse(error)
            return
        finally:
            view.release()
            inbox.give_back(buffer)
        self._send()

    def _receive_large(self, large: bytearray) -> None:
        """Take more of a large frame. Its memory grows with what came, not with what was announced."""
        filled = self._filled
        if filled == len(large):
            larger = bytearray(min(2 * filled, self._large_bytes))
            larger[:filled] = large
            self._large = large = larger
        view = memoryview(large)
        try:
            received = self._socket.recv_into(view[filled : self._large_bytes])
            if not received:
                self.close("closed by the client in the middle of a request")
                return
            self._filled = filled + received
            if self._filled < self._large_bytes:
                return
            self._large = None
            self._handle(view, self._large_bytes)
        except (BlockingIOError, InterruptedError):
            return
        except OSError as error:
            self.close(f"lost: {error}")
            return
        except Disconnect as error:
            self._refuse(error)
            return
        finally:
            view.release()
        self._around.inbox.end_large(large)
        self._send()

    def _handle(self, view: memoryview, end: int) -> None:
        """Answer the whole frames up to `end` and keep the rest."""
        around, client, outbox = self._around, self.client, self._outbox
        answer, meters, now_ms = around.service.answer, around.meters, around.clock.now_ms()
        position = 0
        begin_ns = perf_counter_ns()
        while end - position >= 4:
            (size,) = _SIZE.unpack_from(view, position)
            if not 0 <= size <= around.frame_bytes_max:
                raise Disconnect(f"a request of {size} bytes, where 0 to {around.frame_bytes_max} are allowed")
            start, stop = position + 4, position + 4 + size
            if stop > end:
                break
            position = stop
            answered = answer(view[start:stop], client, now_ms)
            key = view[start] << 8 | view[start + 1]
            if isinstance(answered, Pending):
                self._await(answered, key, begin_ns)
                break
            end_ns = perf_counter_ns()
            meters.record(key, end_ns - begin_ns)
            begin_ns = end_ns
            if answered is not None:
                outbox.add(answered)
                if outbox.unsent_bytes > _GATHERED_BYTES_MAX:
                    outbox.send()
                    if outbox.unsent_bytes:
                        # From here on the writer decides when the rest has its turn.
                        self._write_on()
                        break
        self._keep(view, position, end)

    def _keep(self, view: memoryview, position: int, end: int) -> None:
        """Put aside what was not handled, and count what this connection holds now."""
        missed = end - position
        is_begun = bool(self._kept)
        self._kept = b""
        held = 0
        if missed:
            frame_bytes = 4 + _SIZE.unpack_from(view, position)[0] if missed >= 4 else 4
            # A size that is not allowed is found out when it is the frame's turn.
            if self._around.inbox.size_bytes < frame_bytes <= 4 + self._around.frame_bytes_max:
                self._large = self._around.inbox.begin_large(frame_bytes, missed)
                self._large[:missed] = view[position:end]
                self._filled, self._large_bytes = missed, frame_bytes
                held = frame_bytes
            else:
                self._kept = bytes(view[position:end])
                held = missed
        if self._pending is not None:
            held += position
        if held != self._counted_bytes:
            self._count_held(held)
        # A frame counts as a sign of life when it begins and when it is whole; in between its deadline runs.
        if position or not is_begun:
            self._around.host.touch(self)

    def _count_held(self, size_bytes: int) -> None:
        difference = size_bytes - self._counted_bytes
        self._counted_bytes = size_bytes
        self._around.memory.change(difference)

    def _on_memory(self) -> None:
        self._is_starved = False
        if not self.is_closed:
            self._read_on()

    # Answering

    def _await(self, pending: Pending, key: int, begin_ns: int) -> None:
        self._pending = pending
        self._awaited_key, self._awaited_begin_ns = key, begin_ns
        pending.when_completed(self._on_completed)

    def _on_completed(self) -> None:
        # Whoever completes an answer is in the middle of something else.
        self._around.loop.call_soon(self._on_answered)

    def _on_answered(self) -> None:
        pending = self._pending
        if self.is_closed or pending is None:
            return
        self._pending = None
        self._count_held(self._large_bytes if self._large is not None else len(self._kept))
        try:
            parts = self._around.service.finish(pending)
        except Disconnect as error:
            self._refuse(error)
            return
        self._around.meters.record(self._awaited_key, perf_counter_ns() - self._awaited_begin_ns)
        if parts is not None:
            self._outbox.add(parts)
        self._send()
        self._proceed()

    def _refuse(self, error: Disconnect) -> None:
        """End the connection for what it sent; earlier requests have their answers, as far as the kernel takes them."""
        try:
            self._outbox.send()
        except OSError:
            LOG.debug("nothing could be sent any more", extra={"connection": self.client.connection_id})
        self.close(str(error), logging.WARNING)

    def _send(self) -> None:
        """Send what there is; have the loop say when the kernel takes the rest."""
        outbox = self._outbox
        if outbox.unsent_bytes and not self._is_writing:
            try:
                outbox.send()
            except OSError as error:
                self.close(f"lost: {error}")
                return
            if outbox.unsent_bytes:
                self._write_on()
        if self._is_finishing:
            self._close_if_finished()

    def _write_on(self) -> None:
        self._around.loop.add_writer(self._socket, self._on_writable)
        self._is_writing = True

    def _on_writable(self) -> None:
        try:
            sent = self._outbox.send()
        except OSError as error:
            self.close(f"lost: {error}")
            return
        if sent:
            self._around.host.touch(self)
        if not self._outbox.unsent_bytes:
            self._around.loop.remove_writer(self._socket)
            self._is_writing = False
            self._close_if_finished()
            self._proceed()

    # Taking turns

    def _is_blocked(self) -> bool:
        return self._pending is not None or self._is_writing or self._is_finishing

    def _proceed(self) -> None:
        """Go on with what was kept, then with what is to come."""
        if self.is_closed or self._is_blocked():
            return
        if self._kept:
            self._receive(is_more_awaited=False)
        if not self.is_closed and not self._is_blocked():
            self._read_on()

    def _read_on(self) -> None:
        if self._is_paused:
            self._around.loop.add_reader(self._socket, self._on_readable)
            self._is_paused = False

    def _pause(self) -> None:
        if not self._is_paused:
            self._around.loop.remove_reader(self._socket)
            self._is_paused = True

    def _close_if_finished(self) -> None:
        if self._is_finishing and not self._is_writing and self._pending is None:
            self.close("the node stops")
