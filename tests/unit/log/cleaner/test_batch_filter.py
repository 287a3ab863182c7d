"""What a cleaning leaves of single batches: the rules one by one, on small logs."""

from __future__ import annotations

from barnabas.log.partition_log import PartitionLog
from barnabas.records.batch import BatchHeader
from barnabas.records.compression import Compression
from barnabas.records.record import Record
from barnabas.sim.disk import SimDisk
from builders import make_legacy_message, make_legacy_wrapper
from unit.log.cleaner.logs import (
    append,
    append_at,
    clean_log,
    end_transaction,
    make_config,
    make_disk,
    open_log,
    read_batches,
    read_committed,
    read_records,
    replicate,
)

RETENTION_MS = 1_000


def make_log(disk: SimDisk) -> PartitionLog:
    return open_log(disk, make_config(delete_retention_ms=RETENTION_MS))


def close_segment(log: PartitionLog) -> None:
    """Make what is there cleanable, and the round's last batch one that is not looked at here."""
    append(log, (b"filler", b"%d" % log.log_end_offset))
    log.roll(0)


def batch_at(log: PartitionLog, offset: int) -> tuple[BatchHeader, list[Record]] | None:
    for header, records in read_batches(log):
        if header.base_offset == offset:
            return header, records
    return None


def test_a_batch_that_loses_nothing_is_copied_byte_for_byte() -> None:
    disk = make_disk()
    log = make_log(disk)
    append(log, (b"a", b"1"), (b"b", b"2"), compression=Compression.LZ4)
    close_segment(log)
    before = log.segments.first.file.read_at(0, log.segments.first.size_bytes)
    clean_log(disk, log)
    assert log.segments.first.file.read_at(0, log.segments.first.size_bytes) == before


def test_a_batch_keeps_its_offsets_when_records_go() -> None:
    disk = make_disk()
    log = make_log(disk)
    append(log, (b"a", b"1"), (b"b", b"2"), (b"c", b"3"))
    append(log, (b"a", b"4"), (b"c", b"5"))
    close_segment(log)
    clean_log(disk, log)
    found = batch_at(log, 0)
    assert found is not None
    header, records = found
    assert (header.base_offset, header.last_offset, header.record_count) == (0, 2, 1)
    assert [record.offset for record in records] == [1]


def test_records_without_a_key_go() -> None:
    disk = make_disk()
    log = make_log(disk)
    append_at(log, 0, (None, b"1"), (b"a", b"2"))
    close_segment(log)
    result = clean_log(disk, log)
    assert [record.key for record in read_records(log)] == [b"a", b"filler"]
    assert result.stats.records_without_key == 1


def test_the_first_cleaning_dates_a_tombstone_and_a_later_one_drops_it() -> None:
    disk = make_disk()
    log = make_log(disk)
    append(log, (b"a", b"1"), (b"a", None), (b"b", b"2"), now_ms=5)
    close_segment(log)
    clean_log(disk, log, now_ms=10)
    found = batch_at(log, 0)
    assert found is not None
    assert found[0].delete_horizon_ms == 10 + RETENTION_MS
    assert [(record.key, record.timestamp) for record in found[1]] == [(b"a", 5), (b"b", 5)]

    close_segment(log)
    clean_log(disk, log, now_ms=10 + RETENTION_MS - 1)
    found = batch_at(log, 0)
    assert found is not None
    assert len(found[1]) == 2

    close_segment(log)
    clean_log(disk, log, now_ms=10 + RETENTION_MS)
    found = batch_at(log, 0)
    assert found is not None
    assert [record.key for record in found[1]] == [b"b"]
    assert found[0].delete_horizon_ms == 10 + RETENTION_MS  # It is set once and stays.


def test_aborted_records_go_at_once_and_their_marker_a_cleaning_and_a_while_later() -> None:
    disk = make_disk()
    log = make_log(disk)
    append(log, (b"a", b"1"))
    append(log, (b"a", b"2"), producer_id=1, epoch=0, sequence=0, is_transactional=True)
    end_transaction(log, 1, is_commit=False)
    append(log, (b"b", b"3"), producer_id=1, epoch=0, sequence=1, is_transactional=True)
    end_transaction(log, 1, is_commit=True)
    close_segment(log)
    clean_log(disk, log, now_ms=10)
    assert batch_at(log, 1) is None
    assert [record.value for record in read_committed(log)][:2] == [b"1", b"3"]
    marker = batch_at(log, 2)
    assert marker is not None
    assert not marker[0].has_delete_horizon  # Records of its transaction were still there.

    close_segment(log)
    clean_log(disk, log, now_ms=20)
    marker = batch_at(log, 2)
    assert marker is not None
    assert marker[0].delete_horizon_ms == 20 + RETENTION_MS
    assert log.aborted_transactions(0, log.log_end_offset) == []

    close_segment(log)
    clean_log(disk, log, now_ms=20 + RETENTION_MS)
    assert batch_at(log, 2) is None


def test_the_marker_of_records_that_stay_stays() -> None:
    disk = make_disk()
    log = make_log(disk)
    append(log, (b"a", b"1"), producer_id=1, epoch=0, sequence=0, is_transactional=True)
    end_transaction(log, 1, is_commit=True)
    for now_ms in (10, 20 + RETENTION_MS, 30 + 2 * RETENTION_MS):
        close_segment(log)
        clean_log(disk, log, now_ms=now_ms)
    marker = batch_at(log, 1)
    assert marker is not None
    assert not marker[0].has_delete_horizon


def test_the_last_batch_of_a_producer_stays_without_its_records() -> None:
    disk = make_disk()
    log = make_log(disk)
    append(log, (b"a", b"1"), producer_id=1, epoch=0, sequence=0)
    append(log, (b"a", b"2"), (b"a", b"3"), producer_id=1, epoch=0, sequence=1)
    append(log, (b"a", b"4"))
    close_segment(log)
    clean_log(disk, log)
    assert batch_at(log, 0) is None
    found = batch_at(log, 1)
    assert found is not None
    assert found[1] == []
    assert (found[0].base_sequence, found[0].last_sequence) == (1, 2)
    # When the producer goes on, it is no longer the last.
    append(log, (b"b", b"5"), producer_id=1, epoch=0, sequence=3)
    close_segment(log)
    clean_log(disk, log)
    assert batch_at(log, 1) is None


def test_the_batch_of_a_producer_that_expired_goes() -> None:
    disk = make_disk()
    log = make_log(disk)
    append(log, (b"a", b"1"), producer_id=1, epoch=0, sequence=0)
    append(log, (b"a", b"2"))
    close_segment(log)
    log.remove_expired_producers(25 * 60 * 60 * 1000)
    clean_log(disk, log)
    assert batch_at(log, 0) is None


def test_the_last_marker_of_a_producer_without_data_stays_empty() -> None:
    disk = make_disk()
    log = make_log(disk)
    end_transaction(log, 1, is_commit=False, epoch=4)
    for now_ms in (10, 20 + RETENTION_MS):
        close_segment(log)
        clean_log(disk, log, now_ms=now_ms)
    found = batch_at(log, 0)
    assert found is not None
    assert found[1] == []
    assert found[0].producer_epoch == 4
    assert found[0].is_control


def test_the_last_batch_of_a_round_stays_so_that_no_offset_is_lost() -> None:
    disk = make_disk()
    log = make_log(disk)
    append(log, (b"a", b"1"))
    append_at(log, 1, (None, b"2"))
    log.roll(0)
    clean_log(disk, log)
    found = batch_at(log, 1)
    assert found is not None
    assert found[1] == []
    assert log.segments.first.find_next_offset() == 2


def test_a_batch_larger_than_a_chunk_is_cleaned_whole() -> None:
    disk = make_disk()
    log = make_log(disk)
    append(log, *((b"%d" % index, b"x" * 50) for index in range(40)))
    append(log, *((b"%d" % index, b"y") for index in range(0, 40, 2)))
    close_segment(log)
    clean_log(disk, log, chunk_bytes=70)
    found = batch_at(log, 0)
    assert found is not None
    assert [record.key for record in found[1]] == [b"%d" % index for index in range(1, 40, 2)]


def test_what_does_not_fit_the_map_is_cleaned_in_the_next_round() -> None:
    disk = make_disk()
    log = make_log(disk)
    for index in range(10):
        append(log, (b"%d" % (index % 5), b"%d" % index))
    close_segment(log)
    ends = []
    offset: int | None = None
    for _ in range(20):
        result = clean_log(disk, log, from_offset=offset, keys_max=3)
        if result.end_offset == offset:
            break
        offset = result.end_offset
        ends.append(offset)
    assert len(ends) > 1
    assert [record.value for record in read_records(log)][:5] == [b"5", b"6", b"7", b"8", b"9"]


def test_messages_from_before_batches_are_cleaned_into_batches() -> None:
    disk = make_disk()
    disk.now_ms = 1
    log = make_log(disk)
    replicate(log, make_legacy_message(0, 0, b"a", b"1"))
    replicate(log, make_legacy_message(1, 1, b"b", b"2", timestamp=7))
    inner = [make_legacy_message(0, 1, b"a", b"3", timestamp=8), make_legacy_message(1, 1, b"c", None, timestamp=9)]
    replicate(log, make_legacy_wrapper(3, 1, inner, Compression.GZIP, timestamp=9))
    close_segment(log)
    clean_log(disk, log, now_ms=10)
    batches = read_batches(log)
    assert {header.magic for header, _ in batches} == {2}
    records = [(record.offset, record.timestamp, record.key, record.value) for record in read_records(log)][:3]
    assert records == [(1, 7, b"b", b"2"), (2, 8, b"a", b"3"), (3, 9, b"c", None)]
    found = batch_at(log, 2)
    assert found is not None
    assert found[0].compression is Compression.GZIP
    assert found[0].delete_horizon_ms == 10 + RETENTION_MS


def test_old_tombstones_go_with_the_age_of_the_cleaned_part() -> None:
    disk = make_disk()
    log = make_log(disk)
    replicate(log, make_legacy_message(0, 0, b"a", None))
    log.roll(0)
    disk.now_ms = 2 * RETENTION_MS
    append(log, (b"b", b"1"))
    close_segment(log)
    for segment in log.segments.holding(0, 1):
        assert segment.modified_ms == 0
    # The last clean segment was written long after the one with the tombstone.
    append(log, (b"b", b"2"))
    close_segment(log)
    clean_log(disk, log, from_offset=3)
    assert [record.key for record in read_records(log)] == [b"b", b"filler"]
