"""The state of one quorum node and the ways it may change: its role, its log's end, its connections.

Invariants: the epoch never falls; within an epoch a vote once given is kept through every change of role; a change of
epoch, leader or vote is persisted before anything is sent that relies on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from barnabas.ports.rng import Rng
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.schema import Message
from barnabas.raft import effects
from barnabas.raft.ballot import Ballot
from barnabas.raft.connections import Connections
from barnabas.raft.effects import Effect
from barnabas.raft.history import QuorumChange, QuorumHistory
from barnabas.raft.leader import CHECK_QUORUM_FACTOR, Leader, PendingVoterChange, Progress, WaitingFetch
from barnabas.raft.log_view import LogView, OffsetAndEpoch
from barnabas.raft.quorum_state import EPOCH_END, QuorumState
from barnabas.raft.replica import Endpoints, Peer, ReplicaKey
from barnabas.raft.responses import LeaderHint, add_voter_response, fetch_response, remove_voter_response
from barnabas.raft.roles import NEVER_MS, Candidate, Follower, Prospective, Resigned, Role, Unattached
from barnabas.raft.settings import QuorumSettings
from barnabas.raft.voters import Voter, VoterSet


class QuorumViolation(Exception):  # noqa: N818 (a violation is what it reports)
    """Another node contradicts what consensus guarantees. Going on could lose committed data, so the node stops."""


class Quorum:
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
        can_become_voter: bool,
    ) -> None:
        self.local = local
        self.cluster_id = cluster_id
        self.listener = listener
        self.log = log
        self.history = history
        self.settings = settings
        self.rng = rng
        self.can_become_voter = can_become_voter
        self.connections = Connections(bootstrap, settings.retry_backoff_ms, settings.request_timeout_ms, rng)
        self.persisted = saved
        self.now_ms = 0
        self.effects: list[Effect] = []
        self.role: Role = Unattached(epoch=saved.epoch if saved else 0, election_deadline_ms=NEVER_MS)
        self.high_watermark: int | None = None
        self.log_end = log.end
        # Whatever a crash left in the log may still be nowhere but in the system's memory.
        self.flushed_offset = log.start_offset
        self.flushing_to: int | None = None
        self.installing: OffsetAndEpoch | None = None
        self.shutdown_deadline_ms: int | None = None
        self.abstains_until_ms = 0
        self.is_shut_down = False
        self._require_supported(history.kraft_version)

    # What is known

    @property
    def epoch(self) -> int:
        return self.role.epoch

    @property
    def voters(self) -> VoterSet:
        return self.history.voters

    @property
    def is_voter(self) -> bool:
        return self.voters.has_voter(self.local.key)

    @property
    def may_stand(self) -> bool:
        """Whether this replica may be elected: as a voter, or while its own removal may not be committed yet.

        The record that removes it may be on no other log, and then the remaining voters cannot elect anybody whose
        log is shorter; it leads once more, to commit that record.
        """
        if self.is_voter:
            return True
        offset = self.history.voters_offset
        if offset is None or (self.high_watermark is not None and offset < self.high_watermark):
            return False
        former = self.history.voters_at(offset - 1)
        return former is not None and former.has_voter(self.local.key)

    @property
    def is_abstaining(self) -> bool:
        """Whether a vote of this replica, for itself too, could be a second one in its epoch."""
        return self.now_ms < self.abstains_until_ms

    @property
    def is_only_voter(self) -> bool:
        return self.voters.is_only_voter(self.local.key)

    @property
    def must_flush_before_fetching(self) -> bool:
        """A fetch tells the leader what is durable here; of a replica that votes, or may soon, it counts."""
        return self.is_voter or self.can_become_voter

    def hint(self, listener: str) -> LeaderHint:
        """What an answer to somebody on this listener says about the leader."""
        leader_id = self.role.leader_id
        if leader_id is None:
            return LeaderHint(self.epoch)
        return LeaderHint(self.epoch, leader_id, self.role.leader_endpoints.get(listener))

    def is_consistent(self, epoch: int, leader_id: int | None) -> bool:
        """Whether there may be such a leader, given that an epoch has at most one and that we know if we lead."""
        if epoch >= EPOCH_END:
            return False
        if leader_id is not None and leader_id == self.local.id:
            return epoch < self.epoch or (epoch == self.epoch and self.role.leader_id == self.local.id)
        known = self.role.leader_id
        return epoch != self.epoch or leader_id is None or known is None or leader_id == known

    def has_forgotten_lead(self, epoch: int) -> bool:
        """Whether a voter that is said to lead in this epoch must have done so without knowing it any more."""
        is_known = epoch < self.epoch or (epoch == self.epoch and self.role.leader_id is not None)
        return self.is_voter and not is_known and epoch < EPOCH_END

    def random_election_deadline_ms(self) -> int:
        timeout_ms = self.settings.election_timeout_ms
        return self.now_ms + timeout_ms + (self.rng.randrange(timeout_ms) if timeout_ms else 0)

    def random_fetch_deadline_ms(self) -> int:
        """When a follower that hears nothing more stands itself, within the fetch timeout.

        A leader answers all of its followers in the moment of an append. Were their deadlines the same, they would
        stand against each other and split the vote whenever a leader is lost.
        """
        timeout_ms = self.settings.fetch_timeout_ms
        return self.now_ms + timeout_ms - self.rng.randrange(timeout_ms // 10 + 1)

    # Outgoing

    def send(self, peer: Peer, request: Message) -> bool:
        """Send, unless the peer is still at an earlier request or rests after a failure."""
        if not self.connections.is_ready(peer.id, self.now_ms):
            return False
        correlation_id = self.connections.open(peer, request, self.now_ms)
        self.effects.append(effects.Send(peer, correlation_id, request))
        return True

    def respond(self, token: object, response: Message) -> None:
        self.effects.append(effects.Respond(token, response))

    # The log

    def append(self, batches: bytes | memoryview, end: OffsetAndEpoch, changes: Iterable[QuorumChange]) -> None:
        """Append whole batches that end at `end`; what they say about the quorum holds from now on."""
        self.effects.append(effects.Append(batches))
        self.log_end = end
        self.apply_changes(changes)

    def apply_changes(self, changes: Iterable[QuorumChange]) -> None:
        for change in changes:
            self._require_supported(change.kraft_version or 0)
            self.history.apply(change)

    def _require_supported(self, kraft_version: int) -> None:
        if kraft_version > self.local.kraft_versions.highest:
            raise QuorumViolation(f"kraft.version {kraft_version} is from a later release than this node's")

    def flush(self) -> None:
        if self.flushing_to is None and self.flushed_offset < self.log_end.offset:
            self.flushing_to = self.log_end.offset
            self.effects.append(effects.Flush())

    def log_flushed(self) -> None:
        if self.flushing_to is not None:
            self.flushed_offset = max(self.flushed_offset, self.flushing_to)
            self.flushing_to = None
        if self.must_flush_before_fetching:
            self.flush()

    def truncate(self, end_offset: int) -> bool:
        """Cut the log off at an offset, or where the batch begins that holds it; false where it ends there anyway."""
        if end_offset >= self.log_end.offset:
            return False
        end = self.log.end_if_truncated(end_offset)
        if self.high_watermark is not None and end.offset < self.high_watermark:
            raise QuorumViolation(
                f"the leader {self.role.leader_id} of epoch {self.epoch} asks to truncate to offset {end_offset}, "
                f"which is below the high watermark {self.high_watermark}"
            )
        self.effects.append(effects.Truncate(end_offset))
        self.log_end = end
        self.history.truncate_to(end.offset)
        self.flushed_offset = min(self.flushed_offset, end.offset)
        if self.flushing_to is not None:
            # What is being flushed from here on is no longer in the log, and what replaces it is not being flushed.
            self.flushing_to = min(self.flushing_to, end.offset)
        return True

    def advance_high_watermark(self, offset: int) -> None:
        if self.high_watermark is None or offset > self.high_watermark:
            self.high_watermark = offset
            self.effects.append(effects.AdvanceHighWatermark(offset))

    # Changes of role

    def start(self) -> None:
        """Take up the role that quorum-state and the log allow."""
        saved = self.persisted or QuorumState()
        if self.persisted is None and self.log_end.epoch > 0 and not self.is_only_voter:
            # With quorum-state went the vote in an election that may still be under way. No candidate waits longer.
            self.abstains_until_ms = self.now_ms + 2 * self.settings.election_timeout_ms
        if saved.epoch < self.log_end.epoch:
            self._change_to(
                Unattached(epoch=self.log_end.epoch, election_deadline_ms=self.random_election_deadline_ms())
            )
        elif saved.leader_id == self.local.id:
            # It may have lost records of this epoch with its memory, and must not write others in their place.
            self._change_to(self._resigned(saved.epoch, []))
        elif saved.leader_id is not None and self.voters.endpoints(saved.leader_id):
            self.become_follower(
                saved.epoch, saved.leader_id, self.voters.endpoints(saved.leader_id), vote=saved.voted_key
            )
        else:
            # A former candidate does not ask for votes in its old epoch again: who granted one then was shown a log
            # whose end may be lost, and would grant it again without looking.
            self._change_to(
                Unattached(
                    epoch=saved.epoch,
                    known_leader_id=saved.leader_id,
                    vote=saved.voted_key,
                    election_deadline_ms=self.random_election_deadline_ms(),
                )
            )
        if self.must_flush_before_fetching:
            self.flush()
        if self.is_only_voter:
            self.become_prospective()

    def become_unattached(self, epoch: int, leader_id: int | None = None) -> None:
        role = self.role
        deadline_ms = self.random_election_deadline_ms()
        if isinstance(role, Candidate | Unattached | Resigned) or (
            isinstance(role, Prospective) and not role.ballot.is_lost
        ):
            deadline_ms = role.election_deadline_ms
        vote = role.voted_key if epoch == role.epoch else None
        is_news = (epoch, leader_id) != (role.epoch, role.leader_id)
        self._change_to(Unattached(epoch=epoch, known_leader_id=leader_id, vote=vote, election_deadline_ms=deadline_ms))
        if is_news:
            self.effects.append(effects.LeaderChanged(epoch, leader_id))
        self.connections.reset()

    def grant_vote(self, candidate: ReplicaKey) -> None:
        """Vote in this epoch. The candidate has at least as good a chance as we, so our own turn is put off."""
        role = self.role
        assert isinstance(role, Unattached | Prospective)
        assert role.vote is None, "one vote an epoch"
        role.vote = candidate
        role.election_deadline_ms = self.random_election_deadline_ms()
        self._persist()

    def become_prospective(self) -> None:
        assert self.may_stand, "only a voter stands for election"
        assert not isinstance(self.role, Leader | Prospective)
        self._change_to(
            Prospective(
                epoch=self.epoch,
                known_leader_id=self.role.leader_id,
                known_leader_endpoints=self.role.leader_endpoints,
                vote=self.role.voted_key,
                election_deadline_ms=self.random_election_deadline_ms(),
                ballot=self._own_ballot(),
            )
        )
        self.connections.reset()
        self.count_votes()

    def become_candidate(self) -> None:
        assert self.may_stand, "only a voter stands for election"
        assert isinstance(self.role, Prospective)
        self._change_to(
            Candidate(
                epoch=self.epoch + 1,
                local_key=self.local.key,
                election_deadline_ms=self.random_election_deadline_ms(),
                ballot=self._own_ballot(),
            )
        )
        self.effects.append(effects.LeaderChanged(self.epoch, None))
        self.connections.reset()
        self.count_votes()

    def _own_ballot(self) -> Ballot:
        ballot = Ballot(self.voters)
        if self.is_voter:
            ballot.grant(self.local.id)
        return ballot

    def count_votes(self) -> None:
        """Step forward where a majority is for us."""
        if isinstance(self.role, Prospective) and self.role.ballot.is_won and not self.is_abstaining:
            self.become_candidate()
        elif isinstance(self.role, Candidate) and self.role.ballot.is_won:
            self.become_leader(self.role.ballot.granting_ids)

    def become_leader(self, granting_ids: list[int]) -> None:
        assert isinstance(self.role, Candidate)
        leader = Leader(
            epoch=self.epoch,
            local=self.local,
            start_offset=self.log_end.offset,
            fetch_timeout_ms=self.settings.fetch_timeout_ms,
            check_quorum_deadline_ms=self.now_ms + int(self.settings.fetch_timeout_ms * CHECK_QUORUM_FACTOR),
            begin_quorum_deadline_ms=self.now_ms,
            granting_ids=granting_ids,
            voters={voter.id: Progress(voter.key, voter.endpoints) for voter in self.voters},
            lingering_end_offset=self.log_end.offset,
        )
        if not self.history.is_dynamic:
            leader.reported_voters = self.voters.with_update(self.local, ignoring_directory=True)
        self._change_to(leader)
        self.effects.append(effects.BecameLeader(self.epoch, leader.start_offset))
        self.connections.reset()

    def become_follower(self, epoch: int, leader_id: int, endpoints: Endpoints, vote: ReplicaKey | None = None) -> None:
        assert leader_id != self.local.id, "nobody follows itself"
        is_news = (epoch, leader_id) != (self.epoch, self.role.leader_id)
        self._change_to(
            Follower(
                epoch=epoch,
                leader=leader_id,
                endpoints=endpoints,
                vote=vote if vote is not None or epoch != self.epoch else self.role.voted_key,
                fetch_deadline_ms=self.random_fetch_deadline_ms(),
                update_voter_deadline_ms=self.now_ms + self.settings.fetch_timeout_ms,
            )
        )
        if is_news:
            self.effects.append(effects.LeaderChanged(epoch, leader_id))
        self.connections.reset()

    def resign(self) -> None:
        assert isinstance(self.role, Leader)
        self._change_to(self._resigned(self.epoch, self.role.successors()))
        self.connections.reset()

    def remember_lead(self, epoch: int) -> None:
        """Others know this replica as the leader of an epoch that it knows nothing of: its quorum-state was lost.

        As after any restart of a leader, nobody else is voted for in that epoch, and another one ends it.
        """
        self._change_to(self._resigned(epoch, []))
        self.connections.reset()

    def _resigned(self, epoch: int, successors: list[ReplicaKey]) -> Resigned:
        return Resigned(
            epoch=epoch,
            local_id=self.local.id,
            local_endpoints=self.local.endpoints,
            election_deadline_ms=self.random_election_deadline_ms(),
            unacknowledged=set(self.voters.ids - {self.local.id}),
            preferred_successors=successors,
        )

    def _change_to(self, role: Role) -> None:
        assert role.epoch >= self.epoch, "an epoch never falls"
        former, self.role = self.role, role
        if not isinstance(role, Prospective):
            # Standing changes nothing that a restart must know.
            self._persist()
        if isinstance(former, Leader):
            self._leave_lead(former)
        elif isinstance(former, Follower) and former.download is not None:
            self.effects.append(effects.DropSnapshotDownload(former.download.snapshot_id))

    def _leave_lead(self, leader: Leader) -> None:
        self.effects.append(effects.Resigned(leader.epoch))
        for fetch in leader.waiting:
            self.respond(fetch.token, self.refused_fetch(fetch, ErrorCode.NOT_LEADER_OR_FOLLOWER))
        self.end_voter_change(leader, ErrorCode.NOT_LEADER_OR_FOLLOWER)

    def refused_fetch(self, fetch: WaitingFetch, error: ErrorCode) -> Message:
        return fetch_response(self.hint(fetch.listener), fetch.version, error, log_start_offset=self.log.start_offset)

    def end_voter_change(self, leader: Leader, error: ErrorCode, message: str | None = None) -> None:
        change, leader.pending_change = leader.pending_change, None
        if change is not None:
            self.answer_voter_change(change, error, message)

    def answer_voter_change(self, change: PendingVoterChange, error: ErrorCode, message: str | None = None) -> None:
        """Answer whoever asked for the change, unless that was done already."""
        if change.token is not None:
            build = remove_voter_response if change.added is None else add_voter_response
            self.respond(change.token, build(error, message))
            change.token = None

    def end_abstention(self) -> None:
        """Count as a voter again, once no lost vote can matter any more."""
        if self.abstains_until_ms and not self.is_abstaining:
            self.abstains_until_ms = 0
            self._persist()

    def _persist(self) -> None:
        if self.is_abstaining:
            # Should the process stop again, it must not pass for one that knows its votes.
            return
        state = QuorumState(
            epoch=self.epoch,
            leader_id=self.role.leader_id,
            voted_key=self.role.voted_key,
            voter_ids=() if self.history.is_dynamic else tuple(sorted(self.voters.ids)),
            version=1 if self.history.is_dynamic else 0,
        )
        if state != self.persisted:
            self.persisted = state
            self.effects.append(effects.Persist(state))
