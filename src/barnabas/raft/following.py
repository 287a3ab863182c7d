"""What a follower does with the leader's answers: append, truncate, fetch a snapshot, move its high watermark.

A voter flushes what it appended before it fetches again, because the leader counts the offset it fetches from.
"""

from __future__ import annotations

from barnabas.protocol.errors import ApiError, ErrorCode
from barnabas.protocol.messages.fetch import FetchResponse, PartitionData
from barnabas.protocol.messages.fetch_snapshot import FetchSnapshotResponse
from barnabas.raft import control, effects
from barnabas.raft.events import SnapshotInstalled
from barnabas.raft.learning import leader_endpoints, learn
from barnabas.raft.log_view import (
    METADATA_PARTITION,
    METADATA_TOPIC,
    METADATA_TOPIC_ID,
    OffsetAndEpoch,
    truncation_offset,
)
from barnabas.raft.quorum import Quorum
from barnabas.raft.roles import Follower, SnapshotDownload


def heard_fetch(quorum: Quorum, response: FetchResponse) -> bool:
    """Take up the answer to a Fetch; false where the peer should rest before it is asked again."""
    if response.error_code or len(response.responses) != 1 or len(response.responses[0].partitions) != 1:
        return False
    (topic,) = response.responses
    (answer,) = topic.partitions
    is_ours = topic.topic_id == METADATA_TOPIC_ID or topic.topic == METADATA_TOPIC
    if not is_ours or answer.partition_index != METADATA_PARTITION:
        return False
    leader = answer.current_leader
    endpoints = leader_endpoints(quorum, leader.leader_id, response.node_endpoints)
    done = learn(quorum, answer.error_code, leader.leader_id, leader.leader_epoch, endpoints)
    if done is not None:
        return done
    role = quorum.role
    if answer.error_code or not isinstance(role, Follower) or leader.leader_id != role.leader:
        return False
    if not _take_up(quorum, role, answer):
        return False
    _successful_fetch(quorum, role)
    return True


def _successful_fetch(quorum: Quorum, role: Follower) -> None:
    role.fetch_deadline_ms = quorum.random_fetch_deadline_ms()
    role.has_fetched = True


def _take_up(quorum: Quorum, role: Follower, answer: PartitionData) -> bool:
    if answer.diverging_epoch.epoch >= 0:
        leader_end = OffsetAndEpoch(answer.diverging_epoch.end_offset, answer.diverging_epoch.epoch)
        return quorum.truncate(truncation_offset(quorum.log, leader_end))
    if answer.snapshot_id.epoch >= 0 or answer.snapshot_id.end_offset >= 0:
        if answer.snapshot_id.epoch < 0 or answer.snapshot_id.end_offset < 0:
            return False
        snapshot_id = OffsetAndEpoch(answer.snapshot_id.end_offset, answer.snapshot_id.epoch)
        if quorum.log.snapshot_size(snapshot_id) is not None:
            # What is here already cannot help; asking at once would only bring the same answer again and again.
            _successful_fetch(quorum, role)
            return False
        role.download = SnapshotDownload(snapshot_id)
        return True
    if answer.records is not None and len(answer.records):
        try:
            fetched = control.check_fetched(answer.records, quorum.log_end, quorum.epoch)
        except ApiError:
            # Damaged on the way or not where it belongs: the same offset is fetched again.
            return False
        if len(fetched.batches):
            quorum.append(fetched.batches, fetched.end, fetched.changes)
            if quorum.must_flush_before_fetching:
                quorum.flush()
    if answer.high_watermark >= 0:
        quorum.advance_high_watermark(min(answer.high_watermark, quorum.log_end.offset))
    return True


def heard_fetch_snapshot(quorum: Quorum, response: FetchSnapshotResponse) -> bool:
    if response.error_code or len(response.topics) != 1 or len(response.topics[0].partitions) != 1:
        return False
    (topic,) = response.topics
    (answer,) = topic.partitions
    if topic.name != METADATA_TOPIC or answer.index != METADATA_PARTITION:
        return False
    leader = answer.current_leader
    endpoints = leader_endpoints(quorum, leader.leader_id, response.node_endpoints)
    done = learn(quorum, answer.error_code, leader.leader_id, leader.leader_epoch, endpoints)
    if done is not None:
        return done
    role = quorum.role
    if not isinstance(role, Follower) or role.download is None:
        return False
    download = role.download
    snapshot_id = OffsetAndEpoch(answer.snapshot_id.end_offset, answer.snapshot_id.epoch)
    is_gone = snapshot_id.offset < 0 or snapshot_id.epoch < 0
    if answer.error_code == ErrorCode.SNAPSHOT_NOT_FOUND or (is_gone and not answer.error_code):
        # The leader has deleted it meanwhile; the next Fetch names another.
        quorum.effects.append(effects.DropSnapshotDownload(download.snapshot_id))
        role.download = None
        _successful_fetch(quorum, role)
        return True
    if answer.error_code or snapshot_id != download.snapshot_id or answer.position != download.position:
        return False
    data = answer.unaligned_records
    if not len(data) and download.position < answer.size:
        # An empty piece brings nothing nearer.
        return False
    quorum.effects.append(effects.WriteSnapshotChunk(snapshot_id, download.position, data))
    download.position += len(data)
    if download.position >= answer.size:
        quorum.installing = snapshot_id
        quorum.effects.append(effects.InstallSnapshot(snapshot_id))
        role.download = None
    _successful_fetch(quorum, role)
    return True


def snapshot_installed(quorum: Quorum, event: SnapshotInstalled) -> None:
    """The log now begins, empty and durable, where the snapshot ends."""
    assert event.snapshot_id == quorum.installing, "one snapshot is installed at a time"
    quorum.installing = None
    quorum.log_end = event.snapshot_id
    quorum.flushed_offset = event.snapshot_id.offset
    quorum.flushing_to = None if quorum.flushing_to is None else event.snapshot_id.offset
    quorum.history.clear()
    quorum.apply_changes(event.changes)
    quorum.advance_high_watermark(event.snapshot_id.offset)
