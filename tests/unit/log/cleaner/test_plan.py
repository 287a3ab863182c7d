"""Which part of a log is cleaned, when it is worth it, and which segments are cleaned into one."""

from __future__ import annotations

import pytest

from barnabas.log.cleaner.plan import CleaningPlan, group_segments, plan_cleaning
from barnabas.log.partition_log import PartitionLog
from unit.log.cleaner.logs import append, append_at, end_transaction, make_config, make_disk, open_log


def make_log(segments: int = 3, **config: int) -> PartitionLog:
    """Two records a segment, at the time of its number; the last segment is active and has one."""
    log = open_log(make_disk(), make_config(**config))  # type: ignore[arg-type]
    for number in range(segments):
        append(log, (b"k", b"1"), now_ms=1_000 * (number + 1))
        append(log, (b"k", b"2"), now_ms=1_000 * (number + 1))
        log.roll(0)
    append(log, (b"k", b"3"), now_ms=1_000 * (segments + 1))
    return log


def test_everything_before_the_active_segment_is_dirty_at_first() -> None:
    log = make_log()
    plan = plan_cleaning(log, None, 10_000)
    assert (plan.first_dirty_offset, plan.first_uncleanable_offset) == (0, 6)
    assert plan.clean_bytes == 0
    assert plan.cleanable_bytes == sum(segment.size_bytes for segment in list(log.segments)[:3])
    assert plan.dirty_ratio == 1.0


def test_what_was_cleaned_is_not_dirty_again() -> None:
    log = make_log()
    plan = plan_cleaning(log, 4, 10_000)
    assert (plan.first_dirty_offset, plan.first_uncleanable_offset) == (4, 6)
    assert plan.dirty_ratio == pytest.approx(1 / 3)
    assert plan_cleaning(log, 6, 10_000).dirty_ratio == 0.0


@pytest.mark.parametrize(("last_clean", "start"), [(1, 3), (100, 3)])
def test_a_checkpoint_outside_the_log_is_stale(last_clean: int, start: int) -> None:
    log = make_log()
    log.delete_records_before(start)
    plan = plan_cleaning(log, last_clean, 10_000)
    assert plan.is_checkpoint_stale
    assert plan.first_dirty_offset == start
    assert not plan_cleaning(log, 3, 10_000).is_checkpoint_stale
    assert not plan_cleaning(log, None, 10_000).is_checkpoint_stale


def test_cleaning_stops_before_what_is_not_stable() -> None:
    log = make_log(segments=1)
    log.roll(0)
    append(log, (b"k", b"t"), producer_id=1, epoch=0, sequence=0, is_transactional=True)
    append(log, (b"k", b"4"))
    log.roll(0)
    append(log, (b"k", b"5"))
    log.roll(0)
    assert plan_cleaning(log, None, 0).first_uncleanable_offset == 3
    end_transaction(log, 1, is_commit=True)
    assert plan_cleaning(log, None, 0).first_uncleanable_offset == log.segments.active.base_offset


def test_cleaning_stops_before_the_high_watermark() -> None:
    log = make_log()
    log.update_high_watermark(3)
    assert plan_cleaning(log, None, 0).first_uncleanable_offset == 2


@pytest.mark.parametrize(("now_ms", "stop"), [(2_500, 0), (3_000, 2), (4_500, 4), (6_000, 6)])
def test_records_younger_than_the_minimum_lag_are_not_cleaned(now_ms: int, stop: int) -> None:
    log = make_log(min_compaction_lag_ms=2_000)
    assert plan_cleaning(log, None, now_ms).first_uncleanable_offset == stop


def test_records_older_than_the_maximum_lag_are_overdue() -> None:
    log = make_log(max_compaction_lag_ms=2_000)
    assert not plan_cleaning(log, None, 3_000).is_overdue
    assert plan_cleaning(log, None, 3_001).is_overdue
    assert not plan_cleaning(log, 4, 3_001).is_overdue
    assert not plan_cleaning(make_log(), None, 10**15).is_overdue


@pytest.mark.parametrize(
    ("clean_bytes", "cleanable_bytes", "is_overdue", "is_worthwhile"),
    [(50, 50, False, False), (49, 51, False, True), (99, 1, True, True), (100, 0, True, False), (0, 0, True, False)],
)
def test_a_log_is_cleaned_when_it_is_dirty_enough_or_overdue(
    clean_bytes: int, cleanable_bytes: int, is_overdue: bool, is_worthwhile: bool
) -> None:
    plan = CleaningPlan(0, 10, clean_bytes, cleanable_bytes, is_overdue, False)
    assert plan.is_worthwhile(0.5) is is_worthwhile


def group_bases(log: PartitionLog, *, segment_bytes: int = 10**9, index_bytes: int = 10**9) -> list[list[int]]:
    segments = log.segments.holding(0, log.segments.active.base_offset)
    groups = group_segments(
        segments,
        segment_bytes=segment_bytes,
        index_bytes=index_bytes,
        first_uncleanable_offset=log.segments.active.base_offset,
    )
    return [[segment.base_offset for segment in group] for group in groups]


def test_segments_are_grouped_by_size() -> None:
    log = make_log(segments=4)
    size = log.segments.first.size_bytes
    assert group_bases(log) == [[0, 2, 4, 6]]
    assert group_bases(log, segment_bytes=2 * size) == [[0, 2], [4, 6]]
    assert group_bases(log, segment_bytes=2 * size - 1) == [[0], [2], [4], [6]]
    assert group_bases(log, segment_bytes=1) == [[0], [2], [4], [6]]


def test_segments_are_grouped_by_the_size_of_their_indexes() -> None:
    log = make_log(segments=4)
    size = max(segment.time_index.size_bytes for segment in log.segments.holding(0, 8))
    assert group_bases(log, index_bytes=2 * size) == [[0, 2], [4, 6]]


def test_no_segments_make_no_groups() -> None:
    assert group_segments([], segment_bytes=1, index_bytes=1, first_uncleanable_offset=0) == []


def test_a_group_spans_no_more_offsets_than_an_index_can_tell() -> None:
    log = open_log(make_disk(), make_config())
    for offset in (0, 2**31 - 1, 2**31, 2**32):
        log.roll(0, next_offset=offset)
        append_at(log, offset, (b"k", b"1"))
    log.roll(0)
    assert log.segments.base_offsets[:-1] == [0, 2**31 - 1, 2**31, 2**32]
    assert group_bases(log) == [[0, 2**31 - 1], [2**31], [2**32]]
