"""The record formats before batches: magic 0 and 1, which old segments still hold.

They are read and never written. A message of these formats is a batch of its own, described by the same header type as
a batch of magic 2; a compressed one wraps other messages, and its offset is the last one's.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct
from typing import NamedTuple
from zlib import crc32

from barnabas.protocol.errors import CorruptMessage, InvalidRecord
from barnabas.records.batch import (
    HEADER_BYTES,
    LOG_OVERHEAD_BYTES,
    MAGIC,
    MAGIC_POSITION,
    NO_LEADER_EPOCH,
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    NO_SEQUENCE,
    NO_TIMESTAMP,
    BatchHeader,
    Buffer,
    TimestampType,
    read_header,
    validate,
)
from barnabas.records.compression import INFLATED_BYTES_MAX, Compression, decompress
from barnabas.records.record import Record, iterate_records

UNKNOWN_COUNT = -1  # How many messages a wrapper holds is known only after decompressing it.

_PREFIX = Struct(">qi")  # offset, size of what follows
_FIXED = (Struct(">IbB"), Struct(">IbBq"))  # crc, magic, attributes; magic 1 has a timestamp
_LENGTH = Struct(">i")
_OVERHEAD_BYTES = tuple(fixed.size + 2 * _LENGTH.size for fixed in _FIXED)
_CRC = Struct(">I")
_ATTRIBUTES_MASKS = (0x07, 0x0F)  # Compression; magic 1 has the timestamp type beside it.
_COMPRESSION_MASK = 0x07


class _Message(NamedTuple):
    offset: int
    magic: int
    compression: Compression
    timestamp_type: TimestampType
    timestamp: int
    key: bytes | None
    value: bytes | None


def read_legacy_header(buffer: Buffer, position: int = 0) -> BatchHeader:
    """The header of a message of magic 0 or 1, of which the buffer need not hold the rest.

    A batch of magic 2 that is cut off within its header is described as far as its size. CorruptMessage is raised for a
    magic that does not exist and a size too small for its magic.
    """
    available = len(buffer) - position
    if available <= MAGIC_POSITION:
        raise CorruptMessage(f"{available} bytes do not reach up to the magic")
    offset, size = _PREFIX.unpack_from(buffer, position)
    magic = buffer[position + MAGIC_POSITION]
    if magic > MAGIC:
        raise CorruptMessage(f"magic {magic} at position {position} is unknown")
    size_bytes_min = HEADER_BYTES if magic == MAGIC else LOG_OVERHEAD_BYTES + _OVERHEAD_BYTES[magic]
    if size + LOG_OVERHEAD_BYTES < size_bytes_min:
        raise CorruptMessage(f"{size} bytes at position {position} cannot hold a message of magic {magic}")
    crc, attributes, timestamp = 0, 0, NO_TIMESTAMP
    if magic != MAGIC and available >= size_bytes_min:
        crc, _, attributes, *timestamps = _FIXED[magic].unpack_from(buffer, position + LOG_OVERHEAD_BYTES)
        attributes &= _ATTRIBUTES_MASKS[magic]
        timestamp = timestamps[0] if timestamps else NO_TIMESTAMP
    return BatchHeader(
        base_offset=offset,
        batch_length=size,
        leader_epoch=NO_LEADER_EPOCH,
        magic=magic,
        crc=crc,
        attributes=attributes,
        last_offset_delta=0,
        base_timestamp=timestamp,
        max_timestamp=timestamp,
        producer_id=NO_PRODUCER_ID,
        producer_epoch=NO_PRODUCER_EPOCH,
        base_sequence=NO_SEQUENCE,
        record_count=UNKNOWN_COUNT if attributes & _COMPRESSION_MASK else 1,
    )


def read_any_header(buffer: Buffer, position: int = 0) -> BatchHeader:
    """The header at `position`, whatever its magic."""
    if len(buffer) - position >= HEADER_BYTES and buffer[position + MAGIC_POSITION] == MAGIC:
        return read_header(buffer, position)
    return read_legacy_header(buffer, position)


def validate_any(buffer: Buffer, position: int = 0) -> BatchHeader:
    """The header of a whole and undamaged batch of any magic; CorruptMessage or InvalidRecord otherwise."""
    if len(buffer) - position > MAGIC_POSITION and buffer[position + MAGIC_POSITION] == MAGIC:
        return validate(buffer, position)
    header = read_legacy_header(buffer, position)
    if header.size_bytes > len(buffer) - position:
        raise CorruptMessage(f"a message of {header.size_bytes} bytes is cut off after {len(buffer) - position}")
    _check_crc(memoryview(buffer)[position + LOG_OVERHEAD_BYTES : position + header.size_bytes])
    return header


def iterate_any(buffer: Buffer, position: int = 0, end: int | None = None) -> Iterator[tuple[int, BatchHeader]]:
    """(position, header) of each whole batch of any magic; a partial one at the end is left out."""
    end = len(buffer) if end is None else end
    while end - position > MAGIC_POSITION:
        header = read_any_header(buffer, position)
        if header.size_bytes < HEADER_BYTES and header.magic == MAGIC:
            raise CorruptMessage(f"a batch of {header.size_bytes} bytes at position {position}")
        if header.size_bytes > end - position:
            return
        yield position, header
        position += header.size_bytes


def iterate_any_records(
    buffer: Buffer, position: int = 0, header: BatchHeader | None = None, limit_bytes: int = INFLATED_BYTES_MAX
) -> Iterator[Record]:
    """The records of a whole batch of any magic."""
    if header is None:
        header = read_any_header(buffer, position)
    if header.magic == MAGIC:
        return iterate_records(buffer, position, header, limit_bytes)
    return _iterate_legacy_records(buffer, position, header, limit_bytes)


def _iterate_legacy_records(buffer: Buffer, position: int, header: BatchHeader, limit_bytes: int) -> Iterator[Record]:
    outer = _read_message(
        memoryview(buffer)[position + LOG_OVERHEAD_BYTES : position + header.size_bytes], header.base_offset
    )
    if outer.compression is Compression.NONE:
        yield Record(outer.offset, outer.timestamp, outer.key, outer.value)
        return
    if outer.value is None:
        raise InvalidRecord("a compressed message without a value")
    if outer.compression is Compression.ZSTD:
        raise InvalidRecord(f"zstd in a message of magic {outer.magic}, which is older")
    inner = list(_iterate_inner(memoryview(decompress(outer.compression, outer.value, limit_bytes))))
    if not inner:
        raise InvalidRecord("a compressed message with no messages inside")
    base_offset = _base_offset(outer, inner[-1])
    for message in inner:
        if message.compression is not Compression.NONE:
            raise InvalidRecord("a compressed message inside a compressed message")
        is_append_time = message.magic > 0 and outer.timestamp_type is TimestampType.LOG_APPEND_TIME
        timestamp = outer.timestamp if is_append_time else message.timestamp
        yield Record(base_offset + message.offset, timestamp, message.key, message.value)


def _base_offset(outer: _Message, last: _Message) -> int:
    """What to add to inner offsets: magic 1 has them relative, the wrapper's offset being the last one's (KIP-31)."""
    # A producer that has not been given offsets yet leaves the wrapper's at 0.
    if outer.magic == 0 or outer.offset == 0:
        return 0
    if outer.offset < last.offset:
        raise InvalidRecord(f"wrapper offset {outer.offset} is below the last offset inside, {last.offset}")
    return outer.offset - last.offset


def _iterate_inner(data: memoryview) -> Iterator[_Message]:
    position = 0
    while len(data) - position >= LOG_OVERHEAD_BYTES:
        offset, size = _PREFIX.unpack_from(data, position)
        position += LOG_OVERHEAD_BYTES
        if size < _OVERHEAD_BYTES[0]:
            raise CorruptMessage(f"an inner message of {size} bytes")
        if size > len(data) - position:
            return  # Java reads a cut-off last message as none.
        yield _read_message(data[position : position + size], offset)
        position += size


def _read_message(message: memoryview, offset: int) -> _Message:
    """A message from its checksum on; CorruptMessage where its lengths do not fit it."""
    magic = message[_CRC.size]
    if magic > 1 or len(message) < _OVERHEAD_BYTES[magic]:
        raise CorruptMessage(f"{len(message)} bytes are no message of magic {magic}")
    _, _, attributes, *timestamps = _FIXED[magic].unpack_from(message)
    if attributes & _COMPRESSION_MASK > Compression.ZSTD:
        raise InvalidRecord(f"compression {attributes & _COMPRESSION_MASK} is unknown")
    is_append_time = attributes & _ATTRIBUTES_MASKS[magic] & ~_COMPRESSION_MASK
    key, position = _read_bytes(message, _FIXED[magic].size)
    value, position = _read_bytes(message, position)
    return _Message(
        offset=offset,
        magic=magic,
        compression=Compression(attributes & _COMPRESSION_MASK),
        timestamp_type=TimestampType.LOG_APPEND_TIME if is_append_time else TimestampType.CREATE_TIME,
        timestamp=timestamps[0] if timestamps else NO_TIMESTAMP,
        key=key,
        value=value,
    )


def _read_bytes(message: memoryview, position: int) -> tuple[bytes | None, int]:
    start = position + _LENGTH.size
    if start > len(message):
        raise CorruptMessage("a message ends within a length")
    (length,) = _LENGTH.unpack_from(message, position)
    if length < 0:
        return None, start
    if length > len(message) - start:
        raise CorruptMessage(f"{length} bytes of a key or value, {len(message) - start} remain")
    return bytes(message[start : start + length]), start + length


def _check_crc(message: memoryview) -> None:
    (stored,) = _CRC.unpack_from(message)
    computed = crc32(message[_CRC.size :])
    if stored != computed:
        raise CorruptMessage(f"checksum {stored:#010x} is stored, {computed:#010x} computed")
