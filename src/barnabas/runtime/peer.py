"""A connection to another node: requests go out one behind the other, responses come back in that order.

A response that does not come in its time ends the connection, for every later one would be late as well. When a
connection ends, whatever was still awaited fails. To connect again, and when, is the caller's business.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from barnabas import __version__
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.framing import frame_request, read_response, split_frames
from barnabas.protocol.messages import RESPONSES
from barnabas.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from barnabas.protocol.schema import Message, ProtocolError
from barnabas.runtime.outbox import Outbox

LOG: Final = logging.getLogger(__name__)

_RECEIVE_BYTES: Final = 64 * 1024
FRAME_BYTES_MAX: Final = 2**31 - 1


class PeerLost(ConnectionError):  # noqa: N818 (says what happened)
    """The connection ended before the response came."""


class PeerTimeout(PeerLost):
    """The response, or the connection itself, did not come in time."""


class UnsupportedByPeer(Exception):  # noqa: N818 (says what is the matter with the request)
    """The peer serves no version of this API that we know."""


class _Awaited:
    """A request under way."""

    __slots__ = ("future", "response", "timer", "version")

    def __init__(self, response: type[Message], version: int, loop: asyncio.AbstractEventLoop) -> None:
        self.response = response
        self.version = version
        self.future: asyncio.Future[Any] = loop.create_future()
        self.timer: asyncio.TimerHandle | None = None


class Peer:
    """Made by `connect`. Belongs to the loop that it was made on."""

    def __init__(self, connected: socket.socket, name: str, client_id: str | None, frame_bytes_max: int) -> None:
        self.name = name
        self.is_closed = False
        # By API, from `negotiate` on.
        self.versions: dict[int, range] = {}
        self._loop = asyncio.get_running_loop()
        self._socket = connected
        self._client_id = client_id
        self._frame_bytes_max = frame_bytes_max
        self._outbox = Outbox(connected)
        self._is_writing = False
        self._buffer = bytearray(_RECEIVE_BYTES)
        self._filled = 0
        self._correlation_id = 0
        self._awaited: dict[int, _Awaited] = {}
        self._loop.add_reader(connected, self._on_readable)

    @classmethod
    async def connect(
        cls,
        host: str,
        port: int,
        *,
        timeout_ms: int,
        client_id: str | None = None,
        frame_bytes_max: int = FRAME_BYTES_MAX,
    ) -> Peer:
        """Connect to the first address of the host that answers, in the given time or not at all (PeerLost)."""
        name = f"{host}:{port}"
        try:
            async with asyncio.timeout(timeout_ms / 1000):
                return cls(await _connect(host, port), name, client_id, frame_bytes_max)
        except TimeoutError as error:
            raise PeerTimeout(f"no connection to {name} within {timeout_ms} ms") from error
        except OSError as error:
            raise PeerLost(f"no connection to {name}: {error}") from error

    async def negotiate(self, timeout_ms: int) -> None:
        """Ask what the peer serves, from which versions are chosen afterwards."""
        versions = ApiVersionsRequest.valid_versions
        request = ApiVersionsRequest(client_software_name="barnabas", client_software_version=__version__)
        response: ApiVersionsResponse = await self.send(request, versions[-1], timeout_ms)
        if response.error_code == ErrorCode.UNSUPPORTED_VERSION:
            newest = max((offered.max_version for offered in response.api_keys), default=0)
            response = await self.send(request, min(newest, versions[-1]), timeout_ms)
        if response.error_code != ErrorCode.NONE:
            self.close(f"refused to say what it serves: error {response.error_code}")
            raise PeerLost(f"{self.name} refused to say what it serves: error {response.error_code}")
        self.versions = {
            offered.api_key: range(offered.min_version, offered.max_version + 1) for offered in response.api_keys
        }

    def newest_version(self, request: type[Message]) -> int:
        """The newest version of an API that both sides know."""
        assert request.api_key is not None, f"{request.__name__} is no request"
        known, theirs = request.valid_versions, self.versions.get(request.api_key, range(0))
        newest = min(known.stop, theirs.stop) - 1
        if newest not in known or newest not in theirs:
            raise UnsupportedByPeer(f"{self.name} and we share no version of {request.__name__}")
        return newest

    def send(self, request: Message, version: int, timeout_ms: int) -> asyncio.Future[Any]:
        """Send a request; its response, or PeerLost, is the future's result."""
        key = type(request).api_key
        assert key is not None, f"{type(request).__name__} is no request"
        awaited = _Awaited(RESPONSES[key], version, self._loop)
        if self.is_closed:
            awaited.future.set_exception(PeerLost(f"the connection to {self.name} is closed"))
            return awaited.future
        self._correlation_id = correlation_id = (self._correlation_id + 1) & 0x7FFFFFFF
        parts = frame_request(request, version, correlation_id, self._client_id)
        self._awaited[correlation_id] = awaited
        awaited.timer = self._loop.call_later(timeout_ms / 1000, self._on_timeout, correlation_id, timeout_ms)
        self._outbox.add(parts)
        if not self._is_writing:
            self._send()
        return awaited.future

    def close(self, reason: str) -> None:
        """End the connection; all that is awaited fails."""
        self._close(PeerLost(f"{self.name}: {reason}"))

    def _close(self, error: PeerLost) -> None:
        if self.is_closed:
            return
        self.is_closed = True
        self._loop.remove_reader(self._socket)
        if self._is_writing:
            self._loop.remove_writer(self._socket)
        self._socket.close()
        LOG.debug("peer closed", extra={"peer": self.name, "reason": str(error)})
        awaited, self._awaited = self._awaited, {}
        for request in awaited.values():
            if request.timer is not None:
                request.timer.cancel()
            if not request.future.done():
                request.future.set_exception(error)

    def _on_timeout(self, correlation_id: int, timeout_ms: int) -> None:
        request = self._awaited[correlation_id].response.__name__
        self._close(PeerTimeout(f"no {request} from {self.name} within {timeout_ms} ms"))

    # Sending

    def _send(self) -> None:
        with self._closing_on_error():
            self._outbox.send()
            if self._outbox.unsent_bytes and not self._is_writing:
                self._loop.add_writer(self._socket, self._send)
                self._is_writing = True
            elif not self._outbox.unsent_bytes and self._is_writing:
                self._loop.remove_writer(self._socket)
                self._is_writing = False

    # Receiving

    def _on_readable(self) -> None:
        with self._closing_on_error():
            view = memoryview(self._buffer)
            try:
                received = self._socket.recv_into(view[self._filled :])
            except (BlockingIOError, InterruptedError):
                return
            if not received:
                raise PeerLost(f"{self.name} closed the connection")
            end = self._filled + received
            frames = split_frames(view[:end], self._frame_bytes_max)
            for frame in frames.whole:
                self._take(frame)
            self._filled = end - frames.position
            if frames.whole or end == len(view):
                # Records in a response are views of the buffer: it is left to whoever holds them. The next one has room
                # for what is awaited, but grows with what comes and not with what was announced.
                room = min(frames.next_bytes, 2 * self._filled)
                self._buffer = bytearray(max(_RECEIVE_BYTES, room))
                self._buffer[: self._filled] = view[frames.position : end]

    def _take(self, frame: memoryview) -> None:
        if len(frame) < 4:
            raise PeerLost(f"{self.name} sent a response without a header")
        awaited = self._awaited.get(int.from_bytes(frame[:4], signed=True))
        if awaited is None or awaited is not next(iter(self._awaited.values())):
            raise PeerLost(f"{self.name} answered what was not asked")
        correlation_id, response = read_response(frame, awaited.response, awaited.version)
        del self._awaited[correlation_id]
        assert awaited.timer is not None, "a request that is awaited has a timer"
        awaited.timer.cancel()
        if not awaited.future.done():
            awaited.future.set_result(response)

    @contextmanager
    def _closing_on_error(self) -> Iterator[None]:
        try:
            yield
        except PeerLost as error:
            self._close(error)
        except (OSError, ProtocolError) as error:
            self._close(PeerLost(f"{self.name}: {error}"))


async def _connect(host: str, port: int) -> socket.socket:
    loop = asyncio.get_running_loop()
    failure: OSError | None = None
    for family, kind, protocol, _, address in await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM):
        connected = socket.socket(family, kind, protocol)
        connected.setblocking(False)
        try:
            await loop.sock_connect(connected, address)
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError as error:
            connected.close()
            failure = error
        except BaseException:
            connected.close()
            raise
        else:
            return connected
    raise failure or OSError(f"{host} has no address")
