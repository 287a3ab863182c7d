"""The leader's check of a produced batch against a record-by-record model of the rules."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.protocol.errors import InvalidRecord, InvalidTimestamp, RecordTooLarge
from barnabas.records.batch import HEADER_BYTES, BatchHeader, TimestampType, read_header, stamp_append_time, validate
from barnabas.records.build import assemble, build_batch
from barnabas.records.compression import Compression
from barnabas.records.record import Record, iterate_records
from barnabas.records.validation import (
    RecordRules,
    RejectedRecords,
    RejectedTimestamps,
    check_produced,
    check_records,
)
from builders import make_batch, make_records
from record_model import Plain, encode, plain_records

NOW = 10_000
LENIENT = RecordRules(TimestampType.CREATE_TIME, 2**63 - 1, 2**63 - 1, is_compacted=False)

rules = st.builds(
    RecordRules,
    st.sampled_from(TimestampType),
    st.sampled_from([0, 100, 2**63 - 1]),
    st.sampled_from([0, 100, 2**63 - 1]),
    st.booleans(),
)
# On and just beyond the bounds of the rules above.
times = st.sampled_from([-1, 0, 1, NOW - 101, NOW - 100, NOW - 1, NOW, NOW + 1, NOW + 100, NOW + 101])


def faulty_indexes(records: list[Record], rule: RecordRules) -> tuple[list[int], bool]:
    """The records that break a rule, and whether one of them does by its time."""
    indexes, is_about_time = [], False
    for index, record in enumerate(records):
        if rule.is_compacted and record.key is None:
            indexes.append(index)
        elif rule.timestamp_type is TimestampType.CREATE_TIME and record.timestamp != -1:
            age_ms = NOW - record.timestamp
            if age_ms > rule.timestamp_before_max_ms or -age_ms > rule.timestamp_after_max_ms:
                indexes.append(index)
                is_about_time = True
    return indexes, is_about_time


@given(
    rules,
    st.lists(st.tuples(times, st.none() | st.just(b"key")), min_size=1, max_size=6),
    st.sampled_from([Compression.NONE, Compression.LZ4]),
)
def test_each_record_that_breaks_a_rule_is_named(
    rule: RecordRules, content: list[tuple[int, bytes | None]], codec: Compression
) -> None:
    records = [Record(index, timestamp, key, b"v") for index, (timestamp, key) in enumerate(content)]
    batch = b"before" + build_batch(records, compression=codec)
    indexes, is_about_time = faulty_indexes(records, rule)
    if not indexes:
        checked = check_records(batch, 6, validate(batch, 6), rule, NOW)
        is_append_time = rule.timestamp_type is TimestampType.LOG_APPEND_TIME
        assert checked.max_timestamp == (NOW if is_append_time else max(record.timestamp for record in records))
        assert checked.is_contiguous
        return
    with pytest.raises((RejectedTimestamps, RejectedRecords)) as raised:
        check_records(batch, 6, validate(batch, 6), rule, NOW)
    assert isinstance(raised.value, InvalidTimestamp) == is_about_time
    assert isinstance(raised.value, InvalidRecord) != is_about_time
    assert isinstance(raised.value, RejectedTimestamps | RejectedRecords)
    assert [error.batch_index for error in raised.value.record_errors] == indexes
    assert all(error.message for error in raised.value.record_errors)


@pytest.mark.parametrize(
    ("timestamp", "is_taken"), [(NOW - 101, False), (NOW - 100, True), (NOW + 50, True), (NOW + 51, False), (-1, True)]
)
def test_the_bounds_of_time_are_within_them(timestamp: int, is_taken: bool) -> None:
    rule = LENIENT._replace(timestamp_before_max_ms=100, timestamp_after_max_ms=50)
    # The same among others that are well within.
    for records in ([Record(0, timestamp, None, None)], [Record(i, NOW, None, None) for i in range(2)]):
        batch = build_batch([*records, Record(len(records), timestamp, None, None)])
        if is_taken:
            assert check_records(batch, 0, validate(batch), rule, NOW).is_contiguous
        else:
            with pytest.raises(RejectedTimestamps):
                check_records(batch, 0, validate(batch), rule, NOW)


def test_a_timestamp_beyond_64_bits_is_refused() -> None:
    header = validate(build_batch([Record(0, 0, None, None), Record(1, 1, None, None)]))
    records = build_batch([Record(0, 0, None, None), Record(1, 1, None, None)])[HEADER_BYTES:]
    batch = assemble(header._replace(base_timestamp=2**63 - 1, max_timestamp=2**63 - 1), records)
    with pytest.raises(RejectedTimestamps) as raised:
        check_records(batch, 0, validate(batch), LENIENT, NOW)
    assert [error.batch_index for error in raised.value.record_errors] == [1]


def test_a_producer_does_not_claim_append_times() -> None:
    batch = make_batch(2)
    stamp_append_time(batch, 0, NOW)
    rule = LENIENT._replace(timestamp_type=TimestampType.LOG_APPEND_TIME)
    with pytest.raises(RejectedTimestamps) as raised:
        check_records(batch, 0, validate(batch), rule, NOW)
    assert [error.batch_index for error in raised.value.record_errors] == [0, 1]


def test_a_topic_of_create_times_takes_append_times_for_such() -> None:
    batch = make_batch(2)
    stamp_append_time(batch, 0, NOW - 5)
    assert check_records(batch, 0, validate(batch), LENIENT, NOW).max_timestamp == NOW - 5
    strict = LENIENT._replace(timestamp_before_max_ms=4)
    with pytest.raises(RejectedTimestamps):
        check_records(batch, 0, validate(batch), strict, NOW)
    stamp_append_time(batch, 0, -1)
    with pytest.raises(RejectedTimestamps):
        check_records(batch, 0, validate(batch), LENIENT, NOW)


def test_a_wrong_maximum_in_the_header_is_found() -> None:
    batch = make_batch(3, timestamp=50)
    wrong = assemble(read_header(batch)._replace(max_timestamp=2**40), batch[61:])
    assert check_records(wrong, 0, validate(wrong), LENIENT, NOW).max_timestamp == 52


@given(plain_records())
def test_gaps_between_offsets_are_found(plain: list[Plain]) -> None:
    records = b"".join(map(encode, plain))
    header = read_header(make_batch(1))._replace(last_offset_delta=plain[-1].offset_delta, record_count=len(plain))
    batch = assemble(header, records)
    checked = check_records(batch, 0, validate(batch), LENIENT, NOW)
    assert checked.is_contiguous == (plain[-1].offset_delta == len(plain) - 1)
    assert bytes(checked.record_bytes) == records


@pytest.mark.parametrize("codec", Compression)
def test_malformed_records_are_refused_whatever_the_codec(codec: Compression) -> None:
    batch = build_batch(make_records(3), compression=codec)
    header = read_header(batch)._replace(record_count=2, last_offset_delta=1)
    fewer = assemble(header, batch[61:])
    with pytest.raises(InvalidRecord):
        check_records(fewer, 0, validate(fewer), LENIENT, NOW)


def test_inflation_is_bounded() -> None:
    batch = build_batch(make_records(1, value_bytes=5000), compression=Compression.ZSTD)
    with pytest.raises(RecordTooLarge):
        check_records(batch, 0, validate(batch), LENIENT, NOW, limit_bytes=5000)


def header_of(**fields: Any) -> BatchHeader:
    return read_header(build_batch(make_records(3)))._replace(**fields)


@pytest.mark.parametrize(
    "fields",
    [
        {"base_offset": 1},
        {"record_count": 0, "last_offset_delta": -1},
        {"record_count": 2},
        {"attributes": 0x20},
        {"producer_id": 5, "base_sequence": -1},
    ],
)
def test_clients_do_not_write_such_batches(fields: dict[str, int]) -> None:
    with pytest.raises(InvalidRecord):
        check_produced(header_of(**fields))


@pytest.mark.parametrize("fields", [{}, {"producer_id": 5, "base_sequence": 0}, {"attributes": 0x10}])
def test_clients_write_such_batches(fields: dict[str, int]) -> None:
    check_produced(header_of(**fields))


def test_checked_records_are_those_of_the_batch() -> None:
    batch = build_batch(make_records(3), compression=Compression.GZIP)
    header = validate(batch)
    checked = check_records(batch, 0, header, LENIENT, NOW)
    plain = assemble(header._replace(attributes=0), checked.record_bytes)
    assert list(iterate_records(plain, 0, validate(plain))) == make_records(3)
