"""Electing a leader and making it known: Vote, BeginQuorumEpoch and EndQuorumEpoch, both sides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.begin_quorum_epoch import BeginQuorumEpochRequest, BeginQuorumEpochResponse
from barnabas.protocol.messages.end_quorum_epoch import EndQuorumEpochRequest, EndQuorumEpochResponse
from barnabas.protocol.messages.end_quorum_epoch import RequestPartitionData as EndPartition
from barnabas.protocol.messages.vote import VoteRequest, VoteResponse
from barnabas.protocol.schema import Message
from barnabas.protocol.uuid import Uuid
from barnabas.raft.leader import Leader
from barnabas.raft.learning import NodeEndpoint, follow, has_cluster_id, leader_endpoints, learn
from barnabas.raft.log_view import OffsetAndEpoch
from barnabas.raft.quorum import Quorum
from barnabas.raft.quorum_state import EPOCH_END
from barnabas.raft.replica import Peer, ReplicaKey, endpoints_of
from barnabas.raft.responses import begin_quorum_epoch_response, end_quorum_epoch_response, vote_response
from barnabas.raft.roles import Candidate, Follower, Prospective, Resigned
from barnabas.raft.shape import NamedTopic, sole_partition


def _is_for_us(quorum: Quorum, voter_id: int, directory_id: Uuid) -> bool:
    """Whether the sender means this very replica, disk included, or did not say."""
    return voter_id < 0 or ReplicaKey(voter_id, directory_id).admits(quorum.local.key)


def _voter_error(quorum: Quorum, sender_id: int, epoch: int) -> ErrorCode | None:
    if epoch < quorum.epoch:
        return ErrorCode.FENCED_LEADER_EPOCH
    is_impossible = sender_id < 0 or sender_id == quorum.local.id or epoch >= EPOCH_END
    return ErrorCode.INVALID_REQUEST if is_impossible else None


def answer_vote(quorum: Quorum, request: VoteRequest, version: int, listener: str) -> Message:
    if not has_cluster_id(quorum, request.cluster_id):
        return VoteResponse(error_code=ErrorCode.INCONSISTENT_CLUSTER_ID, topics=[])
    asked = sole_partition(request.topics)
    if asked is None:
        return VoteResponse(error_code=ErrorCode.INVALID_REQUEST, topics=[])

    def refused(error: ErrorCode) -> Message:
        return vote_response(quorum.hint(listener), version, error)

    # A log ends in an earlier epoch than the one stood for; a pre-vote is asked in the epoch that still runs.
    is_illegal = asked.last_offset_epoch > asked.replica_epoch - (0 if asked.pre_vote else 1)
    if asked.last_offset < 0 or asked.last_offset_epoch < 0 or is_illegal:
        return refused(ErrorCode.INVALID_REQUEST)
    error = _voter_error(quorum, asked.replica_id, asked.replica_epoch)
    if error is not None:
        return refused(error)
    if asked.replica_epoch > quorum.epoch:
        quorum.become_unattached(asked.replica_epoch)
    if not _is_for_us(quorum, request.voter_id, asked.voter_directory_id):
        return refused(ErrorCode.INVALID_VOTER_KEY)
    candidate = ReplicaKey(asked.replica_id, asked.replica_directory_id)
    is_granted = (asked.pre_vote or not quorum.is_abstaining) and quorum.role.can_grant_vote(
        candidate,
        is_log_up_to_date=OffsetAndEpoch(asked.last_offset, asked.last_offset_epoch).is_at_least(quorum.log_end),
        is_pre_vote=asked.pre_vote,
    )
    if is_granted and not asked.pre_vote and quorum.role.voted_key is None:
        quorum.grant_vote(candidate)
    return vote_response(quorum.hint(listener), version, ErrorCode.NONE, is_granted=is_granted)


class _Answer(Protocol):
    """The shape of what voters say of their epoch and leader, whatever they were asked."""

    partition_index: int
    error_code: int
    leader_id: int
    leader_epoch: int


A = TypeVar("A", bound=_Answer)


class _Response(Protocol[A]):
    error_code: int

    @property
    def topics(self) -> Sequence[NamedTopic[A]]: ...

    @property
    def node_endpoints(self) -> Sequence[NodeEndpoint]: ...


def _hear(quorum: Quorum, response: _Response[A]) -> A | bool:
    """What a voter says about the partition, or, where the rest is not worth reading, whether it may be asked again."""
    if response.error_code:
        return False
    answer = sole_partition(response.topics)
    if answer is None:
        return False
    endpoints = leader_endpoints(quorum, answer.leader_id, response.node_endpoints)
    done = learn(quorum, answer.error_code, answer.leader_id, answer.leader_epoch, endpoints)
    return answer if done is None else done


def heard_vote(quorum: Quorum, peer: Peer, response: VoteResponse) -> bool:
    """Take up an answer to a Vote request; false where the peer should rest before it is asked again."""
    answer = _hear(quorum, response)
    if isinstance(answer, bool):
        return answer
    if answer.error_code:
        return False
    role = quorum.role
    if isinstance(role, Prospective | Candidate):
        if answer.vote_granted:
            role.ballot.grant(peer.id)
            quorum.count_votes()
        else:
            role.ballot.reject(peer.id)
            if isinstance(role, Prospective) and role.ballot.is_lost:
                give_up_candidacy(quorum, role)
    return True


def vote_unsupported(quorum: Quorum) -> None:
    """A voter from before pre-votes cannot be asked for one, so the election is held without (KIP-996)."""
    if isinstance(quorum.role, Prospective) and not quorum.is_abstaining:
        quorum.become_candidate()


def give_up_candidacy(quorum: Quorum, role: Prospective) -> None:
    """Too few would vote for us: go back to the leader that is known, or look for one."""
    if role.known_leader_id is not None and role.known_leader_endpoints and role.known_leader_id != quorum.local.id:
        quorum.become_follower(role.epoch, role.known_leader_id, role.known_leader_endpoints)
    else:
        quorum.become_unattached(role.epoch, role.known_leader_id)


def answer_begin_quorum_epoch(quorum: Quorum, request: BeginQuorumEpochRequest, version: int, listener: str) -> Message:
    if not has_cluster_id(quorum, request.cluster_id):
        return BeginQuorumEpochResponse(error_code=ErrorCode.INCONSISTENT_CLUSTER_ID, topics=[])
    told = sole_partition(request.topics)
    if told is None:
        return BeginQuorumEpochResponse(error_code=ErrorCode.INVALID_REQUEST, topics=[])
    error = _voter_error(quorum, told.leader_id, told.leader_epoch)
    if error is None:
        endpoints = endpoints_of(request.leader_endpoints) or quorum.voters.endpoints(told.leader_id)
        if not follow(quorum, told.leader_epoch, told.leader_id, endpoints):
            error = ErrorCode.INVALID_REQUEST
        elif not _is_for_us(quorum, request.voter_id, told.voter_directory_id):
            error = ErrorCode.INVALID_VOTER_KEY
    return begin_quorum_epoch_response(quorum.hint(listener), version, error or ErrorCode.NONE)


def heard_begin_quorum_epoch(quorum: Quorum, peer: Peer, response: BeginQuorumEpochResponse) -> bool:
    answer = _hear(quorum, response)
    if isinstance(answer, bool):
        return answer
    if isinstance(quorum.role, Leader) and peer.id in quorum.role.voters and not answer.error_code:
        quorum.role.voters[peer.id].has_acknowledged = True
    return not answer.error_code


def answer_end_quorum_epoch(quorum: Quorum, request: EndQuorumEpochRequest, version: int, listener: str) -> Message:
    if not has_cluster_id(quorum, request.cluster_id):
        return EndQuorumEpochResponse(error_code=ErrorCode.INCONSISTENT_CLUSTER_ID, topics=[])
    told = sole_partition(request.topics)
    if told is None:
        return EndQuorumEpochResponse(error_code=ErrorCode.INVALID_REQUEST, topics=[])
    error = _voter_error(quorum, told.leader_id, told.leader_epoch)
    if error is None:
        endpoints = endpoints_of(request.leader_endpoints) or quorum.voters.endpoints(told.leader_id)
        if not follow(quorum, told.leader_epoch, told.leader_id, endpoints):
            error = ErrorCode.INVALID_REQUEST
    role = quorum.role
    if error is None and isinstance(role, Follower) and role.leader == told.leader_id:
        role.fetch_deadline_ms = quorum.now_ms + succession_delay_ms(quorum, _candidates(told))
    return end_quorum_epoch_response(quorum.hint(listener), version, error or ErrorCode.NONE)


def _candidates(told: EndPartition) -> list[ReplicaKey]:
    if told.preferred_candidates:
        return [ReplicaKey(info.candidate_id, info.candidate_directory_id) for info in told.preferred_candidates]
    return [ReplicaKey(node_id) for node_id in told.preferred_successors]


def succession_delay_ms(quorum: Quorum, candidates: list[ReplicaKey]) -> int:
    """How long to leave the first try to others: nothing for the preferred one, twice as long for each one later."""
    longest_ms = quorum.settings.election_backoff_max_ms
    places = [place for place, key in enumerate(candidates) if key.admits(quorum.local.key)]
    if not places:
        return longest_ms
    if places[0] == 0:
        return 0
    shortest_ms = longest_ms >> (len(candidates) - 1)
    return min(longest_ms, shortest_ms << (places[0] - 1))


def heard_end_quorum_epoch(quorum: Quorum, peer: Peer, response: EndQuorumEpochResponse) -> bool:
    answer = _hear(quorum, response)
    if isinstance(answer, bool):
        return answer
    if isinstance(quorum.role, Resigned) and not answer.error_code:
        quorum.role.unacknowledged.discard(peer.id)
    return not answer.error_code
