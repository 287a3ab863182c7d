"""The codecs of a batch's records: what Kafka's Java client writes and reads, and never more output than was asked for.

`decompress` takes memory for what it has seen, not for what the input claims; input that would go beyond the limit ends
in RecordTooLarge, and damaged input in InvalidRecord.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from enum import IntEnum
from struct import Struct
from typing import NamedTuple

import cramjam

from barnabas.protocol.errors import InvalidRecord, RecordTooLarge

Buffer = bytes | bytearray | memoryview

# A batch is at most a few megabytes as a rule; what inflates to more than this is taken for an attack on memory.
INFLATED_BYTES_MAX = 256 * 1024 * 1024


class Compression(IntEnum):
    """The codec's number in the attributes of a batch; `.config_name` is what `compression.type` calls it."""

    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4

    @property
    def config_name(self) -> str:
        return self.name.lower()


class Levels(NamedTuple):
    """The levels a codec takes, both ends included, and the one that stands for "not set"."""

    least: int
    greatest: int
    default: int


LEVELS = {
    Compression.GZIP: Levels(1, 9, -1),  # zlib's -1 is its own choice, level 6 today.
    Compression.LZ4: Levels(1, 17, 9),
    Compression.ZSTD: Levels(-131072, 22, 3),
}


def compress(codec: Compression, data: Buffer, level: int | None = None) -> bytes:
    """`data` in the framing that Java writes for this codec."""
    levels = LEVELS.get(codec)
    if levels is None:
        if level is not None:
            raise ValueError(f"{codec.config_name} has no levels")
        return bytes(data) if codec is Compression.NONE else _compress_snappy(data)
    if level is None:
        level = levels.default
    if level != levels.default and not levels.least <= level <= levels.greatest:
        raise ValueError(f"{codec.config_name} level {level} is not in [{levels.least}, {levels.greatest}]")
    if codec is Compression.GZIP:
        return zlib.compress(data, level, wbits=_GZIP_WBITS)
    if codec is Compression.ZSTD:
        return bytes(cramjam.zstd.compress(data, level=level))
    return _compress_lz4(data, level)


def decompress(codec: Compression, data: Buffer, limit_bytes: int = INFLATED_BYTES_MAX) -> Buffer:
    """What `data` inflates to; RecordTooLarge where that would be more than `limit_bytes`."""
    if codec is Compression.NONE:
        if len(data) > limit_bytes:
            raise _too_large(limit_bytes)
        return data
    try:
        return _DECOMPRESSORS[codec](memoryview(data), limit_bytes)
    except (cramjam.DecompressionError, zlib.error) as error:
        raise InvalidRecord(f"{codec.config_name} cannot be decompressed: {error}") from None


def _too_large(limit_bytes: int) -> RecordTooLarge:
    return RecordTooLarge(f"the records inflate to more than {limit_bytes} bytes")


# gzip: one or more members, as GZIPInputStream reads them.

_GZIP_WBITS = 31  # A window of 32 KiB with gzip's header and trailer.
_GZIP_WINDOW_BYTES = 1024


def _decompress_gzip(data: memoryview, limit_bytes: int) -> Buffer:
    parts: list[bytes] = []
    room = limit_bytes
    position = 0
    window_bytes = len(data)
    while position < len(data):
        try:
            inflated, position = _inflate_member(data, position, window_bytes, room)
        except zlib.error:
            if not parts:
                raise
            break  # Java too takes what follows a whole member for padding if it is no member.
        parts.append(inflated)
        room -= len(inflated)
        if room < 0:
            raise _too_large(limit_bytes)
        window_bytes = _GZIP_WINDOW_BYTES
    if not parts:
        raise InvalidRecord("gzip ends early")
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _inflate_member(data: memoryview, position: int, window_bytes: int, room: int) -> tuple[bytes, int]:
    """What the member at `position` inflates to, or `room` bytes and one more, and the position behind it.

    zlib copies the input that it leaves over, so it is shown little at first, lest many small members be copied often.
    """
    member = zlib.decompressobj(_GZIP_WBITS)
    parts: list[bytes] = []
    while not member.eof and room >= 0:
        window = data[position : position + window_bytes]
        if not window:
            raise InvalidRecord("gzip ends early")
        # One byte more than there is room for tells a full buffer from an overflowing one.
        parts.append(member.decompress(window, room + 1))
        room -= len(parts[-1])
        position += len(window) - len(member.unused_data)
        window_bytes *= 2
    return parts[0] if len(parts) == 1 else b"".join(parts), position


# snappy: a raw block, or xerial's sequence of blocks, which is what Java's SnappyOutputStream writes.

_XERIAL_MAGIC = b"\x82SNAPPY\x00"
_XERIAL_HEADER = Struct(">8sii")  # magic, version, least version that can read it
_XERIAL_VERSION = 1
_XERIAL_BLOCK_BYTES = 32 * 1024
_BLOCK_LENGTH = Struct(">i")
_SNAPPY_RATIO_MAX = 64  # A copy of 64 bytes takes three; what claims to be denser is not snappy.


def _compress_snappy(data: Buffer) -> bytes:
    parts = [_XERIAL_HEADER.pack(_XERIAL_MAGIC, _XERIAL_VERSION, _XERIAL_VERSION)]
    view = memoryview(data)
    for start in range(0, len(view), _XERIAL_BLOCK_BYTES):
        block = bytes(cramjam.snappy.compress_raw(view[start : start + _XERIAL_BLOCK_BYTES]))
        parts += _BLOCK_LENGTH.pack(len(block)), block
    return b"".join(parts)


def _decompress_snappy(data: memoryview, limit_bytes: int) -> Buffer:
    if data[:8] != _XERIAL_MAGIC:
        return _decompress_snappy_block(data, limit_bytes, limit_bytes)
    parts: list[Buffer] = []
    room = limit_bytes
    position = 0
    while position < len(data):
        if data[position : position + 8] == _XERIAL_MAGIC:  # Streams may be joined, each with its header.
            if len(data) - position < _XERIAL_HEADER.size:
                raise InvalidRecord("snappy ends in a header")
            _, _, least_version = _XERIAL_HEADER.unpack_from(data, position)
            if least_version > _XERIAL_VERSION:
                raise InvalidRecord(f"snappy framing of version {least_version} is unknown")
            position += _XERIAL_HEADER.size
            continue
        if len(data) - position < _BLOCK_LENGTH.size:
            raise InvalidRecord("snappy ends in the length of a block")
        (size,) = _BLOCK_LENGTH.unpack_from(data, position)
        position += _BLOCK_LENGTH.size
        if not 0 <= size <= len(data) - position:
            raise InvalidRecord(f"a snappy block of {size} bytes, {len(data) - position} remain")
        part = _decompress_snappy_block(data[position : position + size], room, limit_bytes)
        parts.append(part)
        room -= len(part)
        position += size
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _decompress_snappy_block(block: memoryview, room: int, limit_bytes: int) -> Buffer:
    claimed = cramjam.snappy.decompress_raw_len(block)
    if claimed > _SNAPPY_RATIO_MAX * len(block):
        raise InvalidRecord(f"a snappy block of {len(block)} bytes claims to hold {claimed}")
    if claimed > room:
        raise _too_large(limit_bytes)
    return memoryview(cramjam.snappy.decompress_raw(block))


# lz4: a frame of independent blocks. Java neither writes nor reads linked blocks, so a frame that has them is refused
# here too, before a consumer meets it. Checksums inside a frame are not verified: the batch's own covers every byte.

_LZ4_MAGIC = b"\x04\x22\x4d\x18"
_LZ4_STORED_FLAG = 0x80000000
_LZ4_LENGTH = Struct("<I")
_LZ4_RATIO_MAX = 255  # A byte of length stands for at most that many bytes of output.
_LZ4_FAST = 0


def _compress_lz4(data: Buffer, level: int) -> bytes:
    # Java's default level, 9, is a name for the fast compressor; the others are the slow one's.
    level = _LZ4_FAST if level == LEVELS[Compression.LZ4].default else level
    frame = cramjam.lz4.Compressor(level=level, content_checksum=False, block_linked=False)
    frame.compress(bytes(data))  # It takes no other buffer.
    return bytes(frame.finish())


def _decompress_lz4(data: memoryview, limit_bytes: int) -> Buffer:
    position, block_bytes_max, has_block_checksums = _read_lz4_descriptor(data)
    output = bytearray()
    end = 0
    while True:
        if len(data) - position < _LZ4_LENGTH.size:
            raise InvalidRecord("lz4 ends early")
        (word,) = _LZ4_LENGTH.unpack_from(data, position)
        position += _LZ4_LENGTH.size
        size = word & ~_LZ4_STORED_FLAG
        if size == 0:
            return memoryview(output)[:end]
        if size > block_bytes_max or size > len(data) - position:
            raise InvalidRecord(f"an lz4 block of {size} bytes, {len(data) - position} remain")
        block = data[position : position + size]
        if word & _LZ4_STORED_FLAG:
            output[end:] = block
            end += size
        else:
            # What one block has left of its room is the next one's.
            room = min(block_bytes_max, _LZ4_RATIO_MAX * size)
            output += bytes(max(0, end + room - len(output)))
            with memoryview(output) as whole, whole[end : end + room] as rest:
                end += cramjam.lz4.decompress_block_into(block, rest, output_len=room)
        if end > limit_bytes:
            raise _too_large(limit_bytes)
        position += size + (_LZ4_LENGTH.size if has_block_checksums else 0)


def _read_lz4_descriptor(data: memoryview) -> tuple[int, int, bool]:
    """Where the blocks start, how large one may be, and whether each is followed by a checksum."""
    if len(data) < 7 or data[:4] != _LZ4_MAGIC:
        raise InvalidRecord("this is not an lz4 frame")
    flags, sizes = data[4], data[5]
    if flags & 0xC3 != 0x40 or sizes & 0x8F or sizes >> 4 < 4:
        raise InvalidRecord(f"an lz4 frame descriptor of {flags:#x} {sizes:#x} is unknown")
    if not flags & 0x20:
        raise InvalidRecord("lz4 with linked blocks is not supported")
    has_content_size = flags & 0x08
    return 7 + (8 if has_content_size else 0), 1 << (2 * (sizes >> 4) + 8), bool(flags & 0x10)


# zstd: one or more frames. Java writes them without their content's size, so the output has to be guessed and grown.

_ZSTD_GUESS_RATIO = 8
_ZSTD_GUESS_BYTES_MIN = 64 * 1024
_ZSTD_OUTPUT_FULL = "failed to write whole buffer"


def _decompress_zstd(data: memoryview, limit_bytes: int) -> Buffer:
    size = max(_ZSTD_GUESS_RATIO * len(data), _ZSTD_GUESS_BYTES_MIN)
    while True:
        output = bytearray(min(size, limit_bytes))
        try:
            written = cramjam.zstd.decompress_into(data, output)
        except cramjam.DecompressionError as error:
            if str(error) != _ZSTD_OUTPUT_FULL:
                raise
        else:
            return memoryview(output)[:written]
        if size >= limit_bytes:
            raise _too_large(limit_bytes)
        size *= 4


_DECOMPRESSORS: dict[Compression, Callable[[memoryview, int], Buffer]] = {
    Compression.GZIP: _decompress_gzip,
    Compression.SNAPPY: _decompress_snappy,
    Compression.LZ4: _decompress_lz4,
    Compression.ZSTD: _decompress_zstd,
}
