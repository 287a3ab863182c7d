"""What a message of any kind tells about epoch and leader, taken up the same way for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from barnabas.protocol.errors import ErrorCode
from barnabas.raft.quorum import Quorum
from barnabas.raft.replica import Endpoint, Endpoints
from barnabas.raft.roles import Unattached


class NodeEndpoint(Protocol):
    """The shape that the leader's endpoint has in every response that carries it."""

    node_id: int
    host: str
    port: int


def has_cluster_id(quorum: Quorum, cluster_id: str | None) -> bool:
    """Whether a request is meant for this cluster; one that names none is taken at its word."""
    return cluster_id is None or cluster_id == quorum.cluster_id


def leader_endpoints(quorum: Quorum, leader_id: int, told: Sequence[NodeEndpoint]) -> Endpoints:
    """Where the leader listens: as the answer says, or by the voter set where the answer is from before it could."""
    for node in told:
        if node.node_id == leader_id:
            return {quorum.listener: Endpoint(node.host, node.port)}
    return quorum.voters.endpoints(leader_id)


def learn(quorum: Quorum, error: int, leader_id: int, epoch: int, endpoints: Endpoints) -> bool | None:
    """Take up what an answer says about epoch and leader.

    None where the rest of the answer is still worth reading; otherwise whether the peer may be asked again at once.
    """
    leader = None if leader_id < 0 else leader_id
    if epoch < quorum.epoch or error == ErrorCode.UNKNOWN_LEADER_EPOCH:
        # One that is behind learns of the epoch from others; until then it can only say the same again.
        return False
    if epoch > quorum.epoch or error in (ErrorCode.FENCED_LEADER_EPOCH, ErrorCode.NOT_LEADER_OR_FOLLOWER):
        # One that cannot help and knows no more than we do is left alone for a while.
        former = quorum.role
        return follow(quorum, epoch, leader, endpoints) and quorum.role is not former
    if leader is not None and (quorum.role.leader_id is None or isinstance(quorum.role, Unattached)):
        # An observer may find the leader and get its records by one and the same Fetch.
        if not follow(quorum, epoch, leader, endpoints):
            return False
        return True if error else None
    refused = (ErrorCode.BROKER_NOT_AVAILABLE, ErrorCode.INVALID_REQUEST, ErrorCode.INVALID_VOTER_KEY)
    return False if error in refused else None


def follow(quorum: Quorum, epoch: int, leader_id: int | None, endpoints: Endpoints) -> bool:
    """Move to this epoch and leader if they are news; false where they cannot be or the leader cannot be reached."""
    if leader_id == quorum.local.id and quorum.has_forgotten_lead(epoch):
        quorum.remember_lead(epoch)
        return True
    if not quorum.is_consistent(epoch, leader_id):
        return False
    if leader_id == quorum.local.id:
        return True
    if epoch > quorum.epoch:
        if leader_id is None or quorum.listener not in endpoints:
            quorum.become_unattached(epoch, leader_id)
        else:
            quorum.become_follower(epoch, leader_id, endpoints)
    elif leader_id is not None and (
        quorum.role.leader_id is None or len(endpoints) > len(quorum.role.leader_endpoints)
    ):
        if quorum.listener not in endpoints:
            return False
        quorum.become_follower(epoch, leader_id, endpoints)
    return True
