# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, annotation_typing=False
"""The loops over the bytes of a batch that run for every record; compiled where a C compiler was found at installation.

The same file runs as plain Python with the same results; `kernel.pxd` beside it holds the C types. No byte outside the
given buffer is read, and a length is believed only after it was compared with what remains.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from struct import Struct
from types import SimpleNamespace
from typing import TypeVar

from crc32c import crc32c

from barnabas.protocol.errors import InvalidRecord

try:
    import cython  # type: ignore[import-untyped]
except ImportError:  # The compiler is there when the package is built; running needs only the answer to one question.
    cython = SimpleNamespace(compiled=False)

IS_COMPILED: bool = cython.compiled

# The columns that `scan` writes for each record. Positions count from the start of the scanned bytes; a length below 0
# means null.
ROW_START = 0
ROW_END = 1
ROW_OFFSET_DELTA = 2
ROW_TIMESTAMP_DELTA = 3
ROW_KEY_POSITION = 4
ROW_KEY_LENGTH = 5
ROW_VALUE_POSITION = 6
ROW_VALUE_LENGTH = 7
ROW_HEADERS_POSITION = 8
ROW_HEADER_COUNT = 9
ROW_COLUMNS = 10

# Length, attributes, two deltas, two lengths and the header count take a byte each at least.
RECORD_BYTES_MIN = 7

Buffer = bytes | bytearray | memoryview
T = TypeVar("T")
_MASK_32 = 0xFFFFFFFF
_MASK_64 = 0xFFFFFFFFFFFFFFFF

if not cython.compiled:  # kernel.pxd has these in C.
    _new_tuple = tuple.__new__
    _unpack_header = Struct(">qiibIhiqqqhii").unpack_from

    def _undamaged_fields(buffer: Buffer, position: int) -> tuple[int, ...] | None:
        """The header's fields, or None where the batch is not whole, not of magic 2 or fails its checksum."""
        if position < 0 or len(buffer) - position < 61:
            return None
        fields = _unpack_header(buffer, position)
        end = position + 12 + fields[1]
        if fields[3] != 2 or fields[1] < 49 or end > len(buffer):
            return None
        if crc32c(memoryview(buffer)[position + 21 : end]) != fields[4]:
            return None
        return fields

    def _address(buffer: Buffer) -> Buffer:
        """Where the bytes of a buffer are, for the loops; good only while it is neither resized nor freed."""
        return buffer


def sound_header(header_type: type[T], buffer: Buffer, position: int) -> T | None:
    """The batch header at `position`, or None where the batch is cut off, damaged or contradicts itself.

    One call does it all: the checksum of a 16 KiB batch takes a microsecond, and every object made on the way to it and
    back is a tenth of that.
    """
    fields = _undamaged_fields(buffer, position)
    if fields is None:
        return None
    attributes = fields[5]
    last_offset_delta = fields[6]
    record_count = fields[12]
    # Even a batch without records has an offset.
    if attributes & 7 > 4 or last_offset_delta < 0 or record_count < 0 or record_count > last_offset_delta + 1:
        return None
    return _new_tuple(header_type, fields)  # type: ignore[type-var]


def plain_header(
    header_type: type[T], buffer: Buffer, earliest_timestamp: int, latest_timestamp: int, needs_keys: bool
) -> T | None:
    """The header of the one batch that fills `buffer`, if it is as plain as most are and all is well with it.

    Plain is a batch from a producer without compression, control records, gaps or a timestamp of its own, and whose
    records keep the given rules. None says that a closer look is needed, not that anything is wrong.
    """
    # Bit 4 is that of a transaction; a look at the others spares most batches that are not plain the checksum.
    if len(buffer) < 61 or buffer[21] or buffer[22] & ~16:
        return None
    fields = _undamaged_fields(buffer, 0)
    if fields is None:
        return None
    record_count = fields[12]
    if fields[0] or fields[1] + 12 != len(buffer) or record_count < 1 or record_count != fields[6] + 1:
        return None
    if fields[9] >= 0 and fields[11] < 0:
        return None
    least, greatest, first_null_key, is_contiguous = scan(buffer, record_count, None, 61)
    max_timestamp = fields[8]
    if (
        not is_contiguous
        or (needs_keys and first_null_key >= 0)
        or max_timestamp < -1
        or fields[7] + greatest != max_timestamp
        or max_timestamp > latest_timestamp
        or fields[7] + least < earliest_timestamp
    ):
        return None
    return _new_tuple(header_type, fields)  # type: ignore[type-var]


def _varint(data: Buffer, position: int, end: int, bits: int) -> tuple[int, int]:
    """A zigzag varint of 32 or 64 bits and the position behind it, which is -1 (and stays so) for a malformed one."""
    if position < 0 or position >= end:
        return 0, -1
    byte = data[position]
    position += 1
    if byte < 0x80:
        return (byte >> 1) ^ -(byte & 1), position
    value = byte & 0x7F
    shift = 7
    while byte >= 0x80:
        if position >= end or shift >= bits:
            return 0, -1
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        shift += 7
    # What the last byte holds beyond the width is dropped, as Java drops it.
    value &= _MASK_32 if bits == 32 else _MASK_64
    return (value >> 1) ^ -(value & 1), position


def _malformed(index: int, position: int) -> InvalidRecord:
    return InvalidRecord(f"record {index}, which starts at byte {position} of the records, is malformed")


def scan(
    buffer: Buffer, record_count: int, rows: array[int] | None = None, begin: int = 0
) -> tuple[int, int, int, bool]:
    """Walk `record_count` records that must fill `buffer` from `begin` on; raise InvalidRecord where they do not.

    Returns least and greatest timestamp delta, the index of the first record without a key or -1, and whether the
    offset deltas are 0, 1, 2, …  With `rows` (see `read_rows`) each record's columns are written there.
    """
    data = _address(buffer)
    end = len(buffer)
    if record_count < 1 or record_count > (end - begin) // 7:
        raise InvalidRecord(f"{record_count} records cannot fill {end - begin} bytes")
    timestamp_delta_min = 0x7FFFFFFFFFFFFFFF
    timestamp_delta_max = -0x7FFFFFFFFFFFFFFF - 1
    first_null_key = -1
    is_contiguous = True
    position = begin
    row = 0
    for index in range(record_count):
        start = position
        size, position = _varint(data, position, end, 32)
        if position < 0 or size < 1 or size > end - position:
            raise _malformed(index, start - begin)
        body_end = position + size
        # Once -1, the position stays -1 up to the check behind the header count.
        timestamp_delta, position = _varint(data, position + 1, body_end, 64)
        offset_delta, position = _varint(data, position, body_end, 32)
        key_length, key_position = _varint(data, position, body_end, 32)
        if key_length > body_end - key_position:
            raise _malformed(index, start - begin)
        position = key_position + key_length if key_length > 0 else key_position
        value_length, value_position = _varint(data, position, body_end, 32)
        if value_length > body_end - value_position:
            raise _malformed(index, start - begin)
        position = value_position + value_length if value_length > 0 else value_position
        header_count, headers_position = _varint(data, position, body_end, 32)
        if headers_position < 0 or header_count < 0:
            raise _malformed(index, start - begin)
        position = headers_position
        if header_count:
            position = _skip_headers(data, position, body_end, header_count)
        if position != body_end:
            raise _malformed(index, start - begin)
        if timestamp_delta < timestamp_delta_min:
            timestamp_delta_min = timestamp_delta
        if timestamp_delta > timestamp_delta_max:
            timestamp_delta_max = timestamp_delta
        if key_length < 0 and first_null_key < 0:
            first_null_key = index
        if offset_delta != index:
            is_contiguous = False
        if rows is not None:
            rows[row] = start
            rows[row + 1] = position
            rows[row + 2] = offset_delta
            rows[row + 3] = timestamp_delta
            rows[row + 4] = key_position
            rows[row + 5] = key_length
            rows[row + 6] = value_position
            rows[row + 7] = value_length
            rows[row + 8] = headers_position
            rows[row + 9] = header_count
            row += 10
    if position != end:
        raise InvalidRecord(f"{end - position} bytes follow the last of {record_count} records")
    return timestamp_delta_min, timestamp_delta_max, first_null_key, is_contiguous


def _skip_headers(data: Buffer, position: int, end: int, header_count: int) -> int:
    """The position behind the headers, or -1 where they are malformed."""
    if header_count > end - position:
        return -1
    for _ in range(header_count):
        length, position = _varint(data, position, end, 32)
        if position < 0 or length < 0 or length > end - position:
            return -1
        length, position = _varint(data, position + length, end, 32)
        if position < 0 or length > end - position:
            return -1
        if length > 0:
            position += length
    return position


def read_rows(data: Buffer, record_count: int) -> array[int]:
    """The scanned columns of every record, `ROW_COLUMNS` numbers each, one record behind the other."""
    if record_count > len(data) // RECORD_BYTES_MIN:  # Before the count decides how much memory is taken.
        raise InvalidRecord(f"{record_count} records cannot fill {len(data)} bytes")
    rows = array("q", [0]) * (ROW_COLUMNS * record_count)
    scan(data, record_count, rows)
    return rows


def decode(
    record_type: type[T],
    read_headers: Callable[[bytes, int, int], object],
    data: bytes,
    record_count: int,
    base_offset: int,
    base_timestamp: int,
    append_time_ms: int | None,
) -> list[T]:
    """Every record as a `record_type` of (offset, timestamp, key, value, headers); keys and values are copies."""
    rows = read_rows(data, record_count)
    records: list[T] = []
    for at in range(0, record_count * 10, 10):
        start = rows[at + 4]
        length = rows[at + 5]
        key = data[start : start + length] if length >= 0 else None
        start = rows[at + 6]
        length = rows[at + 7]
        value = data[start : start + length] if length >= 0 else None
        length = rows[at + 9]
        headers = read_headers(data, rows[at + 8], length) if length > 0 else ()
        timestamp = base_timestamp + rows[at + 3] if append_time_ms is None else append_time_ms
        fields = (base_offset + rows[at + 2], timestamp, key, value, headers)
        records.append(_new_tuple(record_type, fields))  # type: ignore[type-var]
    return records
