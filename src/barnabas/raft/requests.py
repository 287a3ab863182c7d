"""The requests that a quorum node sends, as Kafka's messages."""

from __future__ import annotations

from barnabas.protocol.messages.add_raft_voter import AddRaftVoterRequest
from barnabas.protocol.messages.add_raft_voter import Listener as AddListener
from barnabas.protocol.messages.begin_quorum_epoch import BeginQuorumEpochRequest
from barnabas.protocol.messages.begin_quorum_epoch import LeaderEndpoint as BeginEndpoint
from barnabas.protocol.messages.begin_quorum_epoch import RequestPartitionData as BeginPartition
from barnabas.protocol.messages.begin_quorum_epoch import RequestTopicData as BeginTopic
from barnabas.protocol.messages.end_quorum_epoch import EndQuorumEpochRequest, ReplicaInfo
from barnabas.protocol.messages.end_quorum_epoch import LeaderEndpoint as EndEndpoint
from barnabas.protocol.messages.end_quorum_epoch import RequestPartitionData as EndPartition
from barnabas.protocol.messages.end_quorum_epoch import RequestTopicData as EndTopic
from barnabas.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic, ReplicaState
from barnabas.protocol.messages.fetch_snapshot import (
    FetchSnapshotRequest,
    RequestPartitionSnapshot,
    RequestSnapshotId,
    RequestTopicSnapshot,
)
from barnabas.protocol.messages.remove_raft_voter import RemoveRaftVoterRequest
from barnabas.protocol.messages.update_raft_voter import KRaftVersionFeature, UpdateRaftVoterRequest
from barnabas.protocol.messages.update_raft_voter import Listener as UpdateListener
from barnabas.protocol.messages.vote import RequestPartitionData as VotePartition
from barnabas.protocol.messages.vote import RequestTopicData as VoteTopic
from barnabas.protocol.messages.vote import VoteRequest
from barnabas.raft.log_view import METADATA_PARTITION, METADATA_TOPIC, METADATA_TOPIC_ID, OffsetAndEpoch
from barnabas.raft.replica import Endpoints, ReplicaKey
from barnabas.raft.voters import Voter


def vote_request(
    cluster_id: str, epoch: int, candidate: ReplicaKey, voter: ReplicaKey, log_end: OffsetAndEpoch, *, is_pre_vote: bool
) -> VoteRequest:
    partition = VotePartition(
        partition_index=METADATA_PARTITION,
        replica_epoch=epoch,
        replica_id=candidate.id,
        replica_directory_id=candidate.directory_id,
        voter_directory_id=voter.directory_id,
        last_offset_epoch=log_end.epoch,
        last_offset=log_end.offset,
        pre_vote=is_pre_vote,
    )
    topics = [VoteTopic(topic_name=METADATA_TOPIC, partitions=[partition])]
    return VoteRequest(cluster_id=cluster_id, voter_id=voter.id, topics=topics)


def begin_quorum_epoch_request(
    cluster_id: str, epoch: int, leader: Voter, voter: ReplicaKey
) -> BeginQuorumEpochRequest:
    partition = BeginPartition(
        partition_index=METADATA_PARTITION,
        voter_directory_id=voter.directory_id,
        leader_id=leader.id,
        leader_epoch=epoch,
    )
    return BeginQuorumEpochRequest(
        cluster_id=cluster_id,
        voter_id=voter.id,
        topics=[BeginTopic(topic_name=METADATA_TOPIC, partitions=[partition])],
        leader_endpoints=[
            BeginEndpoint(name=name, host=at.host, port=at.port) for name, at in leader.endpoints.items()
        ],
    )


def end_quorum_epoch_request(
    cluster_id: str, epoch: int, leader_id: int, leader_endpoints: Endpoints, successors: list[ReplicaKey]
) -> EndQuorumEpochRequest:
    partition = EndPartition(
        partition_index=METADATA_PARTITION,
        leader_id=leader_id,
        leader_epoch=epoch,
        preferred_successors=[key.id for key in successors],
        preferred_candidates=[
            ReplicaInfo(candidate_id=key.id, candidate_directory_id=key.directory_id) for key in successors
        ],
    )
    return EndQuorumEpochRequest(
        cluster_id=cluster_id,
        topics=[EndTopic(topic_name=METADATA_TOPIC, partitions=[partition])],
        leader_endpoints=[EndEndpoint(name=name, host=at.host, port=at.port) for name, at in leader_endpoints.items()],
    )


def fetch_request(
    cluster_id: str,
    epoch: int,
    replica: ReplicaKey,
    log_end: OffsetAndEpoch,
    high_watermark: int,
    *,
    max_bytes: int,
    max_wait_ms: int,
) -> FetchRequest:
    partition = FetchPartition(
        partition=METADATA_PARTITION,
        current_leader_epoch=epoch,
        fetch_offset=log_end.offset,
        last_fetched_epoch=log_end.epoch,
        partition_max_bytes=0,
        replica_directory_id=replica.directory_id,
        high_watermark=high_watermark,
    )
    return FetchRequest(
        cluster_id=cluster_id,
        replica_state=ReplicaState(replica_id=replica.id),
        max_wait_ms=max_wait_ms,
        min_bytes=0,
        max_bytes=max_bytes,
        topics=[FetchTopic(topic=METADATA_TOPIC, topic_id=METADATA_TOPIC_ID, partitions=[partition])],
    )


def fetch_snapshot_request(
    cluster_id: str, epoch: int, replica: ReplicaKey, snapshot_id: OffsetAndEpoch, position: int, *, max_bytes: int
) -> FetchSnapshotRequest:
    partition = RequestPartitionSnapshot(
        partition=METADATA_PARTITION,
        current_leader_epoch=epoch,
        snapshot_id=RequestSnapshotId(end_offset=snapshot_id.offset, epoch=snapshot_id.epoch),
        position=position,
        replica_directory_id=replica.directory_id,
    )
    return FetchSnapshotRequest(
        cluster_id=cluster_id,
        replica_id=replica.id,
        max_bytes=max_bytes,
        topics=[RequestTopicSnapshot(name=METADATA_TOPIC, partitions=[partition])],
    )


def add_voter_request(cluster_id: str, voter: Voter, *, timeout_ms: int) -> AddRaftVoterRequest:
    """Ask to become a voter; the joiner learns of its commit by fetching, so the answer need not wait for it."""
    return AddRaftVoterRequest(
        cluster_id=cluster_id,
        timeout_ms=timeout_ms,
        voter_id=voter.id,
        voter_directory_id=voter.key.directory_id,
        listeners=[AddListener(name=name, host=at.host, port=at.port) for name, at in voter.endpoints.items()],
        ack_when_committed=False,
    )


def remove_voter_request(cluster_id: str, voter: ReplicaKey) -> RemoveRaftVoterRequest:
    return RemoveRaftVoterRequest(cluster_id=cluster_id, voter_id=voter.id, voter_directory_id=voter.directory_id)


def update_voter_request(cluster_id: str, epoch: int, voter: Voter) -> UpdateRaftVoterRequest:
    return UpdateRaftVoterRequest(
        cluster_id=cluster_id,
        current_leader_epoch=epoch,
        voter_id=voter.id,
        voter_directory_id=voter.key.directory_id,
        listeners=[UpdateListener(name=name, host=at.host, port=at.port) for name, at in voter.endpoints.items()],
        kraft_version_feature=KRaftVersionFeature(
            min_supported_version=voter.kraft_versions.lowest, max_supported_version=voter.kraft_versions.highest
        ),
    )
