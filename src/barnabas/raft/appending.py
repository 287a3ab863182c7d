"""What a leader writes to its log: its own control records, and what its state machine gives it, in company.

Offsets are given out at once, also to batches that linger for company; control records go behind those, so that the
log keeps the order in which offsets were given. Followers get appended batches before the leader has flushed them:
replication and the leader's own disk work at the same time.
"""

from __future__ import annotations

from collections.abc import Iterable

from barnabas.protocol.errors import ErrorCode
from barnabas.raft import control, effects
from barnabas.raft.control import ControlRecord
from barnabas.raft.events import AppendRequested
from barnabas.raft.leader import Leader
from barnabas.raft.log_view import OffsetAndEpoch
from barnabas.raft.quorum import Quorum
from barnabas.raft.responses import fetch_response
from barnabas.raft.roles import NEVER_MS
from barnabas.raft.settings import MAX_BATCH_BYTES
from barnabas.records.batch import iterate_batches, stamp


def begin_epoch(quorum: Quorum, leader: Leader) -> None:
    """Write the record of the leader's own epoch by which everything before it can be committed."""
    leader.has_begun = True
    append_control(quorum, leader, *_start_of_epoch_records(quorum, leader))


def _start_of_epoch_records(quorum: Quorum, leader: Leader) -> Iterable[ControlRecord]:
    yield control.leader_change(quorum.local.id, sorted(leader.voters), leader.granting_ids)
    if not quorum.history.is_dynamic:
        return
    offset = quorum.history.voters_offset
    is_from_bootstrap = offset is None or offset < 0
    if is_from_bootstrap or quorum.voters.needs_update(quorum.local):
        # What the bootstrap checkpoint says is on no log yet, and other replicas may not have one.
        yield control.kraft_version(quorum.history.kraft_version)
        yield control.voters(quorum.voters.with_update(quorum.local) or quorum.voters)


def append_control(quorum: Quorum, leader: Leader, *records: ControlRecord) -> int:
    """Append control records as one batch, behind what lingers; the offset of the last one comes back."""
    drain(quorum, leader)
    base_offset = quorum.log_end.offset
    batch = control.build(records, base_offset=base_offset, epoch=leader.epoch, timestamp_ms=quorum.now_ms)
    end = OffsetAndEpoch(base_offset + len(records), leader.epoch)
    quorum.append(batch, end, control.changes_of(records, base_offset))
    leader.follow_voters(quorum.voters)
    _answer_waiting(quorum, leader, batch)
    quorum.flush()
    return end.offset - 1


def receive_append(quorum: Quorum, event: AppendRequested) -> None:
    """Give the batches their offsets; they go to the log when their time of lingering is over."""
    leader = quorum.role
    if not isinstance(leader, Leader) or leader.epoch != event.epoch or leader.is_resigning:
        quorum.effects.append(
            effects.Refuse(
                event.token,
                ErrorCode.NOT_LEADER_OR_FOLLOWER,
                f"this node does not lead in epoch {event.epoch}; the epoch is {quorum.epoch}",
            )
        )
        return
    if not leader.lingering:
        leader.lingering_end_offset = quorum.log_end.offset
        leader.linger_deadline_ms = quorum.now_ms + quorum.settings.append_linger_ms
    base_offset = leader.lingering_end_offset
    batches = bytearray(event.batches)
    for position, header in iterate_batches(batches):
        stamp(batches, position, leader.lingering_end_offset, leader.epoch)
        leader.lingering_end_offset += header.last_offset_delta + 1
    leader.lingering.append(bytes(batches))
    quorum.effects.append(effects.Accept(event.token, base_offset))
    if sum(map(len, leader.lingering)) >= MAX_BATCH_BYTES:
        drain(quorum, leader)


def drain(quorum: Quorum, leader: Leader) -> None:
    """Append what the local state machine gave and was held back for company."""
    leader.linger_deadline_ms = NEVER_MS
    if leader.lingering:
        batches = b"".join(leader.lingering)
        leader.lingering.clear()
        quorum.append(batches, OffsetAndEpoch(leader.lingering_end_offset, leader.epoch), ())
        _answer_waiting(quorum, leader, batches)
        quorum.flush()


def _answer_waiting(quorum: Quorum, leader: Leader, batches: bytes) -> None:
    """Give those who wait at the end of the log what was just appended there, without reading it back."""
    waiting, leader.waiting = leader.waiting, []
    for fetch in waiting:
        quorum.respond(
            fetch.token,
            fetch_response(
                quorum.hint(fetch.listener),
                fetch.version,
                ErrorCode.NONE,
                log_start_offset=quorum.log.start_offset,
                high_watermark=leader.high_watermark,
                records=control.whole_batches(batches, fetch.request.max_bytes),
            ),
        )
