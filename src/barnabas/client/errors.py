"""What can go wrong between a client and a cluster; every error carries the code that Kafka has for it.

An error of a connection says nothing about whether the request was carried out. Such a request is sent again, as
Kafka's own clients do.
"""

from __future__ import annotations

from typing import Final

from barnabas.protocol.errors import ErrorCode

_CODES: Final = {int(code): code for code in ErrorCode}


class ClientError(Exception):
    """A call that did not succeed: its code, and a text for the person who made it."""

    def __init__(self, code: ErrorCode, text: str | None = None) -> None:
        super().__init__(text or code.message)
        self.code = code


class ConnectionLostError(ClientError):
    """A node could not be reached, went away, answered too late, or with something that is no answer."""

    def __init__(self, text: str) -> None:
        super().__init__(ErrorCode.NETWORK_EXCEPTION, text)


class NoNodeError(ClientError):
    """Nobody to send a request to: no node that could be reached knows one that is fit to answer."""

    def __init__(self, text: str) -> None:
        super().__init__(ErrorCode.BROKER_NOT_AVAILABLE, text)


class UnsupportedByNodeError(ClientError):
    """The node serves no version of the API that this client speaks, or none that can carry the request."""

    def __init__(self, text: str) -> None:
        super().__init__(ErrorCode.UNSUPPORTED_VERSION, text)


class CallTimeoutError(ClientError):
    """The time of a call, all its tries together, was over."""

    def __init__(self, text: str) -> None:
        super().__init__(ErrorCode.REQUEST_TIMED_OUT, text)


def check_code(code: int, text: str | None = None) -> None:
    """Raise what the error field of a response says, unless it says that there is none."""
    if code == ErrorCode.NONE:
        return
    known = _CODES.get(code)
    if known is None:
        raise ClientError(ErrorCode.UNKNOWN_SERVER_ERROR, f"error {code}, of which this client knows nothing: {text}")
    raise ClientError(known, text)
