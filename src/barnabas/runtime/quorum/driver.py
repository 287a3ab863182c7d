"""Runs a RaftNode: feeds it what happens and carries its effects out on the log, the network and the clock.

Effects of a step are carried out in their order and before the next step, so Persist is on the disk before a Send that
relies on it leaves. Only flushes run in a thread. A failure of any effect ends the driver: from then on nothing is
stepped, sent or answered, for what was decided may not be kept.
"""

from __future__ import annotations

import logging
from asyncio import AbstractEventLoop
from collections import deque
from collections.abc import Callable
from typing import Final, NamedTuple, Protocol, assert_never

from barnabas.broker.call import Pending
from barnabas.log.flush import Flush
from barnabas.ports.clock import Clock
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.schema import Message
from barnabas.raft import control, effects, events
from barnabas.raft.effects import Effect
from barnabas.raft.events import Event
from barnabas.raft.log_view import OffsetAndEpoch
from barnabas.raft.node import RaftNode
from barnabas.raft.replica import Endpoint
from barnabas.runtime.off_loop import OffLoop
from barnabas.runtime.quorum.metadata_log import MetadataLog
from barnabas.runtime.quorum.peers import Peers
from barnabas.runtime.timers import DeadlineTimer

LOG: Final = logging.getLogger(__name__)


class StateMachine(Protocol):
    """What the quorum's log is for. It is told of things in the middle of a step, and acts when it is its turn."""

    def became_leader(self, epoch: int, start_offset: int, /) -> None: ...
    def resigned(self, epoch: int, /) -> None: ...
    def high_watermark_advanced(self, offset: int, /) -> None: ...
    def snapshot_installed(self, snapshot_id: OffsetAndEpoch, /) -> None: ...

    def proceed(self) -> bool:
        """Do one thing of what is to be done; false where there is nothing."""
        ...


class Refused(NamedTuple):
    """The quorum does not do what its state machine asked for."""

    error: ErrorCode
    message: str


class RaftDriver:
    """Belongs to the loop. `failed` is told, once, of what ended it; `shut_down` that the node may stop."""

    def __init__(
        self,
        node: RaftNode,
        log: MetadataLog,
        *,
        machine: StateMachine,
        peers: Peers,
        off_loop: OffLoop,
        clock: Clock,
        loop: AbstractEventLoop,
        failed: Callable[[Exception], None],
        shut_down: Callable[[], None],
    ) -> None:
        self.node = node
        self._log = log
        self._machine = machine
        self._peers = peers
        self._off_loop = off_loop
        self._clock = clock
        self._failed = failed
        self._shut_down = shut_down
        self._events: deque[Event] = deque()
        self._is_running = False
        self._is_over = False
        self._outcome: int | Refused | None = None
        self._timer = DeadlineTimer(loop, clock, lambda _: self.receive(events.TimerFired()))

    # What happens

    def receive(self, event: Event) -> None:
        """Step with this event, now or when the present one is through."""
        self._events.append(event)
        self.run()

    def ask(self, request: Message, version: int, listener: str) -> Pending:
        """Put somebody's request to the quorum."""
        pending = Pending()
        self.receive(events.RequestReceived(pending, request, version, listener))
        return pending

    def run(self) -> None:
        """Go on until neither the quorum nor its state machine has anything to do."""
        if self._is_running or self._is_over:
            return
        self._is_running = True
        try:
            while not self._is_over:
                if self._events:
                    self._step(self._events.popleft())
                elif not self._machine.proceed():
                    break
        except Exception as error:
            self.fail(error)
        finally:
            self._is_running = False

    def append(self, epoch: int, batches: bytes) -> int | Refused:
        """For the state machine in its turn: write these batches; the offset that they got."""
        self._step(events.AppendRequested(self, epoch, batches))
        outcome = self._take_outcome()
        assert outcome is not None, "an append is answered at once"
        return outcome

    def upgrade_kraft_version(self, epoch: int, level: int, *, validate_only: bool) -> Refused | None:
        """For the state machine in its turn: raise kraft.version, or see whether it could be."""
        self._step(events.KRaftVersionUpgradeRequested(self, epoch, level, validate_only))
        outcome = self._take_outcome()
        assert not isinstance(outcome, int), "an upgrade has no offset"
        return outcome

    def _take_outcome(self) -> int | Refused | None:
        outcome, self._outcome = self._outcome, None
        return outcome

    def fail(self, error: Exception) -> None:
        """Stop carrying anything out, for good."""
        if not self._is_over:
            self.close()
            if isinstance(error, OSError) and error.filename is None:
                # A call on an open file fails without saying which.
                error.filename = self._log.directory
            self._failed(error)

    def close(self) -> None:
        self._is_over = True
        self._events.clear()
        self._timer.cancel()

    @property
    def leader_endpoint(self) -> Endpoint | None:
        """Where the node that leads, perhaps this one, is reached by the others of the quorum."""
        return self.node.role.leader_endpoints.get(self.node.quorum.listener)

    @property
    def flushed_offset(self) -> int:
        return self.node.quorum.flushed_offset

    # What is done about it

    def _step(self, event: Event) -> None:
        for effect in self.node.step(event, self._clock.now_ms()):
            self._carry_out(effect)
        quorum = self.node.quorum
        assert quorum.installing is not None or self._log.end == quorum.log_end, "the log is as raft takes it to be"

    def _carry_out(self, effect: Effect) -> None:
        log, now_ms = self._log, self._clock.now_ms()
        match effect:
            case effects.Persist(state):
                log.write_quorum_state(state)
            case effects.Append(batches):
                log.append(batches, self.node.epoch, now_ms)
            case effects.Truncate(end_offset):
                LOG.info("log truncated", extra={"end_offset": end_offset, "was": log.end.offset})
                log.truncate(end_offset, now_ms)
            case effects.Flush():
                self._flush()
            case effects.WriteSnapshotChunk(snapshot_id, position, data):
                log.snapshots.write_chunk(snapshot_id, position, data)
            case effects.InstallSnapshot(snapshot_id):
                self._install(snapshot_id)
            case effects.DropSnapshotDownload(snapshot_id):
                log.snapshots.drop_download(snapshot_id)
            case effects.Send(peer, correlation_id, request):
                self._send(peer.endpoint, correlation_id, request)
            case effects.Respond(pending, response):
                assert isinstance(pending, Pending)
                pending.complete(response)
            case effects.SetTimer(at_ms):
                self._timer.cancel()
                self._timer.arm(at_ms)
            case effects.AdvanceHighWatermark(offset):
                log.update_high_watermark(offset)
                self._machine.high_watermark_advanced(offset)
            case effects.Accept(_, base_offset):
                self._outcome = base_offset
            case effects.Refuse(_, error, message):
                self._outcome = Refused(error, message)
            case effects.Confirm():
                self._outcome = None
            case effects.BecameLeader(epoch, start_offset):
                LOG.info("became leader of the quorum", extra={"epoch": epoch, "start_offset": start_offset})
                self._machine.became_leader(epoch, start_offset)
            case effects.Resigned(epoch):
                LOG.info("leads the quorum no more", extra={"epoch": epoch})
                self._machine.resigned(epoch)
            case effects.LeaderChanged(epoch, leader_id):
                LOG.info(
                    "leader changed", extra={"epoch": epoch, "leader": "nobody" if leader_id is None else leader_id}
                )
            case effects.CompleteShutdown(is_graceful):
                LOG.info("left the quorum", extra={"graceful": is_graceful})
                self._shut_down()
            case _:
                assert_never(effect)

    def _flush(self) -> None:
        flush = self._log.prepare_flush()
        assert flush is not None, "everything is asked for"
        self._off_loop.run(flush.run, lambda _: self._flushed(flush), self.fail)

    def _flushed(self, flush: Flush) -> None:
        if not self._is_over:
            self._log.mark_flushed(flush, self._clock.now_ms())
            self.receive(events.LogFlushed())

    def _install(self, snapshot_id: OffsetAndEpoch) -> None:
        log = self._log
        log.install_snapshot(snapshot_id, self._clock.now_ms())
        LOG.info("snapshot installed", extra={"end_offset": snapshot_id.offset, "epoch": snapshot_id.epoch})
        changes = control.snapshot_changes([log.snapshots.read_whole(snapshot_id)], snapshot_id)
        self._machine.snapshot_installed(snapshot_id)
        # It must be the very next step, before whatever came meanwhile.
        self._events.appendleft(events.SnapshotInstalled(snapshot_id, changes))

    def _send(self, endpoint: Endpoint, correlation_id: int, request: Message) -> None:
        self._peers.send(
            endpoint,
            request,
            lambda response: self.receive(events.ResponseReceived(correlation_id, response)),
            lambda error: self.receive(events.RequestFailed(correlation_id, error)),
        )
