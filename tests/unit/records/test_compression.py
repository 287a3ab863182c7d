"""The codecs: there and back, foreign framings, levels, and inputs that claim or inflate to more than they may."""

from __future__ import annotations

import struct
import tracemalloc
import zlib
from random import Random

import cramjam
import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.protocol.errors import ApiError, InvalidRecord, RecordTooLarge
from barnabas.records.compression import LEVELS, Compression, compress, decompress

MIB = 1024 * 1024
codecs = pytest.mark.parametrize("codec", [codec for codec in Compression if codec is not Compression.NONE])

# Around the block sizes of snappy's framing (32 KiB) and lz4's (64 KiB).
sizes = st.sampled_from([0, 1, 32767, 32768, 32769, 65535, 65536, 65537, 200_000])
contents = st.binary(max_size=200) | sizes.map(lambda size: bytes(i * i % 251 for i in range(size)))


@pytest.mark.parametrize("codec", Compression)
@given(data=contents)
def test_there_and_back(codec: Compression, data: bytes) -> None:
    compressed = compress(codec, data)
    assert bytes(decompress(codec, compressed, len(data))) == data
    if data:
        with pytest.raises(RecordTooLarge):
            decompress(codec, compressed, len(data) - 1)


@pytest.mark.parametrize("codec", LEVELS)
def test_every_level_in_range_is_taken_and_no_other(codec: Compression) -> None:
    levels = LEVELS[codec]
    data = b"to be or not to be " * 50
    for level in {levels.least, levels.least + 1, levels.default, levels.greatest}:
        assert bytes(decompress(codec, compress(codec, data, level), len(data))) == data
    for level in (levels.least - 1, levels.greatest + 1):
        with pytest.raises(ValueError):
            compress(codec, data, level)


@pytest.mark.parametrize("codec", LEVELS)
def test_a_higher_level_compresses_better(codec: Compression) -> None:
    data = b"".join(b"%d %d;" % (i * i % 977, i % 13) for i in range(5000))
    low = 1
    assert len(compress(codec, data, LEVELS[codec].greatest)) < len(compress(codec, data, low))


def test_snappy_has_no_level() -> None:
    with pytest.raises(ValueError):
        compress(Compression.SNAPPY, b"x", 3)


def test_snappy_is_written_in_xerials_framing() -> None:
    compressed = compress(Compression.SNAPPY, b"x" * 40_000)
    assert compressed[:16] == b"\x82SNAPPY\0" + struct.pack(">ii", 1, 1)


@given(data=contents)
def test_raw_snappy_is_read(data: bytes) -> None:
    raw = bytes(cramjam.snappy.compress_raw(data))
    assert bytes(decompress(Compression.SNAPPY, raw, len(data))) == data


@codecs
def test_joined_streams_are_read_as_java_reads_them(codec: Compression) -> None:
    joined = compress(codec, b"one ") + compress(codec, b"two")
    # Java's lz4 stream ends with its first frame, whatever follows.
    expected = b"one " if codec is Compression.LZ4 else b"one two"
    assert bytes(decompress(codec, joined, 100)) == expected


def test_gzip_members_of_all_sizes_are_read_and_counted_together() -> None:
    contents = [b"first", b"", *(bytes(i * i * i % 251 for i in range(size)) for size in (10, 5_000, 100_000)), b"last"]
    joined = b"".join(compress(Compression.GZIP, content) for content in contents)
    whole = b"".join(contents)
    assert decompress(Compression.GZIP, joined, len(whole)) == whole
    with pytest.raises(RecordTooLarge):
        decompress(Compression.GZIP, joined, len(whole) - 1)
    with pytest.raises(InvalidRecord, match="early"):
        decompress(Compression.GZIP, joined[:-1])


def test_gzip_followed_by_padding_is_read() -> None:
    assert bytes(decompress(Compression.GZIP, compress(Compression.GZIP, b"data") + b"\0" * 9, 100)) == b"data"


def lz4_frame(flags: int, sizes: int, blocks: bytes) -> bytes:
    return b"\x04\x22\x4d\x18" + bytes([flags, sizes, 0]) + blocks


def test_lz4_frames_of_other_writers_are_read() -> None:
    stored = struct.pack("<I", 3 | 0x80000000) + b"abc"
    end = b"\0\0\0\0"
    assert bytes(decompress(Compression.LZ4, lz4_frame(0x60, 0x40, stored + end), 10)) == b"abc"
    with_checksums = lz4_frame(0x74, 0x70, stored + b"hash" + end + b"hash")
    assert bytes(decompress(Compression.LZ4, with_checksums, 10)) == b"abc"
    with_size = b"\x04\x22\x4d\x18\x68\x40" + struct.pack("<Q", 3) + b"\0" + stored + end
    assert bytes(decompress(Compression.LZ4, with_size, 10)) == b"abc"


@pytest.mark.parametrize(
    "frame",
    [
        lz4_frame(0x40, 0x40, b"\0\0\0\0"),  # linked blocks
        lz4_frame(0x61, 0x40, b"\0\0\0\0"),  # a dictionary
        lz4_frame(0xA0, 0x40, b"\0\0\0\0"),  # version 2
        lz4_frame(0x60, 0x30, b"\0\0\0\0"),  # blocks of 16 KiB
        lz4_frame(0x60, 0x41, b"\0\0\0\0"),
        lz4_frame(0x60, 0x40, struct.pack("<I", 70_000 | 0x80000000) + b"x" * 70_000),  # a block beyond its size
        lz4_frame(0x60, 0x40, struct.pack("<I", 2**31 - 1)),
        lz4_frame(0x60, 0x40, b""),
        b"\x04\x22\x4d\x18",
    ],
)
def test_lz4_frames_that_java_refuses_are_refused(frame: bytes) -> None:
    with pytest.raises(InvalidRecord):
        decompress(Compression.LZ4, frame, MIB)


@codecs
@given(mutations=st.lists(st.tuples(st.integers(0, 200), st.integers(0, 255)), max_size=4), cut=st.integers(0, 200))
def test_damaged_input_ends_in_output_or_a_named_error(
    codec: Compression, mutations: list[tuple[int, int]], cut: int
) -> None:
    compressed = bytearray(compress(codec, b"the quick brown fox " * 20))
    for at, byte in mutations:
        compressed[at % len(compressed)] = byte
    for data in (bytes(compressed), bytes(compressed[:cut])):
        try:
            assert len(decompress(codec, data, 1000)) <= 1000
        except ApiError as error:
            assert isinstance(error, InvalidRecord | RecordTooLarge)  # noqa: PT017 (not raising is fine too)


@codecs
def test_cut_off_input_is_not_taken_for_whole(codec: Compression) -> None:
    compressed = compress(codec, bytes(i * i % 251 for i in range(100_000)))
    for size in (0, 3, len(compressed) // 2, len(compressed) - 1):
        with pytest.raises(InvalidRecord):
            decompress(codec, compressed[:size], MIB)


def bomb(codec: Compression) -> bytes:
    """64 MiB of zeros, as small as the codec makes them."""
    if codec is Compression.GZIP:
        return zlib.compress(bytes(64 * MIB), 9, wbits=31)
    return compress(codec, bytes(64 * MIB))


@codecs
def test_a_bomb_is_not_inflated(codec: Compression) -> None:
    data = bomb(codec)
    tracemalloc.start()
    try:
        with pytest.raises(RecordTooLarge):
            decompress(codec, data, MIB)
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak_bytes < 8 * MIB


def test_lz4_blocks_take_memory_for_what_they_hold_and_not_for_what_they_might() -> None:
    content = Random(0).randbytes(16_384)
    block = bytes(cramjam.lz4.compress_block(content, store_size=False))
    frame = b"\x04\x22\x4d\x18\x60\x70\x00" + 50 * (struct.pack("<I", len(block)) + block) + bytes(4)
    tracemalloc.start()
    try:
        assert bytes(decompress(Compression.LZ4, frame)) == 50 * content
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak_bytes < 16 * MIB


def test_a_snappy_block_that_claims_too_much_is_not_begun() -> None:
    with pytest.raises(InvalidRecord, match="claims to hold 1000"):
        decompress(Compression.SNAPPY, b"\xe8\x07" + b"x" * 13, MIB)


@pytest.mark.parametrize(
    ("codec", "claim"),
    [
        (Compression.SNAPPY, b"\xff\xff\xff\xff\x0f" + b"x" * 20),  # 4 GiB raw
        (Compression.SNAPPY, b"\x82SNAPPY\0" + struct.pack(">iii", 1, 1, 6) + b"\xff\xff\xff\xff\x07x"),
        (Compression.ZSTD, b"\x28\xb5\x2f\xfd\xe0" + struct.pack("<Q", 2**40) + b"\1\0\0"),
        (Compression.LZ4, b"\x04\x22\x4d\x18\x68\x40" + struct.pack("<Q", 2**40) + b"\0\1\0\0\0\0"),
    ],
)
def test_claims_take_no_memory(codec: Compression, claim: bytes) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(ApiError):
            decompress(codec, claim, 2**31)
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak_bytes < 8 * MIB
