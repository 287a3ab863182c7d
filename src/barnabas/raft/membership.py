"""Voters that come, go and move (KIP-853): AddRaftVoter, RemoveRaftVoter, UpdateRaftVoter, and raising kraft.version.

One change at a time, and each only after the set before it is committed in the leader's own epoch; by that any two
majorities that could act at once overlap.
"""

from __future__ import annotations

from barnabas import __version__
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.add_raft_voter import AddRaftVoterRequest, AddRaftVoterResponse
from barnabas.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from barnabas.protocol.messages.remove_raft_voter import RemoveRaftVoterRequest, RemoveRaftVoterResponse
from barnabas.protocol.messages.update_raft_voter import UpdateRaftVoterRequest, UpdateRaftVoterResponse
from barnabas.protocol.version_range import VersionRange
from barnabas.raft import control, effects
from barnabas.raft.appending import append_control
from barnabas.raft.events import KRaftVersionUpgradeRequested, RequestReceived, Token
from barnabas.raft.leader import Leader, PendingVoterChange
from barnabas.raft.leading import leader_error
from barnabas.raft.learning import has_cluster_id, learn
from barnabas.raft.quorum import Quorum
from barnabas.raft.replica import Endpoint, Peer, ReplicaKey, endpoints_of
from barnabas.raft.responses import add_voter_response, remove_voter_response, update_voter_response
from barnabas.raft.roles import Follower
from barnabas.raft.voters import Voter, VoterSet

KRAFT_VERSION_FEATURE = "kraft.version"
SOFTWARE_NAME = "barnabas"


class VoterChangeRefused(Exception):  # noqa: N818 (the refusal is the answer, not a failure)
    """Why a change cannot be made now or at all."""

    def __init__(self, error: ErrorCode, message: str | None = None) -> None:
        super().__init__(message or error.message)
        self.error = error
        self.message = message


def _leader_for_change(quorum: Quorum, cluster_id: str | None, epoch: int) -> Leader:
    if not has_cluster_id(quorum, cluster_id):
        raise VoterChangeRefused(
            ErrorCode.INCONSISTENT_CLUSTER_ID,
            f'The id "{cluster_id}" is not that of this cluster, "{quorum.cluster_id}"',
        )
    error = leader_error(quorum, epoch)
    if error is not None:
        raise VoterChangeRefused(error)
    assert isinstance(quorum.role, Leader)
    return quorum.role


def _require_no_change_pending(quorum: Quorum, leader: Leader) -> int:
    """The high watermark, by which the leader knows that no earlier leader's change is still under way."""
    expire_voter_change(quorum, leader)
    if leader.pending_change is not None:
        raise VoterChangeRefused(ErrorCode.REQUEST_TIMED_OUT, "Another change of the voters is still under way")
    if leader.high_watermark is None:
        raise VoterChangeRefused(
            ErrorCode.REQUEST_TIMED_OUT, "The leader has not committed a record of its own epoch yet"
        )
    return leader.high_watermark


def _committed_voters(quorum: Quorum, high_watermark: int) -> VoterSet:
    offset = quorum.history.voters_offset
    if offset is None or offset >= high_watermark:
        raise VoterChangeRefused(
            ErrorCode.REQUEST_TIMED_OUT,
            f"The voters as of offset {offset} are not committed yet; the high watermark is {high_watermark}",
        )
    return quorum.voters


def _dynamic_voters(quorum: Quorum, leader: Leader) -> VoterSet:
    high_watermark = _require_no_change_pending(quorum, leader)
    if not quorum.history.is_dynamic:
        raise VoterChangeRefused(
            ErrorCode.UNSUPPORTED_VERSION,
            f"Voters cannot be added or removed while {KRAFT_VERSION_FEATURE} is {quorum.history.kraft_version}",
        )
    return _committed_voters(quorum, high_watermark)


def _named_voter(voter_id: int, directory_id: object) -> ReplicaKey:
    key = ReplicaKey(voter_id, directory_id)  # type: ignore[arg-type]
    if voter_id < 0 or not key.has_directory:
        raise VoterChangeRefused(ErrorCode.INVALID_REQUEST, "The request names no voter by node id and directory id")
    return key


def receive_add_voter(quorum: Quorum, event: RequestReceived, request: AddRaftVoterRequest) -> None:
    try:
        _add_voter(quorum, event.token, request)
    except VoterChangeRefused as refusal:
        quorum.respond(event.token, add_voter_response(refusal.error, refusal.message))


def _add_voter(quorum: Quorum, token: Token, request: AddRaftVoterRequest) -> None:
    leader = _leader_for_change(quorum, request.cluster_id, quorum.epoch)
    key = _named_voter(request.voter_id, request.voter_directory_id)
    endpoints = endpoints_of(request.listeners)
    endpoint = endpoints.get(quorum.listener)
    if endpoint is None:
        raise VoterChangeRefused(
            ErrorCode.INVALID_REQUEST, f"The request names no endpoint for the listener {quorum.listener}"
        )
    voters = _dynamic_voters(quorum, leader)
    if key.id in voters.ids:
        raise VoterChangeRefused(ErrorCode.DUPLICATE_VOTER, f"Node {key.id} is a voter already")
    # The newcomer must say which levels of kraft.version it supports before it counts.
    question = ApiVersionsRequest(client_software_name=SOFTWARE_NAME, client_software_version=__version__)
    if not quorum.send(Peer(key.id, endpoint), question):
        raise VoterChangeRefused(ErrorCode.REQUEST_TIMED_OUT, f"The new voter {key} cannot be asked at present")
    leader.pending_change = PendingVoterChange(
        token,
        deadline_ms=quorum.now_ms + quorum.settings.request_timeout_ms,
        added=key,
        endpoints=endpoints,
        ack_when_committed=request.ack_when_committed,
    )


def heard_api_versions(quorum: Quorum, peer: Peer, response: ApiVersionsResponse) -> bool:
    """The newcomer has told what it supports: add it, if it has caught up."""
    leader = quorum.role
    if not isinstance(leader, Leader) or leader.pending_change is None:
        return True
    change = leader.pending_change
    if change.added is None or change.offset is not None or change.added.id != peer.id:
        return True
    if response.error_code:
        quorum.end_voter_change(
            leader, ErrorCode.REQUEST_TIMED_OUT, f"The new voter answered ApiVersions with error {response.error_code}"
        )
        return False
    supported = [feature for feature in response.supported_features if feature.name == KRAFT_VERSION_FEATURE]
    versions = VersionRange(supported[0].min_version, supported[0].max_version) if supported else VersionRange(0, 0)
    if quorum.history.kraft_version not in versions:
        quorum.end_voter_change(
            leader,
            ErrorCode.INVALID_REQUEST,
            f"The new voter {change.added} supports {KRAFT_VERSION_FEATURE} {versions.lowest} to {versions.highest}, "
            f"not {quorum.history.kraft_version}",
        )
        return True
    if not leader.is_caught_up(change.added, quorum.now_ms):
        # Until it has, it would only hold the high watermark back.
        quorum.end_voter_change(
            leader, ErrorCode.REQUEST_TIMED_OUT, f"The new voter {change.added} has not caught up with the log"
        )
        return True
    voters = quorum.voters.with_voter(Voter(change.added, change.endpoints, versions))
    assert voters is not None, "no other change was possible meanwhile"
    change.offset = append_control(quorum, leader, control.voters(voters))
    if not change.ack_when_committed:
        # The change itself stays pending: the next one must wait until it is committed.
        quorum.answer_voter_change(change, ErrorCode.NONE)
    return True


def receive_remove_voter(quorum: Quorum, event: RequestReceived, request: RemoveRaftVoterRequest) -> None:
    try:
        leader = _leader_for_change(quorum, request.cluster_id, quorum.epoch)
        key = _named_voter(request.voter_id, request.voter_directory_id)
        voters = _dynamic_voters(quorum, leader).without_voter(key)
        if voters is None:
            raise VoterChangeRefused(ErrorCode.VOTER_NOT_FOUND, f"{key} is not a voter, or the only one")
    except VoterChangeRefused as refusal:
        quorum.respond(event.token, remove_voter_response(refusal.error, refusal.message))
        return
    change = PendingVoterChange(event.token, deadline_ms=quorum.now_ms + quorum.settings.request_timeout_ms)
    leader.pending_change = change
    change.offset = append_control(quorum, leader, control.voters(voters))


def expire_voter_change(quorum: Quorum, leader: Leader) -> None:
    """Give up waiting. What was appended stays, and the next change waits for its commit all the same."""
    if leader.pending_change is not None and leader.pending_change.deadline_ms <= quorum.now_ms:
        quorum.end_voter_change(leader, ErrorCode.REQUEST_TIMED_OUT)


def receive_update_voter(quorum: Quorum, event: RequestReceived, request: UpdateRaftVoterRequest) -> None:
    try:
        leader = _leader_for_change(quorum, request.cluster_id, request.current_leader_epoch)
        _update_voter(quorum, leader, request)
        error = ErrorCode.NONE
    except VoterChangeRefused as refusal:
        error = refusal.error
    quorum.respond(event.token, update_voter_response(quorum.hint(event.listener), error))


def _update_voter(quorum: Quorum, leader: Leader, request: UpdateRaftVoterRequest) -> None:
    key = _named_voter(request.voter_id, request.voter_directory_id)
    endpoints = endpoints_of(request.listeners)
    feature = request.kraft_version_feature
    versions = VersionRange(feature.min_supported_version, feature.max_supported_version)
    if quorum.listener not in endpoints or not 0 <= versions.lowest <= versions.highest:
        raise VoterChangeRefused(ErrorCode.INVALID_REQUEST)
    high_watermark = _require_no_change_pending(quorum, leader)
    is_dynamic = quorum.history.is_dynamic
    voters = _committed_voters(quorum, high_watermark) if is_dynamic else leader.reported_voters
    if voters is None:
        # kraft.version is being raised, and what the log will say of this voter is written already.
        raise VoterChangeRefused(ErrorCode.REQUEST_TIMED_OUT)
    if quorum.history.kraft_version not in versions:
        raise VoterChangeRefused(ErrorCode.INVALID_REQUEST)
    updated = voters.with_update(Voter(key, endpoints, versions), ignoring_directory=not is_dynamic)
    if updated is None:
        raise VoterChangeRefused(ErrorCode.VOTER_NOT_FOUND)
    if is_dynamic:
        append_control(quorum, leader, control.voters(updated))
    else:
        leader.reported_voters = updated
    if key.id != quorum.local.id:
        leader.heard_from(key, quorum.now_ms)


def heard_add_voter(quorum: Quorum, response: AddRaftVoterResponse) -> bool:
    accepted = (ErrorCode.NONE, ErrorCode.REQUEST_TIMED_OUT, ErrorCode.DUPLICATE_VOTER)
    return _heard_own_change(quorum, response.error_code in accepted)


def heard_remove_voter(quorum: Quorum, response: RemoveRaftVoterResponse) -> bool:
    accepted = (ErrorCode.NONE, ErrorCode.REQUEST_TIMED_OUT, ErrorCode.VOTER_NOT_FOUND)
    return _heard_own_change(quorum, response.error_code in accepted)


def _heard_own_change(quorum: Quorum, is_accepted: bool) -> bool:
    if is_accepted and isinstance(quorum.role, Follower):
        quorum.role.update_voter_deadline_ms = quorum.now_ms + quorum.settings.fetch_timeout_ms
    return is_accepted


def update_unsupported(quorum: Quorum) -> None:
    """A leader from before kraft.version 1 wants to know nothing of its voters."""
    if isinstance(quorum.role, Follower):
        quorum.role.has_updated_leader = True


def heard_update_voter(quorum: Quorum, response: UpdateRaftVoterResponse) -> bool:
    leader = response.current_leader
    endpoints = {quorum.listener: Endpoint(leader.host, leader.port)} if leader.host else {}
    endpoints = endpoints or dict(quorum.voters.endpoints(leader.leader_id))
    done = learn(quorum, response.error_code, leader.leader_id, leader.leader_epoch, endpoints)
    if done is not None:
        return done
    if response.error_code not in (ErrorCode.NONE, ErrorCode.UNSUPPORTED_VERSION):
        return False
    if isinstance(quorum.role, Follower):
        quorum.role.has_updated_leader = True
        quorum.role.fetch_deadline_ms = quorum.random_fetch_deadline_ms()
        quorum.role.has_fetched = True
    return True


def receive_kraft_upgrade(quorum: Quorum, event: KRaftVersionUpgradeRequested) -> None:
    """Raise kraft.version from 0 to 1: from then on the voters, as they described themselves, are in the log."""
    try:
        _upgrade_kraft(quorum, event)
        quorum.effects.append(effects.Confirm(event.token))
    except VoterChangeRefused as refusal:
        quorum.effects.append(effects.Refuse(event.token, refusal.error, str(refusal)))


def _upgrade_kraft(quorum: Quorum, event: KRaftVersionUpgradeRequested) -> None:
    leader, level = quorum.role, event.kraft_version
    if not isinstance(leader, Leader) or leader.epoch != event.epoch:
        raise VoterChangeRefused(ErrorCode.NOT_LEADER_OR_FOLLOWER, f"This node does not lead in epoch {event.epoch}")
    current = leader.requested_kraft_version or quorum.history.kraft_version
    if current == level:
        return
    if level < current:
        raise VoterChangeRefused(
            ErrorCode.INVALID_UPDATE_VERSION, f"{KRAFT_VERSION_FEATURE} {current} cannot be lowered to {level}"
        )
    voters = leader.reported_voters
    if voters is None or not voters.supports(level):
        raise VoterChangeRefused(
            ErrorCode.INVALID_UPDATE_VERSION, f"Not every voter supports {KRAFT_VERSION_FEATURE} {level}"
        )
    if not all(key.has_directory for key in voters.keys):
        raise VoterChangeRefused(
            ErrorCode.INVALID_UPDATE_VERSION, "Not every voter has told its directory id to this leader yet"
        )
    if event.validate_only:
        return
    leader.requested_kraft_version = level
    leader.reported_voters = None
    append_control(quorum, leader, control.kraft_version(level), control.voters(voters))
