"""Follows the committed log: from its latest snapshot and the batches behind it to images of the metadata.

A large snapshot and a long stretch of log are replayed piece by piece, so that the loop gets its turns in between.
Where the log's beginning has been replaced by a snapshot, the snapshot is loaded instead; until all of it is, the image
stays what it was.
"""

from __future__ import annotations

import logging
from typing import Final, NamedTuple

from barnabas.metadata.framing import read_batches, read_values
from barnabas.metadata.image import MetadataImage, Provenance
from barnabas.metadata.loader import MetadataLoader, Published, SnapshotLoad
from barnabas.raft.log_view import BOOTSTRAP_SNAPSHOT_ID, OffsetAndEpoch
from barnabas.records.batch import iterate_batches
from barnabas.runtime.garbage import collection_paused
from barnabas.runtime.quorum.metadata_log import MetadataLog

LOG: Final = logging.getLogger(__name__)

# About as much as can be replayed without keeping others waiting.
PIECE_BYTES: Final = 256 * 1024
PIECE_RECORDS: Final = 5_000


class _Loading(NamedTuple):
    """A snapshot that is loaded in pieces."""

    snapshot_id: OffsetAndEpoch
    load: SnapshotLoad


class MetadataReplay:
    """`next_offset` is where the replay goes on: everything before it is in the loader."""

    def __init__(self, log: MetadataLog) -> None:
        self._log = log
        self._loader = MetadataLoader()
        self._loading: _Loading | None = None
        self.next_offset = 0

    @property
    def image(self) -> MetadataImage:
        return self._loader.image

    @property
    def is_in_transaction(self) -> bool:
        return self._loader.is_in_transaction

    @property
    def snapshot_ahead(self) -> OffsetAndEpoch | None:
        """The snapshot to be loaded before anything else: one that was there at the start, or was installed since."""
        latest = self._log.latest_snapshot_id
        if latest is None or latest == BOOTSTRAP_SNAPSHOT_ID or latest.offset <= self.next_offset:
            return None
        return latest

    def load_snapshot(self) -> bool:
        """Go to the end of the snapshot that is ahead, at once; false where there is none."""
        if self.snapshot_ahead is None:
            return False
        snapshot_id, load = self._begin(self.snapshot_ahead)
        with collection_paused():
            image = load.load()
        self._finish(snapshot_id, image)
        return True

    def load_snapshot_piece(self) -> bool:
        """Load some more of the snapshot that is ahead; true when that was the last piece."""
        ahead = self.snapshot_ahead
        assert ahead is not None, "there is something to load"
        if self._loading is None or self._loading.snapshot_id != ahead:
            # A later one may have been installed, and the earlier deleted, before it was loaded.
            self._loading = self._begin(ahead)
        with collection_paused():
            image = self._loading.load.load_piece(PIECE_RECORDS)
        if image is None:
            return False
        self._finish(ahead, image)
        return True

    def _begin(self, snapshot_id: OffsetAndEpoch) -> _Loading:
        snapshots = self._log.snapshots
        data = snapshots.read_whole(snapshot_id)
        LOG.info("snapshot loading", extra={"end_offset": snapshot_id.offset, "size_bytes": len(data)})
        log_time_ms = snapshots.last_contained_log_time_ms(snapshot_id)
        provenance = Provenance(snapshot_id.offset - 1, snapshot_id.epoch, log_time_ms, is_batch_aligned=True)
        return _Loading(snapshot_id, SnapshotLoad(read_values(data), provenance))

    def _finish(self, snapshot_id: OffsetAndEpoch, image: MetadataImage) -> None:
        self._loading = None
        self._loader.adopt(image)
        self.next_offset = snapshot_id.offset
        LOG.info("snapshot loaded", extra={"end_offset": snapshot_id.offset, "topics": len(image.topics.by_id)})

    def load_piece(self, high_watermark: int) -> list[Published]:
        """Replay some more of what is committed, and what came of that: nothing while a transaction is open."""
        data = self._log.read(self.next_offset, PIECE_BYTES)
        size_bytes = 0
        for position, header in iterate_batches(data):
            if header.next_offset > high_watermark:
                break
            size_bytes = position + header.size_bytes
            self.next_offset = header.next_offset
        return self._loader.load(read_batches(data[:size_bytes]))
