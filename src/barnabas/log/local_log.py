"""The segments of one log as a whole: rolling, cutting, replacing and flushing them.

Renames and removals happen in an order in which a power cut after any of them leaves a log without a gap: from the end
when the log is cut, from the beginning when it is shortened by retention. What was cut off is durably gone before
anything is written in its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from barnabas.log.deleted_files import DeletedFiles, remove_files
from barnabas.log.flush import Flush, Flushable
from barnabas.log.log_config import LogConfig
from barnabas.log.names import DELETED, SWAP
from barnabas.log.recovery import LoadedLog
from barnabas.log.segment import LogSegment
from barnabas.log.whole_change import whole_change
from barnabas.ports.disk import Disk
from barnabas.ports.rng import Rng


class LocalLog:
    def __init__(
        self,
        disk: Disk,
        directory: str,
        config: LogConfig,
        rng: Rng,
        loaded: LoadedLog,
        now_ms: int,
    ) -> None:
        self.directory = directory
        self.config = config
        self.segments = loaded.segments
        self.active = loaded.segments.active
        self.log_end_offset = loaded.log_end_offset
        self.recovery_point = loaded.log_end_offset
        self.flushed_ms = now_ms
        self.deleted_files = DeletedFiles()
        self._disk = disk
        self._rng = rng
        self._has_new_names = True
        # Segments that were rolled since the last flush: their files were cut, maybe below the recovery point.
        self._trimmed: set[LogSegment] = set()
        self._truncations = 0
        self._bound: tuple[int, LogSegment, int] | None = None

    def place_of(self, offset: int) -> tuple[LogSegment, int]:
        """The segment and position up to which a reader may read whose bound is `offset`."""
        if offset >= self.log_end_offset:
            return self.active, self.active.size_bytes
        if self._bound is None or self._bound[0] != offset:
            segment = self.segments.floor(offset) or self.segments.first
            place = segment.find(offset)
            self._bound = (offset, segment, segment.size_bytes if place is None else place.position)
        return self._bound[1], self._bound[2]

    # Rolling

    def roll(self, next_offset: int, now_ms: int) -> LogSegment:
        """Begin a segment at `next_offset`, or at the log's end if that is further on."""
        base_offset = max(next_offset, self.log_end_offset)
        active = self.active
        if base_offset == active.base_offset and not active.size_bytes:
            return active
        segment = self._create(base_offset, now_ms)
        try:
            active.become_inactive()
        except OSError:
            segment.delete()
            raise
        self.segments.add(segment)
        self.active = segment
        self._trimmed.add(active)
        self._has_new_names = True
        return segment

    def _create(self, base_offset: int, now_ms: int) -> LogSegment:
        return LogSegment.create(
            self._disk,
            self.directory,
            base_offset,
            self.config,
            now_ms=now_ms,
            roll_jitter_ms=self.config.draw_jitter_ms(self._rng),
        )

    def flush_names(self) -> None:
        """Make all changes of names durable now."""
        self._disk.flush_directory(self.directory)
        self._has_new_names = False

    # Cutting

    def truncate_to(self, offset: int, now_ms: int) -> list[LogSegment]:
        """Drop every batch that holds `offset` or a later one; the segments that went with them."""
        dropped = [segment for segment in self.segments if segment.base_offset > offset]
        self.remove(reversed(dropped), now_ms)
        if dropped:
            self._disk.flush_directory(self.directory)
        self.active = self.segments.active
        self.active.truncate_to(offset, now_ms)
        self.active.file.flush()
        self._cut_at(offset)
        return dropped

    def truncate_fully_and_start_at(self, offset: int, now_ms: int) -> list[LogSegment]:
        """Drop everything and go on at `offset`; the segments that went."""
        dropped = list(self.segments)
        self.remove(reversed(dropped), now_ms)
        self.active = self._create(offset, now_ms)
        self.segments.add(self.active)
        self._disk.flush_directory(self.directory)
        self._cut_at(offset)
        return dropped

    def _cut_at(self, offset: int) -> None:
        self.log_end_offset = offset
        self.recovery_point = min(self.recovery_point, offset)
        self._truncations += 1
        self._bound = None

    @whole_change()
    def remove(self, segments: Iterable[LogSegment], now_ms: int) -> None:
        """Take segments out of the log, one after the other; their files go when the delay is over."""
        for segment in segments:
            self.segments.remove(segment)
            self._trimmed.discard(segment)
            self.deleted_files.add(segment, now_ms + self.config.file_delete_delay_ms)
            segment.rename_suffix(DELETED)
        self._bound = None

    @whole_change()
    def replace(self, replacements: Sequence[LogSegment], originals: Sequence[LogSegment], now_ms: int) -> None:
        """Let flushed `.cleaned` segments take the place of those they were made from.

        Once all are `.swap` the replacement is decided: opening the log finishes it. So where this fails, the files of
        `replacements` are let go and stay where they are.
        """
        try:
            for segment in reversed(replacements):
                segment.rename_suffix(SWAP)
            self.remove(originals, now_ms)
            for segment in replacements:
                self.segments.add(segment)
                segment.rename_suffix("")
            self._disk.flush_directory(self.directory)
        except OSError:
            for segment in replacements:
                segment.release()
            raise

    # Flushing

    def prepare_flush(self, offset: int | None, snapshots: list[str]) -> Flush | None:
        """What makes everything below `offset` (the log's end where None) durable; None where everything is."""
        if offset is None:
            segments, offset = self.segments.holding(self.recovery_point), self.log_end_offset
        elif offset > self.recovery_point:
            segments = self.segments.holding(self.recovery_point, offset)
        else:
            return None
        segments = sorted(self._trimmed.union(segments), key=lambda segment: segment.base_offset)
        self._trimmed.clear()
        files: list[Flushable] = [file for segment in segments for file in segment.files_to_flush()]
        directory = self.directory if self._has_new_names else None
        self._has_new_names = False
        return Flush(offset, self._truncations, self._disk, snapshots, files, directory)

    def mark_flushed(self, flush: Flush, now_ms: int) -> None:
        """Note that a flush has run. One that a truncation has overtaken says nothing about what was written since."""
        if flush.truncations == self._truncations and flush.offset > self.recovery_point:
            self.recovery_point = flush.offset
            self.flushed_ms = now_ms

    # The end

    def remove_deleted(self, now_ms: int) -> None:
        remove_files(self._disk, self.deleted_files.take_due(now_ms))

    def close(self) -> None:
        """Let go of all files after everything was flushed; the active indexes are cut to their entries."""
        for segment in self.segments:
            segment.close()
        self.deleted_files.release()
        self._disk.flush_directory(self.directory)

    def release(self) -> None:
        """Let go of all files as they are, after a failure of the disk."""
        for segment in self.segments:
            segment.release()
        self.deleted_files.release()

    def move_to(self, directory: str) -> None:
        """Rename the directory."""
        self._disk.rename(self.directory, directory)
        self.directory = directory
        self._has_new_names = True  # A flush under way looks for them under the old name.
        for segment in self.segments:
            segment.move_to(directory)
        self.deleted_files.move_to(directory)

    def delete(self) -> None:
        """Remove the directory and all that is in it."""
        self.release()
        for name in self._disk.names(self.directory):
            self._disk.remove(f"{self.directory}/{name}")
        self._disk.remove_directory(self.directory)
