"""The quorum's own records in its log: who leads, kraft.version, the voters, and the frame around a snapshot.

They travel in control batches. As in Kafka a value is its message, which begins with its own version.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from barnabas.protocol.codec import decode, encode
from barnabas.protocol.control_records import leader_change as leader_change_message
from barnabas.protocol.control_records import voters as voters_message
from barnabas.protocol.control_records.kraft_version import KRaftVersionRecord
from barnabas.protocol.control_records.leader_change import LeaderChangeMessage
from barnabas.protocol.control_records.snapshot_footer import SnapshotFooterRecord
from barnabas.protocol.control_records.snapshot_header import SnapshotHeaderRecord
from barnabas.protocol.control_records.voters import VotersRecord
from barnabas.protocol.errors import CorruptMessage
from barnabas.protocol.schema import Message
from barnabas.protocol.version_range import VersionRange
from barnabas.raft.history import QuorumChange, QuorumHistory
from barnabas.raft.log_view import LogView, OffsetAndEpoch
from barnabas.raft.replica import ReplicaKey, endpoints_of
from barnabas.raft.voters import Voter, VoterSet
from barnabas.records.batch import BatchHeader, iterate_batches, validate
from barnabas.records.build import build_batch
from barnabas.records.control import ControlType, encode_control_key, read_control_type
from barnabas.records.record import Record, iterate_records

# The one version in which each of these records is written.
RECORD_VERSION = 0
READ_BYTES = 1024 * 1024


class ControlRecord(NamedTuple):
    type: ControlType
    message: Message


def leader_change(leader_id: int, voter_ids: Sequence[int], granting_ids: Sequence[int]) -> ControlRecord:
    def named(ids: Sequence[int]) -> list[leader_change_message.Voter]:
        return [leader_change_message.Voter(voter_id=voter_id) for voter_id in ids]

    message = LeaderChangeMessage(
        version=RECORD_VERSION, leader_id=leader_id, voters=named(voter_ids), granting_voters=named(granting_ids)
    )
    return ControlRecord(ControlType.LEADER_CHANGE, message)


def kraft_version(level: int) -> ControlRecord:
    return ControlRecord(ControlType.KRAFT_VERSION, KRaftVersionRecord(version=RECORD_VERSION, kraft_version=level))


def voters(voter_set: VoterSet) -> ControlRecord:
    described = [
        voters_message.Voter(
            voter_id=voter.id,
            voter_directory_id=voter.key.directory_id,
            endpoints=[
                voters_message.Endpoint(name=name, host=at.host, port=at.port) for name, at in voter.endpoints.items()
            ],
            kraft_version_feature=voters_message.KRaftVersionFeature(
                min_supported_version=voter.kraft_versions.lowest, max_supported_version=voter.kraft_versions.highest
            ),
        )
        for voter in voter_set
    ]
    return ControlRecord(ControlType.KRAFT_VOTERS, VotersRecord(version=RECORD_VERSION, voters=described))


def snapshot_header(last_contained_log_timestamp: int) -> ControlRecord:
    message = SnapshotHeaderRecord(version=RECORD_VERSION, last_contained_log_timestamp=last_contained_log_timestamp)
    return ControlRecord(ControlType.SNAPSHOT_HEADER, message)


def snapshot_footer() -> ControlRecord:
    return ControlRecord(ControlType.SNAPSHOT_FOOTER, SnapshotFooterRecord(version=RECORD_VERSION))


def snapshot_head(history: QuorumHistory, snapshot_id: OffsetAndEpoch, timestamp_ms: int) -> list[ControlRecord]:
    """What a snapshot begins with: its header, and the quorum as it was at its end."""
    last_contained = snapshot_id.offset - 1
    records = [snapshot_header(timestamp_ms)]
    level = history.kraft_version_at(last_contained)
    if level >= 1:
        records.append(kraft_version(level))
        voter_set = history.voters_at(last_contained)
        if voter_set is not None:
            records.append(voters(voter_set))
    return records


def build(records: Sequence[ControlRecord], *, base_offset: int, epoch: int, timestamp_ms: int) -> bytes:
    """One control batch of these records."""
    encoded = [
        Record(base_offset + delta, timestamp_ms, encode_control_key(record.type), _value(record.message))
        for delta, record in enumerate(records)
    ]
    return bytes(build_batch(encoded, base_offset=base_offset, leader_epoch=epoch, is_control=True))


def _value(message: Message) -> bytes:
    return bytes(encode(message, RECORD_VERSION))


def changes_of(records: Iterable[ControlRecord], base_offset: int) -> list[QuorumChange]:
    """What these records, at offsets from `base_offset` on, change about the quorum."""
    changes = []
    for offset, (_, message) in enumerate(records, base_offset):
        if isinstance(message, VotersRecord):
            changes.append(QuorumChange(offset, voters=_voter_set(message)))
        elif isinstance(message, KRaftVersionRecord):
            changes.append(QuorumChange(offset, kraft_version=message.kraft_version))
    return changes


def _voter_set(message: VotersRecord) -> VoterSet:
    return VoterSet.of(
        Voter(
            ReplicaKey(voter.voter_id, voter.voter_directory_id),
            endpoints_of(voter.endpoints),
            VersionRange(
                voter.kraft_version_feature.min_supported_version, voter.kraft_version_feature.max_supported_version
            ),
        )
        for voter in message.voters
    )


def changes_in(buffer: memoryview | bytes, position: int, header: BatchHeader) -> list[QuorumChange]:
    """What one batch changes about the quorum."""
    if not header.is_control:
        return []
    changes = []
    for record in iterate_records(buffer, position, header):
        kind = read_control_type(record.key)
        if record.value is None:
            continue
        if kind is ControlType.KRAFT_VOTERS:
            message = decode(VotersRecord, RECORD_VERSION, record.value)
            changes.append(QuorumChange(record.offset, voters=_voter_set(message)))
        elif kind is ControlType.KRAFT_VERSION:
            level = decode(KRaftVersionRecord, RECORD_VERSION, record.value).kraft_version
            changes.append(QuorumChange(record.offset, kraft_version=level))
    return changes


class Fetched(NamedTuple):
    """Batches that continue a log: their bytes, the end they bring it to, what they change about the quorum."""

    batches: memoryview
    end: OffsetAndEpoch
    changes: list[QuorumChange]


def check_fetched(records: bytes | bytearray | memoryview, log_end: OffsetAndEpoch, epoch: int) -> Fetched:
    """The whole batches among records fetched in `epoch`; CorruptMessage where one is damaged or out of place."""
    view, end, changes, size_bytes = memoryview(records), log_end, list[QuorumChange](), 0
    for position, _ in iterate_batches(view):
        header = validate(view, position)
        if header.base_offset != end.offset or not end.epoch <= header.leader_epoch <= epoch:
            raise CorruptMessage(
                f"a batch of epoch {header.leader_epoch} at offset {header.base_offset} does not continue a log that "
                f"ends at offset {end.offset} with epoch {end.epoch}, in epoch {epoch}"
            )
        changes += changes_in(view, position, header)
        end = OffsetAndEpoch(header.next_offset, header.leader_epoch)
        size_bytes = position + header.size_bytes
    return Fetched(view[:size_bytes], end, changes)


def whole_batches(batches: bytes, max_bytes: int) -> memoryview:
    """As many whole batches as fit into `max_bytes`, and one in any case."""
    view, size_bytes = memoryview(batches), 0
    if len(view) <= max_bytes:
        return view
    for position, header in iterate_batches(view):
        if size_bytes and position + header.size_bytes > max_bytes:
            break
        size_bytes = position + header.size_bytes
    return view[:size_bytes]


def snapshot_changes(chunks: Iterable[bytes], snapshot_id: OffsetAndEpoch) -> tuple[QuorumChange, ...]:
    """What a snapshot says about the quorum, as of the last offset it contains; CorruptMessage if it is damaged."""
    buffer, changes = bytearray(), list[QuorumChange]()
    for chunk in chunks:
        buffer += chunk
        used = 0
        for position, header in iterate_batches(buffer):
            batch = bytes(buffer[position : position + header.size_bytes])
            validate(batch)
            changes += changes_in(batch, 0, header)
            used = position + header.size_bytes
        del buffer[:used]
    return tuple(change._replace(offset=snapshot_id.offset - 1) for change in changes)


def load_history(log: LogView, static_voters: VoterSet | None = None) -> QuorumHistory:
    """The quorum's history, read from the latest snapshot and the log behind it."""
    history = QuorumHistory(static_voters)
    snapshot_id = log.latest_snapshot_id
    offset = log.start_offset
    if snapshot_id is not None:
        for change in snapshot_changes(_chunks(log, snapshot_id), snapshot_id):
            history.apply(change)
        offset = snapshot_id.offset
    while offset < log.end.offset:
        data = log.read(offset, READ_BYTES).tobytes()
        for position, header in iterate_batches(data):
            for change in changes_in(data, position, header):
                history.apply(change)
            offset = header.next_offset
    return history


def _chunks(log: LogView, snapshot_id: OffsetAndEpoch) -> Iterator[bytes]:
    size = log.snapshot_size(snapshot_id) or 0
    for position in range(0, size, READ_BYTES):
        yield log.read_snapshot(snapshot_id, position, READ_BYTES).tobytes()
