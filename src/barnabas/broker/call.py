"""One request as its handler sees it: who asks, in which version, when; and the ways to answer it.

A handler is a plain function of (request, call). It returns the response, or None where the protocol wants no answer
(Produce with acks=0), or a `Pending` that is completed later, once. Records in a request are views of the buffer that
received them: a handler may keep them as long as it likes, at the price of that buffer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from barnabas.protocol.messages.request_header import RequestHeader
from barnabas.protocol.schema import Message


class Disconnect(Exception):  # noqa: N818 (what is to be done, not an accident)
    """The request gets no answer and its connection ends; the text is the reason, for the log."""


@dataclass(slots=True)
class Client:
    """The other end of a connection; what it says of itself comes with its ApiVersions request (KIP-511)."""

    connection_id: str
    host: str
    port: int
    listener: str
    software_name: str = ""
    software_version: str = ""


class Call:
    """The circumstances of a request. `version` is the one to answer in, which may differ from the header's."""

    __slots__ = ("client", "header", "now_ms", "version")

    def __init__(self, header: RequestHeader, version: int, client: Client, now_ms: int) -> None:
        self.header = header
        self.version = version
        self.client = client
        self.now_ms = now_ms

    def describe(self) -> dict[str, Any]:
        """The fields by which a log line names this request."""
        return {
            "connection": self.client.connection_id,
            "api_key": self.header.request_api_key,
            "api_version": self.header.request_api_version,
            "correlation_id": self.header.correlation_id,
            "client_id": self.header.client_id,
        }


class Pending:
    """An answer that is not there yet. Whoever made it completes it or lets it fail, exactly once."""

    __slots__ = ("_error", "_is_completed", "_response", "_when_abandoned", "_when_completed", "call")

    def __init__(self) -> None:
        self.call: Call | None = None
        self._is_completed = False
        self._response: Message | None = None
        self._error: Exception | None = None
        self._when_completed: Callable[[], None] | None = None
        self._when_abandoned: Callable[[], None] | None = None

    @property
    def is_completed(self) -> bool:
        return self._is_completed

    def complete(self, response: Message | None) -> None:
        """Answer with `response`, or end without an answer where the protocol wants none."""
        self._settle(response, None)

    def fail(self, error: Exception) -> None:
        """Answer as if the handler had raised `error`; a Disconnect ends the connection."""
        self._settle(None, error)

    def result(self) -> Message | None:
        """The response, once there is one; raises what it failed with."""
        assert self._is_completed, "a result is asked for when it is there"
        if self._error is not None:
            raise self._error
        return self._response

    def when_completed(self, notify: Callable[[], None]) -> None:
        """Have `notify` called once the answer is there; it must not do the work itself, only arrange for it."""
        assert self._when_completed is None, "one connection waits for an answer"
        self._when_completed = notify
        if self._is_completed:
            notify()

    def when_abandoned(self, forget: Callable[[], None]) -> None:
        """Have `forget` called if the asker is gone before there is an answer: nobody needs it any more."""
        self._when_abandoned = forget

    def abandon(self) -> None:
        """Say that the asker is gone. Whoever made this may still complete it, to no effect."""
        if self._when_abandoned is not None and not self._is_completed:
            self._when_abandoned()

    def _settle(self, response: Message | None, error: Exception | None) -> None:
        assert not self._is_completed, "a request is answered once"
        self._is_completed = True
        self._response, self._error = response, error
        if self._when_completed is not None:
            self._when_completed()


# What a handler returns.
Outcome = Message | Pending | None
