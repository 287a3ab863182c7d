"""Opening a log: what an interrupted operation left is finished or dropped, and what was not flushed is checked.

After a clean stop the files are taken as they are, if the last segment ends properly. Otherwise every segment from the
recovery point on is read; the first batch that is not sound ends the log, and indexes, leader epochs and producer state
are built anew from what is and flushed. A log always opens, nothing that was flushed is lost, and what was found is
durable from then on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from barnabas.log.leader_epochs import LeaderEpochs
from barnabas.log.log_config import LogConfig
from barnabas.log.names import (
    CLEANED,
    DELETED,
    LEADER_EPOCH_CHECKPOINT,
    LOG,
    METADATA_SNAPSHOT,
    OFFSET_INDEX,
    SEGMENT_FILES,
    SWAP,
    TIME_INDEX,
    TRANSACTION_INDEX,
    OffsetName,
    offset_name,
    parse_offset_name,
)
from barnabas.log.producer_entry import AppendOrigin, EndMarker
from barnabas.log.producer_state import ProducerState
from barnabas.log.scan import end_marker, read_batches, read_marker
from barnabas.log.segment import LogSegment
from barnabas.log.segments import Segments
from barnabas.log.transaction_index import AbortedTransaction, CorruptTransactionIndexError
from barnabas.ports.disk import Disk
from barnabas.ports.rng import Rng
from barnabas.protocol.errors import CorruptMessage, InvalidRecord
from barnabas.records.batch import MAGIC, NO_LEADER_EPOCH, BatchHeader


class LoadedLog(NamedTuple):
    segments: Segments
    leader_epochs: LeaderEpochs
    producer_state: ProducerState
    log_start_offset: int
    log_end_offset: int  # Everything below it is durable.
    dropped_bytes: int  # What could not be read, and what lay behind it.


class LogLoader:
    """Opens one log. `load` is called once."""

    def __init__(
        self,
        disk: Disk,
        directory: str,
        config: LogConfig,
        *,
        rng: Rng,
        now_ms: int,
        log_start_offset: int,
        recovery_point: int,
        had_clean_shutdown: bool,
        make_producer_state: Callable[[], ProducerState],
    ) -> None:
        self._disk = disk
        self._directory = directory
        self._config = config
        self._rng = rng
        self._now_ms = now_ms
        self._log_start_offset = log_start_offset
        self._recovery_point = recovery_point
        self._had_clean_shutdown = had_clean_shutdown
        self._make_producer_state = make_producer_state
        self._leader_epochs = LeaderEpochs(disk, f"{directory}/{LEADER_EPOCH_CHECKPOINT}")
        self._segments = Segments()
        self._dropped_bytes = 0
        self._has_thinned_batches = False  # Compaction has taken records from what was recovered.

    def load(self) -> LoadedLog:
        try:
            return self._load()
        except OSError:
            # The logs of other directories need the descriptors.
            for segment in self._segments:
                segment.release()
            raise

    def _load(self) -> LoadedLog:
        self._finish_swaps()
        self._recover(self._open_segments())
        log_end_offset = self._find_log_end()
        active = self._segments.active
        active.offset_index.grow()
        active.time_index.grow()
        log_start_offset = max(self._log_start_offset, self._segments.first.base_offset)
        # An entry that the disk lost may lie on either side: what the log does not hold is forgotten.
        self._leader_epochs.truncate_from_end(log_end_offset)
        self._leader_epochs.truncate_from_start(log_start_offset)
        producer_state = self._make_producer_state()
        producer_state.remove_stray_snapshots(self._segments.base_offsets)
        rebuild_producer_state(
            producer_state,
            self._segments,
            log_start_offset,
            log_end_offset,
            self._now_ms,
            had_clean_shutdown=self._had_clean_shutdown,
        )
        # Names that were dropped must not come back after another power cut, beside what is written from now on.
        self._disk.flush_directory(self._directory)
        return LoadedLog(
            self._segments, self._leader_epochs, producer_state, log_start_offset, log_end_offset, self._dropped_bytes
        )

    # Interrupted operations

    def _finish_swaps(self) -> None:
        """Drop files on their way out, and let cleaned segments take the place of those they were made from.

        A group of segments is renamed to `.swap` from its last to its first, so while one is still `.cleaned` the
        group is not complete and its originals are still there.
        """
        cleaned: list[tuple[str, int]] = []
        swaps: list[tuple[str, OffsetName]] = []
        for name in self._disk.names(self._directory):
            parsed = parse_offset_name(name)
            if parsed is None:
                continue
            if parsed.suffix == DELETED and parsed.kind != METADATA_SNAPSHOT:
                self._remove(name)
            elif parsed.suffix == CLEANED:
                cleaned.append((name, parsed.offset))
            elif parsed.suffix == SWAP:
                swaps.append((name, parsed))
        first_cleaned = min((offset for _, offset in cleaned), default=None)
        if first_cleaned is not None:
            for name, parsed in swaps:
                if parsed.offset >= first_cleaned:
                    self._remove(name)
            swaps = [swap for swap in swaps if swap[1].offset < first_cleaned]
            for name, _ in cleaned:
                self._remove(name)
        if swaps:
            self._swap_in(swaps)

    def _swap_in(self, swaps: list[tuple[str, OffsetName]]) -> None:
        bases = [parsed.offset for _, parsed in swaps if parsed.kind == LOG]
        if bases:
            end = 0
            for base_offset in bases:
                segment = self._segment(base_offset, SWAP)
                end = max(end, segment.find_next_offset())
                segment.release()
            for name in self._disk.names(self._directory):
                parsed = parse_offset_name(name)
                if parsed and parsed.suffix != SWAP and min(bases) <= parsed.offset < end:
                    self._remove(name)
        for name in self._disk.names(self._directory):
            if name.endswith(SWAP):
                self._disk.rename(self._path(name), self._path(name.removesuffix(SWAP)))

    # Segments

    def _open_segments(self) -> list[LogSegment]:
        """Open all segments; those whose indexes cannot be right."""
        suspects = []
        names = [parsed for parsed in map(parse_offset_name, self._disk.names(self._directory)) if parsed]
        logs = {parsed.offset for parsed in names if parsed.kind == LOG and not parsed.suffix}
        for parsed in names:
            if parsed.kind in SEGMENT_FILES and not parsed.suffix and parsed.offset not in logs:
                self._remove(offset_name(parsed.offset, parsed.kind))
        indexes = {(parsed.offset, parsed.kind) for parsed in names if not parsed.suffix}
        for base_offset in sorted(logs):
            try:
                segment = self._segment(base_offset)
                segment.transaction_index.check()
                is_sound = {(base_offset, OFFSET_INDEX), (base_offset, TIME_INDEX)} <= indexes
            except CorruptTransactionIndexError:
                self._remove(offset_name(base_offset, TRANSACTION_INDEX))
                segment = self._segment(base_offset)
                is_sound = False
            if not is_sound:
                suspects.append(segment)
            self._segments.add(segment)
        return suspects

    def _recover(self, suspects: list[LogSegment]) -> None:
        """Check the segments that may be damaged, in order, and end the log where it stops making sense.

        After an unclean stop all from the recovery point on are suspects.
        """
        unflushed = []
        if self._had_clean_shutdown:
            # What is written next goes where this one seems to end, so its end is worth a look.
            if len(self._segments) and not self._segments.active.ends_properly():
                suspects.append(self._segments.active)
        else:
            unflushed = self._segments.holding(self._recovery_point)
            # One that was flushed while it was active and rolled since may have kept its active length.
            last_flushed = self._segments.floor(self._recovery_point - 1)
            if last_flushed is not None and last_flushed not in unflushed:
                if last_flushed.ends_properly():
                    last_flushed.flush()
                else:
                    suspects.append(last_flushed)
        for segment in self._segments:
            if segment in unflushed:
                if self._recover_segment(segment):
                    self._drop_behind(segment)
                    break
            elif segment in suspects:
                self._recover_segment(segment)
        lost_its_end = self._find_lost_end(unflushed)
        if lost_its_end is not None:
            self._drop_behind(lost_its_end)

    def _find_lost_end(self, unflushed: list[LogSegment]) -> LogSegment | None:
        """The first segment whose file has lost exactly its last batches, which no checksum tells.

        Where compaction was at work such gaps are ordinary, and a follower gets them from its leader: they are a loss
        only in a log that has no others.
        """
        if self._config.is_compacted or self._has_thinned_batches:
            return None
        lost = next((segment for segment in self._segments if segment in unflushed and self._has_gap(segment)), None)
        is_only_one = lost and not any(self._has_gap(segment) for segment in self._segments if segment not in unflushed)
        return lost if is_only_one else None

    def _has_gap(self, segment: LogSegment) -> bool:
        """Whether offsets are missing between this segment and the next."""
        following = self._segments.behind(segment)
        return following is not None and segment.find_next_offset() < following.base_offset

    def _recover_segment(self, segment: LogSegment) -> int:
        """Build a segment's indexes anew from its sound batches; the bytes that were cut off."""
        state = self._make_producer_state()
        rebuild_producer_state(
            state,
            self._segments,
            self._log_start_offset,
            segment.base_offset,
            self._now_ms,
            had_clean_shutdown=False,
        )
        dropped = segment.rebuild(self._sound_batches(segment, state))
        self._dropped_bytes += dropped
        # Otherwise what was cut could come back behind what will be written in its place.
        segment.flush()
        # The next segment's recovery starts from here.
        state.take_snapshot()
        return dropped

    def _sound_batches(self, segment: LogSegment, state: ProducerState) -> Iterator[BatchHeader]:
        """The headers of the sound batches from the beginning on, each with its effect on epochs and producers."""
        segment_bytes = segment.file.size()
        next_offset, leader_epoch = segment.base_offset, NO_LEADER_EPOCH
        try:
            for header, batch in read_batches(segment.file, 0, segment_bytes):
                # The checksum does not cover offset and epoch, but a torn one is too small, and neither ever falls. (No
                # epoch at all is what the cleaner writes for messages from before epochs.)
                if header.magic == MAGIC and (
                    header.base_offset < next_offset or 0 <= header.leader_epoch < leader_epoch
                ):
                    return
                if header.base_offset > next_offset or header.record_count <= header.last_offset_delta:
                    self._has_thinned_batches = True
                next_offset, leader_epoch = header.next_offset, max(leader_epoch, header.leader_epoch)
                if not segment.offset_index.can_hold(header.last_offset):
                    return
                if header.magic == MAGIC:
                    latest = self._leader_epochs.latest_epoch
                    if header.leader_epoch >= 0 and (latest is None or header.leader_epoch > latest):
                        self._leader_epochs.assign(header.leader_epoch, header.base_offset)
                    marker = end_marker(batch, header) if header.is_control else None
                    segment.transaction_index.append(replay(state, header, marker))
                yield header
        except (CorruptMessage, InvalidRecord):
            return

    def _find_log_end(self) -> int:
        """Where the log ends. Segments that all end before the log starts are of no use: somebody removed files."""
        if len(self._segments):
            log_end_offset = self._segments.active.find_next_offset()
            if log_end_offset >= self._log_start_offset:
                return log_end_offset
            self._drop(list(self._segments))
            self._leader_epochs.clear()
            self._make_producer_state().truncate_fully_and_start_at(self._log_start_offset)
        self._segments.add(
            LogSegment.create(
                self._disk,
                self._directory,
                self._log_start_offset,
                self._config,
                now_ms=self._now_ms,
                roll_jitter_ms=self._config.draw_jitter_ms(self._rng),
            )
        )
        return self._log_start_offset

    def _drop_behind(self, segment: LogSegment) -> None:
        self._drop([later for later in self._segments if later.base_offset > segment.base_offset])

    def _drop(self, segments: list[LogSegment]) -> None:
        """Remove segments that the log has no place for, the last first, so that what a power cut leaves has no gap."""
        for segment in reversed(segments):
            self._segments.remove(segment)
            self._dropped_bytes += segment.size_bytes
            segment.delete()

    def _segment(self, base_offset: int, suffix: str = "") -> LogSegment:
        return LogSegment(
            self._disk,
            self._directory,
            base_offset,
            self._config,
            now_ms=self._now_ms,
            roll_jitter_ms=self._config.draw_jitter_ms(self._rng),
            suffix=suffix,
        )

    def _path(self, name: str) -> str:
        return f"{self._directory}/{name}"

    def _remove(self, name: str) -> None:
        self._disk.remove(self._path(name))


def rebuild_producer_state(
    state: ProducerState,
    segments: Segments,
    log_start_offset: int,
    last_offset: int,
    now_ms: int,
    *,
    had_clean_shutdown: bool,
) -> None:
    """Bring the state to `last_offset`: from the latest snapshot, and from the batches behind it.

    A log that was stopped cleanly and has no snapshot never had a producer with an id; it is not read.
    """
    snapshot_offsets = [*segments.base_offsets[-2:], last_offset]
    if had_clean_shutdown and state.latest_snapshot_offset is None:
        for offset in snapshot_offsets:
            state.map_end_offset = offset
            state.take_snapshot()
        return
    knew_nobody = state.is_empty and state.map_end_offset >= last_offset
    state.truncate_and_reload(log_start_offset, last_offset, now_ms)
    if last_offset > state.map_end_offset and not knew_nobody:
        for segment in segments.holding(state.map_end_offset, last_offset):
            state.map_end_offset = max(segment.base_offset, state.map_end_offset, log_start_offset)
            if segment.base_offset in snapshot_offsets:
                state.take_snapshot()
            place = segment.find(state.map_end_offset)
            for position, header in segment.iterate(place.position) if place is not None else ():
                if header.last_offset >= last_offset:
                    break
                replay(state, header, read_marker(segment.file, position, header))
    state.map_end_offset = last_offset
    state.take_snapshot()


def replay(state: ProducerState, header: BatchHeader, marker: EndMarker | None) -> list[AbortedTransaction]:
    """Let a batch of the log take effect on the producers; the transactions that it aborts."""
    if header.producer_id < 0:
        state.map_end_offset = header.next_offset
        return []
    update = state.prepare(AppendOrigin.REPLICATION)
    update.add(header, marker)
    state.apply(update, header.next_offset)
    return update.aborted
