"""Metadata records come back from their bytes, alone and in batches, and what is not one is refused with a reason."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.metadata.errors import MetadataParseError
from barnabas.metadata.framing import (
    VersionedRecord,
    build_batches,
    decode_record,
    encode_record,
    read_batches,
    read_values,
)
from barnabas.protocol.errors import CorruptMessage
from barnabas.protocol.metadata_records import RECORDS
from barnabas.protocol.metadata_records.feature_level import FeatureLevelRecord
from barnabas.protocol.metadata_records.no_op import NoOpRecord
from barnabas.protocol.metadata_records.topic import TopicRecord
from barnabas.protocol.uuid import ZERO_UUID
from barnabas.records.build import build_batch
from barnabas.records.record import Record
from strategies import messages

VERSIONS = st.sampled_from([(record, version) for record in RECORDS.values() for version in record.valid_versions])
ANY_RECORD = VERSIONS.flatmap(lambda each: messages(*each).map(lambda message: VersionedRecord(message, each[1])))
LEVEL = VersionedRecord(FeatureLevelRecord(name="metadata.version", feature_level=30), 0)
# Frame version 1, type 12, version 0, then a compact string, an int16 and no tagged fields.
LEVEL_BYTES = bytes((1, 12, 0, 17)) + b"metadata.version" + bytes((0, 30, 0))


def test_a_record_stands_behind_frame_version_type_and_version() -> None:
    assert encode_record(LEVEL) == LEVEL_BYTES
    assert decode_record(LEVEL_BYTES) == LEVEL


def test_a_frame_in_the_long_form_of_varints_is_read_too() -> None:
    assert decode_record(b"\x81\x00\x8c\x00\x80\x00" + LEVEL_BYTES[3:]) == LEVEL


@given(ANY_RECORD)
def test_a_record_comes_back_from_its_bytes(record: VersionedRecord) -> None:
    assert decode_record(encode_record(record)) == record


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (None, "has no value"),
        (b"", "the frame cannot be read"),
        (b"\x01", "the frame cannot be read"),
        (b"\x00" + LEVEL_BYTES[1:], "the frame is of version 0"),
        (b"\x02" + LEVEL_BYTES[1:], "the frame is of version 2, not 1"),
        (b"\x01\x06\x00", "there is no record of type 6"),
        (b"\x01\x63\x00", "there is no record of type 99"),
        (b"\x01\x0c\x01", "FeatureLevelRecord v1"),
        (LEVEL_BYTES[:-1], "FeatureLevelRecord v0"),
        (LEVEL_BYTES + b"\x00", "1 bytes follow"),
    ],
)
def test_bytes_that_are_no_record_are_refused_with_a_reason(value: bytes | None, reason: str) -> None:
    with pytest.raises(MetadataParseError, match=reason):
        decode_record(value)


@given(st.lists(ANY_RECORD, max_size=8), st.sampled_from([70, 300, 8 * 1024 * 1024]))
def test_records_come_back_from_batches_of_any_size(records: list[VersionedRecord], batch_bytes_max: int) -> None:
    built = list(build_batches(records, base_offset=7, epoch=3, timestamp_ms=1234, batch_bytes_max=batch_bytes_max))
    read = list(read_batches(b"".join(built)))
    assert [record for batch in read for record in batch.records] == records
    assert [decode_record(value) for value in read_values(b"".join(built))] == records
    assert [batch.size_bytes for batch in read] == list(map(len, built))
    assert all(
        len(batch) <= batch_bytes_max or each.base_offset == each.last_offset
        for batch, each in zip(built, read, strict=True)
    )
    offset = 7
    for batch in read:
        assert batch.base_offset == offset
        assert (batch.epoch, batch.timestamp_ms) == (3, 1234)
        offset = batch.last_offset + 1
    assert offset == 7 + len(records)


def test_a_batch_is_filled_to_the_last_byte_allowed() -> None:
    """The overhead of a record is counted at its most, so that no batch is ever too large."""
    topic = VersionedRecord(TopicRecord(name="t" * 50, topic_id=ZERO_UUID), 0)
    record_bytes = len(encode_record(topic)) + 21
    batches = [
        len(list(build_batches([topic] * 4, base_offset=0, epoch=0, timestamp_ms=0, batch_bytes_max=most)))
        for most in (61 + 4 * record_bytes, 61 + 4 * record_bytes - 1)
    ]
    assert batches == [1, 2]


def test_a_control_batch_counts_only_as_offsets() -> None:
    control = build_batch([Record(0, 5, b"\0\0\0\2", b"\0\0")], leader_epoch=4, is_control=True)
    data = next(build_batches([LEVEL], base_offset=1, epoch=4, timestamp_ms=6))
    first, second = read_batches(bytes(control + data))
    assert (first.base_offset, first.last_offset, first.epoch, first.records) == (0, 0, 4, [])
    assert second.records == [LEVEL]


def test_a_damaged_batch_is_not_read() -> None:
    batch = next(build_batches([LEVEL], base_offset=0, epoch=0, timestamp_ms=0))
    batch[-1] ^= 1
    with pytest.raises(CorruptMessage):
        list(read_batches(batch))


def test_a_bad_record_in_a_batch_is_named_by_its_offset() -> None:
    good = encode_record(VersionedRecord(NoOpRecord(), 0))
    batch = build_batch([Record(40, 0, None, good), Record(41, 0, None, b"\x00")])
    with pytest.raises(MetadataParseError, match="at offset 41"):
        list(read_batches(batch))
