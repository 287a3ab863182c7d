"""A batch with some of its records left out, as compaction leaves it.

Base offset, last offset, producer, epochs and sequences stay what they were, so that offsets and sequences still mean
the same; only the record count, the maximum timestamp and, at the first compaction of tombstones, the base timestamp
change.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import compress as select

from barnabas.records.batch import (
    COMPRESSION_MASK,
    DELETE_HORIZON_FLAG,
    NO_TIMESTAMP,
    BatchHeader,
    TimestampType,
)
from barnabas.records.build import assemble
from barnabas.records.compression import compress
from barnabas.records.kernel import ROW_COLUMNS, ROW_END, ROW_START, ROW_TIMESTAMP_DELTA

_LONG_MIN, _LONG_MAX = -(2**63), 2**63 - 1


def retain(
    header: BatchHeader,
    data: bytes,
    rows: array[int],
    is_kept: Sequence[int],
    *,
    delete_horizon_ms: int | None = None,
) -> bytearray:
    """The batch with those of its records whose place in `is_kept` is true, of which there is at least one.

    `data` are the uncompressed records and `rows` their scanned columns. With `delete_horizon_ms` the batch gets that
    delete horizon (KIP-534), which it did not have; without, it keeps what it has.
    """
    base_timestamp = header.base_timestamp
    attributes = header.attributes
    if delete_horizon_ms is None:
        records = _join(data, rows, is_kept)
    else:
        assert not header.has_delete_horizon, "a delete horizon is set once"
        records = _rebase(data, rows, is_kept, base_timestamp - delete_horizon_ms)
        attributes |= DELETE_HORIZON_FLAG
    if header.timestamp_type is TimestampType.CREATE_TIME:
        max_timestamp = base_timestamp + max(select(rows[ROW_TIMESTAMP_DELTA::ROW_COLUMNS], is_kept))
        max_timestamp = min(max(max_timestamp, _LONG_MIN), _LONG_MAX)
    else:
        max_timestamp = header.max_timestamp
    changed = header._replace(
        attributes=attributes,
        base_timestamp=base_timestamp if delete_horizon_ms is None else delete_horizon_ms,
        max_timestamp=max_timestamp,
        record_count=sum(is_kept),
    )
    return assemble(changed, compress(header.compression, records))


def retain_nothing(header: BatchHeader) -> bytearray:
    """The batch without records: its offsets, its producer's sequences and its maximum timestamp remain."""
    attributes = header.attributes & ~COMPRESSION_MASK & ~DELETE_HORIZON_FLAG
    return assemble(header._replace(attributes=attributes, base_timestamp=NO_TIMESTAMP, record_count=0), b"")


def _join(data: bytes, rows: array[int], is_kept: Sequence[int]) -> bytes:
    """The kept records' bytes, which need no change: both deltas count from what the batch keeps."""
    starts = select(rows[ROW_START::ROW_COLUMNS], is_kept)
    ends = select(rows[ROW_END::ROW_COLUMNS], is_kept)
    return b"".join([data[start:end] for start, end in zip(starts, ends, strict=True)])


def _rebase(data: bytes, rows: array[int], is_kept: Sequence[int], shift_ms: int) -> bytes:
    """The kept records with their timestamp deltas counted from a base that is `shift_ms` earlier.

    A delta that leaves 64 bits wraps around, as the timestamp does for whoever adds the two in 64 bits.
    """
    records = bytearray()
    columns = zip(
        rows[ROW_START::ROW_COLUMNS], rows[ROW_END::ROW_COLUMNS], rows[ROW_TIMESTAMP_DELTA::ROW_COLUMNS], strict=True
    )
    for start, end, delta in select(columns, is_kept):
        attributes_at = _skip_varint(data, start)
        rest_at = _skip_varint(data, attributes_at + 1)
        timestamp = _zigzag_varint((delta + shift_ms - _LONG_MIN) % 2**64 + _LONG_MIN)
        records += _zigzag_varint(1 + len(timestamp) + end - rest_at)
        records.append(data[attributes_at])
        records += timestamp
        records += data[rest_at:end]
    return bytes(records)


def _skip_varint(data: bytes, position: int) -> int:
    while data[position] >= 0x80:
        position += 1
    return position + 1


def _zigzag_varint(value: int) -> bytes:
    value = (value << 1) ^ (value >> 63)
    encoded = bytearray()
    while value >= 0x80:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)
