"""Messages of magic 0 and 1, alone, wrapped and mixed with batches."""

from __future__ import annotations

from struct import pack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.protocol.errors import ApiError, CorruptMessage, InvalidRecord, RecordTooLarge
from barnabas.records.batch import TimestampType, validate
from barnabas.records.compression import Compression
from barnabas.records.legacy import (
    UNKNOWN_COUNT,
    iterate_any,
    iterate_any_records,
    read_any_header,
    read_legacy_header,
    validate_any,
)
from barnabas.records.record import Record, iterate_records
from builders import make_batch, make_legacy_message, make_legacy_wrapper

magics = st.integers(0, 1)
payloads = st.none() | st.binary(max_size=30)
old_codecs = st.sampled_from([Compression.GZIP, Compression.SNAPPY, Compression.LZ4])
offsets = st.integers(0, 2**50)
timestamps = st.integers(-1, 2**45)


@given(magics, offsets, timestamps, payloads, payloads, st.sampled_from(TimestampType))
def test_a_message_is_a_batch_of_one(
    magic: int,
    offset: int,
    timestamp: int,
    key: bytes | None,
    value: bytes | None,
    timestamp_type: TimestampType,
) -> None:
    raw = b"before" + make_legacy_message(offset, magic, key, value, timestamp=timestamp, timestamp_type=timestamp_type)
    header = validate_any(raw, 6)
    known_timestamp = timestamp if magic else -1
    assert list(iterate_any_records(raw, 6, header)) == [Record(offset, known_timestamp, key, value)]
    assert header.size_bytes == len(raw) - 6
    assert (header.magic, header.last_offset, header.max_timestamp) == (magic, offset, known_timestamp)
    assert header.record_count == 1
    assert header.compression is Compression.NONE
    if magic:
        assert header.timestamp_type is timestamp_type
    assert not header.is_control
    assert not header.is_transactional
    assert not header.has_producer_id


@given(
    magics,
    offsets,
    old_codecs,
    st.lists(st.tuples(timestamps, payloads, payloads), min_size=1, max_size=5),
    st.sampled_from(TimestampType),
)
def test_a_wrapper_gives_its_messages_their_offsets_and_times(
    magic: int,
    base_offset: int,
    codec: Compression,
    inner: list[tuple[int, bytes | None, bytes | None]],
    timestamp_type: TimestampType,
) -> None:
    first = base_offset if magic == 0 else 0  # Magic 1 counts from the first message in the wrapper (KIP-31).
    messages = [
        make_legacy_message(first + index, magic, key, value, timestamp=timestamp)
        for index, (timestamp, key, value) in enumerate(inner)
    ]
    raw = make_legacy_wrapper(
        base_offset + len(inner) - 1, magic, messages, codec, timestamp=77, timestamp_type=timestamp_type
    )
    header = validate_any(raw)
    assert header.compression is codec
    assert header.record_count == UNKNOWN_COUNT
    is_append_time = timestamp_type is TimestampType.LOG_APPEND_TIME
    expected = []
    for index, (timestamp, key, value) in enumerate(inner):
        time = -1 if magic == 0 else 77 if is_append_time else timestamp
        expected.append(Record(base_offset + index, time, key, value))
    assert list(iterate_any_records(raw)) == expected


def test_a_wrapper_after_compaction_keeps_its_gaps() -> None:
    messages = [make_legacy_message(delta, 1, b"k", b"v", timestamp=1) for delta in (1, 4)]
    raw = make_legacy_wrapper(24, 1, messages, Compression.GZIP)
    assert [record.offset for record in iterate_any_records(raw)] == [21, 24]


def test_a_wrapper_without_an_offset_yet_counts_from_zero() -> None:
    messages = [make_legacy_message(delta, 1, None, b"v", timestamp=1) for delta in range(3)]
    raw = make_legacy_wrapper(0, 1, messages, Compression.SNAPPY)
    assert [record.offset for record in iterate_any_records(raw)] == [0, 1, 2]


def test_formats_may_follow_each_other() -> None:
    old = make_legacy_message(5, 0, b"a", b"1")
    wrapped = make_legacy_wrapper(7, 1, [make_legacy_message(i, 1, None, b"x") for i in range(2)], Compression.LZ4)
    batch = make_batch(2, base_offset=8)
    data = old + wrapped + batch
    found = list(iterate_any(data))
    assert [(position, header.magic) for position, header in found] == [
        (0, 0),
        (len(old), 1),
        (len(old) + len(wrapped), 2),
    ]
    read = [record.offset for position, header in found for record in iterate_any_records(data, position, header)]
    assert read == [5, 6, 7, 8, 9]
    assert validate_any(data, len(old) + len(wrapped)) == validate(batch)
    assert list(iterate_any_records(batch)) == list(iterate_records(batch, 0, validate(batch)))


@given(st.integers(1, 100))
def test_a_partial_one_at_the_end_is_left_out(cut: int) -> None:
    whole = make_legacy_message(1, 1, b"key", b"value")
    for last in (make_legacy_message(2, 0, b"k", b"v" * 80), make_batch(3, base_offset=2)):
        data = whole + last[:-cut]
        assert [position for position, _ in iterate_any(data)] == [0]


@pytest.mark.parametrize(
    "raw",
    [
        pack(">qiIbB", 0, 13, 0, 0, 0) + bytes(20),  # too small for magic 0
        pack(">qiIbB", 0, 21, 0, 1, 0) + bytes(20),  # too small for magic 1
        pack(">qiib", 0, 48, 0, 2) + bytes(60),  # too small for a batch
        pack(">qiib", 0, 48, 0, 2) + bytes(10),
        pack(">qiIbB", 0, 14, 0, 3, 0) + bytes(20),
        pack(">qiIbB", 0, 14, 0, -1, 0) + bytes(20),
    ],
)
def test_what_is_no_message_is_corrupt(raw: bytes) -> None:
    with pytest.raises(CorruptMessage):
        list(iterate_any(raw))
    with pytest.raises(CorruptMessage):
        validate_any(raw)


def test_a_header_needs_bytes_up_to_the_magic() -> None:
    with pytest.raises(CorruptMessage):
        read_any_header(bytes(16))
    assert read_legacy_header(make_batch()[:17]).size_bytes == len(make_batch())


@given(magics, st.integers(0, 60), st.integers(1, 255))
def test_the_checksum_covers_a_message(magic: int, at: int, change: int) -> None:
    raw = bytearray(make_legacy_message(3, magic, b"key", b"value", timestamp=4))
    at = 12 + at % (len(raw) - 12)
    raw[at] ^= change
    with pytest.raises(ApiError):
        validate_any(raw)


@pytest.mark.parametrize(
    ("raw", "error"),
    [
        (make_legacy_message(0, 1, None, None, compression=Compression.GZIP), InvalidRecord),
        (make_legacy_message(0, 1, None, b"junk", compression=Compression.GZIP), InvalidRecord),
        (make_legacy_wrapper(0, 1, [], Compression.GZIP), InvalidRecord),
        (make_legacy_wrapper(0, 1, [make_legacy_message(0, 1, None, b"")], Compression.ZSTD), InvalidRecord),
        (
            make_legacy_wrapper(
                0,
                1,
                [make_legacy_wrapper(0, 1, [make_legacy_message(0, 1, None, b"")], Compression.GZIP)],
                Compression.GZIP,
            ),
            InvalidRecord,
        ),
        (make_legacy_wrapper(3, 1, [make_legacy_message(5, 1, None, b"")], Compression.GZIP), InvalidRecord),
        (make_legacy_wrapper(0, 1, [pack(">qi", 0, 5) + bytes(30)], Compression.GZIP), CorruptMessage),
        (make_legacy_wrapper(0, 1, [pack(">qiib", 0, 20, 0, 2) + bytes(30)], Compression.GZIP), CorruptMessage),
    ],
    ids=["null", "junk", "empty", "zstd", "nested", "offsets", "tiny", "magic 2 inside"],
)
def test_a_bad_wrapper_is_a_named_error(raw: bytes, error: type[ApiError]) -> None:
    validate_any(raw)
    with pytest.raises(error):
        list(iterate_any_records(raw))


def test_a_wrapper_inflates_no_further_than_allowed() -> None:
    raw = make_legacy_wrapper(0, 1, [make_legacy_message(0, 1, None, bytes(10_000))], Compression.GZIP)
    with pytest.raises(RecordTooLarge):
        list(iterate_any_records(raw, limit_bytes=10_000))


@given(magics, old_codecs, st.lists(st.tuples(st.integers(0, 150), st.integers(0, 255)), min_size=1, max_size=4))
def test_mutated_messages_end_in_records_or_a_named_error(
    magic: int, codec: Compression, mutations: list[tuple[int, int]]
) -> None:
    messages = [make_legacy_message(i, magic, b"key", b"value" * 3) for i in range(3)]
    for raw in (bytearray(messages[0]), bytearray(make_legacy_wrapper(2, magic, messages, codec))):
        for at, byte in mutations:
            raw[at % len(raw)] = byte
        try:
            for position, header in iterate_any(raw):
                list(iterate_any_records(raw, position, header, limit_bytes=10_000))
        except ApiError:
            continue
