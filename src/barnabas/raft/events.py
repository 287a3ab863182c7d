"""What can happen to a quorum node. Everything it learns of the world comes in as one of these."""

from __future__ import annotations

from dataclasses import dataclass

from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.schema import Message
from barnabas.raft.history import QuorumChange
from barnabas.raft.log_view import OffsetAndEpoch

# Whatever the driver needs to find the asker again; a node only hands it back.
Token = object


@dataclass(frozen=True, slots=True)
class Started:
    """The process is up and its effects are carried out from now on; comes once, before every other event."""


@dataclass(frozen=True, slots=True)
class TimerFired:
    """The time of the last SetTimer has come. One that fires early or again does no harm."""


@dataclass(frozen=True, slots=True)
class RequestReceived:
    """A peer, a broker or a tool asks. `version` and `listener` tell which endpoints the answer may name."""

    token: Token
    request: Message
    version: int
    listener: str


@dataclass(frozen=True, slots=True)
class ResponseReceived:
    correlation_id: int
    response: Message


@dataclass(frozen=True, slots=True)
class RequestFailed:
    """No response will come: the connection broke, or the peer does not speak a version that carries the request."""

    correlation_id: int
    error: ErrorCode = ErrorCode.NETWORK_EXCEPTION


@dataclass(frozen=True, slots=True)
class AppendRequested:
    """The local state machine, which believes to lead in `epoch`, has whole batches to write, offsets unset."""

    token: Token
    epoch: int
    batches: bytes | bytearray


@dataclass(frozen=True, slots=True)
class LogFlushed:
    """The Flush that was asked for is done: what the log held at that effect is durable, if it is still in the log."""


@dataclass(frozen=True, slots=True)
class SnapshotInstalled:
    """InstallSnapshot is done and durable. `changes` are the snapshot's own records of the quorum."""

    snapshot_id: OffsetAndEpoch
    changes: tuple[QuorumChange, ...]


@dataclass(frozen=True, slots=True)
class SnapshotGenerated:
    """The local state machine has written a snapshot, so that what the log says before it is no longer asked for."""

    snapshot_id: OffsetAndEpoch


@dataclass(frozen=True, slots=True)
class KRaftVersionUpgradeRequested:
    """The local state machine wants kraft.version raised, or to know whether it could be."""

    token: Token
    epoch: int
    kraft_version: int
    validate_only: bool = False


@dataclass(frozen=True, slots=True)
class ResignationRequested:
    """The local state machine can no longer lead in `epoch`."""

    epoch: int


@dataclass(frozen=True, slots=True)
class ShutdownRequested:
    """The process wants to stop within `timeout_ms`; a leader hands over first."""

    timeout_ms: int


Event = (
    Started
    | TimerFired
    | RequestReceived
    | ResponseReceived
    | RequestFailed
    | AppendRequested
    | LogFlushed
    | SnapshotInstalled
    | SnapshotGenerated
    | KRaftVersionUpgradeRequested
    | ResignationRequested
    | ShutdownRequested
)
