"""What a quorum node wants done. The driver carries a step's effects out in their order, before the next step.

Persist stands before the Send or Respond that relies on it; a driver that keeps the order cannot promise what it
would forget. Only Flush and Send finish later, each with an event of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.schema import Message
from barnabas.raft.events import Token
from barnabas.raft.log_view import OffsetAndEpoch
from barnabas.raft.quorum_state import QuorumState
from barnabas.raft.replica import Peer


@dataclass(frozen=True, slots=True)
class Persist:
    """Write quorum-state, durably, before going on."""

    state: QuorumState


@dataclass(frozen=True, slots=True)
class Append:
    """Write these whole batches at the end of the log; offsets and epochs are in them."""

    batches: bytes | bytearray | memoryview


@dataclass(frozen=True, slots=True)
class Truncate:
    """Cut the log so that it ends at this offset."""

    end_offset: int


@dataclass(frozen=True, slots=True)
class Flush:
    """Make the log durable as it stands now, then report LogFlushed. There is never a second one before that."""


@dataclass(frozen=True, slots=True)
class WriteSnapshotChunk:
    """Write a piece of a snapshot that is being downloaded. Position 0 begins the file anew."""

    snapshot_id: OffsetAndEpoch
    position: int
    data: bytes | bytearray | memoryview


@dataclass(frozen=True, slots=True)
class InstallSnapshot:
    """Freeze the downloaded snapshot durably and let the empty log begin at its end.

    Always the last effect of its step; the very next step must be SnapshotInstalled.
    """

    snapshot_id: OffsetAndEpoch


@dataclass(frozen=True, slots=True)
class DropSnapshotDownload:
    """Forget the pieces of a snapshot that will not be completed."""

    snapshot_id: OffsetAndEpoch


@dataclass(frozen=True, slots=True)
class Send:
    """Send a request, in the newest version that both sides speak; report ResponseReceived or RequestFailed."""

    peer: Peer
    correlation_id: int
    request: Message


@dataclass(frozen=True, slots=True)
class Respond:
    token: Token
    response: Message


@dataclass(frozen=True, slots=True)
class SetTimer:
    """Step with TimerFired at this time. It replaces the timer before it."""

    at_ms: int


@dataclass(frozen=True, slots=True)
class AdvanceHighWatermark:
    """Everything before this offset is committed: hand it to the state machine."""

    offset: int


@dataclass(frozen=True, slots=True)
class Accept:
    """The batches of an AppendRequested will be in the log from this offset on, if this node stays leader."""

    token: Token
    base_offset: int


@dataclass(frozen=True, slots=True)
class Refuse:
    """What the local state machine asked for is not done."""

    token: Token
    error: ErrorCode
    message: str


@dataclass(frozen=True, slots=True)
class Confirm:
    """What the local state machine asked for is done, or would be possible where it only asked that."""

    token: Token


@dataclass(frozen=True, slots=True)
class BecameLeader:
    """This node leads. Its state machine may act once it has replayed everything up to `start_offset` and the
    high watermark is past it."""

    epoch: int
    start_offset: int


@dataclass(frozen=True, slots=True)
class Resigned:
    """This node no longer leads; appends that are not committed may yet be or not be."""

    epoch: int


@dataclass(frozen=True, slots=True)
class LeaderChanged:
    """Another node leads, or nobody that is known of."""

    epoch: int
    leader_id: int | None


@dataclass(frozen=True, slots=True)
class CompleteShutdown:
    """The process may stop; `is_graceful` unless time ran out first."""

    is_graceful: bool


Effect = (
    Persist
    | Append
    | Truncate
    | Flush
    | WriteSnapshotChunk
    | InstallSnapshot
    | DropSnapshotDownload
    | Send
    | Respond
    | SetTimer
    | AdvanceHighWatermark
    | Accept
    | Refuse
    | Confirm
    | BecameLeader
    | Resigned
    | LeaderChanged
    | CompleteShutdown
)
