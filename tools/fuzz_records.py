"""Batches to mutate, and what reads them: every format, codec and kind, through all that a broker and a dump do."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from struct import pack
from typing import NamedTuple
from zlib import crc32

from barnabas.records.batch import CRC_POSITION, HEADER_BYTES, MAGIC, MAGIC_POSITION, TimestampType, validate, write_crc
from barnabas.records.build import build_batch
from barnabas.records.compression import Compression, compress
from barnabas.records.control import (
    EndTransactionMarker,
    build_end_transaction_marker,
    read_end_transaction_marker,
)
from barnabas.records.legacy import iterate_any, iterate_any_records, validate_any
from barnabas.records.record import Record
from barnabas.records.validation import RecordRules, check_produced, check_records

INFLATED_BYTES_MAX = 1 << 20
NOW_MS = 1_700_000_000_000
RULES = RecordRules(TimestampType.CREATE_TIME, 2**62, 2**62, is_compacted=True)


class Sound(NamedTuple):
    """A batch in order, and what it is."""

    name: str
    data: bytes


def sound_batches(random: Random) -> Iterator[Sound]:
    for codec in Compression:
        for count in (1, 3, 40):
            records = [
                Record(i, NOW_MS + i, b"key%d" % i, random.randbytes(i), [("h", b"v")] * (i % 3)) for i in range(count)
            ]
            batch = build_batch(records, compression=codec, producer_id=1, base_sequence=0)
            yield Sound(f"batch of {count}, {codec.name}", bytes(batch))
    yield Sound("batch with a delete horizon", bytes(build_batch(records, delete_horizon_ms=5)))
    marker = EndTransactionMarker(is_commit=True, coordinator_epoch=1)
    yield Sound("marker", bytes(build_end_transaction_marker(marker, producer_id=1, producer_epoch=0, timestamp=5)))
    for magic in (0, 1):
        yield Sound(f"message of magic {magic}", _legacy_message(4, magic, Compression.NONE, b"value"))
        inner = b"".join(_legacy_message(i, magic, Compression.NONE, b"value %d" % i) for i in range(5))
        for codec in (Compression.GZIP, Compression.SNAPPY, Compression.LZ4):
            wrapper = _legacy_message(4, magic, codec, compress(codec, inner))
            yield Sound(f"wrapper of magic {magic}, {codec.name}", wrapper)


def _legacy_message(offset: int, magic: int, codec: Compression, value: bytes) -> bytes:
    body = pack(">bB", magic, codec) + (pack(">q", 7) if magic else b"") + pack(">ii", -1, len(value)) + value
    return pack(">qiI", offset, len(body) + 4, crc32(body)) + body


def repair_batch(data: bytearray) -> None:
    """Make length and checksum fit what is there, so that the faults behind them are reached."""
    if len(data) <= CRC_POSITION:
        return
    data[8:12] = pack(">i", len(data) - 12)
    if data[MAGIC_POSITION] != MAGIC:
        data[12:MAGIC_POSITION] = pack(">I", crc32(data[MAGIC_POSITION:]))
    elif len(data) >= HEADER_BYTES:
        write_crc(data, 0, len(data))


def read_batches(data: bytes) -> None:
    """Read bytes that claim to be batches; ApiError is how it may end."""
    for position, _ in iterate_any(data):
        header = validate_any(data, position)
        for record in iterate_any_records(data, position, header, INFLATED_BYTES_MAX):
            list(record.headers)
            if header.is_control:
                read_end_transaction_marker(record)
    header = validate(data)
    check_produced(header)
    check_records(data, 0, header, RULES, NOW_MS, INFLATED_BYTES_MAX)
