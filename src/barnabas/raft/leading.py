"""What a leader does for its followers: Fetch and FetchSnapshot, the high watermark, and describing the quorum.

A Fetch that has nothing to get is parked in the leader's role until records are appended, the high watermark moves,
its time is up, or the lead is lost.
"""

from __future__ import annotations

from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.describe_quorum import DescribeQuorumRequest
from barnabas.protocol.messages.fetch import FetchPartition, FetchRequest, FetchResponse
from barnabas.protocol.messages.fetch_snapshot import FetchSnapshotRequest, FetchSnapshotResponse
from barnabas.protocol.schema import Message
from barnabas.raft.events import RequestReceived
from barnabas.raft.leader import Leader, WaitingFetch
from barnabas.raft.learning import has_cluster_id
from barnabas.raft.log_view import (
    BOOTSTRAP_SNAPSHOT_ID,
    METADATA_PARTITION,
    METADATA_TOPIC,
    METADATA_TOPIC_ID,
    Continues,
    OffsetAndEpoch,
    compare_follower,
)
from barnabas.raft.quorum import Quorum
from barnabas.raft.replica import ReplicaKey
from barnabas.raft.responses import (
    describe_quorum_error,
    describe_quorum_response,
    fetch_response,
    fetch_snapshot_response,
)
from barnabas.raft.shape import sole_partition


def leader_error(quorum: Quorum, epoch: int) -> ErrorCode | None:
    """Why a request that only a leader of this epoch can serve is refused, if it is."""
    if epoch < quorum.epoch:
        return ErrorCode.FENCED_LEADER_EPOCH
    if epoch > quorum.epoch:
        return ErrorCode.UNKNOWN_LEADER_EPOCH
    if not isinstance(quorum.role, Leader):
        return ErrorCode.NOT_LEADER_OR_FOLLOWER
    return ErrorCode.BROKER_NOT_AVAILABLE if quorum.shutdown_deadline_ms is not None else None


def _fetched_partition(request: FetchRequest) -> FetchPartition | None:
    if len(request.topics) != 1 or len(request.topics[0].partitions) != 1:
        return None
    topic = request.topics[0]
    is_ours = topic.topic_id == METADATA_TOPIC_ID or topic.topic == METADATA_TOPIC
    (partition,) = topic.partitions
    return partition if is_ours and partition.partition == METADATA_PARTITION else None


def receive_fetch(quorum: Quorum, event: RequestReceived, request: FetchRequest) -> None:
    """Answer a Fetch, or park it."""
    if not has_cluster_id(quorum, request.cluster_id):
        quorum.respond(event.token, _fetch_error(ErrorCode.INCONSISTENT_CLUSTER_ID))
        return
    asked = _fetched_partition(request)
    if asked is None:
        quorum.respond(event.token, _fetch_error(ErrorCode.INVALID_REQUEST))
        return
    fetch = WaitingFetch(
        event.token, request, event.version, event.listener, quorum.now_ms + max(0, request.max_wait_ms)
    )
    is_illegal = request.max_wait_ms < 0 or asked.fetch_offset < 0
    if is_illegal or not 0 <= asked.last_fetched_epoch <= asked.current_leader_epoch:
        quorum.respond(event.token, quorum.refused_fetch(fetch, ErrorCode.INVALID_REQUEST))
        return
    response = _try_fetch(quorum, fetch, asked)
    (answer,) = response.responses[0].partitions
    if (
        answer.error_code
        or len(answer.records or b"")
        or not request.max_wait_ms
        or answer.diverging_epoch.epoch >= 0
        or answer.snapshot_id.epoch >= 0
        or asked.high_watermark < answer.high_watermark
    ):
        quorum.respond(event.token, response)
    else:
        assert isinstance(quorum.role, Leader)
        quorum.role.waiting.append(fetch)


def _fetch_error(error: ErrorCode) -> FetchResponse:
    return FetchResponse(throttle_time_ms=0, error_code=error, responses=[])


def _replica_key(request: FetchRequest, asked: FetchPartition) -> ReplicaKey:
    replica_id = request.replica_id if request.replica_id >= 0 else request.replica_state.replica_id
    return ReplicaKey(replica_id, asked.replica_directory_id)


def _try_fetch(quorum: Quorum, fetch: WaitingFetch, asked: FetchPartition) -> FetchResponse:
    """The answer as it would be now; the follower's progress is noted, which may move the high watermark."""
    leader, replica = quorum.role, _replica_key(fetch.request, asked)
    error = leader_error(quorum, asked.current_leader_epoch)
    if error is None and replica.id == quorum.local.id:
        error = ErrorCode.UNKNOWN_SERVER_ERROR
    if error is not None:
        refused = quorum.refused_fetch(fetch, error)
        assert isinstance(refused, FetchResponse)
        return refused
    assert isinstance(leader, Leader)
    position = OffsetAndEpoch(asked.fetch_offset, asked.last_fetched_epoch)
    standing = compare_follower(quorum.log, position)
    records = memoryview(b"")
    if isinstance(standing, Continues):
        records = quorum.log.read(asked.fetch_offset, fetch.request.max_bytes)  # type: ignore[assignment]
        if replica.id >= 0:
            leader.replica_fetched(replica, asked.fetch_offset, quorum.log_end.offset, quorum.now_ms)
            advance(quorum, leader)
    return fetch_response(
        quorum.hint(fetch.listener),
        fetch.version,
        ErrorCode.NONE,
        log_start_offset=quorum.log.start_offset,
        high_watermark=leader.high_watermark,
        records=records,
        standing=standing,
    )


def advance(quorum: Quorum, leader: Leader) -> None:
    """Move the high watermark where a majority allows, and tell everybody who waits for that."""
    if not leader.advance_high_watermark():
        return
    assert leader.high_watermark is not None
    quorum.advance_high_watermark(leader.high_watermark)
    change = leader.pending_change
    if change is not None and change.offset is not None and leader.high_watermark > change.offset:
        quorum.end_voter_change(leader, ErrorCode.NONE)
    # A leader that is no longer a voter leads on until the set without it is committed.
    voters_offset = quorum.history.voters_offset
    if not quorum.is_voter and voters_offset is not None and leader.high_watermark > voters_offset:
        leader.is_resigning = True
    answer_waiting(quorum, leader)


def answer_waiting(quorum: Quorum, leader: Leader, *, only_expired: bool = False) -> None:
    """Answer parked fetches, as things stand now."""
    due = [fetch for fetch in leader.waiting if not only_expired or fetch.deadline_ms <= quorum.now_ms]
    leader.waiting = [fetch for fetch in leader.waiting if only_expired and fetch.deadline_ms > quorum.now_ms]
    for fetch in due:
        quorum.respond(
            fetch.token,
            fetch_response(
                quorum.hint(fetch.listener),
                fetch.version,
                ErrorCode.NONE,
                log_start_offset=quorum.log.start_offset,
                high_watermark=leader.high_watermark,
            ),
        )


def answer_fetch_snapshot(quorum: Quorum, request: FetchSnapshotRequest, version: int, listener: str) -> Message:
    if not has_cluster_id(quorum, request.cluster_id):
        return FetchSnapshotResponse(throttle_time_ms=0, error_code=ErrorCode.INCONSISTENT_CLUSTER_ID, topics=[])
    if len(request.topics) != 1 or len(request.topics[0].partitions) != 1:
        return FetchSnapshotResponse(throttle_time_ms=0, error_code=ErrorCode.INVALID_REQUEST, topics=[])
    (topic,) = request.topics
    (asked,) = topic.partitions
    hint = quorum.hint(listener)
    if topic.name != METADATA_TOPIC or asked.partition != METADATA_PARTITION:
        return fetch_snapshot_response(
            hint,
            version,
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
            topic=topic.name,
            partition_index=asked.partition,
        )
    error = leader_error(quorum, asked.current_leader_epoch)
    if error is not None:
        return fetch_snapshot_response(hint, version, error)
    snapshot_id = OffsetAndEpoch(asked.snapshot_id.end_offset, asked.snapshot_id.epoch)
    size = quorum.log.snapshot_size(snapshot_id)
    if size is None or snapshot_id == BOOTSTRAP_SNAPSHOT_ID:
        return fetch_snapshot_response(hint, version, ErrorCode.SNAPSHOT_NOT_FOUND)
    if not 0 <= asked.position < size:
        return fetch_snapshot_response(hint, version, ErrorCode.POSITION_OUT_OF_RANGE)
    if request.max_bytes <= 0:
        return fetch_snapshot_response(hint, version, ErrorCode.INVALID_REQUEST)
    replica = ReplicaKey(request.replica_id, asked.replica_directory_id)
    if isinstance(quorum.role, Leader) and replica.id != quorum.local.id:
        quorum.role.heard_from(replica, quorum.now_ms)
    # However much is asked for, a piece stays one that can be read at once.
    max_bytes = min(request.max_bytes, quorum.settings.fetch_snapshot_max_bytes)
    return fetch_snapshot_response(
        hint,
        version,
        ErrorCode.NONE,
        snapshot_id=snapshot_id,
        size=size,
        position=asked.position,
        data=quorum.log.read_snapshot(snapshot_id, asked.position, max_bytes),
    )


def answer_describe_quorum(quorum: Quorum, request: DescribeQuorumRequest, version: int) -> Message:
    if sole_partition(request.topics) is None:
        return describe_quorum_error(request, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    if not isinstance(quorum.role, Leader):
        return describe_quorum_error(request, ErrorCode.NOT_LEADER_OR_FOLLOWER)
    return describe_quorum_response(quorum.role, version, quorum.now_ms)


def flushed(quorum: Quorum, leader: Leader) -> None:
    """The leader's own log is durable further than before."""
    leader.local_flushed(quorum.flushed_offset)
    advance(quorum, leader)
