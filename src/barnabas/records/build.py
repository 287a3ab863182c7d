"""Making record batches (magic 2): offset and timestamp deltas, record encoding, header and checksum."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from barnabas.records.batch import (
    CONTROL_FLAG,
    DELETE_HORIZON_FLAG,
    HEADER,
    HEADER_BYTES,
    LOG_OVERHEAD_BYTES,
    MAGIC,
    NO_LEADER_EPOCH,
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    NO_SEQUENCE,
    TIMESTAMP_TYPE_FLAG,
    TRANSACTIONAL_FLAG,
    BatchHeader,
    Buffer,
    TimestampType,
    write_crc,
)
from barnabas.records.compression import Compression, compress
from barnabas.records.record import Header, Record


def build_batch(
    records: Iterable[Record],
    *,
    base_offset: int | None = None,
    leader_epoch: int = NO_LEADER_EPOCH,
    compression: Compression = Compression.NONE,
    level: int | None = None,
    timestamp_type: TimestampType = TimestampType.CREATE_TIME,
    append_time_ms: int | None = None,
    producer_id: int = NO_PRODUCER_ID,
    producer_epoch: int = NO_PRODUCER_EPOCH,
    base_sequence: int = NO_SEQUENCE,
    is_transactional: bool = False,
    is_control: bool = False,
    delete_horizon_ms: int | None = None,
    last_offset: int | None = None,
) -> bytearray:
    """A batch of at least one record, whose offsets rise from `base_offset` (by default the first one's) on.

    With LOG_APPEND_TIME `append_time_ms` is the time of all records; a delete horizon takes the place of the base
    timestamp. `last_offset` is the last record's unless compaction took records from the end.
    """
    records = records if isinstance(records, Sequence) else list(records)
    first, last = records[0], records[-1]
    if base_offset is None:
        base_offset = first.offset
    base_timestamp = first.timestamp if delete_horizon_ms is None else delete_horizon_ms
    attributes = int(compression)
    if timestamp_type is TimestampType.LOG_APPEND_TIME:
        assert append_time_ms is not None, "the append time is the time of the records"
        attributes |= TIMESTAMP_TYPE_FLAG
        max_timestamp = append_time_ms
    else:
        max_timestamp = max(record.timestamp for record in records)
    if is_transactional:
        attributes |= TRANSACTIONAL_FLAG
    if is_control:
        attributes |= CONTROL_FLAG
    if delete_horizon_ms is not None:
        attributes |= DELETE_HORIZON_FLAG
    encoded = bytearray()
    for record in records:
        encode_record(
            encoded,
            record.offset - base_offset,
            record.timestamp - base_timestamp,
            record.key,
            record.value,
            record.headers,
        )
    header = BatchHeader(
        base_offset=base_offset,
        batch_length=0,
        leader_epoch=leader_epoch,
        magic=MAGIC,
        crc=0,
        attributes=attributes,
        last_offset_delta=(last.offset if last_offset is None else last_offset) - base_offset,
        base_timestamp=base_timestamp,
        max_timestamp=max_timestamp,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        base_sequence=base_sequence,
        record_count=len(records),
    )
    return assemble(header, encoded if compression is Compression.NONE else compress(compression, encoded, level))


def assemble(header: BatchHeader, payload: Buffer) -> bytearray:
    """The batch of a header and the (compressed) records that follow it; length and checksum are filled in."""
    batch = bytearray(HEADER_BYTES + len(payload))
    HEADER.pack_into(batch, 0, *header._replace(batch_length=len(batch) - LOG_OVERHEAD_BYTES))
    batch[HEADER_BYTES:] = payload
    write_crc(batch, 0, len(batch))
    return batch


def encode_record(
    into: bytearray,
    offset_delta: int,
    timestamp_delta: int,
    key: Buffer | None,
    value: Buffer | None,
    headers: Sequence[Header],
) -> None:
    """Append one record to `into`, which holds the batch's records before it."""
    body = bytearray(1)  # Attributes, of which none is defined.
    _put_varint(body, timestamp_delta)
    _put_varint(body, offset_delta)
    _put_bytes(body, key)
    _put_bytes(body, value)
    _put_varint(body, len(headers))
    for name, content in headers:
        _put_bytes(body, name.encode())
        _put_bytes(body, content)
    _put_varint(into, len(body))
    into += body


def _put_bytes(into: bytearray, data: Buffer | None) -> None:
    if data is None:
        into.append(1)  # The varint of -1.
    else:
        _put_varint(into, len(data))
        into += data


def _put_varint(into: bytearray, value: int) -> None:
    value = (value << 1) ^ (value >> 63)
    while value >= 0x80:
        into.append(value & 0x7F | 0x80)
        value >>= 7
    into.append(value)
