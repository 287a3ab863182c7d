"""Small makers of test data that more than one package's tests want."""

from __future__ import annotations

from collections.abc import Sequence
from struct import pack
from zlib import crc32

from barnabas.records.batch import TimestampType
from barnabas.records.build import build_batch
from barnabas.records.compression import Compression, compress
from barnabas.records.record import Record

TIMESTAMP = 1_700_000_000_000


def make_records(count: int, base_offset: int = 0, timestamp: int = TIMESTAMP, value_bytes: int = 10) -> list[Record]:
    """Records with keys k0, k1, …, a millisecond apart."""
    return [Record(base_offset + i, timestamp + i, b"k%d" % i, bytes([i % 256]) * value_bytes) for i in range(count)]


def make_batch(count: int = 1, base_offset: int = 0, timestamp: int = TIMESTAMP, value_bytes: int = 10) -> bytearray:
    """An uncompressed batch of `make_records`."""
    return build_batch(make_records(count, base_offset, timestamp, value_bytes))


def make_legacy_message(
    offset: int,
    magic: int,
    key: bytes | None,
    value: bytes | None,
    *,
    timestamp: int = -1,
    timestamp_type: TimestampType = TimestampType.CREATE_TIME,
    compression: Compression = Compression.NONE,
) -> bytes:
    """A message of magic 0 or 1 as an old log holds it."""
    attributes = compression | (8 if timestamp_type is TimestampType.LOG_APPEND_TIME else 0)
    body = pack(">bB", magic, attributes)
    if magic:
        body += pack(">q", timestamp)
    for part in (key, value):
        body += pack(">i", -1) if part is None else pack(">i", len(part)) + part
    return pack(">qiI", offset, len(body) + 4, crc32(body)) + body


def make_legacy_wrapper(
    offset: int,
    magic: int,
    messages: Sequence[bytes],
    compression: Compression,
    *,
    timestamp: int = -1,
    timestamp_type: TimestampType = TimestampType.CREATE_TIME,
) -> bytes:
    """A compressed message around others; for magic 1 their offsets are relative to the first."""
    value = compress(compression, b"".join(messages))
    return make_legacy_message(
        offset, magic, None, value, timestamp=timestamp, timestamp_type=timestamp_type, compression=compression
    )
