"""The header of a record batch (magic 2), read and changed where it lies.

Offsets and leader epoch are not under the checksum, so a leader stamps them without touching the rest; attributes and
the maximum timestamp are, so whoever changes those writes the checksum anew. `validate` answers for the whole batch as
a piece of bytes; what is inside its records is the business of `validation`.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from struct import Struct
from typing import NamedTuple

from crc32c import crc32c

from barnabas.protocol.errors import ApiError, CorruptMessage, InvalidRecord
from barnabas.records.compression import Compression
from barnabas.records.kernel import sound_header

Buffer = bytes | bytearray | memoryview
WritableBuffer = bytearray | memoryview

HEADER_BYTES = 61
LOG_OVERHEAD_BYTES = 12  # Base offset and batch length, which the length itself does not count.
MAGIC_POSITION = 16
CRC_POSITION = 17
ATTRIBUTES_POSITION = 21  # The checksum covers everything from here to the end of the batch.
MAGIC = 2

NO_TIMESTAMP = -1
NO_PRODUCER_ID = -1
NO_PRODUCER_EPOCH = -1
NO_SEQUENCE = -1
NO_LEADER_EPOCH = -1

COMPRESSION_MASK = 0x07
TIMESTAMP_TYPE_FLAG = 0x08
TRANSACTIONAL_FLAG = 0x10
CONTROL_FLAG = 0x20
DELETE_HORIZON_FLAG = 0x40
KNOWN_ATTRIBUTES = 0x7F

_CODECS = tuple(Compression)  # By number; a look-up here takes a fifth of the time of a call of the enumeration.
_SEQUENCES = 1 << 31  # Sequence numbers run through the non-negative 32-bit integers and start again at 0.

HEADER = Struct(">qiibIhiqqqhii")
_OFFSET = Struct(">q")
_LENGTH = Struct(">i")
_CRC = Struct(">I")
_ATTRIBUTES = Struct(">h")
_MAX_TIMESTAMP_POSITION = 35
_LEADER_EPOCH_POSITION = 12


class TimestampType(IntEnum):
    """Who gave the records their timestamps: the producer, or the leader when it appended them."""

    CREATE_TIME = 0
    LOG_APPEND_TIME = 1


_CREATE_TIME, _LOG_APPEND_TIME = TimestampType


class BatchHeader(NamedTuple):
    """The fixed part of a batch, field by field as on the wire."""

    base_offset: int
    batch_length: int
    leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    record_count: int

    @property
    def last_offset(self) -> int:
        return self.base_offset + self.last_offset_delta

    @property
    def next_offset(self) -> int:
        return self.base_offset + self.last_offset_delta + 1

    @property
    def size_bytes(self) -> int:
        return self.batch_length + LOG_OVERHEAD_BYTES

    @property
    def compression(self) -> Compression:
        codec = self.attributes & COMPRESSION_MASK
        if codec >= len(_CODECS):
            raise InvalidRecord(f"compression {codec} is unknown")
        return _CODECS[codec]

    @property
    def timestamp_type(self) -> TimestampType:
        return _LOG_APPEND_TIME if self.attributes & TIMESTAMP_TYPE_FLAG else _CREATE_TIME

    @property
    def is_transactional(self) -> bool:
        return self.attributes & TRANSACTIONAL_FLAG != 0

    @property
    def is_control(self) -> bool:
        return self.attributes & CONTROL_FLAG != 0

    @property
    def has_delete_horizon(self) -> bool:
        return self.attributes & DELETE_HORIZON_FLAG != 0

    @property
    def delete_horizon_ms(self) -> int | None:
        """When the tombstones and markers in this batch may go (KIP-534); it takes the base timestamp's place."""
        return self.base_timestamp if self.has_delete_horizon else None

    @property
    def has_producer_id(self) -> bool:
        return self.producer_id > NO_PRODUCER_ID

    @property
    def last_sequence(self) -> int:
        if self.base_sequence == NO_SEQUENCE:
            return NO_SEQUENCE
        return (self.base_sequence + self.last_offset_delta) % _SEQUENCES


def read_header(buffer: Buffer, position: int = 0) -> BatchHeader:
    """The header at `position`, unchecked but for the room it needs."""
    if len(buffer) - position < HEADER_BYTES:
        raise CorruptMessage(f"{len(buffer) - position} bytes cannot hold a batch header of {HEADER_BYTES}")
    return BatchHeader._make(HEADER.unpack_from(buffer, position))


def validate(buffer: Buffer, position: int = 0) -> BatchHeader:
    """The header of a batch that is whole, of magic 2, undamaged, and whose header does not contradict itself.

    A batch that compaction thinned out passes: it has fewer records than offsets.
    """
    header = sound_header(BatchHeader, buffer, position)
    if header is None:
        raise _fault(buffer, position)
    return header


def _fault(buffer: Buffer, position: int) -> ApiError:
    """What is wrong with a batch that is not sound; damage first, because it makes every other finding doubtful."""
    available = len(buffer) - position
    if available < HEADER_BYTES:
        return CorruptMessage(f"{available} bytes cannot hold a batch header of {HEADER_BYTES}")
    header = read_header(buffer, position)
    if header.magic in (0, 1):
        return InvalidRecord(f"magic {header.magic} is not a record batch; only magic {MAGIC} is written")
    if header.magic != MAGIC:
        return CorruptMessage(f"magic {header.magic} is unknown")
    if header.size_bytes < HEADER_BYTES:
        return CorruptMessage(f"a batch of {header.size_bytes} bytes is smaller than its header")
    if header.size_bytes > available:
        return CorruptMessage(f"a batch of {header.size_bytes} bytes is cut off after {available}")
    computed = compute_crc(buffer, position, header.size_bytes)
    if computed != header.crc:
        return CorruptMessage(f"checksum {header.crc:#010x} is stored, {computed:#010x} computed")
    if header.attributes & COMPRESSION_MASK >= len(_CODECS):
        return InvalidRecord(f"compression {header.attributes & COMPRESSION_MASK} is unknown")
    return InvalidRecord(f"{header.record_count} records do not fit the offset deltas 0 to {header.last_offset_delta}")


def iterate_batches(buffer: Buffer, position: int = 0, end: int | None = None) -> Iterator[tuple[int, BatchHeader]]:
    """(position, header) of each whole batch; a partial one at the end is left out.

    Nothing but sizes is checked. `legacy.iterate_any` also takes the older formats.
    """
    end = len(buffer) if end is None else end
    unpack = HEADER.unpack_from
    while end - position >= HEADER_BYTES:
        header = BatchHeader._make(unpack(buffer, position))
        size_bytes = header.batch_length + LOG_OVERHEAD_BYTES
        if header.magic != MAGIC:
            raise CorruptMessage(f"magic {header.magic} at position {position}, where {MAGIC} is expected")
        if size_bytes < HEADER_BYTES:
            raise CorruptMessage(f"a batch of {size_bytes} bytes at position {position}")
        if size_bytes > end - position:
            return
        yield position, header
        position += size_bytes


def compute_crc(buffer: Buffer, position: int, size_bytes: int) -> int:
    """CRC-32C of a batch's bytes from its attributes on."""
    return crc32c(memoryview(buffer)[position + ATTRIBUTES_POSITION : position + size_bytes])


def stamp(buffer: WritableBuffer, position: int, base_offset: int, leader_epoch: int) -> None:
    """Give a batch its place in the log; the checksum does not cover it."""
    _OFFSET.pack_into(buffer, position, base_offset)
    _LENGTH.pack_into(buffer, position + _LEADER_EPOCH_POSITION, leader_epoch)


def stamp_append_time(buffer: WritableBuffer, position: int, append_time_ms: int) -> None:
    """Make `append_time_ms` the timestamp of every record, whatever the producer gave them."""
    stamp_max_timestamp(buffer, position, TimestampType.LOG_APPEND_TIME, append_time_ms)


def stamp_max_timestamp(
    buffer: WritableBuffer, position: int, timestamp_type: TimestampType, max_timestamp: int
) -> None:
    """Set timestamp type and maximum timestamp, and the checksum with them where that changes anything."""
    header = read_header(buffer, position)
    attributes = header.attributes & ~TIMESTAMP_TYPE_FLAG & KNOWN_ATTRIBUTES
    if timestamp_type is TimestampType.LOG_APPEND_TIME:
        attributes |= TIMESTAMP_TYPE_FLAG
    if header.timestamp_type is timestamp_type and header.max_timestamp == max_timestamp:
        return
    _ATTRIBUTES.pack_into(buffer, position + ATTRIBUTES_POSITION, attributes)
    _OFFSET.pack_into(buffer, position + _MAX_TIMESTAMP_POSITION, max_timestamp)
    write_crc(buffer, position, header.size_bytes)


def write_crc(buffer: WritableBuffer, position: int, size_bytes: int) -> None:
    """Store the checksum that the bytes have now."""
    _CRC.pack_into(buffer, position + CRC_POSITION, compute_crc(buffer, position, size_bytes))
