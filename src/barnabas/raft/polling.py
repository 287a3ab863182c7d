"""What a node does of its own accord, by role: the requests that are due and the waits that are over.

Runs at the end of every step, so that no event needs to know what should follow from it; then the time of the next
thing to do becomes the node's one timer.
"""

from __future__ import annotations

from barnabas.raft import effects
from barnabas.raft.appending import begin_epoch, drain
from barnabas.raft.elections import give_up_candidacy
from barnabas.raft.leader import Leader
from barnabas.raft.leading import answer_waiting
from barnabas.raft.membership import expire_voter_change
from barnabas.raft.quorum import Quorum
from barnabas.raft.replica import Peer
from barnabas.raft.requests import (
    add_voter_request,
    begin_quorum_epoch_request,
    end_quorum_epoch_request,
    fetch_request,
    fetch_snapshot_request,
    remove_voter_request,
    update_voter_request,
    vote_request,
)
from barnabas.raft.roles import NEVER_MS, Candidate, Follower, Prospective, Resigned, Role, Unattached


def poll(quorum: Quorum) -> None:
    """Do what is due until nothing is."""
    quorum.end_abstention()
    polled: Role | None = None
    while polled is not quorum.role:
        polled = quorum.role
        if quorum.is_shut_down or _shut_down(quorum):
            return
        match polled:
            case Leader():
                _poll_leader(quorum, polled)
            case Candidate():
                _poll_candidate(quorum, polled)
            case Prospective():
                _poll_prospective(quorum, polled)
            case Follower():
                _poll_follower(quorum, polled)
            case Unattached():
                _poll_unattached(quorum, polled)
            case Resigned():
                _poll_resigned(quorum, polled)


def next_deadline_ms(quorum: Quorum) -> int | None:
    """When there is something to do although nothing has happened."""
    times = [NEVER_MS if quorum.shutdown_deadline_ms is None else quorum.shutdown_deadline_ms]
    times.append(quorum.abstains_until_ms)
    match quorum.role:
        case Leader() as leader:
            times += [leader.quorum_lost_at_ms, leader.begin_quorum_deadline_ms, leader.linger_deadline_ms]
            times += [fetch.deadline_ms for fetch in leader.waiting]
            if leader.pending_change is not None:
                times.append(leader.pending_change.deadline_ms)
        case Follower() as follower:
            times.append(follower.fetch_deadline_ms)
            if quorum.is_voter or quorum.settings.auto_join_enable:
                times.append(follower.update_voter_deadline_ms)
        case Unattached() as unattached:
            if quorum.may_stand:
                times.append(unattached.election_deadline_ms)
        case Candidate() | Prospective() | Resigned() as waiting:
            times.append(waiting.election_deadline_ms)
    times.append(quorum.connections.next_change_ms(quorum.now_ms) or NEVER_MS)
    due_ms = min(time for time in times if time > quorum.now_ms)
    return None if due_ms == NEVER_MS else due_ms


def _shut_down(quorum: Quorum) -> bool:
    """Whether the process, asked to stop, may: nobody needs this node, another leads, or time is up."""
    if quorum.shutdown_deadline_ms is None:
        return False
    leader_id = quorum.role.leader_id
    has_other_leader = leader_id is not None and leader_id != quorum.local.id
    is_graceful = not quorum.is_voter or quorum.is_only_voter or has_other_leader
    quorum.is_shut_down = is_graceful or quorum.now_ms >= quorum.shutdown_deadline_ms
    if quorum.is_shut_down:
        quorum.effects.append(effects.CompleteShutdown(is_graceful))
    return quorum.is_shut_down


def _poll_leader(quorum: Quorum, leader: Leader) -> None:
    if leader.is_resigning or quorum.shutdown_deadline_ms is not None or leader.has_lost_quorum(quorum.now_ms):
        quorum.resign()
        return
    if not leader.has_begun:
        begin_epoch(quorum, leader)
    expire_voter_change(quorum, leader)
    if leader.linger_deadline_ms <= quorum.now_ms:
        drain(quorum, leader)
    answer_waiting(quorum, leader, only_expired=True)
    if leader.begin_quorum_deadline_ms <= quorum.now_ms:
        for voter in leader.silent_voters(quorum.now_ms):
            peer = quorum.voters.peer(voter.id, quorum.listener)
            if peer is not None:
                quorum.send(peer, begin_quorum_epoch_request(quorum.cluster_id, leader.epoch, leader.local, voter))
        leader.begin_quorum_deadline_ms = quorum.now_ms + max(1, leader.begin_quorum_period_ms)


def _poll_candidate(quorum: Quorum, role: Candidate) -> None:
    if quorum.now_ms >= role.election_deadline_ms and quorum.shutdown_deadline_ms is None:
        quorum.become_prospective()
    elif not role.ballot.is_lost:
        _ask_for_votes(quorum, role, is_pre_vote=False)


def _poll_prospective(quorum: Quorum, role: Prospective) -> None:
    if quorum.now_ms >= role.election_deadline_ms and quorum.shutdown_deadline_ms is None:
        give_up_candidacy(quorum, role)
    elif not role.ballot.is_lost:
        _ask_for_votes(quorum, role, is_pre_vote=True)


def _ask_for_votes(quorum: Quorum, role: Candidate | Prospective, *, is_pre_vote: bool) -> None:
    for voter in role.ballot.unheard:
        peer = quorum.voters.peer(voter.id, quorum.listener)
        if peer is not None:
            request = vote_request(
                quorum.cluster_id, role.epoch, quorum.local.key, voter, quorum.log_end, is_pre_vote=is_pre_vote
            )
            quorum.send(peer, request)


def _poll_resigned(quorum: Quorum, role: Resigned) -> None:
    if quorum.now_ms >= role.election_deadline_ms and quorum.shutdown_deadline_ms is None:
        # Only a new epoch lets others follow somebody else, and this node follow at all.
        quorum.become_unattached(role.epoch + 1)
        return
    request = end_quorum_epoch_request(
        quorum.cluster_id, role.epoch, role.local_id, role.local_endpoints, role.preferred_successors
    )
    for voter_id in sorted(role.unacknowledged):
        peer = quorum.voters.peer(voter_id, quorum.listener)
        if peer is not None:
            quorum.send(peer, request)


def _poll_unattached(quorum: Quorum, role: Unattached) -> None:
    if quorum.may_stand and quorum.now_ms >= role.election_deadline_ms and quorum.shutdown_deadline_ms is None:
        quorum.become_prospective()
    else:
        _fetch_from_bootstrap(quorum)


def _poll_follower(quorum: Quorum, role: Follower) -> None:
    if quorum.now_ms >= role.fetch_deadline_ms:
        if quorum.may_stand and quorum.shutdown_deadline_ms is None:
            quorum.become_prospective()
            return
        # A replica may be a voter without knowing it yet, and must not hold up others' election for a silent leader.
        role.has_fetched = False
    # A leader that does not answer is not told again before others were asked who leads.
    is_silent = quorum.connections.has_timed_out(role.leader, quorum.now_ms)
    if quorum.now_ms >= role.update_voter_deadline_ms and not is_silent and _tell_of_itself(quorum, role):
        return
    _fetch(quorum, role)


def _leader_peer(quorum: Quorum, role: Follower) -> Peer:
    return Peer(role.leader, role.endpoints[quorum.listener])


def _tell_of_itself(quorum: Quorum, role: Follower) -> bool:
    """Ask the leader to update, add or replace this node among the voters, where that is due; true once it is sent."""
    request: object = None
    local, voters = quorum.local, quorum.voters
    if quorum.is_voter:
        # A static quorum writes nothing down, but raising kraft.version needs to know every voter's directory.
        if voters.needs_update(local) if quorum.history.is_dynamic else not role.has_updated_leader:
            request = update_voter_request(quorum.cluster_id, role.epoch, local)
    elif quorum.history.is_dynamic and quorum.can_become_voter and quorum.settings.auto_join_enable:
        if local.id in voters.ids:
            # An earlier self, whose disk is gone, still counts; it has to go before this one can join.
            request = remove_voter_request(quorum.cluster_id, voters.by_id[local.id].key)
        else:
            timeout_ms = quorum.settings.request_timeout_ms
            request = add_voter_request(quorum.cluster_id, local, timeout_ms=timeout_ms)
    is_sent = request is not None and quorum.send(_leader_peer(quorum, role), request)  # type: ignore[arg-type]
    if is_sent or request is None:
        role.update_voter_deadline_ms = quorum.now_ms + max(1, quorum.settings.fetch_timeout_ms)
    return is_sent


def _fetch(quorum: Quorum, role: Follower) -> None:
    """Fetch from the leader, or where it does not answer from anybody who may know another."""
    leader = _leader_peer(quorum, role)
    if quorum.connections.has_timed_out(leader.id, quorum.now_ms):
        quorum.connections.forget(leader.id)
        _fetch_from_bootstrap(quorum)
    elif quorum.connections.is_backing_off(leader.id, quorum.now_ms):
        _fetch_from_bootstrap(quorum)
    elif not quorum.connections.has_inflight(quorum.now_ms) and _may_fetch(quorum):
        download = role.download
        if download is None:
            _send_fetch(quorum, leader)
        else:
            request = fetch_snapshot_request(
                quorum.cluster_id,
                role.epoch,
                quorum.local.key,
                download.snapshot_id,
                download.position,
                max_bytes=quorum.settings.fetch_snapshot_max_bytes,
            )
            quorum.send(leader, request)


def _fetch_from_bootstrap(quorum: Quorum) -> None:
    peer = quorum.connections.ready_bootstrap(quorum.now_ms)
    if peer is not None and _may_fetch(quorum):
        _send_fetch(quorum, peer)


def _may_fetch(quorum: Quorum) -> bool:
    """Not before the log is durable, if what is fetched counts as held by a voter."""
    return quorum.flushed_offset >= quorum.log_end.offset or not quorum.must_flush_before_fetching


def _send_fetch(quorum: Quorum, peer: Peer) -> None:
    request = fetch_request(
        quorum.cluster_id,
        quorum.epoch,
        quorum.local.key,
        quorum.log_end,
        -1 if quorum.high_watermark is None else quorum.high_watermark,
        max_bytes=quorum.settings.fetch_max_bytes,
        max_wait_ms=quorum.settings.max_fetch_wait_ms,
    )
    quorum.send(peer, request)
