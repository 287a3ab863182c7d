"""Appending: what a leader checks and changes, what a follower takes as it is, and what a failing disk leaves."""

from __future__ import annotations

import errno
from collections.abc import Callable
from dataclasses import replace
from random import Random
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from barnabas.log import append
from barnabas.log.append import OffsetsOutOfOrderError, UnexpectedAppendOffsetError
from barnabas.log.log_config import SEGMENT_BYTES_MIN, LogConfig
from barnabas.log.partition_log import PartitionLog
from barnabas.log.producer_entry import AppendOrigin
from barnabas.protocol.errors import (
    ApiError,
    CorruptMessage,
    InvalidRecord,
    InvalidTimestamp,
    KafkaStorageError,
    OutOfOrderSequenceNumber,
    RecordBatchTooLarge,
    RecordTooLarge,
)
from barnabas.records.batch import TimestampType, read_header, stamp_append_time, validate
from barnabas.records.build import build_batch
from barnabas.records.compression import Compression
from barnabas.records.control import EndTransactionMarker, build_end_transaction_marker
from barnabas.records.record import Record, iterate_records
from barnabas.sim.disk import SimDisk
from builders import TIMESTAMP, make_batch, make_legacy_message, make_records
from log_checks import check_log, stored_batches

NOW = TIMESTAMP + 1_000


def open_log(disk: SimDisk | None = None, **settings: object) -> PartitionLog:
    config = LogConfig(segment_index_bytes=1_000, **settings)  # type: ignore[arg-type]
    return PartitionLog(disk or SimDisk(), "/t-0", config, rng=Random(0), now_ms=NOW)


def idempotent(sequence: int, count: int = 2, *, producer_id: int = 7, epoch: int = 0) -> bytearray:
    return build_batch(make_records(count), producer_id=producer_id, producer_epoch=epoch, base_sequence=sequence)


def test_a_batch_gets_offsets_and_epoch_and_keeps_its_other_bytes() -> None:
    log = open_log()
    log.append_as_leader(make_batch(3), 4, NOW)
    batch = make_batch(2)
    info = log.append_as_leader(batch, 5, NOW)
    assert (info.first_offset, info.last_offset, info.max_timestamp) == (3, 4, TIMESTAMP + 1)
    assert (info.log_append_time_ms, info.log_start_offset, info.is_duplicate) == (-1, 0, False)
    stored = stored_batches(log)[1]
    assert (stored.header.base_offset, stored.header.leader_epoch) == (3, 5)
    assert stored.data[16:] == make_batch(2)[16:]
    assert log.leader_epochs.entries() == [(4, 0), (5, 3)]


@pytest.mark.parametrize("as_buffer", [bytes, bytearray, memoryview, lambda data: memoryview(bytes(data))])
def test_any_kind_of_buffer_is_written_alike(as_buffer: Callable[[bytearray], bytes]) -> None:
    log = open_log()
    log.append_as_leader(make_batch(1), 0, NOW)
    log.append_as_leader(as_buffer(make_batch(2)), 0, NOW)
    assert [batch.header.base_offset for batch in stored_batches(log)] == [0, 1]


def test_read_only_bytes_are_not_changed() -> None:
    data = bytes(make_batch(2))
    log = open_log()
    log.append_as_leader(make_batch(1), 0, NOW)
    log.append_as_leader(data, 0, NOW)
    assert data == bytes(make_batch(2))


def test_log_append_time_replaces_the_producers_timestamps() -> None:
    log = open_log(message_timestamp_type="LogAppendTime")
    info = log.append_as_leader(bytes(make_batch(2)), 0, NOW)
    assert (info.max_timestamp, info.log_append_time_ms) == (NOW, NOW)
    header, data = stored_batches(log)[0]
    assert header.timestamp_type is TimestampType.LOG_APPEND_TIME
    assert [record.timestamp for record in iterate_records(data, 0, header)] == [NOW, NOW]


def test_a_topic_of_create_times_calls_a_producers_append_time_so() -> None:
    batch = make_batch(2)
    stamp_append_time(batch, 0, NOW - 5)
    log = open_log()
    log.append_as_leader(bytes(batch), 0, NOW)
    header, data = stored_batches(log)[0]
    assert (header.timestamp_type, header.max_timestamp) == (TimestampType.CREATE_TIME, NOW - 5)
    assert validate(data) == header


def test_timestamps_outside_the_bounds_are_refused() -> None:
    log = open_log(message_timestamp_before_max_ms=500)
    with pytest.raises(InvalidTimestamp):
        log.append_as_leader(make_batch(), 0, NOW)
    with pytest.raises(InvalidTimestamp):
        log.append_as_leader(make_batch(timestamp=NOW + 3_600_001), 0, NOW)
    log.append_as_leader(make_batch(timestamp=NOW), 0, NOW)


def test_a_compacted_topic_refuses_records_without_a_key() -> None:
    batch = build_batch([Record(0, TIMESTAMP, None, b"v")])
    with pytest.raises(InvalidRecord) as raised:
        open_log(cleanup_policy=frozenset({"compact"})).append_as_leader(batch, 0, NOW)
    assert raised.value.record_errors[0].batch_index == 0  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("setting", "codec"),
    [
        ("gzip", Compression.GZIP),
        ("zstd", Compression.ZSTD),
        ("lz4", Compression.LZ4),
        ("uncompressed", Compression.NONE),
    ],
)
def test_the_topics_codec_wins_over_the_producers(setting: str, codec: Compression) -> None:
    log = open_log(compression_type=setting)
    log.append_as_leader(make_batch(3, value_bytes=100), 0, NOW)
    log.append_as_leader(build_batch(make_records(3), compression=Compression.SNAPPY), 0, NOW)
    for header, data in stored_batches(log):
        assert header.compression is codec
        assert [record.key for record in iterate_records(data, 0, header)] == [b"k0", b"k1", b"k2"]
    assert [batch.header.base_offset for batch in stored_batches(log)] == [0, 3]


def test_the_producers_codec_stays_by_default() -> None:
    log = open_log()
    log.append_as_leader(build_batch(make_records(3), compression=Compression.LZ4), 0, NOW)
    assert stored_batches(log)[0].header.compression is Compression.LZ4


def test_gaps_between_a_batchs_offsets_are_closed() -> None:
    data = build_batch(make_records(1) + make_records(1, base_offset=1))
    records = build_batch([Record(0, TIMESTAMP, b"a", b"1"), Record(3, TIMESTAMP, b"b", b"2")], last_offset=1)
    log = open_log()
    log.append_as_leader(data, 0, NOW)
    log.append_as_leader(records, 0, NOW)
    header, batch = stored_batches(log)[1]
    assert [record.offset for record in iterate_records(batch, 0, header)] == [2, 3]


def test_sizes_are_limited_by_topic_and_segment() -> None:
    log = open_log(max_message_bytes=200)
    with pytest.raises(RecordTooLarge):
        log.append_as_leader(make_batch(value_bytes=200), 0, NOW)
    exact = make_batch(value_bytes=200)
    open_log(max_message_bytes=len(exact), segment_bytes=len(exact)).append_as_leader(exact, 0, NOW)
    log = open_log(max_message_bytes=2 * SEGMENT_BYTES_MIN, segment_bytes=150)
    with pytest.raises(RecordBatchTooLarge):
        log.append_as_leader(make_batch(value_bytes=SEGMENT_BYTES_MIN), 0, NOW)
    assert log.log_end_offset == 0


def test_a_batch_that_is_larger_than_small_segments_is_one_by_itself() -> None:
    log = open_log(segment_bytes=150)
    for value_bytes in (10, 1_000, 1_000, 10, 10):
        log.append_as_leader(make_batch(value_bytes=value_bytes), 0, NOW)
    assert [segment.base_offset for segment in log.segments] == [0, 1, 2, 3, 4]


def test_what_a_client_must_not_send_is_refused() -> None:
    log = open_log()
    damaged = make_batch()
    damaged[-1] ^= 1
    with pytest.raises(CorruptMessage):
        log.append_as_leader(damaged, 0, NOW)
    with pytest.raises(InvalidRecord):
        log.append_as_leader(make_batch() + make_batch(), 0, NOW)
    with pytest.raises(InvalidRecord):
        log.append_as_leader(make_batch(base_offset=1), 0, NOW)
    with pytest.raises(InvalidRecord):
        log.append_as_leader(make_legacy_message(0, 1, b"k", b"v" * 60, timestamp=TIMESTAMP), 0, NOW)
    marker = EndTransactionMarker(is_commit=True, coordinator_epoch=0)
    control = build_end_transaction_marker(marker, producer_id=1, producer_epoch=0, timestamp=NOW)
    with pytest.raises(InvalidRecord):
        log.append_as_leader(control, 0, NOW)
    assert log.log_end_offset == log.size_bytes == 0


def test_a_cut_off_second_batch_is_dropped() -> None:
    log = open_log()
    log.append_as_leader(make_batch() + make_batch()[:40], 0, NOW)
    assert log.size_bytes == len(make_batch())


def test_a_batch_sent_again_is_answered_with_its_first_offsets() -> None:
    log = open_log()
    for sequence in range(0, 12, 2):
        log.append_as_leader(idempotent(sequence), 0, NOW)
    end, size = log.log_end_offset, log.size_bytes
    info = log.append_as_leader(idempotent(2), 0, NOW)
    assert (info.is_duplicate, info.first_offset, info.last_offset) == (True, 2, 3)
    with pytest.raises(OutOfOrderSequenceNumber):
        log.append_as_leader(idempotent(0), 0, NOW)  # Older than the five that are remembered.
    with pytest.raises(OutOfOrderSequenceNumber):
        log.append_as_leader(idempotent(14), 0, NOW)
    assert (log.log_end_offset, log.size_bytes) == (end, size)


ODDITIES = ["", "negative", "none", "old", "future", "gaps", "no key", "offset", "compressed", "append time"]
ODDITIES += ["no sequence", "control", "thinned", "tail"]


@st.composite
def nearly_usual_batches(draw: st.DrawFn) -> bytearray:
    """Batches that most topics take as they are, but for one oddity."""
    count = draw(st.integers(1, 3))
    odd = draw(st.sampled_from(ODDITIES))
    timestamp = {"negative": -5, "none": -1, "old": NOW - 501, "future": NOW + 3_600_001}.get(odd, NOW - 500)
    step = 2 if odd == "gaps" else 1
    records = [Record(i * step, timestamp, None if odd == "no key" else b"k", b"v") for i in range(count)]
    batch = build_batch(
        records,
        base_offset=-1 if odd == "offset" else 0,
        compression=Compression.LZ4 if odd == "compressed" else Compression.NONE,
        timestamp_type=TimestampType.LOG_APPEND_TIME if odd == "append time" else TimestampType.CREATE_TIME,
        append_time_ms=timestamp,
        producer_id=7 if odd == "no sequence" or draw(st.booleans()) else -1,
        base_sequence=-1 if odd == "no sequence" else 0,
        is_transactional=draw(st.booleans()),
        is_control=odd == "control",
        last_offset=count if odd == "thinned" else None,
    )
    return batch + bytes(20 if odd == "tail" else 0)


configs = st.builds(
    LogConfig,
    message_timestamp_before_max_ms=st.sampled_from([500, 2**63 - 1]),
    cleanup_policy=st.sampled_from([frozenset({"delete"}), frozenset({"compact"})]),
)


@settings(max_examples=300)
@given(nearly_usual_batches(), configs, st.sampled_from([AppendOrigin.CLIENT, AppendOrigin.COORDINATOR]))
def test_the_short_way_through_the_checks_decides_as_the_long_one(
    batch: bytearray, config: LogConfig, origin: AppendOrigin
) -> None:
    def outcome() -> object:
        try:
            data, header = append.check_leader_batch(bytes(batch), config, origin, NOW)
        except ApiError as error:
            return type(error)
        return bytes(data), header

    short = outcome()
    with mock.patch.object(append, "plain_header", return_value=None):
        assert outcome() == short


def test_followers_take_chunks_as_they_are() -> None:
    leader, follower = open_log(), open_log()
    for _ in range(3):
        leader.append_as_leader(make_batch(2), 3, NOW)
    chunk = leader.segments.active.file.read_at(0, 10_000)
    info = follower.append_as_follower(chunk + chunk[:50], 3, NOW)
    assert info is not None
    assert (info.first_offset, info.last_offset, info.max_timestamp) == (0, 5, TIMESTAMP + 1)
    assert follower.segments.active.file.read_at(0, 10_000) == chunk
    assert follower.leader_epochs.entries() == leader.leader_epochs.entries()
    assert follower.append_as_follower(b"", 3, NOW) is None


def test_followers_tell_a_damaged_size_from_a_batch_that_is_cut_off() -> None:
    batch = make_batch(2)
    assert open_log().append_as_follower(batch[:-1], 3, NOW) is None
    for size in (-1, 0, 48):
        batch[8:12] = size.to_bytes(4, "big", signed=True)
        with pytest.raises(CorruptMessage):
            open_log().append_as_follower(batch, 3, NOW)


def test_followers_refuse_what_does_not_follow() -> None:
    log = open_log()
    log.append_as_leader(make_batch(2), 0, NOW)
    with pytest.raises(UnexpectedAppendOffsetError) as raised:
        log.append_as_follower(make_batch(2, base_offset=1), 0, NOW)
    assert (raised.value.first_offset, raised.value.last_offset) == (1, 2)
    with pytest.raises(OffsetsOutOfOrderError):
        log.append_as_follower(make_batch(1, base_offset=9) + make_batch(1, base_offset=5), 0, NOW)
    damaged = make_batch(base_offset=2)
    damaged[-1] ^= 1
    with pytest.raises(CorruptMessage):
        log.append_as_follower(damaged, 0, NOW)
    assert log.log_end_offset == 2


def test_batches_of_a_later_epoch_end_a_followers_chunk() -> None:
    log = open_log()
    chunk = build_batch(make_records(1), leader_epoch=2) + build_batch(make_records(1, 1), leader_epoch=4)
    info = log.append_as_follower(chunk, 3, NOW)
    assert info is not None
    assert info.last_offset == 0


def test_a_raft_leader_appends_with_its_own_offsets_and_epoch() -> None:
    log = open_log()
    batch = build_batch(make_records(2), leader_epoch=3)
    log.append_as_follower(batch, 3, NOW, origin=AppendOrigin.RAFT_LEADER)
    with pytest.raises(InvalidRecord):
        log.append_as_follower(build_batch(make_records(1, 2), leader_epoch=2), 3, NOW, origin=AppendOrigin.RAFT_LEADER)
    assert log.log_end_offset == 2


def test_old_formats_are_taken_from_a_leader_and_forget_the_epochs() -> None:
    log = open_log()
    log.append_as_leader(make_batch(), 1, NOW)
    old = make_legacy_message(1, 1, b"k", b"v", timestamp=TIMESTAMP) + make_legacy_message(2, 0, b"k", b"v")
    log.append_as_follower(old, 1, NOW)
    assert [batch.header.magic for batch in stored_batches(log)] == [2, 1, 0]
    assert log.leader_epochs.latest_epoch is None
    found = log.offset_for_timestamp(TIMESTAMP)
    assert found is not None
    assert found.offset == 0
    check_log(log)


FAILURES = [
    # (operation, path, error, whether the append rolls)
    ("write", ".log", errno.ENOSPC, False),
    ("write", ".log", errno.EIO, True),
    ("write", ".index", errno.ENOSPC, False),
    ("write", ".timeindex", errno.ENOSPC, False),
    ("open", ".snapshot", errno.ENOSPC, True),
    ("open", ".index", errno.ENOSPC, True),
    ("open", ".timeindex", errno.EIO, True),
    ("truncate", ".index", errno.EIO, True),
    ("truncate", ".timeindex", errno.EIO, True),
    ("write", "leader-epoch-checkpoint.tmp", errno.ENOSPC, False),
    ("write", ".txnindex", errno.ENOSPC, False),
    ("open", ".txnindex", errno.EIO, True),
]
# Only an aborted transaction comes into the transaction index.
UNTOUCHED = {("leader", ".txnindex"), ("follower", ".txnindex")}


@pytest.mark.parametrize(("operation", "path_end", "error", "is_rolling"), FAILURES)
@pytest.mark.parametrize("role", ["leader", "follower", "marker"])
def test_an_append_that_the_disk_fails_changes_nothing(
    operation: str, path_end: str, error: int, is_rolling: bool, role: str
) -> None:
    disk = SimDisk()
    log = open_log(disk, index_interval_bytes=0)
    transactional = build_batch(
        make_records(4, value_bytes=80), producer_id=7, producer_epoch=0, base_sequence=0, is_transactional=True
    )
    log.append_as_leader(transactional, 0, NOW)
    if is_rolling:
        log.config = replace(log.config, segment_bytes=log.size_bytes)

    def write() -> None:
        if role == "leader":
            log.append_as_leader(idempotent(0, 5, producer_id=8), 1, NOW)
        elif role == "follower":
            chunk = b"".join(build_batch(make_records(2, 4 + 2 * i, value_bytes=20), leader_epoch=1) for i in range(2))
            log.append_as_follower(chunk, 1, NOW)
        else:
            marker = EndTransactionMarker(is_commit=False, coordinator_epoch=0)
            batch = build_end_transaction_marker(marker, producer_id=7, producer_epoch=0, timestamp=NOW)
            log.append_as_leader(batch, 1, NOW, origin=AppendOrigin.COORDINATOR, transaction_version=1)

    def state() -> object:
        producers = log.producer_state
        return (
            [batch.data for batch in stored_batches(log)],
            log.log_end_offset,
            log.leader_epochs.entries(),
            dict(producers.producers),
            dict(producers.ongoing),
            producers.map_end_offset,
            [segment.transaction_index.entries() for segment in log.segments if segment.size_bytes],
            [segment.offset_index.entries for segment in log.segments if segment.size_bytes],
        )

    before = state()
    disk.fail(operation, path_end, error)
    if (role, path_end) in UNTOUCHED:
        write()
    else:
        with pytest.raises(KafkaStorageError if error == errno.ENOSPC else OSError):
            write()
        assert state() == before
        check_log(log)
        write()
    assert state() != before
    check_log(log)


@pytest.mark.parametrize("index_bytes", [4, 8, 11, 12, 24])
def test_an_index_that_holds_next_to_nothing_only_makes_for_short_segments(index_bytes: int) -> None:
    config = LogConfig(segment_index_bytes=index_bytes, index_interval_bytes=0)
    disk = SimDisk()
    log = PartitionLog(disk, "/t-0", config, rng=Random(0), now_ms=NOW)
    for _ in range(5):
        log.append_as_leader(make_batch(), 0, NOW)
    log.close(NOW)
    log = PartitionLog(disk, "/t-0", config, rng=Random(0), now_ms=NOW)
    assert [batch.header.base_offset for batch in stored_batches(log)] == [0, 1, 2, 3, 4]
    check_log(log)


def test_a_disk_that_fills_up_in_the_middle_of_a_batch_is_written_again_when_there_is_room() -> None:
    disk = SimDisk()
    log = open_log(disk)
    log.append_as_leader(make_batch(), 0, NOW)
    disk.free_bytes = 30
    with pytest.raises(KafkaStorageError):
        log.append_as_leader(make_batch(5), 0, NOW)
    assert log.segments.active.file.size() == log.size_bytes == len(make_batch())
    disk.free_bytes = None
    log.append_as_leader(make_batch(5), 0, NOW)
    assert validate(log.read(1, 1).region.bytes() or log.segments.active.file.read_at(len(make_batch()), 999))


def test_segments_roll_by_size_age_and_offset_span() -> None:
    log = open_log(segment_bytes=2 * len(make_batch()), segment_ms=1_000)
    for _ in range(3):
        log.append_as_leader(make_batch(), 0, NOW)
    assert log.segments.base_offsets == [0, 2]
    log.append_as_leader(make_batch(timestamp=TIMESTAMP + 1_000), 0, NOW)
    assert log.segments.base_offsets == [0, 2]
    log = open_log(segment_ms=1_000)
    log.append_as_leader(make_batch(), 0, NOW)
    log.append_as_leader(make_batch(timestamp=TIMESTAMP + 1_000), 0, NOW)
    log.append_as_leader(make_batch(timestamp=TIMESTAMP + 1_001), 0, NOW)
    assert log.segments.base_offsets == [0, 2]
    log = open_log()
    log.append_as_follower(make_batch(), 0, NOW)
    log.append_as_follower(make_batch(base_offset=2**31 - 1), 0, NOW)
    log.append_as_follower(make_batch(base_offset=2**31), 0, NOW)
    assert log.segments.base_offsets == [0, 2**31]


def test_a_full_index_rolls_the_segment() -> None:
    log = PartitionLog(
        SimDisk(), "/t-0", LogConfig(segment_index_bytes=36, index_interval_bytes=0), rng=Random(0), now_ms=NOW
    )
    for timestamp in range(6):
        log.append_as_leader(make_batch(timestamp=TIMESTAMP + timestamp), 0, NOW)
    assert log.segments.base_offsets == [0, 3]
    check_log(log)


def test_jitter_makes_segments_roll_earlier() -> None:
    config = LogConfig(segment_ms=1_000, segment_jitter_ms=900)
    drawn = {config.draw_jitter_ms(Random(seed)) for seed in range(300)}
    assert min(drawn) >= 0
    assert 800 < max(drawn) < 900
    assert LogConfig().draw_jitter_ms(Random(0)) == 0


def test_the_age_of_batches_without_time_is_counted_from_the_segments_making() -> None:
    log = open_log(segment_ms=1_000)
    log.append_as_leader(make_batch(timestamp=-1), 0, NOW)
    log.append_as_leader(make_batch(timestamp=-1), 0, NOW + 1_000)
    assert len(log.segments) == 1
    log.append_as_leader(make_batch(timestamp=-1), 0, NOW + 1_001)
    assert log.segments.base_offsets == [0, 2]


def test_preallocated_files_are_cut_when_the_segment_is_rolled() -> None:
    disk = SimDisk()
    log = open_log(disk, preallocate=True, segment_bytes=1_000)
    log.append_as_leader(make_batch(), 0, NOW)
    assert disk.open("/t-0/00000000000000000000.log").size() == 1_000
    log.roll(NOW)
    assert disk.open("/t-0/00000000000000000000.log").size() == len(make_batch())
    assert read_header(log.read(0, 1_000, min_one_batch=True).region.file.read_at(0, 99)).base_offset == 0
