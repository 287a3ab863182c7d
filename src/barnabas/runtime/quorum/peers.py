"""Carries raft's requests to other nodes: one connection a place, opened when it is needed and again when it was lost.

Every request ends in one call, with its response or with why there is none. A place that does not answer, or refuses
to, is told of once and not at every attempt: a node that finds no quorum says why.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Final

from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.schema import EncodeError, Message
from barnabas.raft.replica import Endpoint
from barnabas.runtime.peer import Peer, PeerLost, UnsupportedByPeer

LOG: Final = logging.getLogger(__name__)


class Peers:
    """`client_id` is how this node calls itself; a request that takes longer than `timeout_ms` has failed."""

    def __init__(self, client_id: str, timeout_ms: int) -> None:
        self._client_id = client_id
        self._timeout_ms = timeout_ms
        self._connections: dict[Endpoint, asyncio.Task[Peer]] = {}
        self._requests: set[asyncio.Task[None]] = set()
        self._troubles: dict[tuple[Endpoint, type[Message]], int] = {}  # The error that was told of last.

    def send(
        self,
        endpoint: Endpoint,
        request: Message,
        answered: Callable[[Message], object],
        failed: Callable[[ErrorCode], object],
    ) -> None:
        """Send in the newest version that both sides know."""
        task = asyncio.get_running_loop().create_task(self._ask(endpoint, request, answered, failed))
        self._requests.add(task)
        task.add_done_callback(self._requests.discard)

    async def _ask(
        self,
        endpoint: Endpoint,
        request: Message,
        answered: Callable[[Message], object],
        failed: Callable[[ErrorCode], object],
    ) -> None:
        told = {"request": type(request).__name__, "peer": f"{endpoint.host}:{endpoint.port}"}
        try:
            peer = await self._connected(endpoint)
            response = await peer.send(request, peer.newest_version(type(request)), self._timeout_ms)
        except PeerLost as error:
            if self._is_news(endpoint, request, ErrorCode.NETWORK_EXCEPTION):
                LOG.info("no answer", extra=told | {"reason": str(error)})
            failed(ErrorCode.NETWORK_EXCEPTION)
        except (UnsupportedByPeer, EncodeError) as error:
            LOG.warning("cannot ask", extra=told | {"reason": str(error)})
            failed(_error_code(error, request))
        else:
            error_code: int = getattr(response, "error_code", ErrorCode.NONE)
            if self._is_news(endpoint, request, error_code):
                name = next((code.name for code in ErrorCode if code == error_code), str(error_code))
                LOG.warning("refused", extra=told | {"error": name})
            answered(response)

    def _is_news(self, endpoint: Endpoint, request: Message, error_code: int) -> bool:
        """Whether this place answers such requests otherwise than before."""
        key = (endpoint, type(request))
        if error_code == ErrorCode.NONE:
            self._troubles.pop(key, None)
            return False
        is_news = self._troubles.get(key) != error_code
        self._troubles[key] = error_code
        return is_news

    async def _connected(self, endpoint: Endpoint) -> Peer:
        """The connection to a place. Who comes while it is being made waits for the same one."""
        making = self._connections.get(endpoint)
        if making is None or (making.done() and not _is_usable(making)):
            making = self._connections[endpoint] = asyncio.get_running_loop().create_task(self._connect(endpoint))
        return await asyncio.shield(making)

    async def _connect(self, endpoint: Endpoint) -> Peer:
        try:
            peer = await Peer.connect(
                endpoint.host, endpoint.port, timeout_ms=self._timeout_ms, client_id=self._client_id
            )
        except ValueError as error:
            # Whoever asks to become a voter names its host, and not every text is the name of one.
            raise PeerLost(f"{endpoint.host!r} is no host: {error}") from error
        try:
            await peer.negotiate(self._timeout_ms)
        except BaseException:
            peer.close("no versions were agreed on")
            raise
        return peer

    async def close(self) -> None:
        """End all connections; requests under way get no call any more."""
        tasks = [*self._requests, *self._connections.values()]
        for task in self._requests:
            task.cancel()
        for making in self._connections.values():
            if not making.done():
                making.cancel()
            elif _is_usable(making):
                making.result().close("the node stops")
        self._connections.clear()
        await asyncio.gather(*tasks, return_exceptions=True)


def _error_code(error: UnsupportedByPeer | EncodeError, request: Message) -> ErrorCode:
    """Whether the peer is too old for the request, or the request is not one.

    A peer may know an older version that lacks what has to be said, such as that a vote is only a pre-vote.
    """
    is_newest = isinstance(error, EncodeError) and error.version == type(request).valid_versions[-1]
    return ErrorCode.UNKNOWN_SERVER_ERROR if is_newest else ErrorCode.UNSUPPORTED_VERSION


def _is_usable(making: asyncio.Task[Peer]) -> bool:
    return not making.cancelled() and making.exception() is None and not making.result().is_closed
