"""Tells the active controller where replicas are, one request after the other, and again after a pause if it fails."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Final

from barnabas.broker.directory_assignments import DirectoryAssignments
from barnabas.metadata.image import MetadataImage
from barnabas.protocol.errors import ApiError
from barnabas.protocol.messages.assign_replicas_to_dirs import AssignReplicasToDirsRequest
from barnabas.protocol.schema import Message

LOG: Final = logging.getLogger(__name__)

RETRY_MIN_MS: Final = 100
RETRY_MAX_MS: Final = 10_000


class AssignmentsDriver:
    """`ask` puts a request to the active controller and waits as long for the answer."""

    def __init__(
        self,
        assignments: DirectoryAssignments,
        ask: Callable[[Message, int], Awaitable[Any]],
        *,
        image: Callable[[], MetadataImage],
        broker_epoch: Callable[[], int],
        timeout_ms: int,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        self._assignments = assignments
        self._ask = ask
        self._image = image
        self._broker_epoch = broker_epoch
        self._timeout_ms = timeout_ms
        self._loop = loop
        self._failures = 0
        self._telling: asyncio.Task[None] | None = None
        self._handle: asyncio.Handle | None = None

    def wake(self) -> None:
        """There may be something to tell."""
        if self._handle is None and self._assignments.is_waiting:
            # In a turn of its own: what else this one brings goes along.
            self._handle = self._loop.call_soon(self._send)

    def close(self) -> None:
        for each in (self._handle, self._telling):
            if each is not None:
                each.cancel()

    def _send(self) -> None:
        self._handle = None
        request = self._assignments.take_request(self._image(), self._broker_epoch())
        if request is not None:
            self._telling = self._loop.create_task(self._tell(request))

    async def _tell(self, request: AssignReplicasToDirsRequest) -> None:
        try:
            is_told = self._assignments.answered(await self._ask(request, self._timeout_ms))
        except ApiError as error:
            LOG.info("the controller was not told where replicas are", extra={"reason": str(error)})
            self._assignments.failed()
            is_told = False
        if is_told:
            self._failures = 0
            self.wake()
        else:
            pause_ms = min(RETRY_MIN_MS << min(self._failures, 10), RETRY_MAX_MS)
            self._failures += 1
            self._handle = self._loop.call_later(pause_ms / 1000, self._send)
