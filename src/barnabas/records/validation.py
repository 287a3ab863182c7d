"""What a leader asks of a batch before it appends it: of its header, and of every record in it.

The rules and their answers are Kafka's. A fault in the batch is InvalidRecord; faults of single records are gathered
and named one by one (KIP-467), as InvalidTimestamp where one of them is about time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from barnabas.protocol.errors import ApiError, InvalidRecord, InvalidTimestamp
from barnabas.records.batch import NO_TIMESTAMP, TIMESTAMP_TYPE_FLAG, BatchHeader, Buffer, TimestampType
from barnabas.records.compression import INFLATED_BYTES_MAX
from barnabas.records.kernel import ROW_COLUMNS, ROW_KEY_LENGTH, ROW_TIMESTAMP_DELTA, read_rows, scan
from barnabas.records.record import read_record_bytes

_LONG_MAX = 2**63 - 1


class RecordRules(NamedTuple):
    """The topic's settings that single records are held to."""

    timestamp_type: TimestampType
    timestamp_before_max_ms: int
    timestamp_after_max_ms: int
    is_compacted: bool

    def earliest(self, now_ms: int) -> int:
        return now_ms - self.timestamp_before_max_ms

    def latest(self, now_ms: int) -> int:
        """The latest timestamp that is taken; a delta may lead beyond what a timestamp can be."""
        return min(now_ms + self.timestamp_after_max_ms, _LONG_MAX)


class RecordError(NamedTuple):
    """One refused record: its index in the batch and what is wrong with it."""

    batch_index: int
    message: str


class RejectedRecords(InvalidRecord):
    """Records of a batch that the topic does not take."""

    def __init__(self, record_errors: tuple[RecordError, ...]) -> None:
        super().__init__(f"{len(record_errors)} records were rejected, the first: {record_errors[0].message}")
        self.record_errors = record_errors


class RejectedTimestamps(InvalidTimestamp):
    """Records of a batch that the topic does not take, some of them for their timestamps."""

    def __init__(self, record_errors: tuple[RecordError, ...]) -> None:
        super().__init__("one or more records were rejected for their timestamps")
        self.record_errors = record_errors


class CheckedRecords(NamedTuple):
    """What the check has found out on its way."""

    record_bytes: Buffer  # The records, decompressed.
    max_timestamp: int  # What the batch's header has to say.
    is_contiguous: bool  # Whether the offset deltas are 0, 1, 2, …; otherwise they have to be given anew.


def check_produced(header: BatchHeader) -> None:
    """Refuse what no client may write. The batch's soundness is already established."""
    if header.base_offset != 0:
        raise InvalidRecord(f"a produced batch starts at offset 0, not {header.base_offset}")
    if header.record_count == 0:
        raise InvalidRecord("a produced batch has records")
    if header.record_count != header.last_offset_delta + 1:
        raise InvalidRecord(f"{header.record_count} records do not match offset deltas 0 to {header.last_offset_delta}")
    if header.is_control:
        raise InvalidRecord("clients do not write control records")
    if header.has_producer_id and header.base_sequence < 0:
        raise InvalidRecord(f"sequence {header.base_sequence} of producer {header.producer_id}")


def check_records(
    buffer: Buffer,
    position: int,
    header: BatchHeader,
    rules: RecordRules,
    now_ms: int,
    limit_bytes: int = INFLATED_BYTES_MAX,
) -> CheckedRecords:
    """Walk the records of a sound batch; raise where they are malformed or break the topic's rules."""
    record_bytes = read_record_bytes(buffer, position, header, limit_bytes)
    delta_min, delta_max, first_null_key, is_contiguous = scan(record_bytes, header.record_count)
    is_append_time = header.attributes & TIMESTAMP_TYPE_FLAG
    if is_append_time:
        timestamp_min = timestamp_max = header.max_timestamp
    else:
        timestamp_min = header.base_timestamp + delta_min
        timestamp_max = header.base_timestamp + delta_max
    # Whatever is wrong with one record shows in the least, the greatest or the first; then it is worth a closer look.
    if is_append_time or (rules.is_compacted and first_null_key >= 0):
        _look_closer(record_bytes, header, rules, now_ms)
    elif rules.timestamp_type is TimestampType.LOG_APPEND_TIME:
        timestamp_max = now_ms
    elif timestamp_min < rules.earliest(now_ms) or timestamp_max > rules.latest(now_ms):
        _look_closer(record_bytes, header, rules, now_ms)
    if timestamp_max < NO_TIMESTAMP:
        timestamp_max = NO_TIMESTAMP
    return CheckedRecords(record_bytes, timestamp_max, is_contiguous)


def _look_closer(record_bytes: Buffer, header: BatchHeader, rules: RecordRules, now_ms: int) -> None:
    faults = list(_iterate_faults(record_bytes, header, rules, now_ms))
    if faults:
        refuse: Callable[[tuple[RecordError, ...]], ApiError] = RejectedRecords
        if any(is_about_time for is_about_time, _ in faults):
            refuse = RejectedTimestamps
        raise refuse(tuple(error for _, error in faults))


def _iterate_faults(
    record_bytes: Buffer, header: BatchHeader, rules: RecordRules, now_ms: int
) -> Iterator[tuple[bool, RecordError]]:
    """(whether it is about time, error) of each record that breaks a rule."""
    rows = read_rows(record_bytes, header.record_count)
    is_append_time = header.timestamp_type is TimestampType.LOG_APPEND_TIME
    earliest, latest = rules.earliest(now_ms), rules.latest(now_ms)
    columns = zip(rows[ROW_KEY_LENGTH::ROW_COLUMNS], rows[ROW_TIMESTAMP_DELTA::ROW_COLUMNS], strict=True)
    for index, (key_length, delta) in enumerate(columns):
        timestamp = header.max_timestamp if is_append_time else header.base_timestamp + delta
        if rules.is_compacted and key_length < 0:
            yield False, RecordError(index, "a compacted topic takes no record without a key")
        elif rules.timestamp_type is TimestampType.CREATE_TIME and timestamp != NO_TIMESTAMP:
            if not earliest <= timestamp <= latest:
                yield True, RecordError(index, f"timestamp {timestamp} is not within [{earliest}, {latest}]")
        elif is_append_time:
            yield True, RecordError(index, "a producer does not set timestamps of the type LogAppendTime")
