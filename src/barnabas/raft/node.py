"""One node of the quorum: an event and the time go in, a list of effects comes out, in the order to carry them out.

The node never waits, sends, writes, draws or reads a clock; chance comes from the Rng it was given. Between two steps
the driver has carried out every effect of the first, but for those that report back by an event.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from barnabas.ports.rng import Rng
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.add_raft_voter import AddRaftVoterRequest, AddRaftVoterResponse
from barnabas.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from barnabas.protocol.messages.begin_quorum_epoch import BeginQuorumEpochRequest, BeginQuorumEpochResponse
from barnabas.protocol.messages.describe_quorum import DescribeQuorumRequest
from barnabas.protocol.messages.end_quorum_epoch import EndQuorumEpochRequest, EndQuorumEpochResponse
from barnabas.protocol.messages.fetch import FetchRequest, FetchResponse
from barnabas.protocol.messages.fetch_snapshot import FetchSnapshotRequest, FetchSnapshotResponse
from barnabas.protocol.messages.remove_raft_voter import RemoveRaftVoterRequest, RemoveRaftVoterResponse
from barnabas.protocol.messages.update_raft_voter import UpdateRaftVoterRequest, UpdateRaftVoterResponse
from barnabas.protocol.messages.vote import VoteRequest, VoteResponse
from barnabas.protocol.schema import Message
from barnabas.raft import appending, effects, elections, events, following, leading, membership
from barnabas.raft.connections import Inflight
from barnabas.raft.effects import Effect
from barnabas.raft.events import Event, RequestReceived
from barnabas.raft.history import QuorumHistory
from barnabas.raft.leader import Leader
from barnabas.raft.log_view import LogView
from barnabas.raft.polling import next_deadline_ms, poll
from barnabas.raft.quorum import Quorum
from barnabas.raft.quorum_state import QuorumState
from barnabas.raft.replica import Peer
from barnabas.raft.roles import Candidate, Prospective, Role
from barnabas.raft.settings import QuorumSettings
from barnabas.raft.voters import Voter


class RaftNode:
    """The decisions of one controller, or of one broker that follows the quorum as an observer.

    `local` is this node as it would be a voter. `listener` names the listener by which quorum nodes reach each other.
    `history` is what the log says of the quorum (`control.load_history`), `saved` the content of quorum-state or None
    where there is none yet. `bootstrap` is where to look for a leader: servers by negative ids, or static voters.
    """

    def __init__(
        self,
        *,
        local: Voter,
        cluster_id: str,
        listener: str,
        log: LogView,
        history: QuorumHistory,
        saved: QuorumState | None,
        settings: QuorumSettings,
        rng: Rng,
        bootstrap: Sequence[Peer],
        can_become_voter: bool = True,
    ) -> None:
        self.quorum = Quorum(
            local=local,
            cluster_id=cluster_id,
            listener=listener,
            log=log,
            history=history,
            saved=saved,
            settings=settings,
            rng=rng,
            bootstrap=bootstrap,
            can_become_voter=can_become_voter,
        )
        self._timer_ms: int | None = None

    @property
    def role(self) -> Role:
        return self.quorum.role

    @property
    def epoch(self) -> int:
        return self.quorum.epoch

    @property
    def high_watermark(self) -> int | None:
        return self.quorum.high_watermark

    @property
    def history(self) -> QuorumHistory:
        """What the log says of the quorum; a snapshot's head is made from it."""
        return self.quorum.history

    def step(self, event: Event, now_ms: int) -> list[Effect]:
        """Apply one event. The driver must carry out the effects in the order returned, before the next step."""
        quorum = self.quorum
        quorum.now_ms = max(quorum.now_ms, now_ms)
        quorum.effects = []
        is_installing = quorum.installing is not None
        assert is_installing == isinstance(event, events.SnapshotInstalled), "an installation is reported at once"
        self._apply(event)
        if quorum.installing is None:
            poll(quorum)
            self._set_timer()
        return quorum.effects

    def _set_timer(self) -> None:
        deadline_ms = next_deadline_ms(self.quorum)
        if deadline_ms is not None and deadline_ms != self._timer_ms:
            self.quorum.effects.append(effects.SetTimer(deadline_ms))
        self._timer_ms = deadline_ms

    def _apply(self, event: Event) -> None:
        quorum = self.quorum
        match event:
            case events.Started():
                quorum.start()
            case events.TimerFired():
                self._timer_ms = None
            case events.RequestReceived():
                self._receive(event)
            case events.ResponseReceived(correlation_id, response):
                inflight = quorum.connections.inflight(correlation_id)
                if inflight is not None:
                    is_success = self._hear(inflight, response)
                    quorum.connections.close(correlation_id, is_success=is_success, now_ms=quorum.now_ms)
            case events.RequestFailed(correlation_id, error):
                self._failed(correlation_id, error)
            case events.AppendRequested():
                appending.receive_append(quorum, event)
            case events.LogFlushed():
                quorum.log_flushed()
                if isinstance(quorum.role, Leader):
                    leading.flushed(quorum, quorum.role)
            case events.SnapshotInstalled():
                following.snapshot_installed(quorum, event)
            case events.SnapshotGenerated(snapshot_id):
                # What holds at its last contained offset stays: the log may yet be truncated to the snapshot's end.
                quorum.history.forget_before(snapshot_id.offset - 1)
            case events.KRaftVersionUpgradeRequested():
                membership.receive_kraft_upgrade(quorum, event)
            case events.ResignationRequested(epoch):
                if isinstance(quorum.role, Leader) and quorum.epoch == epoch:
                    quorum.role.is_resigning = True
            case events.ShutdownRequested(timeout_ms):
                quorum.shutdown_deadline_ms = quorum.now_ms + timeout_ms
            case _:
                assert_never(event)

    def _receive(self, event: RequestReceived) -> None:
        quorum, version, listener = self.quorum, event.version, event.listener
        match event.request:
            case FetchRequest() as request:
                leading.receive_fetch(quorum, event, request)
            case VoteRequest() as request:
                quorum.respond(event.token, elections.answer_vote(quorum, request, version, listener))
            case BeginQuorumEpochRequest() as request:
                quorum.respond(event.token, elections.answer_begin_quorum_epoch(quorum, request, version, listener))
            case EndQuorumEpochRequest() as request:
                quorum.respond(event.token, elections.answer_end_quorum_epoch(quorum, request, version, listener))
            case FetchSnapshotRequest() as request:
                quorum.respond(event.token, leading.answer_fetch_snapshot(quorum, request, version, listener))
            case DescribeQuorumRequest() as request:
                quorum.respond(event.token, leading.answer_describe_quorum(quorum, request, version))
            case AddRaftVoterRequest() as request:
                membership.receive_add_voter(quorum, event, request)
            case RemoveRaftVoterRequest() as request:
                membership.receive_remove_voter(quorum, event, request)
            case UpdateRaftVoterRequest() as request:
                membership.receive_update_voter(quorum, event, request)
            case other:
                raise TypeError(f"{type(other).__name__} is not a request to the quorum")

    def _hear(self, inflight: Inflight, response: Message) -> bool:
        quorum, peer = self.quorum, inflight.peer
        match response:
            case FetchResponse():
                return following.heard_fetch(quorum, response)
            case VoteResponse():
                return elections.heard_vote(quorum, peer, response)
            case BeginQuorumEpochResponse():
                return elections.heard_begin_quorum_epoch(quorum, peer, response)
            case EndQuorumEpochResponse():
                return elections.heard_end_quorum_epoch(quorum, peer, response)
            case FetchSnapshotResponse():
                return following.heard_fetch_snapshot(quorum, response)
            case ApiVersionsResponse():
                return membership.heard_api_versions(quorum, peer, response)
            case AddRaftVoterResponse():
                return membership.heard_add_voter(quorum, response)
            case RemoveRaftVoterResponse():
                return membership.heard_remove_voter(quorum, response)
            case UpdateRaftVoterResponse():
                return membership.heard_update_voter(quorum, response)
            case other:
                raise TypeError(f"{type(other).__name__} is not a response of the quorum")

    def _failed(self, correlation_id: int, error: ErrorCode) -> None:
        quorum = self.quorum
        inflight = quorum.connections.inflight(correlation_id)
        if inflight is None:
            return
        if inflight.request is VoteRequest and error is ErrorCode.UNSUPPORTED_VERSION:
            elections.vote_unsupported(quorum)
        elif inflight.request is ApiVersionsRequest:
            membership.heard_api_versions(quorum, inflight.peer, ApiVersionsResponse(error_code=error, api_keys=[]))
        elif inflight.request is UpdateRaftVoterRequest and error is ErrorCode.UNSUPPORTED_VERSION:
            membership.update_unsupported(quorum)
        quorum.connections.close(correlation_id, is_success=False, now_ms=quorum.now_ms)

    def validate(self) -> None:
        """Check what must hold between two steps, effects carried out."""
        quorum, role, saved = self.quorum, self.quorum.role, self.quorum.persisted
        if quorum.installing is None:
            assert quorum.log_end == quorum.log.end, f"the log ends at {quorum.log.end}, not {quorum.log_end}"
        assert quorum.log_end.epoch <= role.epoch, "no record is from a later epoch"
        assert quorum.flushed_offset <= quorum.log_end.offset
        assert quorum.flushing_to is None or quorum.flushing_to <= quorum.log_end.offset
        assert quorum.high_watermark is None or quorum.high_watermark <= quorum.log_end.offset
        if isinstance(role, Candidate | Prospective):
            assert quorum.may_stand, "only a voter stands for election"
        if isinstance(role, Leader):
            self._validate_leader(role)
        if saved is None:
            assert quorum.abstains_until_ms, "who has no quorum-state does not vote"
            return
        assert (saved.epoch, saved.leader_id) == (role.epoch, role.leader_id), "epoch and leader are persisted"
        assert saved.voted_key == role.voted_key, "a vote is persisted, and kept for its epoch"

    def _validate_leader(self, leader: Leader) -> None:
        quorum = self.quorum
        assert leader.start_offset < quorum.log_end.offset, "a leader begins with a record of its own"
        assert leader.high_watermark is None or leader.high_watermark > leader.start_offset
        assert {progress.key for progress in leader.voters.values()} == quorum.voters.keys
        assert not leader.voters.keys() & {key.id for key in leader.observers if leader.is_voter(key)}
        assert leader.lingering_end_offset >= quorum.log_end.offset or not leader.lingering
        for fetch in leader.waiting:
            (asked,) = fetch.request.topics[0].partitions
            assert asked.fetch_offset == quorum.log_end.offset, "only who has everything waits"
