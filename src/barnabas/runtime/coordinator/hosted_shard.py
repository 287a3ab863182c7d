"""One shard of a coordinator on the partition that holds its log: loaded, stepped, and closed when the leader changes.

A decision's records are appended, then replayed, then its timers are set, then its answers leave, as soon as the high
watermark has reached the end of what the shard has written by then: nobody is told what may still be lost. Every
request is answered once, by a refusal at the latest when the shard is closed.
"""

from __future__ import annotations

import logging
from asyncio import AbstractEventLoop, TimerHandle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from barnabas.broker.replicas import Replicas
from barnabas.coordinator.append_errors import told_to_clients
from barnabas.coordinator.decision import CoordinatorRecord, Decision, Respond, SetTimer, TimerKey
from barnabas.coordinator.events import AppendFailed, Event, Loaded, RequestContext, RequestReceived, TimerFired
from barnabas.coordinator.record_codec import RecordCodec
from barnabas.coordinator.shard import Shard
from barnabas.ports.clock import Clock
from barnabas.protocol.errors import ApiError, ErrorCode, NotLeaderOrFollower
from barnabas.protocol.schema import Message
from barnabas.records.batch import NO_PRODUCER_ID
from barnabas.records.build import build_batch
from barnabas.records.compression import Compression
from barnabas.records.record import Record
from barnabas.replication.leader import Leader
from barnabas.runtime.coordinator.loading import load_log

LOG: Final = logging.getLogger(__name__)

# What a batch needs beside its records, and a record beside its key and value, amply.
BATCH_ROOM_BYTES: Final = 128
RECORD_ROOM_BYTES: Final = 32


@dataclass(frozen=True, kw_only=True)
class ShardSettings:
    """`commit_timeout_ms` is how long an answer waits for the replicas."""

    commit_timeout_ms: int
    load_buffer_bytes: int
    compression: Compression = Compression.NONE


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """What shards work with; `settings` are the broker's as they are now."""

    replicas: Replicas
    codec: RecordCodec
    loop: AbstractEventLoop
    clock: Clock
    settings: Callable[[], ShardSettings]


@dataclass(eq=False, slots=True)
class Owed:
    """An answer that is owed; it is its own token."""

    request: Message
    answer: Callable[[Message], None]


class HostedShard:
    """`leader` is the replica of the leader epoch for which the shard was made."""

    def __init__(self, shard: Shard, leader: Leader, around: Surroundings) -> None:
        self.leader = leader
        self._shard = shard
        self._around = around
        self._owed: dict[Owed, None] = {}
        self._timers: dict[TimerKey, TimerHandle] = {}
        self._is_active = False
        self._is_closed = False
        # Where the log ends for this shard: behind all that it has read or written.
        self._end_offset = leader.log.log_end_offset
        # How far it has to be durable, where flush.messages asks for that.
        self._flush_offset = 0
        self._pieces = load_log(around.replicas, leader, around.codec, shard, around.settings().load_buffer_bytes)
        self._handle = around.loop.call_soon(self._load_piece)

    # Loading

    def _load_piece(self) -> None:
        """Load some more, and let others have their turn before the next piece."""
        if self._is_closed:
            return
        try:
            has_more = next(self._pieces, None) is not None
        except (ApiError, OSError, ValueError) as error:
            # Nobody can be answered from half a log; a new leader epoch begins again.
            LOG.error("coordinator not loaded", extra={"partition": str(self.leader.name), "reason": str(error)})
            return
        if has_more:
            self._handle = self._around.loop.call_soon(self._load_piece)
        else:
            self._is_active = True
            self.step(Loaded(self._around.replicas.image))

    @property
    def is_active(self) -> bool:
        return self._is_active and not self._is_closed

    # Stepping

    def ask(self, request: Message, context: RequestContext, answer: Callable[[Message], None]) -> None:
        """Have a request answered, now or later."""
        if not self._is_active:
            answer(self._shard.refuse(request, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS))
            return
        owed = Owed(request, answer)
        self._owed[owed] = None
        self.step(RequestReceived(owed, request, context))

    def step(self, event: Event) -> None:
        now_ms = self._around.clock.now_ms()
        decision = self._shard.step(event, now_ms)
        failed = self._write(decision, now_ms) if decision.records else None
        if failed is not None:
            self._refuse(decision.responses, failed.code)
            self.step(failed)
            return
        for timer in decision.timers:
            self._cancel(timer.key)
            if isinstance(timer, SetTimer):
                self._timers[timer.key] = self._around.loop.call_later(timer.delay_ms / 1000, self._fire, timer.key)
        if decision.responses:
            self._answer_when_committed(decision.responses)

    def _fire(self, key: TimerKey) -> None:
        if not self._is_closed:
            del self._timers[key]
            self.step(TimerFired(key))

    def _cancel(self, key: TimerKey) -> None:
        handle = self._timers.pop(key, None)
        if handle is not None:
            handle.cancel()

    # Writing

    def _write(self, decision: Decision, now_ms: int) -> AppendFailed | None:
        """Append and replay a decision's records; what could not be written, and why."""
        written = 0
        for piece in self._split(decision, now_ms):
            try:
                self._append(piece, decision.records[written : written + len(piece)], now_ms)
            except ApiError as error:
                LOG.warning(
                    "coordinator's records not written",
                    extra={"partition": str(self.leader.name), "reason": str(error)},
                )
                return AppendFailed(tuple(decision.records[written:]), told_to_clients(error.code))
            written += len(piece)
        return None

    def _split(self, decision: Decision, now_ms: int) -> Iterator[list[Record]]:
        """The records as they go into batches: all into one, unless they may be parted and are too many."""
        limit_bytes = self.leader.log.config.max_message_bytes - BATCH_ROOM_BYTES
        piece: list[Record] = []
        piece_bytes = 0
        for record in decision.records:
            key, value = self._around.codec.encode(record)
            size_bytes = len(key) + len(value or b"") + RECORD_ROOM_BYTES
            if piece and not decision.is_atomic and piece_bytes + size_bytes > limit_bytes:
                yield piece
                piece, piece_bytes = [], 0
            piece.append(Record(len(piece), now_ms, key, value))
            piece_bytes += size_bytes
        yield piece

    def _append(self, piece: list[Record], records: Sequence[CoordinatorRecord], now_ms: int) -> None:
        replicas = self._around.replicas
        if not replicas.is_current(self.leader):
            raise NotLeaderOrFollower(f"{self.leader.name} is no longer led here")
        batch = build_batch(piece, compression=self._around.settings().compression)
        info = replicas.append(self.leader, batch, now_ms, needs_all=True)
        self._end_offset = info.last_offset + 1
        if self.leader.log.is_flush_wanted:
            self._flush_offset = self._end_offset
        for offset, record in enumerate(records, info.first_offset):
            self._shard.replay(offset, NO_PRODUCER_ID, record.key, record.value)

    # Answering

    def _answer_when_committed(self, responses: Sequence[Respond]) -> None:
        around, log = self._around, self.leader.log
        end_offset, flush_offset = self._end_offset, self._flush_offset

        def is_ready() -> bool:
            is_committed = log.high_watermark >= end_offset and log.recovery_point >= flush_offset
            return is_committed or not around.replicas.is_current(self.leader)

        def complete(is_expired: bool) -> None:
            if not around.replicas.is_current(self.leader):
                self._refuse(responses, ErrorCode.NOT_COORDINATOR)
            elif is_expired:
                self._refuse(responses, told_to_clients(ErrorCode.REQUEST_TIMED_OUT))
            else:
                for token, response in responses:
                    self._settle(token, response)

        if is_ready():
            complete(False)
        else:
            deadline_ms = around.clock.elapsed_ms() + around.settings().commit_timeout_ms
            around.replicas.waiting_room.park((self.leader.name,), is_ready, deadline_ms, complete)

    def _refuse(self, responses: Sequence[Respond], code: ErrorCode) -> None:
        for token, _ in responses:
            assert isinstance(token, Owed), "shards answer the tokens that they were given"
            self._settle(token, self._shard.refuse(token.request, code))

    def _settle(self, token: object, response: Message) -> None:
        assert isinstance(token, Owed), "shards answer the tokens that they were given"
        if not self._is_closed:
            del self._owed[token]
            token.answer(response)

    # Its end

    def close(self, code: ErrorCode) -> None:
        """Refuse whatever is owed, and let nothing happen any more."""
        if self._is_closed:
            return
        self._is_closed = True
        self._handle.cancel()
        for handle in self._timers.values():
            handle.cancel()
        self._timers.clear()
        for owed in self._owed:
            owed.answer(self._shard.refuse(owed.request, code))
        self._owed.clear()
