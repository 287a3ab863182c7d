"""Follows the committed log: from its latest snapshot and the batches behind it to images of the metadata.

A long stretch of log is replayed piece by piece, so that the loop gets its turns in between. Where the log's beginning
has been replaced by a snapshot, the snapshot is loaded instead.
"""

from __future__ import annotations

from typing import Final

from barnabas.metadata.framing import read_batches, read_records
from barnabas.metadata.image import MetadataImage, Provenance
from barnabas.metadata.loader import MetadataLoader
from barnabas.raft.log_view import BOOTSTRAP_SNAPSHOT_ID
from barnabas.records.batch import iterate_batches
from barnabas.runtime.quorum.metadata_log import MetadataLog

# About as much as can be replayed without keeping others waiting.
PIECE_BYTES: Final = 256 * 1024


class MetadataReplay:
    """`next_offset` is where the replay goes on: everything before it is in the loader."""

    def __init__(self, log: MetadataLog) -> None:
        self._log = log
        self._loader = MetadataLoader()
        self.next_offset = 0

    @property
    def image(self) -> MetadataImage:
        return self._loader.image

    @property
    def is_in_transaction(self) -> bool:
        return self._loader.is_in_transaction

    def load_snapshot(self) -> bool:
        """Go to the end of the latest snapshot if that is further on; false where there is nothing to load."""
        snapshot_id = self._log.latest_snapshot_id
        if snapshot_id is None or snapshot_id == BOOTSTRAP_SNAPSHOT_ID or snapshot_id.offset <= self.next_offset:
            return False
        provenance = Provenance(
            snapshot_id.offset - 1,
            snapshot_id.epoch,
            self._log.snapshots.last_contained_log_time_ms(snapshot_id),
            is_batch_aligned=True,
        )
        self._loader.load_snapshot(read_records(self._log.snapshots.read_whole(snapshot_id)), provenance)
        self.next_offset = snapshot_id.offset
        return True

    def load_piece(self, high_watermark: int) -> int:
        """Replay some more of what is committed; how many bytes of log that was, 0 at the end."""
        if self.next_offset >= high_watermark:
            return 0
        data = self._log.read(self.next_offset, PIECE_BYTES)
        size_bytes = 0
        for position, header in iterate_batches(data):
            if header.next_offset > high_watermark:
                break
            size_bytes = position + header.size_bytes
            self.next_offset = header.next_offset
        self._loader.load(read_batches(data[:size_bytes]))
        return size_bytes
