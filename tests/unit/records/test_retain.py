"""Batches with records left out: what is kept reads as before, and everything else about the batch stays."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.records.batch import BatchHeader, TimestampType, validate
from barnabas.records.build import build_batch
from barnabas.records.compression import Compression
from barnabas.records.kernel import read_rows
from barnabas.records.record import Record, iterate_records, read_record_bytes
from barnabas.records.retain import retain, retain_nothing

keys = st.none() | st.binary(max_size=6)
headers = st.lists(st.tuples(st.text(max_size=3), st.none() | st.binary(max_size=3)), max_size=2)


@st.composite
def batches(draw: st.DrawFn) -> tuple[bytearray, BatchHeader]:
    base_offset = draw(st.integers(0, 2**40))
    timestamps = draw(st.lists(st.integers(0, 2**42), min_size=1, max_size=6))
    records = [
        Record(base_offset + index, timestamp, draw(keys), draw(keys), draw(headers))
        for index, timestamp in enumerate(timestamps)
    ]
    is_append_time = draw(st.booleans())
    batch = build_batch(
        records,
        leader_epoch=3,
        compression=draw(st.sampled_from(list(Compression))),
        timestamp_type=TimestampType.LOG_APPEND_TIME if is_append_time else TimestampType.CREATE_TIME,
        append_time_ms=2**41 if is_append_time else None,
        producer_id=9,
        producer_epoch=1,
        base_sequence=40,
        is_transactional=draw(st.booleans()),
        delete_horizon_ms=draw(st.none() | st.integers(0, 2**42)),
    )
    return batch, validate(batch)


def some(data: st.DataObject, count: int) -> list[bool]:
    return data.draw(st.lists(st.booleans(), min_size=count, max_size=count).filter(any))


@given(batches(), st.data(), st.none() | st.integers(0, 2**42))
def test_kept_records_read_as_before(
    made: tuple[bytearray, BatchHeader], data: st.DataObject, horizon_ms: int | None
) -> None:
    batch, header = made
    if header.has_delete_horizon:
        horizon_ms = None
    is_kept = some(data, header.record_count)
    uncompressed = bytes(read_record_bytes(batch, 0, header))
    rows = read_rows(uncompressed, header.record_count)

    left = retain(header, uncompressed, rows, is_kept, delete_horizon_ms=horizon_ms)

    changed = validate(left)
    records = list(iterate_records(batch, 0, header))
    kept = [record for record, stays in zip(records, is_kept, strict=True) if stays]
    assert list(iterate_records(left, 0, changed)) == kept
    assert changed.delete_horizon_ms == (header.delete_horizon_ms if horizon_ms is None else horizon_ms)
    assert changed.max_timestamp == max(record.timestamp for record in kept)
    same = header._replace(
        batch_length=changed.batch_length,
        crc=changed.crc,
        attributes=changed.attributes,
        base_timestamp=changed.base_timestamp,
        max_timestamp=changed.max_timestamp,
        record_count=len(kept),
    )
    assert changed == same
    assert changed.attributes & ~0x40 == header.attributes & ~0x40


@pytest.mark.parametrize(
    ("base", "delta"), [(2**63 - 1, 2**63 - 1), (-(2**63), -(2**63)), (2**63 - 1, 1), (-(2**63), 0)]
)
@pytest.mark.parametrize("horizon_ms", [None, 0, 2**42])
def test_timestamps_beyond_64_bits_do_no_harm(base: int, delta: int, horizon_ms: int | None) -> None:
    batch = build_batch([Record(0, 0, b"k", None), Record(1, delta, b"l", None)])
    header = validate(batch)._replace(base_timestamp=base)
    uncompressed = bytes(read_record_bytes(batch, 0, header))
    rows = read_rows(uncompressed, 2)

    left = retain(header, uncompressed, rows, [False, True], delete_horizon_ms=horizon_ms)

    (record,) = iterate_records(left, 0, validate(left))
    assert (record.timestamp - base - delta) % 2**64 == 0
    assert (record.offset, record.key, record.value) == (1, b"l", None)


@given(batches())
def test_an_emptied_batch_keeps_its_offsets_and_its_producer(made: tuple[bytearray, BatchHeader]) -> None:
    _, header = made
    left = retain_nothing(header)
    changed = validate(left)
    assert len(left) == 61
    assert list(iterate_records(left, 0, changed)) == []
    assert changed[9:12] == header[9:12]
    assert (changed.base_offset, changed.last_offset) == (header.base_offset, header.last_offset)
    assert changed.max_timestamp == header.max_timestamp
    assert changed.base_timestamp == -1
    assert not changed.has_delete_horizon
    assert changed.compression is Compression.NONE
    assert changed.is_transactional is header.is_transactional
    assert retain_nothing(changed) == left
