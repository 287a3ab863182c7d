"""When to make a snapshot, and which old snapshots and how much log to delete: decisions only.

The log before a snapshot goes when the snapshot before it goes, so that from what is left every image can be made
again. The latest snapshot always stays; the limits are therefore soft.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from barnabas.config.metadata import METADATA_LOG_SETTINGS
from barnabas.config.setting import Value, parse_settings


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionSettings:
    """How much is kept, for how long (negative: without limit), and how often snapshots are made."""

    max_retention_bytes: int
    max_retention_ms: int
    max_record_bytes_between_snapshots: int
    max_snapshot_interval_ms: int

    @classmethod
    def of(cls, values: Mapping[str, Value]) -> RetentionSettings:
        """Pick these settings out of parsed ones."""

        def number(name: str) -> int:
            value = values[name]
            assert isinstance(value, int)
            return value

        return cls(
            max_retention_bytes=number("metadata.max.retention.bytes"),
            max_retention_ms=number("metadata.max.retention.ms"),
            max_record_bytes_between_snapshots=number("metadata.log.max.record.bytes.between.snapshots"),
            max_snapshot_interval_ms=number("metadata.log.max.snapshot.interval.ms"),
        )

    @classmethod
    def defaults(cls) -> RetentionSettings:
        return cls.of(parse_settings(METADATA_LOG_SETTINGS, {}))


class SnapshotSchedule:
    """Counts what has been applied since the last snapshot, made or loaded, and says when the next one is due."""

    def __init__(self, settings: RetentionSettings, now_ms: int) -> None:
        self._settings = settings
        self._applied_bytes = 0
        self._last_snapshot_ms = now_ms

    def mark_snapshot(self, now_ms: int) -> None:
        """A snapshot was begun or loaded."""
        self._applied_bytes = 0
        self._last_snapshot_ms = now_ms

    def mark_applied(self, size_bytes: int) -> None:
        self._applied_bytes += size_bytes

    def due(self, now_ms: int, *, is_batch_aligned: bool) -> str | None:
        """Why a snapshot of the image just published should be made, or None."""
        settings = self._settings
        if not is_batch_aligned:
            return None
        if self._applied_bytes >= settings.max_record_bytes_between_snapshots:
            return f"{self._applied_bytes} bytes of records have been applied since the last one"
        elapsed_ms = now_ms - self._last_snapshot_ms
        if 0 < settings.max_snapshot_interval_ms <= elapsed_ms and self._applied_bytes:
            return f"{elapsed_ms} ms have passed since the last one"
        return None


class StoredSnapshot(NamedTuple):
    """A snapshot file. `last_contained_log_time_ms` is from its header."""

    offset: int
    epoch: int
    size_bytes: int
    last_contained_log_time_ms: int


class StoredSegment(NamedTuple):
    """A file of the metadata log."""

    base_offset: int
    size_bytes: int


def oldest_to_keep(
    snapshots: Sequence[StoredSnapshot], segments: Sequence[StoredSegment], settings: RetentionSettings, now_ms: int
) -> StoredSnapshot | None:
    """The snapshot at which the log may start: those before it go, and the segments that end before its offset.

    Both sequences are ordered, the oldest first. None without snapshots: then all of the log is needed.
    """
    if not snapshots:
        return None
    first = _first_within_bytes(snapshots, segments, settings.max_retention_bytes)
    return snapshots[_first_within_time(snapshots, first, settings.max_retention_ms, now_ms)]


def _first_within_bytes(snapshots: Sequence[StoredSnapshot], segments: Sequence[StoredSegment], most_bytes: int) -> int:
    first = 0
    if most_bytes < 0:
        return first
    size_bytes = sum(each.size_bytes for each in snapshots) + sum(each.size_bytes for each in segments)
    kept = list(segments)
    while first < len(snapshots) - 1 and size_bytes > most_bytes:
        size_bytes -= snapshots[first].size_bytes
        first += 1
        # A segment ends where the next one begins; the last one, which is written to, stays.
        while len(kept) > 1 and kept[1].base_offset <= snapshots[first].offset:
            size_bytes -= kept.pop(0).size_bytes
    return first


def _first_within_time(snapshots: Sequence[StoredSnapshot], first: int, most_ms: int, now_ms: int) -> int:
    if most_ms < 0:
        return first
    while first < len(snapshots) - 1 and now_ms - snapshots[first].last_contained_log_time_ms > most_ms:
        first += 1
    return first
