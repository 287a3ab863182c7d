"""Reading: regions and their bounds, special timestamps, transactions, and what retention and deletion leave."""

from __future__ import annotations

from random import Random

import pytest

from barnabas.log.log_config import LogConfig
from barnabas.log.partition_log import PartitionLog
from barnabas.log.producer_entry import AppendOrigin
from barnabas.log.read import Isolation, OffsetSpec, TimestampedOffset
from barnabas.protocol.errors import OffsetOutOfRange
from barnabas.records.build import build_batch
from barnabas.records.control import EndTransactionMarker, build_end_transaction_marker
from barnabas.sim.disk import SimDisk
from builders import TIMESTAMP, make_batch, make_records

NOW = TIMESTAMP + 1_000
SIZE = len(make_batch())


def open_log(disk: SimDisk | None = None, **settings: object) -> PartitionLog:
    config = LogConfig(segment_index_bytes=1_000, **settings)  # type: ignore[arg-type]
    return PartitionLog(disk or SimDisk(), "/t-0", config, rng=Random(0), now_ms=NOW)


def fill(log: PartitionLog, batches: int) -> None:
    for _ in range(batches):
        log.append_as_leader(make_batch(), 0, NOW)


def size_read(log: PartitionLog, offset: int, max_bytes: int = 10_000, **options: object) -> int:
    return log.read(offset, max_bytes, **options).region.size_bytes  # type: ignore[arg-type]


def test_consumers_see_nothing_between_the_high_watermark_and_the_end() -> None:
    log = open_log()
    fill(log, 4)
    log.increment_high_watermark(2)
    assert size_read(log, 0) == 2 * SIZE
    assert [size_read(log, offset) for offset in (2, 3, 4)] == [0, 0, 0]
    assert [size_read(log, offset, isolation=Isolation.LOG_END) for offset in (0, 2, 4)] == [4 * SIZE, 2 * SIZE, 0]
    with pytest.raises(OffsetOutOfRange):
        log.read(5, 100)


def test_a_region_ends_at_the_limit_and_the_first_batch_is_whole() -> None:
    log = open_log()
    fill(log, 4)
    log.update_high_watermark(4)
    assert size_read(log, 1, 2 * SIZE) == 2 * SIZE
    assert size_read(log, 1, SIZE + 1) == SIZE + 1
    assert size_read(log, 1, 1) == SIZE
    read = log.read(1, 1, min_one_batch=False)
    assert (read.region.size_bytes, read.is_first_batch_cut) == (1, True)
    assert not log.read(1, SIZE, min_one_batch=False).is_first_batch_cut
    assert size_read(log, 1, 0, min_one_batch=False) == 0


def test_the_high_watermark_stays_within_the_log() -> None:
    log = open_log()
    fill(log, 4)
    assert log.update_high_watermark(9) == 4
    log.delete_records_before(2)
    assert log.update_high_watermark(1) == 2
    assert not log.increment_high_watermark(2)
    assert log.increment_high_watermark(3)
    with pytest.raises(AssertionError):
        log.increment_high_watermark(5)


def test_special_timestamps_are_answered_as_without_tiered_storage() -> None:
    log = open_log()
    assert log.offset_for_timestamp(OffsetSpec.LATEST) == TimestampedOffset(-1, 0, None)
    assert log.offset_for_timestamp(OffsetSpec.MAX_TIMESTAMP) is None
    log.append_as_leader(make_batch(2), 3, NOW)
    log.append_as_leader(make_batch(1, timestamp=TIMESTAMP + 50), 4, NOW)
    log.append_as_leader(make_batch(2, timestamp=TIMESTAMP - 50), 4, NOW)
    log.update_high_watermark(5)
    log.delete_records_before(1)
    assert log.offset_for_timestamp(OffsetSpec.LATEST) == TimestampedOffset(-1, 5, 4)
    assert log.offset_for_timestamp(OffsetSpec.EARLIEST) == TimestampedOffset(-1, 1, 3)
    assert log.offset_for_timestamp(OffsetSpec.EARLIEST_LOCAL) == TimestampedOffset(-1, 1, 3)
    assert log.offset_for_timestamp(OffsetSpec.MAX_TIMESTAMP) == TimestampedOffset(TIMESTAMP + 50, 2, 4)
    assert log.offset_for_timestamp(OffsetSpec.LATEST_TIERED) == TimestampedOffset(-1, -1, -1)
    assert log.offset_for_timestamp(OffsetSpec.EARLIEST_PENDING_UPLOAD) == TimestampedOffset(-1, -1, -1)
    assert log.offset_for_timestamp(TIMESTAMP) == TimestampedOffset(TIMESTAMP + 1, 1, 3)
    assert log.offset_for_timestamp(TIMESTAMP + 51) is None


def test_epochs_end_where_the_next_one_begins() -> None:
    log = open_log()
    log.append_as_leader(make_batch(2), 3, NOW)
    log.append_as_leader(make_batch(2), 5, NOW)
    assert log.end_offset_for_epoch(3) == (3, 2)
    assert log.end_offset_for_epoch(4) == (3, 2)
    assert log.end_offset_for_epoch(5) == (5, 4)
    assert log.end_offset_for_epoch(6) is None


def write_transaction(log: PartitionLog, producer_id: int, sequence: int) -> None:
    batch = build_batch(
        make_records(1), producer_id=producer_id, producer_epoch=0, base_sequence=sequence, is_transactional=True
    )
    log.append_as_leader(batch, 0, NOW)


def end_transaction(log: PartitionLog, producer_id: int, *, is_commit: bool) -> None:
    marker = EndTransactionMarker(is_commit, coordinator_epoch=0)
    batch = build_end_transaction_marker(marker, producer_id=producer_id, producer_epoch=0, timestamp=NOW)
    log.append_as_leader(batch, 0, NOW, origin=AppendOrigin.COORDINATOR, transaction_version=1)


def test_the_last_stable_offset_waits_for_open_transactions_and_for_their_replication() -> None:
    log = open_log()
    fill(log, 1)
    write_transaction(log, 1, 0)
    write_transaction(log, 2, 0)
    log.update_high_watermark(3)
    assert (log.first_unstable_offset, log.last_stable_offset) == (1, 1)
    assert size_read(log, 0, isolation=Isolation.COMMITTED) == SIZE
    assert size_read(log, 1, isolation=Isolation.COMMITTED) == 0
    end_transaction(log, 1, is_commit=True)
    assert log.last_stable_offset == 1  # The marker is not replicated.
    log.update_high_watermark(4)
    assert log.last_stable_offset == 2
    end_transaction(log, 2, is_commit=False)
    log.update_high_watermark(5)
    assert (log.first_unstable_offset, log.last_stable_offset) == (None, 5)


@pytest.mark.parametrize("segment_bytes", [10_000, 2 * SIZE])
def test_aborted_transactions_come_with_what_they_touch(segment_bytes: int) -> None:
    log = open_log(segment_bytes=segment_bytes, index_interval_bytes=0)
    write_transaction(log, 1, 0)  # 0
    write_transaction(log, 2, 0)  # 1
    end_transaction(log, 1, is_commit=False)  # 2
    write_transaction(log, 1, 1)  # 3
    end_transaction(log, 2, is_commit=False)  # 4
    end_transaction(log, 1, is_commit=True)  # 5
    log.update_high_watermark(6)
    read = log.read(0, 1, isolation=Isolation.COMMITTED)
    assert read.aborted is not None
    assert {(t.producer_id, t.first_offset, t.last_offset) for t in read.aborted} >= {(1, 0, 2)}
    aborted = log.aborted_transactions(0, 6)
    assert [(t.producer_id, t.first_offset, t.last_offset) for t in aborted] == [(1, 0, 2), (2, 1, 4)]
    assert [t.producer_id for t in log.aborted_transactions(3, 6)] == [2]
    assert log.aborted_transactions(5, 6) == []
    assert log.read(0, 1).aborted is None


def test_truncating_takes_back_transactions_and_sequences() -> None:
    log = open_log()
    write_transaction(log, 1, 0)
    end_transaction(log, 1, is_commit=False)
    write_transaction(log, 1, 1)
    log.truncate_to(1, NOW)
    assert log.aborted_transactions(0, 9) == []
    assert dict(log.producer_state.ongoing) == {0: 1}
    assert log.producer_state.producers[1].last_sequence == 0
    write_transaction(log, 1, 1)


def test_records_are_deleted_up_to_the_high_watermark_and_their_segments_follow() -> None:
    disk = SimDisk()
    log = open_log(disk, segment_bytes=2 * SIZE, file_delete_delay_ms=100)
    fill(log, 5)
    log.update_high_watermark(4)
    with pytest.raises(OffsetOutOfRange):
        log.delete_records_before(5)
    assert log.delete_records_before(3)
    assert not log.delete_records_before(2)
    with pytest.raises(OffsetOutOfRange):
        log.read(2, 100)
    assert size_read(log, 3) == SIZE
    assert log.delete_old_segments(NOW) == 1
    assert log.segments.base_offsets == [2, 4]
    assert "00000000000000000000.log.deleted" in disk.names("/t-0")
    assert log.deletion_due_ms == NOW + 100
    log.remove_deleted(NOW + 99)
    assert "00000000000000000000.log.deleted" in disk.names("/t-0")
    log.remove_deleted(NOW + 100)
    assert not any(name.endswith(".deleted") for name in disk.names("/t-0"))
    assert log.deletion_due_ms is None


def test_a_region_outlives_its_segment_until_the_delay_is_over() -> None:
    log = open_log(segment_bytes=2 * SIZE)
    fill(log, 4)
    log.update_high_watermark(4)
    region = log.read(0, 10_000).region
    before = region.bytes()
    log.delete_records_before(4)
    log.delete_old_segments(NOW)
    assert region.bytes() == before


def test_retention_by_size_keeps_at_least_the_bytes_it_names() -> None:
    for retained in range(8):
        log = open_log(segment_bytes=2 * SIZE, retention_bytes=retained * SIZE, retention_ms=-1)
        fill(log, 7)
        log.update_high_watermark(7)
        log.delete_old_segments(NOW)
        kept = log.size_bytes // SIZE
        assert kept == next(size for size in (0, 1, 3, 5, 7) if size >= retained)
        assert log.log_start_offset == 7 - kept


def test_retention_by_time_goes_by_the_newest_record_of_a_segment() -> None:
    log = open_log(segment_bytes=2 * SIZE, retention_ms=500)
    for age in (900, 100, 900, 800, 900):
        log.append_as_leader(make_batch(timestamp=NOW - age), 0, NOW)
    log.update_high_watermark(5)
    assert log.delete_old_segments(NOW) == 0
    assert log.delete_old_segments(NOW + 400) == 0
    assert log.delete_old_segments(NOW + 401) == 3
    assert (log.log_start_offset, log.log_end_offset, log.segments.base_offsets) == (5, 5, [5])
    fill(log, 1)
    assert log.log_end_offset == 6


def test_nothing_above_the_high_watermark_is_retired() -> None:
    log = open_log(segment_bytes=2 * SIZE, retention_ms=0)
    fill(log, 5)
    log.update_high_watermark(3)
    assert log.delete_old_segments(NOW + 10_000) == 1
    assert log.log_start_offset == 2


def test_a_compacted_log_is_not_retired_by_age() -> None:
    log = open_log(segment_bytes=2 * SIZE, retention_ms=0, cleanup_policy=frozenset({"compact"}))
    fill(log, 5)
    log.update_high_watermark(5)
    assert log.delete_old_segments(NOW + 10_000) == 0
    log.delete_records_before(4)
    assert log.delete_old_segments(NOW) == 2


def test_flushing_is_due_by_count_and_by_time() -> None:
    log = open_log(flush_messages=3, flush_ms=1_000)
    assert log.flush_due_offset(NOW + 5_000) is None
    fill(log, 2)
    assert log.flush_due_offset(NOW + 999) is None
    assert log.flush_due_offset(NOW + 1_000) == 2
    fill(log, 1)
    assert log.flush_due_offset(NOW) == 3
    log.flush(NOW + 100)
    assert (log.recovery_point, log.flush_due_offset(NOW + 1_099)) == (3, None)


def test_what_was_rolled_is_due_for_a_flush_whatever_the_settings() -> None:
    log = open_log()
    fill(log, 2)
    assert log.flush_due_offset(NOW) is None
    log.roll(NOW)
    fill(log, 1)
    assert log.flush_due_offset(NOW) == 2
    flush = log.prepare_flush(2)
    assert flush is not None
    flush.run()
    log.mark_flushed(flush, NOW)
    assert (log.recovery_point, log.flush_due_offset(NOW)) == (2, None)


def test_a_flush_up_to_an_offset_covers_the_segments_before_it() -> None:
    log = open_log(segment_bytes=2 * SIZE)
    fill(log, 5)
    flush = log.prepare_flush(4)
    assert flush is not None
    flush.run()
    log.mark_flushed(flush, NOW)
    assert log.recovery_point == 4
    assert log.prepare_flush(4) is None


def test_a_flush_that_a_truncation_overtook_promises_nothing() -> None:
    log = open_log()
    fill(log, 4)
    flush = log.prepare_flush()
    assert flush is not None
    log.truncate_to(2, NOW)
    fill(log, 3)
    flush.run()
    log.mark_flushed(flush, NOW)
    assert log.recovery_point == 0


def test_a_log_can_be_moved_and_deleted() -> None:
    disk = SimDisk()
    log = open_log(disk, segment_bytes=2 * SIZE)
    fill(log, 5)
    log.update_high_watermark(4)
    log.delete_records_before(2)
    log.delete_old_segments(NOW)
    log.move_to("/t-0.abc-delete")
    fill(log, 5)
    log.remove_deleted(NOW + 10**9)
    assert log.directory == "/t-0.abc-delete"
    assert size_read(log, 2, isolation=Isolation.LOG_END) == 2 * SIZE
    log.delete()
    assert disk.names("/") == []
