"""When a snapshot is due, and which of the old ones may go with the log before them."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from barnabas.metadata.retention import (
    RetentionSettings,
    SnapshotSchedule,
    StoredSegment,
    StoredSnapshot,
    oldest_to_keep,
)

SETTINGS = RetentionSettings(
    max_retention_bytes=1000,
    max_retention_ms=100,
    max_record_bytes_between_snapshots=500,
    max_snapshot_interval_ms=1000,
)
UNLIMITED = replace(SETTINGS, max_retention_bytes=-1, max_retention_ms=-1)
NOW_MS = 10_000


def snapshot(offset: int, size_bytes: int = 100, age_ms: int = 0) -> StoredSnapshot:
    return StoredSnapshot(offset, 1, size_bytes, NOW_MS - age_ms)


def kept(snapshots: list[StoredSnapshot], segments: list[StoredSegment], settings: RetentionSettings) -> int | None:
    oldest = oldest_to_keep(snapshots, segments, settings, NOW_MS)
    return None if oldest is None else oldest.offset


def test_the_defaults_are_kafkas() -> None:
    week_ms = 7 * 24 * 3600 * 1000
    assert RetentionSettings.defaults() == RetentionSettings(
        max_retention_bytes=100 << 20,
        max_retention_ms=week_ms,
        max_record_bytes_between_snapshots=20 << 20,
        max_snapshot_interval_ms=3600 * 1000,
    )


def test_a_snapshot_is_due_when_enough_bytes_were_applied() -> None:
    schedule = SnapshotSchedule(SETTINGS, now_ms=0)
    schedule.mark_applied(499)
    assert schedule.due(0, is_batch_aligned=True) is None
    schedule.mark_applied(1)
    assert schedule.due(0, is_batch_aligned=False) is None
    assert schedule.due(0, is_batch_aligned=True) == "500 bytes of records have been applied since the last one"
    schedule.mark_snapshot(0)
    assert schedule.due(0, is_batch_aligned=True) is None


def test_a_snapshot_is_due_when_enough_time_has_passed_and_something_was_applied() -> None:
    schedule = SnapshotSchedule(SETTINGS, now_ms=50)
    assert schedule.due(5000, is_batch_aligned=True) is None
    schedule.mark_applied(1)
    assert schedule.due(1049, is_batch_aligned=True) is None
    assert schedule.due(1050, is_batch_aligned=True) == "1000 ms have passed since the last one"
    schedule.mark_snapshot(1050)
    schedule.mark_applied(1)
    assert schedule.due(2049, is_batch_aligned=True) is None


def test_an_interval_of_zero_never_asks_for_a_snapshot() -> None:
    schedule = SnapshotSchedule(replace(SETTINGS, max_snapshot_interval_ms=0), now_ms=0)
    schedule.mark_applied(1)
    assert schedule.due(10**9, is_batch_aligned=True) is None


def test_without_snapshots_nothing_can_go() -> None:
    assert kept([], [StoredSegment(0, 5000)], SETTINGS) is None


def test_the_latest_snapshot_stays_however_large_and_old() -> None:
    assert kept([snapshot(5, 5000, age_ms=5000)], [StoredSegment(0, 5000)], SETTINGS) == 5


def test_snapshots_go_with_the_log_before_the_next_until_the_size_fits() -> None:
    snapshots = [snapshot(10), snapshot(20), snapshot(30)]
    segments = [StoredSegment(0, 300), StoredSegment(20, 300), StoredSegment(30, 300)]
    exact = 300 + 900
    assert kept(snapshots, segments, replace(UNLIMITED, max_retention_bytes=exact)) == 10
    # One snapshot and the segment that ends at the next one's offset make 400 bytes.
    assert kept(snapshots, segments, replace(UNLIMITED, max_retention_bytes=exact - 1)) == 20
    assert kept(snapshots, segments, replace(UNLIMITED, max_retention_bytes=exact - 400)) == 20
    assert kept(snapshots, segments, replace(UNLIMITED, max_retention_bytes=exact - 401)) == 30


def test_the_segment_that_is_written_to_is_never_counted_as_gone() -> None:
    snapshots = [snapshot(10), snapshot(20), snapshot(30)]
    only = [StoredSegment(0, 900)]
    assert kept(snapshots, only, replace(UNLIMITED, max_retention_bytes=1100)) == 20
    assert kept(snapshots, only, replace(UNLIMITED, max_retention_bytes=1000)) == 30


def test_snapshots_go_when_they_are_older_than_allowed() -> None:
    snapshots = [snapshot(10, age_ms=101), snapshot(20, age_ms=100), snapshot(30, age_ms=5)]
    assert kept(snapshots, [], replace(UNLIMITED, max_retention_ms=100)) == 20
    assert kept(snapshots, [], replace(UNLIMITED, max_retention_ms=99)) == 30
    assert kept(snapshots, [], UNLIMITED) == 10


SIZES = st.integers(1, 400)


@given(st.lists(SIZES, min_size=1, max_size=6), st.lists(SIZES, min_size=1, max_size=6), st.integers(-1, 2000))
def test_nothing_goes_that_did_not_have_to(sizes: list[int], segment_sizes: list[int], most: int) -> None:
    """Keeping one snapshot more would have broken the limit; keeping this one does not, unless it is the last."""
    snapshots = [snapshot(10 * (index + 1), size) for index, size in enumerate(sizes)]
    segments = [StoredSegment(7 * index, size) for index, size in enumerate(segment_sizes)]

    def total(first: int) -> int:
        start = snapshots[first].offset if first else 0
        ends = [segment.base_offset for segment in segments[1:]] + [10**9]
        log = sum(segment.size_bytes for segment, end in zip(segments, ends, strict=True) if end > start)
        return log + sum(each.size_bytes for each in snapshots[first:])

    offset = kept(snapshots, segments, replace(UNLIMITED, max_retention_bytes=most))
    first = [each.offset for each in snapshots].index(offset or 0)
    assert most < 0 or total(first) <= most or first == len(snapshots) - 1
    if first:
        assert total(first - 1) > most >= 0
