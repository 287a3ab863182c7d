"""The record scan, compiled and uncompiled, against the model."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.protocol.errors import ApiError, InvalidRecord
from barnabas.records import kernel
from barnabas.records.batch import BatchHeader
from barnabas.records.record import LazyHeaders, Record
from builders import make_batch
from record_model import Plain, encode, place, plain_records, varint
from uncompiled_kernels import load_uncompiled

UNCOMPILED = load_uncompiled(kernel)
VARIANTS = [kernel, UNCOMPILED] if kernel.IS_COMPILED else [UNCOMPILED]
variants = pytest.mark.parametrize("variant", VARIANTS, ids=["compiled", "uncompiled"][-len(VARIANTS) :])


def rows_of(data: bytes, rows: array[int]) -> Sequence[tuple[int, int, bytes | None, bytes | None, int]]:
    """What the scanned columns point at."""
    found = []
    for at in range(0, len(rows), kernel.ROW_COLUMNS):
        row = rows[at : at + kernel.ROW_COLUMNS]
        key_at, key_length = row[kernel.ROW_KEY_POSITION], row[kernel.ROW_KEY_LENGTH]
        value_at, value_length = row[kernel.ROW_VALUE_POSITION], row[kernel.ROW_VALUE_LENGTH]
        found.append(
            (
                row[kernel.ROW_OFFSET_DELTA],
                row[kernel.ROW_TIMESTAMP_DELTA],
                None if key_length < 0 else data[key_at : key_at + key_length],
                None if value_length < 0 else data[value_at : value_at + value_length],
                row[kernel.ROW_HEADER_COUNT],
            )
        )
    return found


def test_the_loaded_source_is_not_compiled() -> None:
    assert not UNCOMPILED.IS_COMPILED


@variants
@given(records=plain_records())
def test_scan_finds_what_was_encoded(variant: ModuleType, records: list[Plain]) -> None:
    encoded = [encode(record) for record in records]
    data = b"".join(encoded)
    rows = variant.read_rows(data, len(records))
    assert rows_of(data, rows) == [
        (record.offset_delta, record.timestamp_delta, record.key, record.value, len(record.headers))
        for record in records
    ]
    starts, ends = rows[kernel.ROW_START :: kernel.ROW_COLUMNS], rows[kernel.ROW_END :: kernel.ROW_COLUMNS]
    assert [data[start:end] for start, end in zip(starts, ends, strict=True)] == encoded

    deltas = [record.timestamp_delta for record in records]
    null_keys = [index for index, record in enumerate(records) if record.key is None]
    is_contiguous = [record.offset_delta for record in records] == list(range(len(records)))
    assert variant.scan(data, len(records)) == (
        min(deltas),
        max(deltas),
        null_keys[0] if null_keys else -1,
        is_contiguous,
    )


@variants
@given(records=plain_records(), base_offset=st.integers(0, 2**50), base_timestamp=st.integers(-1, 2**50))
def test_decode_places_records_in_the_log(
    variant: ModuleType, records: list[Plain], base_offset: int, base_timestamp: int
) -> None:
    data = b"".join(map(encode, records))
    decoded = variant.decode(Record, LazyHeaders, data, len(records), base_offset, base_timestamp, None)
    assert decoded == [place(record, base_offset, base_timestamp) for record in records]
    assert all(type(record) is Record for record in decoded)
    stamped = variant.decode(Record, LazyHeaders, data, len(records), base_offset, base_timestamp, 7)
    assert [record.timestamp for record in stamped] == [7] * len(records)


@variants
@given(records=plain_records(), cut=st.integers(1, 12), extra=st.binary(max_size=8), count=st.integers(-2, 12))
def test_only_an_exact_fit_passes(
    variant: ModuleType, records: list[Plain], cut: int, extra: bytes, count: int
) -> None:
    data = b"".join(map(encode, records))
    for wrong in (data[:-cut], data + b"\0", data + extra + b"\x0e"):
        with pytest.raises(InvalidRecord):
            variant.scan(wrong, len(records))
    if count != len(records):
        with pytest.raises(InvalidRecord):
            variant.scan(data, count)


@given(
    data=st.binary(min_size=7, max_size=60)
    | st.lists(st.sampled_from([0, 1, 2, 4, 8, 12, 14, 127, 128, 255])).map(bytes)
)
def test_both_variants_judge_any_bytes_alike(data: bytes) -> None:
    verdicts = []
    for variant in VARIANTS:
        try:
            verdicts.append(repr(variant.scan(data, max(1, len(data) // 8))))
        except ApiError as error:
            verdicts.append(repr(error))
    assert len(set(verdicts)) == 1


@given(records=plain_records(), mutations=st.lists(st.tuples(st.integers(0, 500), st.integers(0, 255)), min_size=1))
def test_both_variants_judge_mutated_records_alike(records: list[Plain], mutations: list[tuple[int, int]]) -> None:
    data = bytearray(b"".join(map(encode, records)))
    for at, byte in mutations:
        data[at % len(data)] = byte
    verdicts = []
    for variant in VARIANTS:
        try:
            decoded = variant.decode(Record, LazyHeaders, bytes(data), len(records), 0, 0, None)
            verdicts.append(repr(decoded))
        except InvalidRecord as error:
            verdicts.append(str(error))
    assert len(set(verdicts)) == 1


@variants
@pytest.mark.parametrize(
    ("timestamp", "expected"),
    [
        (b"\xff" * 9 + b"\x01", -(2**63)),
        (b"\xfe" + b"\xff" * 8 + b"\x01", 2**63 - 1),
        (b"\x80\x00", 0),  # Longer than needed, which Java reads too.
        (b"\x81" + b"\x80" * 8 + b"\x7e", -1),  # Bits beyond the 64th are dropped.
    ],
)
def test_timestamps_use_64_bits(variant: ModuleType, timestamp: bytes, expected: int) -> None:
    body = b"\0" + timestamp + b"\0\1\1\0"
    data = varint(len(body)) + body
    assert variant.scan(data, 1)[:2] == (expected, expected)


@variants
@pytest.mark.parametrize(
    "body",
    [
        b"\0" + b"\x80" * 10 + b"\0\0\1\1\0",  # a timestamp of eleven bytes
        b"\0\0" + b"\x80" * 5 + b"\0\1\1\0",  # an offset of six bytes
        b"\0\0\0\x04a\1\0",  # a key of two bytes that has one
        b"\0\0\0\1\xfe\xff\xff\xff\x0f\0",  # a value of 2 GiB
        b"\0\0\0\1\1\1",  # -1 headers
        b"\0\0\0\1\1\x04\2k\1",  # two headers, one there
        b"\0\0\0\1\1\2\1\1",  # a header whose key is null
        b"\0\0\0\1\1\2\2k\x04v",  # a header value of two bytes that has one
        b"\0\0\0\1\1\0\0",  # a byte too many
        b"",
    ],
)
def test_malformed_records_are_refused(variant: ModuleType, body: bytes) -> None:
    data = varint(len(body)) + body
    with pytest.raises(InvalidRecord):
        variant.scan(data, 1)
    # Bytes that follow must not be taken for the missing ones.
    with pytest.raises(InvalidRecord):
        variant.scan(data + b"\0" * 20, 1)


@variants
def test_a_claimed_count_takes_no_memory(variant: ModuleType) -> None:
    with pytest.raises(InvalidRecord):
        variant.read_rows(b"\x0c\0\0\0\1\1\0", 2**31 - 1)


@variants
@given(
    batch=st.builds(make_batch, st.integers(1, 5)),
    at=st.integers(0, 200),
    byte=st.integers(0, 255),
    gap=st.binary(max_size=9),
)
def test_a_header_is_sound_exactly_while_nothing_changed(
    variant: ModuleType, batch: bytearray, at: int, byte: int, gap: bytes
) -> None:
    placed = bytearray(gap + batch + gap)
    header = variant.sound_header(BatchHeader, placed, len(gap))
    assert header == kernel.sound_header(BatchHeader, bytes(batch), 0)
    assert type(header) is BatchHeader
    assert variant.sound_header(BatchHeader, placed[: len(gap) + len(batch) - 1], len(gap)) is None
    assert variant.sound_header(BatchHeader, placed, -1) is None
    at = at % len(batch)
    is_covered = at >= 16 or 8 <= at < 12  # All but base offset and leader epoch.
    if batch[at] != byte and is_covered:
        batch[at] = byte
        assert variant.sound_header(BatchHeader, memoryview(batch), 0) is None
