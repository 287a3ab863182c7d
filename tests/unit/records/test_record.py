"""Building batches and iterating their records, against the plain encoder and decoder."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.protocol.errors import ApiError, InvalidRecord, RecordTooLarge
from barnabas.records.batch import HEADER_BYTES, TimestampType, read_header, validate, write_crc
from barnabas.records.build import assemble, build_batch
from barnabas.records.compression import Compression
from barnabas.records.record import LazyHeaders, Record, iterate_records, read_record_bytes
from builders import make_records
from record_model import Plain, decode, encode, place, plain_records, timestamps, varint


@given(plain_records(), st.integers(0, 2**50), timestamps, st.sampled_from(Compression))
def test_a_built_batch_holds_the_records(
    plain: list[Plain], base_offset: int, base_timestamp: int, codec: Compression
) -> None:
    records = [place(record, base_offset, base_timestamp) for record in plain]
    batch = build_batch(records, base_offset=base_offset, compression=codec)
    header = validate(batch)
    assert list(iterate_records(batch, 0, header)) == records
    assert header.base_offset == base_offset
    assert header.last_offset == records[-1].offset
    assert header.base_timestamp == records[0].timestamp
    assert header.max_timestamp == max(record.timestamp for record in records)
    assert header.record_count == len(records)

    written = decode(bytes(read_record_bytes(batch, 0, header)))
    assert [place(record, base_offset, records[0].timestamp) for record in written] == records


@given(plain_records(), timestamps)
def test_uncompressed_bytes_are_the_models(plain: list[Plain], timestamp: int) -> None:
    records = [place(record, 0, timestamp) for record in plain]
    base = records[0].timestamp
    expected = [record._replace(timestamp_delta=timestamp + record.timestamp_delta - base) for record in plain]
    assert build_batch(records, base_offset=0)[HEADER_BYTES:] == b"".join(map(encode, expected))


@given(plain_records(), timestamps, st.integers(0, 2**45))
def test_a_delete_horizon_takes_the_base_timestamps_place(plain: list[Plain], timestamp: int, horizon_ms: int) -> None:
    records = [place(record, 0, timestamp) for record in plain]
    batch = build_batch(records, delete_horizon_ms=horizon_ms)
    header = validate(batch)
    assert header.delete_horizon_ms == horizon_ms
    assert list(iterate_records(batch, 0, header)) == records


def test_the_append_time_is_every_records_time() -> None:
    batch = build_batch(make_records(3), timestamp_type=TimestampType.LOG_APPEND_TIME, append_time_ms=9)
    assert [record.timestamp for record in iterate_records(batch, 0, validate(batch))] == [9, 9, 9]


def test_producer_fields_are_kept() -> None:
    header = validate(
        build_batch(make_records(1), leader_epoch=4, producer_id=2**40, producer_epoch=3, base_sequence=2**31 - 1)
    )
    assert (header.leader_epoch, header.producer_id, header.producer_epoch) == (4, 2**40, 3)
    assert header.base_sequence == 2**31 - 1


def test_an_empty_batch_has_no_records() -> None:
    batch = assemble(read_header(build_batch(make_records(2)))._replace(record_count=0), b"")
    assert list(iterate_records(batch, 0, validate(batch))) == []


@pytest.mark.parametrize("codec", [codec for codec in Compression if codec is not Compression.NONE])
def test_records_beyond_the_limit_are_not_inflated(codec: Compression) -> None:
    batch = build_batch(make_records(10, value_bytes=1000), compression=codec)
    header = validate(batch)
    size = len(read_record_bytes(batch, 0, header))
    assert len(list(iterate_records(batch, 0, header, limit_bytes=size))) == 10
    with pytest.raises(RecordTooLarge):
        iterate_records(batch, 0, header, limit_bytes=size - 1)


@given(
    st.sampled_from(Compression), st.lists(st.tuples(st.integers(0, 500), st.integers(0, 255)), min_size=1, max_size=5)
)
def test_damage_under_a_good_checksum_is_a_named_error(codec: Compression, mutations: list[tuple[int, int]]) -> None:
    batch = build_batch(make_records(4), compression=codec)
    for at, byte in mutations:
        batch[HEADER_BYTES + at % (len(batch) - HEADER_BYTES)] = byte
    write_crc(batch, 0, len(batch))
    try:
        for record in iterate_records(batch, 0, validate(batch), limit_bytes=10_000):
            assert list(record.headers) is not None
    except ApiError as error:
        assert isinstance(error, InvalidRecord | RecordTooLarge)  # noqa: PT017 (not raising is fine too)


def test_headers_are_a_sequence_of_pairs() -> None:
    pairs = [("a", b"1"), ("ключ", None), ("", b"")]
    batch = build_batch([Record(0, 0, None, None, pairs)])
    (record,) = iterate_records(batch, 0, validate(batch))
    assert isinstance(record.headers, LazyHeaders)
    assert record.headers == pairs
    assert record.headers != pairs[:2]
    assert record.headers != 3
    assert len(record.headers) == 3
    assert record.headers[1] == ("ключ", None)
    assert record.headers[1:] == pairs[1:]
    assert hash(record.headers) == hash(tuple(pairs))
    assert repr(record.headers) == repr(pairs)


def test_a_header_key_that_is_not_utf8_is_read_with_replacements() -> None:
    body = b"\0\0\0\1\1\2\2\xff\1"
    batch = assemble(read_header(build_batch([Record(0, 0, None, None)])), varint(len(body)) + body)
    (record,) = iterate_records(batch, 0, validate(batch))
    assert list(record.headers) == [("\ufffd", None)]
