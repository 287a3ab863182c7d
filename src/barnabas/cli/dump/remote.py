"""Shows the records of `__remote_log_metadata`: which segments are copied to or deleted from remote storage."""

from __future__ import annotations

from barnabas.cli.dump.decoding import Content
from barnabas.cli.dump.java_text import boolean
from barnabas.protocol.framed_record import FrameError, decode_framed
from barnabas.protocol.remote_log_records import RECORDS
from barnabas.protocol.remote_log_records import remote_log_segment_metadata as segment
from barnabas.protocol.remote_log_records import remote_log_segment_metadata_snapshot as snapshot
from barnabas.protocol.remote_log_records import remote_log_segment_metadata_update as update
from barnabas.protocol.remote_log_records import remote_partition_delete_metadata as deletion
from barnabas.protocol.schema import Message
from barnabas.records.batch import Buffer

SEGMENT_STATES = (
    "COPY_SEGMENT_STARTED",
    "COPY_SEGMENT_FINISHED",
    "DELETE_SEGMENT_STARTED",
    "DELETE_SEGMENT_FINISHED",
)
PARTITION_STATES = ("DELETE_PARTITION_MARKED", "DELETE_PARTITION_STARTED", "DELETE_PARTITION_FINISHED")


class _ContradictionError(Exception):
    """A record whose fields no broker writes together."""


def decode_remote_log_metadata(offset: int, key: Buffer | None, value: Buffer | None) -> Content:  # noqa: ARG001
    """The value alone is shown; these records have no keys."""
    try:
        message, _ = decode_framed(RECORDS, value)
        return Content(None, _shown(message))
    except (FrameError, _ContradictionError) as error:
        return Content(None, f"Error at offset {offset}, skipping. {error}")


def _shown(message: Message) -> str:
    if isinstance(message, segment.RemoteLogSegmentMetadataRecord):
        if not 0 <= message.start_offset <= message.end_offset:
            raise _ContradictionError(f"a segment from offset {message.start_offset} to {message.end_offset}")
        return _braced(
            "RemoteLogSegmentMetadata",
            remoteLogSegmentId=_segment_id(message.remote_log_segment_id),
            startOffset=message.start_offset,
            endOffset=message.end_offset,
            brokerId=message.broker_id,
            maxTimestampMs=message.max_timestamp_ms,
            eventTimestampMs=message.event_timestamp_ms,
            segmentLeaderEpochs=_leader_epochs(message),
            segmentSizeInBytes=message.segment_size_in_bytes,
            customMetadata=_custom_metadata(message.custom_metadata),
            state=_state(SEGMENT_STATES, message.remote_log_segment_state),
            txnIdxEmpty=boolean(message.txn_index_empty),
        )
    if isinstance(message, update.RemoteLogSegmentMetadataUpdateRecord):
        return _braced(
            "RemoteLogSegmentMetadataUpdate",
            remoteLogSegmentId=_segment_id(message.remote_log_segment_id),
            customMetadata=_custom_metadata(message.custom_metadata),
            state=_state(SEGMENT_STATES, message.remote_log_segment_state),
            eventTimestampMs=message.event_timestamp_ms,
            brokerId=message.broker_id,
        )
    if isinstance(message, deletion.RemotePartitionDeleteMetadataRecord):
        return _braced(
            "RemotePartitionDeleteMetadata",
            topicPartition=_partition(message.topic_id_partition),
            state=_state(PARTITION_STATES, message.remote_partition_delete_state),
            eventTimestampMs=message.event_timestamp_ms,
            brokerId=message.broker_id,
        )
    assert isinstance(message, snapshot.RemoteLogSegmentMetadataSnapshotRecord)
    return _braced(
        "RemoteLogSegmentMetadataSnapshot",
        segmentId=message.segment_id,
        startOffset=message.start_offset,
        endOffset=message.end_offset,
        maxTimestampMs=message.max_timestamp_ms,
        segmentLeaderEpochs=_leader_epochs(message),
        segmentSizeInBytes=message.segment_size_in_bytes,
        customMetadata=_custom_metadata(message.custom_metadata),
        state=_state(SEGMENT_STATES, message.remote_log_segment_state),
        txnIdxEmpty=boolean(message.txn_index_empty),
    )


def _braced(name: str, **fields: object) -> str:
    return f"{name}{{{', '.join(f'{field}={value}' for field, value in fields.items())}}}"


def _segment_id(entry: segment.RemoteLogSegmentIdEntry | update.RemoteLogSegmentIdEntry) -> str:
    return _braced("RemoteLogSegmentId", topicIdPartition=_partition(entry.topic_id_partition), id=entry.id)


def _partition(
    entry: segment.TopicIdPartitionEntry | update.TopicIdPartitionEntry | deletion.TopicIdPartitionEntry,
) -> str:
    return f"{entry.id}:{entry.name}-{entry.partition}"


def _leader_epochs(
    message: segment.RemoteLogSegmentMetadataRecord | snapshot.RemoteLogSegmentMetadataSnapshotRecord,
) -> str:
    epochs = {entry.leader_epoch: entry.offset for entry in message.segment_leader_epochs}
    if not epochs:
        raise _ContradictionError("a segment without leader epochs")
    return f"{{{', '.join(f'{epoch}={offset}' for epoch, offset in sorted(epochs.items()))}}}"


def _custom_metadata(data: bytes | None) -> str:
    return "Optional.empty" if data is None else f"Optional[CustomMetadata{{{len(data)} bytes}}]"


def _state(states: tuple[str, ...], number: int) -> str:
    if not 0 <= number < len(states):
        raise _ContradictionError(f"state {number} is unknown")
    return states[number]
