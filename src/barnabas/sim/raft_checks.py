"""What must hold in every simulated quorum, whatever happens: checked as effects are carried out and after each step.

Election safety, leader completeness, log matching, one vote an epoch, durability before promises, epochs and high
watermarks that never fall, committed records that never change, snapshots that equal the log they replace.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

from barnabas.protocol.messages.fetch import FetchRequest
from barnabas.protocol.messages.vote import VoteRequest, VoteResponse
from barnabas.raft import effects
from barnabas.raft.effects import Effect
from barnabas.raft.leader import Leader
from barnabas.raft.log_view import OffsetAndEpoch
from barnabas.raft.majority import majority_size
from barnabas.raft.replica import ReplicaKey
from barnabas.raft.voters import VoterSet
from barnabas.sim.raft_storage import StoredBatch

if TYPE_CHECKING:
    from barnabas.sim.raft_process import Process
    from barnabas.sim.raft_world import RaftWorld


class Written(NamedTuple):
    """A batch as its leader wrote it, with the epoch of the one before it."""

    checksum: int
    epoch_before: int


class Checks:
    def __init__(self, world: RaftWorld) -> None:
        self.world = world
        self.leaders: dict[int, ReplicaKey] = {}
        self.votes: dict[tuple[ReplicaKey, int], ReplicaKey] = {}
        self.written: dict[OffsetAndEpoch, Written] = {}
        # The committed log: the batch at each base offset, its end, and the checksum of everything up to there.
        self.committed_batches: dict[int, StoredBatch] = {}
        self.checksums: dict[int, int] = {0: 0}
        self.committed_end = 0
        # How far the leader of each epoch has committed.
        self.committed_ends: dict[int, int] = {}
        self.epochs: dict[ReplicaKey, int] = {}
        self.high_watermarks: dict[tuple[int, int], int] = {}
        self.acknowledged: list[tuple[object, int, int]] = []
        # The voters and kraft.version that held at each committed offset.
        self.quorums: dict[int, tuple[VoterSet | None, int]] = {}

    def effect(self, process: Process, effect: Effect) -> None:
        """What an effect promises must already be true when it is carried out."""
        match effect:
            case effects.Persist(state):
                before = self.epochs.get(process.key, 0)
                assert state.epoch >= before, f"epoch of {process.node_id} falls from {before} to {state.epoch}"
                self.epochs[process.key] = state.epoch
            case effects.BecameLeader(epoch):
                former = self.leaders.setdefault(epoch, process.key)
                assert former == process.key, f"{former} and {process.key} both lead in epoch {epoch}"
                self._check_completeness(process, epoch)
            case effects.Send(_, _, VoteRequest() as request):
                self._check_vote(process, request, process.key)
            case effects.Send(_, _, FetchRequest() as request):
                self._check_fetch(process, request)
            case effects.Respond(token, VoteResponse() as response):
                request = token.request  # type: ignore[attr-defined]
                if response.topics and response.topics[0].partitions[0].vote_granted:
                    asked = request.topics[0].partitions[0]
                    self._check_vote(process, request, ReplicaKey(asked.replica_id, asked.replica_directory_id))

    def _check_vote(self, process: Process, request: VoteRequest, candidate: ReplicaKey) -> None:
        (asked,) = request.topics[0].partitions
        if asked.pre_vote:
            return
        saved = process.storage.quorum_state
        assert saved is not None, "a vote is on the disk before it is given"
        assert saved.epoch == asked.replica_epoch, "a vote is on the disk before it is given"
        assert saved.voted_key is not None, "a vote is on the disk before it is given"
        assert saved.voted_key.admits(candidate), "the vote on the disk is the one that is given"
        former = self.votes.setdefault((process.key, saved.epoch), candidate)
        assert former == candidate, f"{process.key} votes for {former} and {candidate} in epoch {saved.epoch}"

    def _check_fetch(self, process: Process, request: FetchRequest) -> None:
        (asked,) = request.topics[0].partitions
        assert process.node is not None
        if process.node.quorum.is_voter:
            durable = process.storage.durable_end
            assert asked.fetch_offset <= durable, f"fetches from {asked.fetch_offset}, but has only {durable} on disk"

    def _check_completeness(self, process: Process, epoch: int) -> None:
        """A leader has everything that was committed in earlier epochs. One elected late, when a later epoch has begun
        elsewhere, need not have what that one committed; it will commit nothing."""
        log = process.storage.log
        end = max((end for earlier, end in self.committed_ends.items() if earlier < epoch), default=0)
        assert log.end.offset >= end, f"leader {process.node_id} ends at {log.end.offset}, but {end} is committed"
        for batch in log.batches:
            if batch.base_offset < end:
                committed = self.committed_batches[batch.base_offset]
                assert committed == batch, f"leader lacks the committed batch at {batch.base_offset}"

    def appended(self, process: Process, batches: list[StoredBatch]) -> None:
        """Log matching: one offset and epoch, one batch, and always the same one before it."""
        log = process.storage.log
        before = log.end_if_truncated(batches[0].base_offset).epoch
        for batch in batches:
            here = Written(crc32(batch.data), before)
            there = self.written.setdefault(OffsetAndEpoch(batch.base_offset, batch.epoch), here)
            assert there == here, f"logs differ at offset {batch.base_offset} of epoch {batch.epoch}"
            before = batch.epoch

    def committed(self, process: Process, high_watermark: int) -> None:
        assert process.node is not None
        life = process.node_id, process.life
        before = self.high_watermarks.get(life, 0)
        assert high_watermark >= before, f"high watermark falls from {before} to {high_watermark}"
        self.high_watermarks[life] = high_watermark
        if isinstance(process.node.role, Leader):
            last_epoch = process.storage.log.end_if_truncated(high_watermark).epoch
            assert last_epoch == process.node.epoch, "a leader commits by a record of its own epoch"
            self._check_majority(process, process.node.role, high_watermark)
        log = process.storage.log
        for batch in log.batches[log.count_before(before) :]:
            if batch.next_offset > high_watermark:
                break
            known = self.committed_batches.setdefault(batch.base_offset, batch)
            assert known == batch, f"the committed batch at {batch.base_offset} changes at {process.node_id}"
            if batch.next_offset > self.committed_end:
                assert batch.base_offset == self.committed_end, "commits leave no gap"
                checksum = crc32(batch.data, self.checksums[batch.base_offset])
                self.checksums[batch.next_offset] = checksum
                self.committed_end = batch.next_offset
                self.committed_ends[process.node.epoch] = batch.next_offset
        assert high_watermark <= self.committed_end, "what is committed is whole batches"
        history = process.node.history
        quorum = history.voters_at(high_watermark - 1), history.kraft_version_at(high_watermark - 1)
        if high_watermark == self.committed_end and high_watermark not in self.quorums:
            self._note_change(high_watermark, quorum[0])
        known_quorum = self.quorums.setdefault(high_watermark, quorum)
        assert known_quorum == quorum, f"{process.node_id} sees other voters at offset {high_watermark}"
        self._check_state(process)
        if isinstance(process.node.role, Leader):
            self._acknowledge(process, high_watermark)

    def _note_change(self, high_watermark: int, voters: VoterSet | None) -> None:
        before = max((offset for offset in self.quorums if offset < high_watermark), default=None)
        if before is not None and self.quorums[before][0] != voters:
            self.world.counts["voters changed"] += 1

    def _check_majority(self, process: Process, leader: Leader, high_watermark: int) -> None:
        """Committed means durable on a majority of the voters that the leader counts."""
        holders = [
            voter_id
            for voter_id, progress in leader.voters.items()
            if self.world.processes[voter_id].storage.durable_end >= high_watermark
            and progress.key.admits(self.world.processes[voter_id].key)
        ]
        lost = [
            voter_id
            for voter_id, progress in leader.voters.items()
            if not progress.key.admits(self.world.processes[voter_id].key)
        ]
        # A disk may be lost after it had counted.
        needed = majority_size(len(leader.voters))
        assert len(holders) + len(lost) >= needed, (
            f"leader {process.node_id} commits {high_watermark} with only {holders} of {sorted(leader.voters)}"
        )

    def _acknowledge(self, process: Process, high_watermark: int) -> None:
        for accepted in list(process.accepted):
            if accepted.base_offset < high_watermark:
                process.accepted.remove(accepted)
                self.acknowledged.append((accepted.token, accepted.base_offset, accepted.epoch))
                batch = self.committed_batches[accepted.base_offset]
                assert batch.epoch == accepted.epoch
                assert str(accepted.token).encode() in batch.data, "what was accepted is what is committed"

    def loaded(self, process: Process, snapshot_id: OffsetAndEpoch) -> None:
        """A snapshot equals the log that it replaces."""
        assert snapshot_id.offset <= self.committed_end, "a snapshot holds what is committed"
        assert process.applied.offset == snapshot_id.offset
        self._check_state(process)

    def _check_state(self, process: Process) -> None:
        applied = process.applied
        assert applied.checksum == self.checksums[applied.offset], f"state machines differ at {applied.offset}"

    def stepped(self, process: Process) -> None:
        if process.node is not None:
            process.node.validate()
