"""What happens to a controller, and what it wants done. Effects are carried out in their order, before the next step.

The process stands between the controller and the quorum: it hands Append to the quorum as batches and tells with
which offset they were taken, and it tells what is committed.
"""

from __future__ import annotations

from dataclasses import dataclass

from barnabas.controller.decision import RequestContext
from barnabas.metadata.image import MetadataImage
from barnabas.protocol.errors import ApiError, ErrorCode
from barnabas.protocol.schema import Message

# Whatever the process needs to find the asker again; a controller only hands it back.
Token = object


@dataclass(frozen=True, slots=True)
class RequestReceived:
    """`wall_offset_ms` is how far the time of day is ahead of the clock that never jumps."""

    token: Token
    request: Message
    context: RequestContext
    wall_offset_ms: int = 0


@dataclass(frozen=True, slots=True)
class MetadataCommitted:
    """The log is committed up to `last_offset`. In an open transaction the image stays behind that."""

    image: MetadataImage
    last_offset: int
    is_in_transaction: bool = False


@dataclass(frozen=True, slots=True)
class BecameLeader:
    """This node leads the quorum; `start_offset` is that of the epoch's first record, which is the quorum's own."""

    epoch: int
    start_offset: int


@dataclass(frozen=True, slots=True)
class Resigned:
    """This node leads no more, in this epoch."""

    epoch: int


@dataclass(frozen=True, slots=True)
class QuorumChanged:
    """What the quorum knows and decisions need. `leader_id` is None while nobody leads. It may come at any time."""

    leader_id: int | None
    kraft_version: int
    voter_ids: frozenset[int]


@dataclass(frozen=True, slots=True)
class Appended:
    """The quorum has taken the batches of the last Append, from this offset on."""

    base_offset: int


@dataclass(frozen=True, slots=True)
class AppendRefused:
    """The quorum has not taken the batches of the last Append: this node leads no more."""


@dataclass(frozen=True, slots=True)
class KRaftUpgradeConfirmed:
    """The quorum does what the last UpgradeKRaftVersion asks for, or could."""


@dataclass(frozen=True, slots=True)
class KRaftUpgradeRefused:
    error: ErrorCode
    message: str


@dataclass(frozen=True, slots=True)
class TimerFired:
    """The time of the last SetTimer has come; `wall_offset_ms` as with requests."""

    wall_offset_ms: int = 0


Event = (
    RequestReceived
    | MetadataCommitted
    | BecameLeader
    | Resigned
    | QuorumChanged
    | Appended
    | AppendRefused
    | KRaftUpgradeConfirmed
    | KRaftUpgradeRefused
    | TimerFired
)


@dataclass(frozen=True, slots=True)
class Append:
    """Hand these batches to the quorum, offsets unset; report Appended or AppendRefused before what else happens."""

    epoch: int
    batches: bytes


@dataclass(frozen=True, slots=True)
class UpgradeKRaftVersion:
    """Ask the quorum; report KRaftUpgradeConfirmed or KRaftUpgradeRefused before what else happens."""

    epoch: int
    level: int
    validate_only: bool


@dataclass(frozen=True, slots=True)
class Respond:
    """Answer. `refusal` is why the whole request was refused; many responses have a code for it and no text."""

    token: Token
    response: Message
    refusal: ApiError | None = None


@dataclass(frozen=True, slots=True)
class SetTimer:
    """Step with TimerFired at this time. It replaces the timer before it."""

    at_ms: int


Effect = Append | UpgradeKRaftVersion | Respond | SetTimer
