"""The responses that a quorum node gives, as Kafka's messages, each with what the node knows of the leader.

By the leader's id, epoch and endpoint in every answer, refusals too, whoever asked the wrong node finds the right one.
"""

from __future__ import annotations

from typing import NamedTuple

from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages import (
    add_raft_voter,
    begin_quorum_epoch,
    describe_quorum,
    end_quorum_epoch,
    fetch,
    fetch_snapshot,
    remove_raft_voter,
    update_raft_voter,
    vote,
)
from barnabas.raft.leader import Leader, Progress
from barnabas.raft.log_view import (
    METADATA_PARTITION,
    METADATA_TOPIC,
    METADATA_TOPIC_ID,
    Continues,
    Diverges,
    NeedsSnapshot,
    OffsetAndEpoch,
    Region,
)
from barnabas.raft.replica import NO_LEADER_ID, Endpoint

FETCH_ENDPOINTS_SINCE = 17


class LeaderHint(NamedTuple):
    """Who leads, as far as the answering node knows, and where the asker can reach it."""

    epoch: int
    leader_id: int = NO_LEADER_ID
    endpoint: Endpoint | None = None


def vote_response(hint: LeaderHint, version: int, error: ErrorCode, *, is_granted: bool = False) -> vote.VoteResponse:
    partition = vote.ResponsePartitionData(
        partition_index=METADATA_PARTITION,
        error_code=error,
        leader_id=hint.leader_id,
        leader_epoch=hint.epoch,
        vote_granted=is_granted,
    )
    response = vote.VoteResponse(
        error_code=ErrorCode.NONE, topics=[vote.ResponseTopicData(topic_name=METADATA_TOPIC, partitions=[partition])]
    )
    if hint.endpoint is not None and version >= 1:
        host, port = hint.endpoint
        response.node_endpoints = [vote.NodeEndpoint(node_id=hint.leader_id, host=host, port=port)]
    return response


def begin_quorum_epoch_response(
    hint: LeaderHint, version: int, error: ErrorCode
) -> begin_quorum_epoch.BeginQuorumEpochResponse:
    partition = begin_quorum_epoch.ResponsePartitionData(
        partition_index=METADATA_PARTITION, error_code=error, leader_id=hint.leader_id, leader_epoch=hint.epoch
    )
    topic = begin_quorum_epoch.ResponseTopicData(topic_name=METADATA_TOPIC, partitions=[partition])
    response = begin_quorum_epoch.BeginQuorumEpochResponse(error_code=ErrorCode.NONE, topics=[topic])
    if hint.endpoint is not None and version >= 1:
        host, port = hint.endpoint
        response.node_endpoints = [begin_quorum_epoch.NodeEndpoint(node_id=hint.leader_id, host=host, port=port)]
    return response


def end_quorum_epoch_response(
    hint: LeaderHint, version: int, error: ErrorCode
) -> end_quorum_epoch.EndQuorumEpochResponse:
    partition = end_quorum_epoch.ResponsePartitionData(
        partition_index=METADATA_PARTITION, error_code=error, leader_id=hint.leader_id, leader_epoch=hint.epoch
    )
    topic = end_quorum_epoch.ResponseTopicData(topic_name=METADATA_TOPIC, partitions=[partition])
    response = end_quorum_epoch.EndQuorumEpochResponse(error_code=ErrorCode.NONE, topics=[topic])
    if hint.endpoint is not None and version >= 1:
        host, port = hint.endpoint
        response.node_endpoints = [end_quorum_epoch.NodeEndpoint(node_id=hint.leader_id, host=host, port=port)]
    return response


def fetch_response(
    hint: LeaderHint,
    version: int,
    error: ErrorCode,
    *,
    log_start_offset: int,
    high_watermark: int | None = None,
    records: Region | bytes = b"",
    standing: Continues | Diverges | NeedsSnapshot = Continues(),  # noqa: B008 (a value without fields)
) -> fetch.FetchResponse:
    partition = fetch.PartitionData(
        partition_index=METADATA_PARTITION,
        error_code=error,
        high_watermark=-1 if high_watermark is None else high_watermark,
        log_start_offset=log_start_offset,
        current_leader=fetch.LeaderIdAndEpoch(leader_id=hint.leader_id, leader_epoch=hint.epoch),
        aborted_transactions=[],
        records=records,
    )
    match standing:
        case Diverges(end):
            partition.diverging_epoch = fetch.EpochEndOffset(epoch=end.epoch, end_offset=end.offset)
        case NeedsSnapshot(snapshot_id):
            partition.snapshot_id = fetch.SnapshotId(end_offset=snapshot_id.offset, epoch=snapshot_id.epoch)
    response = fetch.FetchResponse(
        throttle_time_ms=0,
        responses=[
            fetch.FetchableTopicResponse(topic=METADATA_TOPIC, topic_id=METADATA_TOPIC_ID, partitions=[partition])
        ],
    )
    if hint.endpoint is not None and version >= FETCH_ENDPOINTS_SINCE:
        host, port = hint.endpoint
        response.node_endpoints = [fetch.NodeEndpoint(node_id=hint.leader_id, host=host, port=port)]
    return response


def fetch_snapshot_response(
    hint: LeaderHint,
    version: int,
    error: ErrorCode,
    *,
    topic: str = METADATA_TOPIC,
    partition_index: int = METADATA_PARTITION,
    snapshot_id: OffsetAndEpoch = OffsetAndEpoch(0, 0),  # noqa: B008 (an immutable value)
    size: int = 0,
    position: int = 0,
    data: Region | bytes = b"",
) -> fetch_snapshot.FetchSnapshotResponse:
    partition = fetch_snapshot.ResponsePartitionSnapshot(
        index=partition_index,
        error_code=error,
        snapshot_id=fetch_snapshot.ResponseSnapshotId(end_offset=snapshot_id.offset, epoch=snapshot_id.epoch),
        current_leader=fetch_snapshot.LeaderIdAndEpoch(leader_id=hint.leader_id, leader_epoch=hint.epoch),
        size=size,
        position=position,
        unaligned_records=data,
    )
    response = fetch_snapshot.FetchSnapshotResponse(
        throttle_time_ms=0,
        error_code=ErrorCode.NONE,
        topics=[fetch_snapshot.ResponseTopicSnapshot(name=topic, partitions=[partition])],
    )
    if hint.endpoint is not None and version >= 1:
        host, port = hint.endpoint
        response.node_endpoints = [fetch_snapshot.NodeEndpoint(node_id=hint.leader_id, host=host, port=port)]
    return response


def add_voter_response(error: ErrorCode, message: str | None = None) -> add_raft_voter.AddRaftVoterResponse:
    return add_raft_voter.AddRaftVoterResponse(
        throttle_time_ms=0, error_code=error, error_message=_explained(error, message)
    )


def remove_voter_response(error: ErrorCode, message: str | None = None) -> remove_raft_voter.RemoveRaftVoterResponse:
    return remove_raft_voter.RemoveRaftVoterResponse(
        throttle_time_ms=0, error_code=error, error_message=_explained(error, message)
    )


def _explained(error: ErrorCode, message: str | None) -> str | None:
    return message if message is not None or error is ErrorCode.NONE else error.message


def update_voter_response(hint: LeaderHint, error: ErrorCode) -> update_raft_voter.UpdateRaftVoterResponse:
    host, port = hint.endpoint or Endpoint("", 0)
    return update_raft_voter.UpdateRaftVoterResponse(
        throttle_time_ms=0,
        error_code=error,
        current_leader=update_raft_voter.CurrentLeader(
            leader_id=hint.leader_id, leader_epoch=hint.epoch, host=host, port=port
        ),
    )


def describe_quorum_response(leader: Leader, version: int, now_ms: int) -> describe_quorum.DescribeQuorumResponse:
    def described(progress: Progress) -> describe_quorum.ReplicaState:
        is_leader = progress.key.id == leader.local.id
        state = describe_quorum.ReplicaState(
            replica_id=progress.key.id,
            log_end_offset=-1 if progress.end_offset is None else progress.end_offset,
            last_fetch_timestamp=now_ms if is_leader else progress.last_fetch_ms,
            last_caught_up_timestamp=now_ms if is_leader else progress.last_caught_up_ms,
        )
        if version >= 2:
            state.replica_directory_id = progress.key.directory_id
        return state

    leader.forget_silent_observers(now_ms)
    partition = describe_quorum.ResponsePartitionData(
        partition_index=METADATA_PARTITION,
        error_code=ErrorCode.NONE,
        leader_id=leader.local.id,
        leader_epoch=leader.epoch,
        high_watermark=-1 if leader.high_watermark is None else leader.high_watermark,
        current_voters=[described(progress) for progress in leader.voters.values()],
        observers=[described(progress) for progress in leader.observers.values()],
    )
    response = describe_quorum.DescribeQuorumResponse(
        error_code=ErrorCode.NONE,
        topics=[describe_quorum.ResponseTopicData(topic_name=METADATA_TOPIC, partitions=[partition])],
    )
    if version >= 2:
        response.nodes = [
            describe_quorum.Node(
                node_id=progress.key.id,
                listeners=[
                    describe_quorum.Listener(name=name, host=at.host, port=at.port)
                    for name, at in progress.endpoints.items()
                ],
            )
            for progress in leader.voters.values()
        ]
    return response


def describe_quorum_error(
    request: describe_quorum.DescribeQuorumRequest, error: ErrorCode
) -> describe_quorum.DescribeQuorumResponse:
    """The error for each partition that was asked about."""

    def refused(index: int) -> describe_quorum.ResponsePartitionData:
        return describe_quorum.ResponsePartitionData(
            partition_index=index,
            error_code=error,
            error_message=error.message,
            leader_id=0,
            leader_epoch=0,
            high_watermark=0,
            current_voters=[],
            observers=[],
        )

    return describe_quorum.DescribeQuorumResponse(
        error_code=ErrorCode.NONE,
        topics=[
            describe_quorum.ResponseTopicData(
                topic_name=topic.topic_name,
                partitions=[refused(partition.partition_index) for partition in topic.partitions],
            )
            for topic in request.topics
        ],
    )
