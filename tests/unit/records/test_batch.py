"""Batch headers: read, checked and stamped in place, beside the plain reading of their bytes."""

from __future__ import annotations

import pytest
from crc32c import crc32c
from hypothesis import given
from hypothesis import strategies as st

from barnabas.protocol.errors import ApiError, CorruptMessage, InvalidRecord
from barnabas.records.batch import (
    HEADER,
    HEADER_BYTES,
    BatchHeader,
    TimestampType,
    iterate_batches,
    read_header,
    stamp,
    stamp_append_time,
    stamp_max_timestamp,
    validate,
    write_crc,
)
from barnabas.records.build import build_batch
from barnabas.records.compression import Compression
from barnabas.records.record import iterate_records
from builders import make_batch, make_records
from record_model import read_fields

INT16 = st.integers(-(2**15), 2**15 - 1)
INT32 = st.integers(-(2**31), 2**31 - 1)
INT64 = st.integers(-(2**63), 2**63 - 1)


def with_fields(**fields: int) -> bytearray:
    """A sound batch of three records but for these fields; the checksum fits what is there."""
    batch = make_batch(3)
    HEADER.pack_into(batch, 0, *read_header(batch)._replace(**fields))
    if "crc" not in fields:
        write_crc(batch, 0, len(batch))
    return batch


@given(
    st.tuples(INT64, INT32, INT32, st.integers(-128, 127), st.integers(0, 2**32 - 1), INT16, INT32).flatmap(
        lambda left: st.tuples(INT64, INT64, INT64, INT16, INT32, INT32).map(lambda right: left + right)
    ),
    st.binary(max_size=5),
)
def test_every_field_is_read_where_it_lies(fields: tuple[int, ...], before: bytes) -> None:
    raw = HEADER.pack(*fields)
    header = read_header(before + raw, len(before))
    assert header == fields
    assert header._asdict() == read_fields(raw)


def test_a_header_needs_its_room() -> None:
    with pytest.raises(CorruptMessage):
        read_header(make_batch()[: HEADER_BYTES - 1])


@given(st.integers(0, 2**62), st.integers(0, 100), st.integers(0, 2**31 - 1))
def test_derived_properties(base_offset: int, last_delta: int, base_sequence: int) -> None:
    header = BatchHeader(base_offset, 100, 5, 2, 0, 0, last_delta, 10, 20, 7, 0, base_sequence, last_delta + 1)
    assert (header.last_offset, header.next_offset) == (base_offset + last_delta, base_offset + last_delta + 1)
    assert header.size_bytes == 112
    # Sequence numbers start again at 0 behind 2^31 - 1.
    assert header.last_sequence == (base_sequence + last_delta) % 2**31
    assert header._replace(base_sequence=-1).last_sequence == -1
    assert header.has_producer_id
    assert not header._replace(producer_id=-1).has_producer_id


@pytest.mark.parametrize("codec", Compression)
@given(
    is_transactional=st.booleans(),
    is_control=st.booleans(),
    delete_horizon_ms=st.none() | st.integers(0, 2**45),
    timestamp_type=st.sampled_from(TimestampType),
)
def test_attributes_say_what_was_built(
    codec: Compression,
    is_transactional: bool,
    is_control: bool,
    delete_horizon_ms: int | None,
    timestamp_type: TimestampType,
) -> None:
    header = validate(
        build_batch(
            make_records(2),
            compression=codec,
            is_transactional=is_transactional,
            is_control=is_control,
            delete_horizon_ms=delete_horizon_ms,
            timestamp_type=timestamp_type,
            append_time_ms=5,
        )
    )
    assert header.compression is codec
    assert header.is_transactional == is_transactional
    assert header.is_control == is_control
    assert header.delete_horizon_ms == delete_horizon_ms
    assert header.has_delete_horizon == (delete_horizon_ms is not None)
    assert header.timestamp_type is timestamp_type


@pytest.mark.parametrize("batch_type", [bytes, bytearray, memoryview])
def test_validate_returns_the_header(batch_type: type) -> None:
    batch = b"before" + make_batch(3, base_offset=40)
    header = validate(batch_type(batch), 6)
    assert header == read_header(batch, 6)
    assert (header.base_offset, header.last_offset, header.record_count) == (40, 42, 3)


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"magic": 0}, InvalidRecord),
        ({"magic": 1}, InvalidRecord),
        ({"magic": 3}, CorruptMessage),
        ({"magic": -1}, CorruptMessage),
        ({"batch_length": 48}, CorruptMessage),
        ({"batch_length": -1}, CorruptMessage),
        ({"batch_length": 10_000}, CorruptMessage),
        ({"crc": 1}, CorruptMessage),
        ({"attributes": 5}, InvalidRecord),
        ({"attributes": 7}, InvalidRecord),
        ({"record_count": -1}, InvalidRecord),
        ({"record_count": 4}, InvalidRecord),
        ({"last_offset_delta": 1}, InvalidRecord),
        ({"last_offset_delta": -1, "record_count": 1}, InvalidRecord),
        ({"last_offset_delta": -1, "record_count": 0}, InvalidRecord),
        ({"last_offset_delta": -2, "record_count": 0}, InvalidRecord),
    ],
)
def test_each_fault_has_its_error(fields: dict[str, int], error: type[ApiError]) -> None:
    with pytest.raises(error) as raised:
        validate(with_fields(**fields))
    assert type(raised.value) is error
    assert str(raised.value)


@pytest.mark.parametrize(
    "fields",
    [{"record_count": 0}, {"record_count": 2}, {"last_offset_delta": 500}, {"attributes": 0x100}],
    ids=["emptied by compaction", "thinned by compaction", "last records gone", "an attribute of a later release"],
)
def test_what_kafka_takes_passes(fields: dict[str, int]) -> None:
    validate(with_fields(**fields))


@given(st.lists(st.tuples(st.integers(0, 300), st.integers(0, 255)), max_size=4), st.integers(0, 300))
def test_mutated_batches_end_in_a_header_or_a_named_error(mutations: list[tuple[int, int]], cut: int) -> None:
    batch = make_batch(4)
    for at, byte in mutations:
        batch[at % len(batch)] = byte
    for buffer in (batch, batch[:cut]):
        try:
            header = validate(buffer)
        except ApiError:
            continue
        assert crc32c(buffer[21:]) == header.crc


@given(st.lists(st.integers(1, 4), max_size=5), st.integers(0, 120), st.binary(max_size=4))
def test_iteration_gives_whole_batches_and_stops_at_a_partial_one(counts: list[int], cut: int, before: bytes) -> None:
    batches = [make_batch(count, base_offset=10 * index) for index, count in enumerate(counts)]
    data = before + b"".join(batches)
    end = max(len(before), len(data) - cut)
    expected = []
    position = len(before)
    for batch in batches:
        if position + len(batch) <= end:
            expected.append((position, read_header(batch)))
        position += len(batch)
    assert list(iterate_batches(data, len(before), end)) == expected
    assert list(iterate_batches(data[:end], len(before))) == expected


@pytest.mark.parametrize("fields", [{"magic": 1}, {"batch_length": 48}, {"batch_length": -70}])
def test_iteration_does_not_run_on_over_damage(fields: dict[str, int]) -> None:
    data = make_batch(1) + with_fields(**fields)
    with pytest.raises(CorruptMessage):
        list(iterate_batches(data))


@given(st.integers(0, 2**62), st.integers(-1, 2**31 - 1))
def test_stamping_a_place_leaves_the_batch_sound(base_offset: int, leader_epoch: int) -> None:
    buffer = bytearray(5) + make_batch(3)
    before = read_header(buffer, 5)
    stamp(buffer, 5, base_offset, leader_epoch)
    assert validate(buffer, 5) == before._replace(base_offset=base_offset, leader_epoch=leader_epoch)


@given(st.integers(0, 2**62), st.booleans())
def test_stamping_the_append_time_gives_it_to_every_record(append_time_ms: int, is_transactional: bool) -> None:
    batch = bytearray(3) + build_batch(make_records(3), is_transactional=is_transactional)
    stamp_append_time(batch, 3, append_time_ms)
    header = validate(batch, 3)
    assert header.timestamp_type is TimestampType.LOG_APPEND_TIME
    assert header.is_transactional == is_transactional
    assert {record.timestamp for record in iterate_records(batch, 3, header)} == {append_time_ms}


def test_stamping_a_maximum_corrects_the_header_only() -> None:
    batch = make_batch(3, timestamp=50)
    stamp_max_timestamp(batch, 0, TimestampType.CREATE_TIME, 99)
    header = validate(batch)
    assert (header.max_timestamp, header.timestamp_type) == (99, TimestampType.CREATE_TIME)
    assert [record.timestamp for record in iterate_records(batch, 0, header)] == [50, 51, 52]
