"""What a coordinator's shard is told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from barnabas.coordinator.decision import CoordinatorRecord, TimerKey, Token
from barnabas.metadata.delta import MetadataDelta
from barnabas.metadata.image import MetadataImage
from barnabas.protocol.errors import ErrorCode


def _is_permitted(_topic: str) -> bool:
    return True


class RequestContext(NamedTuple):
    """Who asks, and in which version of the API. `client_host` is as Kafka writes it: a slash and the address.

    `may_describe` tells which topics may be shown to those who do not name them.
    """

    version: int
    client_id: str = ""
    client_host: str = ""
    may_describe: Callable[[str], bool] = _is_permitted


class RequestReceived(NamedTuple):
    """A request whose answer is owed under `token`; it may be given by a later decision."""

    token: Token
    request: Any
    context: RequestContext


class TimerFired(NamedTuple):
    key: TimerKey


class AppendFailed(NamedTuple):
    """A decision's records could not be written, for the reason that clients see as `code`. Its answers are refused."""

    records: Sequence[CoordinatorRecord]
    code: ErrorCode


class Loaded(NamedTuple):
    """Everything in the log was replayed; from now on there are other events."""

    image: MetadataImage


class MetadataChanged(NamedTuple):
    delta: MetadataDelta
    image: MetadataImage


Event = RequestReceived | TimerFired | AppendFailed | Loaded | MetadataChanged
