"""A broker's way to the active controller: finds it, asks it, and asks again where the answer is that another one is.

Each channel has a connection of its own, for answers come in the order of the questions: a heartbeat must not stand
behind a topic whose creation waits for the quorum.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final

from barnabas.protocol.errors import ApiError, ErrorCode
from barnabas.protocol.schema import EncodeError, Message, ProtocolError
from barnabas.raft.replica import Endpoint
from barnabas.runtime.peer import Peer, PeerLost, UnsupportedByPeer

LOG: Final = logging.getLogger(__name__)

RETRY_MIN_MS: Final = 10
RETRY_MAX_MS: Final = 100


class ControllerUnreachable(ApiError):  # noqa: N818 (says what is the matter)
    """No active controller has answered in time."""

    code = ErrorCode.REQUEST_TIMED_OUT


class ControllerTooOld(ApiError):  # noqa: N818 (says what is the matter)
    """The active controller serves no version of the API that this node knows."""

    code = ErrorCode.UNSUPPORTED_VERSION


class ControllerChannel:
    """`leader` tells where the active controller is, or None while nobody is known to be.

    An answer has to come within `request_timeout_ms`, or the connection is given up.
    """

    def __init__(self, leader: Callable[[], Endpoint | None], client_id: str, request_timeout_ms: int) -> None:
        self._leader = leader
        self._client_id = client_id
        self._request_timeout_ms = request_timeout_ms
        self._connecting: asyncio.Task[Peer] | None = None
        self._endpoint: Endpoint | None = None
        self._is_closed = False

    @property
    def versions(self) -> Mapping[int, range] | None:
        """What the active controller serves, by API; None while there is no connection to it."""
        peer = self._peer
        return None if peer is None or self._leader() != self._endpoint else peer.versions

    @property
    def _peer(self) -> Peer | None:
        making = self._connecting
        if making is None or not making.done() or making.cancelled() or making.exception() is not None:
            return None
        return None if making.result().is_closed else making.result()

    async def connect(self) -> None:
        """Connect ahead of the first question, so that the controller's versions are known to who asks for them."""
        with suppress(PeerLost):
            await self._connected()

    async def ask(self, request: Message, timeout_ms: int) -> Any:
        """The active controller's answer. Where it does not come, or is another's to give, it is asked for again.

        Raises ControllerUnreachable when the time is over, ControllerTooOld at once.
        """
        pause_ms = RETRY_MIN_MS
        reason = "no controller is known to be active"
        try:
            async with asyncio.timeout(timeout_ms / 1000):
                while not self._is_closed:
                    try:
                        return await self._ask_once(request)
                    except PeerLost as error:
                        reason = str(error)
                    LOG.debug("controller not asked", extra={"request": type(request).__name__, "reason": reason})
                    await asyncio.sleep(pause_ms / 1000)
                    pause_ms = min(2 * pause_ms, RETRY_MAX_MS)
        except TimeoutError:
            pass
        except (UnsupportedByPeer, ProtocolError, EncodeError) as error:
            raise ControllerTooOld(str(error)) from error
        raise ControllerUnreachable(f"the active controller did not answer within {timeout_ms} ms: {reason}")

    async def _ask_once(self, request: Message) -> Any:
        peer = await self._connected()
        response = await peer.send(request, peer.newest_version(type(request)), self._request_timeout_ms)
        if getattr(response, "error_code", ErrorCode.NONE) == ErrorCode.NOT_CONTROLLER:
            peer.close("it is not the active controller")
            raise PeerLost(f"{peer.name} is not the active controller")
        return response

    async def _connected(self) -> Peer:
        """The connection to the active controller. Who comes while it is being made waits for the same one."""
        leader = self._leader()
        if leader is None:
            raise PeerLost("no controller is known to be active")
        if leader != self._endpoint:
            self._drop("another controller is active")
        making = self._connecting
        if making is None or (making.done() and self._peer is None):
            self._endpoint = leader
            making = self._connecting = asyncio.get_running_loop().create_task(self._connect(leader))
        return await asyncio.shield(making)

    async def _connect(self, endpoint: Endpoint) -> Peer:
        timeout_ms = self._request_timeout_ms
        try:
            peer = await Peer.connect(endpoint.host, endpoint.port, timeout_ms=timeout_ms, client_id=self._client_id)
        except ValueError as error:
            # Controllers say themselves where they are reached, and not every text is the name of a host.
            raise PeerLost(f"{endpoint.host!r} is no host: {error}") from error
        try:
            await peer.negotiate(timeout_ms)
        except BaseException:
            peer.close("no versions were agreed on")
            raise
        return peer

    def _drop(self, reason: str) -> None:
        peer, making = self._peer, self._connecting
        if peer is not None:
            peer.close(reason)
        elif making is not None and not making.done():
            # Those who wait for it find the next one by themselves.
            making.add_done_callback(lambda made: _close_unwanted(made, reason))
        self._connecting = None

    def close(self) -> None:
        """End the connection; what is being asked fails."""
        self._is_closed = True
        self._drop("the node stops")


def _close_unwanted(made: asyncio.Task[Peer], reason: str) -> None:
    if not made.cancelled() and made.exception() is None:
        made.result().close(reason)
