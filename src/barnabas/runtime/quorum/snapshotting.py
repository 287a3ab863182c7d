"""Makes snapshots of the metadata when they are due, and deletes what they make superfluous.

An image is a value, so a thread writes it out while the loop goes on. The snapshot counts once it is durable under its
name.
"""

from __future__ import annotations

import logging
from asyncio import AbstractEventLoop, TimerHandle
from collections.abc import Callable, Iterator
from typing import Final

from barnabas.metadata.framing import batch_values
from barnabas.metadata.image import MetadataImage
from barnabas.metadata.retention import RetentionSettings, SnapshotSchedule
from barnabas.ports.clock import Clock
from barnabas.ports.disk import Buffer
from barnabas.raft import control
from barnabas.raft.control import ControlRecord
from barnabas.raft.history import QuorumHistory
from barnabas.raft.log_view import OffsetAndEpoch
from barnabas.records.batch import read_header
from barnabas.runtime.off_loop import OffLoop
from barnabas.runtime.quorum.metadata_log import MetadataLog

LOG: Final = logging.getLogger(__name__)

CLEANING_INTERVAL_MS: Final = 60_000
# A snapshot is sent and read piece by piece; Kafka's own are of batches up to this size.
BATCH_BYTES_MAX: Final = 1024 * 1024


class Snapshotter:
    """`generated` is told of each new snapshot, `failed` of what the disk refused.

    `safe_offset` is up to where the log is replayed and, on a node whose fetches promise that, durable. An observer
    never flushes: what a power cut takes from its log it fetches again.
    """

    def __init__(
        self,
        log: MetadataLog,
        settings: RetentionSettings,
        *,
        off_loop: OffLoop,
        clock: Clock,
        loop: AbstractEventLoop,
        generated: Callable[[OffsetAndEpoch], None],
        failed: Callable[[Exception], None],
        safe_offset: Callable[[], int],
    ) -> None:
        self._log = log
        self._settings = settings
        self._off_loop = off_loop
        self._clock = clock
        self._loop = loop
        self._generated = generated
        self._failed = failed
        self._safe_offset = safe_offset
        self._schedule = SnapshotSchedule(settings, clock.now_ms())
        self._is_writing = False
        self._is_closed = False
        self._cleaning: TimerHandle | None = None

    def start(self) -> None:
        self._arm_cleaning()

    def close(self) -> None:
        self._is_closed = True
        if self._cleaning is not None:
            self._cleaning.cancel()

    def mark_loaded(self) -> None:
        """A snapshot was loaded: the next one has time."""
        self._schedule.mark_snapshot(self._clock.now_ms())

    def consider(self, image: MetadataImage, applied_bytes: int, history: QuorumHistory) -> None:
        """Make a snapshot of this image, if the log that has led to it since the last one asks for it."""
        self._schedule.mark_applied(applied_bytes)
        now_ms = self._clock.now_ms()
        if self._is_writing or image.features.metadata_version is None:
            return
        reason = self._schedule.due(now_ms, is_batch_aligned=image.provenance.is_batch_aligned)
        if reason is None:
            return
        self._schedule.mark_snapshot(now_ms)
        provenance = image.provenance
        snapshot_id = OffsetAndEpoch(provenance.last_contained_offset + 1, provenance.last_contained_epoch)
        if self._log.snapshots.size_bytes(snapshot_id) is not None:
            return
        head = control.snapshot_head(history, snapshot_id, provenance.last_contained_log_time_ms)
        self._is_writing = True
        LOG.info("snapshot begun", extra={"end_offset": snapshot_id.offset, "reason": reason})
        self._off_loop.run(
            lambda: self._log.snapshots.write_own(
                snapshot_id, snapshot_batches(image, head, snapshot_id.epoch, now_ms)
            ),
            lambda _: self._written(snapshot_id),
            self._failed,
        )

    def _written(self, snapshot_id: OffsetAndEpoch) -> None:
        self._is_writing = False
        if self._is_closed:
            return
        try:
            is_kept = self._log.keep_own_snapshot(snapshot_id)
        except OSError as error:
            self._failed(error)
            return
        if not is_kept:
            return
        LOG.info("snapshot written", extra={"end_offset": snapshot_id.offset, "epoch": snapshot_id.epoch})
        self._generated(snapshot_id)
        self._clean()

    def _arm_cleaning(self) -> None:
        self._cleaning = self._loop.call_later(CLEANING_INTERVAL_MS / 1000, self._on_cleaning)

    def _on_cleaning(self) -> None:
        self._arm_cleaning()
        self._clean()

    def _clean(self) -> None:
        try:
            oldest = self._log.clean(self._settings, self._safe_offset(), self._clock.now_ms())
        except OSError as error:
            self._failed(error)
            return
        if oldest is not None:
            LOG.info("log cleaned", extra={"start_offset": oldest.offset})


def snapshot_batches(
    image: MetadataImage, head: list[ControlRecord], epoch: int, timestamp_ms: int
) -> Iterator[Buffer]:
    """The content of a snapshot: the quorum, the metadata, and a footer by which its end is known."""
    yield control.build(head, base_offset=0, epoch=epoch, timestamp_ms=timestamp_ms)
    offset = len(head)
    for batch in batch_values(
        image.values(), base_offset=offset, epoch=epoch, timestamp_ms=timestamp_ms, batch_bytes_max=BATCH_BYTES_MAX
    ):
        yield batch
        offset = read_header(batch).next_offset
    yield control.build([control.snapshot_footer()], base_offset=offset, epoch=epoch, timestamp_ms=timestamp_ms)
