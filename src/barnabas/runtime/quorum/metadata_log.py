"""The metadata log on a disk: `__cluster_metadata-0` with its segments, snapshots and `quorum-state`.

It is what raft sees of the log, and where raft's effects on it are carried out. Any error of the disk goes through: a
controller that cannot write its log has to stop.
"""

from __future__ import annotations

import logging
from typing import Final

from barnabas.log.checkpoint import read_whole, replace_file
from barnabas.log.flush import Flush
from barnabas.log.log_config import LogConfig
from barnabas.log.names import partition_directory
from barnabas.log.partition_log import PartitionLog
from barnabas.log.partition_metadata import read_topic_id, write_topic_id
from barnabas.log.read import Isolation
from barnabas.metadata.retention import RetentionSettings, StoredSegment, StoredSnapshot, oldest_to_keep
from barnabas.ports.disk import Buffer, Disk
from barnabas.ports.rng import Rng
from barnabas.protocol.errors import CorruptMessage
from barnabas.raft import quorum_state
from barnabas.raft.log_view import (
    BOOTSTRAP_SNAPSHOT_ID,
    METADATA_PARTITION,
    METADATA_TOPIC,
    METADATA_TOPIC_ID,
    OffsetAndEpoch,
)
from barnabas.raft.quorum_state import BadQuorumState, QuorumState
from barnabas.records.batch import iterate_batches
from barnabas.runtime.quorum.snapshot_files import SnapshotFiles

LOG: Final = logging.getLogger(__name__)

DIRECTORY = partition_directory(METADATA_TOPIC, METADATA_PARTITION)


class DamagedMetadataLog(Exception):  # noqa: N818 (says what was found)
    """A log that cannot be read from its beginning. The text is meant for whoever starts the node."""


class MetadataLog:
    """A LogView that can be written to. Opening recovers what a crash left, as Apache's node does: from the start.

    A log that a crash left behind its latest snapshot begins anew where the snapshot ends, if that is whole.
    """

    def __init__(self, disk: Disk, metadata_directory: str, config: LogConfig, *, rng: Rng, now_ms: int) -> None:
        self._disk = disk
        self.directory = f"{metadata_directory}/{DIRECTORY}"
        self._log = PartitionLog(disk, self.directory, config, rng=rng, now_ms=now_ms)
        if self._log.dropped_bytes:
            LOG.warning(
                "the end of the metadata log was torn or damaged and is cut off",
                extra={
                    "directory": self.directory,
                    "bytes": self._log.dropped_bytes,
                    "log_end_offset": self._log.log_end_offset,
                },
            )
        if read_topic_id(disk, self.directory) is None:
            write_topic_id(disk, self.directory, METADATA_TOPIC_ID)
        self.snapshots = SnapshotFiles(disk, self.directory)
        # A power cut may have brought some back that the log has long gone past.
        self.snapshots.delete_before(OffsetAndEpoch(self.start_offset, 0))
        latest = self.snapshots.latest_id
        if self.start_offset > 0 and latest is None:
            raise DamagedMetadataLog(
                f"{self.directory} begins at offset {self.start_offset} and has no snapshot of what was before: with "
                "other controllers up, remove the directory's content and format it again to fetch it from them"
            )
        if latest is not None and latest != BOOTSTRAP_SNAPSHOT_ID:
            self._require_whole(latest)
        if latest is not None and not self.end.is_at_least(latest):
            self._log.truncate_fully_and_start_at(latest.offset, now_ms)

    def _require_whole(self, snapshot_id: OffsetAndEpoch) -> None:
        """Nothing is given up for a snapshot that cannot be read, and no cluster is taken for what is left of one."""
        try:
            self.snapshots.read_whole(snapshot_id)
        except CorruptMessage as error:
            raise DamagedMetadataLog(
                f"{self.directory}/{error}. With other controllers up, remove the directory's content and format it "
                "again to fetch it from them; otherwise move this file away, and the snapshot and log before it serve "
                "as far as they reach"
            ) from error

    # What raft sees

    @property
    def start_offset(self) -> int:
        return self._log.log_start_offset

    @property
    def end(self) -> OffsetAndEpoch:
        return self._with_epoch(self._log.log_end_offset, self._log.leader_epochs.latest_epoch)

    def end_of_epoch(self, epoch: int) -> OffsetAndEpoch | None:
        end = self._log.end_offset_for_epoch(epoch)
        return None if end is None else OffsetAndEpoch(end.end_offset, end.epoch)

    def end_if_truncated(self, end_offset: int) -> OffsetAndEpoch:
        end_offset = min(end_offset, self._log.log_end_offset)
        return self._with_epoch(end_offset, self._log.leader_epochs.epoch_for(end_offset - 1))

    def _with_epoch(self, end_offset: int, epoch: int | None) -> OffsetAndEpoch:
        """Where no record is left to tell the epoch, the snapshot that ends there does."""
        return OffsetAndEpoch(end_offset, (self.snapshots.epoch_at(end_offset) or 0) if epoch is None else epoch)

    @property
    def latest_snapshot_id(self) -> OffsetAndEpoch | None:
        return self.snapshots.latest_id

    @property
    def earliest_snapshot_id(self) -> OffsetAndEpoch | None:
        return self.snapshots.earliest_id

    def read(self, offset: int, max_bytes: int) -> memoryview:
        view = memoryview(self._log.read(offset, max_bytes, isolation=Isolation.LOG_END).region.bytes())
        size_bytes = 0
        for position, header in iterate_batches(view):
            size_bytes = position + header.size_bytes
        return view[:size_bytes]

    def snapshot_size(self, snapshot_id: OffsetAndEpoch) -> int | None:
        return self.snapshots.size_bytes(snapshot_id)

    def read_snapshot(self, snapshot_id: OffsetAndEpoch, position: int, max_bytes: int) -> memoryview:
        return memoryview(self.snapshots.read(snapshot_id, position, max_bytes))

    # Raft's effects

    def append(self, batches: Buffer, epoch: int, now_ms: int) -> None:
        """Write whole batches, offsets and epochs in them, of `epoch` at the latest."""
        view = memoryview(batches)
        if len(view) <= self._log.config.segment_bytes:
            self._log.append_as_follower(view, epoch, now_ms)
            return
        for position, header in iterate_batches(view):
            self._log.append_as_follower(view[position : position + header.size_bytes], epoch, now_ms)

    def truncate(self, end_offset: int, now_ms: int) -> None:
        self._log.truncate_to(end_offset, now_ms)

    def prepare_flush(self) -> Flush | None:
        return self._log.prepare_flush()

    def mark_flushed(self, flush: Flush, now_ms: int) -> None:
        self._log.mark_flushed(flush, now_ms)

    def update_high_watermark(self, offset: int) -> None:
        self._log.update_high_watermark(offset)

    def install_snapshot(self, snapshot_id: OffsetAndEpoch, now_ms: int) -> None:
        """Let a downloaded snapshot take the place of the log and of all that came before it."""
        self.snapshots.freeze_download(snapshot_id)
        self._log.truncate_fully_and_start_at(snapshot_id.offset, now_ms)
        self.snapshots.delete_before(snapshot_id)

    # Cleaning

    def keep_own_snapshot(self, snapshot_id: OffsetAndEpoch) -> bool:
        """Give a snapshot that was written here its name; false where the log has moved beyond it and it is dropped.

        That is so when a later one was installed meanwhile. An older snapshot beside it would look like a fork to
        followers that are at the log's start.
        """
        if snapshot_id.offset < self.start_offset:
            self.snapshots.drop_own(snapshot_id)
            return False
        self.snapshots.freeze_own(snapshot_id)
        return True

    def clean(self, settings: RetentionSettings, safe_offset: int, now_ms: int) -> OffsetAndEpoch | None:
        """Delete the snapshots, and the log before the next one, that retention wants gone; the oldest that stays.

        `safe_offset` is up to where the log is durable and replayed: a snapshot that ends behind it changes nothing.
        """
        stored = [
            StoredSnapshot(*each, self.snapshots.size_bytes(each) or 0, self.snapshots.last_contained_log_time_ms(each))
            for each in self.snapshots.ids
        ]
        segments = [StoredSegment(segment.base_offset, segment.size_bytes) for segment in self._log.segments]
        oldest = oldest_to_keep(stored, segments, settings, now_ms)
        self._log.remove_deleted(now_ms)
        if oldest is None or not self.start_offset < oldest.offset <= min(safe_offset, self._log.high_watermark):
            return None
        kept = OffsetAndEpoch(oldest.offset, oldest.epoch)
        self._log.delete_records_before(kept.offset)
        self._log.delete_old_segments(now_ms)
        self.snapshots.delete_before(kept)
        return kept

    # quorum-state

    def read_quorum_state(self) -> QuorumState | None:
        try:
            content = read_whole(self._disk, f"{self.directory}/{quorum_state.FILE_NAME}")
        except FileNotFoundError:
            return None
        try:
            return QuorumState.from_json(content.decode())
        except (BadQuorumState, UnicodeDecodeError) as error:
            raise BadQuorumState(f"{self.directory}: {error}") from error

    def write_quorum_state(self, state: QuorumState) -> None:
        replace_file(self._disk, f"{self.directory}/{quorum_state.FILE_NAME}", state.to_json().encode())

    def close(self, now_ms: int) -> None:
        """Make everything durable and let go of the files."""
        self._log.close(now_ms)
