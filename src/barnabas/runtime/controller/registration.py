"""Registers this controller with the active one: where it listens, and which features it knows (KIP-919).

It is asked for after every start, and again until the log says so; features are raised only when every controller that
is registered knows them.
"""

from __future__ import annotations

import logging
from asyncio import AbstractEventLoop, TimerHandle
from collections.abc import Callable, Mapping
from typing import Final

from barnabas.config.listeners import Endpoint as ListenerEndpoint
from barnabas.metadata.image import MetadataImage
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.controller_registration import (
    ControllerRegistrationRequest,
    ControllerRegistrationResponse,
    Feature,
    Listener,
)
from barnabas.protocol.schema import Message
from barnabas.protocol.uuid import Uuid
from barnabas.protocol.version_range import VersionRange
from barnabas.raft.replica import Endpoint
from barnabas.runtime.quorum.peers import Peers

LOG: Final = logging.getLogger(__name__)

RETRY_MIN_MS: Final = 50
RETRY_MAX_MS: Final = 2_000


def registration_request(
    node_id: int,
    incarnation_id: Uuid,
    listeners: Mapping[str, ListenerEndpoint],
    features: Mapping[str, VersionRange],
) -> ControllerRegistrationRequest:
    return ControllerRegistrationRequest(
        controller_id=node_id,
        incarnation_id=incarnation_id,
        zk_migration_ready=False,
        listeners=[
            Listener(name=name, host=at.host or "", port=at.port, security_protocol=at.protocol.value)
            for name, at in listeners.items()
        ],
        features=[
            Feature(name=name, min_supported_version=levels.lowest, max_supported_version=levels.highest)
            for name, levels in features.items()
        ],
    )


class ControllerRegistration:
    """`leader` tells where the node is that leads, or None while nobody is known to."""

    def __init__(
        self,
        request: ControllerRegistrationRequest,
        *,
        peers: Peers,
        leader: Callable[[], Endpoint | None],
        image: Callable[[], MetadataImage],
        loop: AbstractEventLoop,
    ) -> None:
        self._request = request
        self._peers = peers
        self._leader = leader
        self._image = image
        self._loop = loop
        self._is_asking = False
        self._retry_ms = RETRY_MIN_MS
        self._retry: TimerHandle | None = None

    @property
    def is_registered(self) -> bool:
        known = self._image().cluster.controllers.get(self._request.controller_id)
        return known is not None and known.incarnation_id == self._request.incarnation_id

    def consider(self) -> None:
        """Ask to be registered, unless that is so or under way, or nobody could be asked now."""
        if self._is_asking or self._retry is not None or self._image().features.metadata_version is None:
            return
        if self.is_registered:
            return
        leader = self._leader()
        if leader is None:
            self._try_later()
            return
        self._is_asking = True
        self._peers.send(leader, self._request, self._answered, self._failed)

    def close(self) -> None:
        if self._retry is not None:
            self._retry.cancel()

    def _answered(self, response: Message) -> None:
        assert isinstance(response, ControllerRegistrationResponse)
        code = ErrorCode(response.error_code)
        if code is not ErrorCode.NONE:
            self._failed(code, response.error_message)
            return
        self._is_asking = False
        self._retry_ms = RETRY_MIN_MS
        LOG.info("controller registered", extra={"incarnation": self._request.incarnation_id})

    def _failed(self, code: ErrorCode, message: str | None = None) -> None:
        self._is_asking = False
        level = logging.DEBUG if code in (ErrorCode.NOT_CONTROLLER, ErrorCode.NETWORK_EXCEPTION) else logging.WARNING
        LOG.log(level, "controller not registered yet", extra={"error": code.name, "reason": message or code.message})
        self._try_later()

    def _try_later(self) -> None:
        self._retry = self._loop.call_later(self._retry_ms / 1000, self._on_retry)
        self._retry_ms = min(2 * self._retry_ms, RETRY_MAX_MS)

    def _on_retry(self) -> None:
        self._retry = None
        self.consider()
