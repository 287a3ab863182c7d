"""The record format written down a second time, in the plainest way: what the tests hold the package to."""

from __future__ import annotations

import io
import struct
from typing import NamedTuple

from hypothesis import strategies as st

from barnabas.records.record import Header, Record

HEADER_FIELDS = (
    ("base_offset", ">q"),
    ("batch_length", ">i"),
    ("leader_epoch", ">i"),
    ("magic", ">b"),
    ("crc", ">I"),
    ("attributes", ">h"),
    ("last_offset_delta", ">i"),
    ("base_timestamp", ">q"),
    ("max_timestamp", ">q"),
    ("producer_id", ">q"),
    ("producer_epoch", ">h"),
    ("base_sequence", ">i"),
    ("record_count", ">i"),
)


class Plain(NamedTuple):
    """A record inside a batch: deltas, not offsets and times."""

    offset_delta: int
    timestamp_delta: int
    key: bytes | None
    value: bytes | None
    headers: list[Header]


def read_fields(batch: bytes | bytearray) -> dict[str, int]:
    stream = io.BytesIO(batch)
    return {name: struct.unpack(form, stream.read(struct.calcsize(form)))[0] for name, form in HEADER_FIELDS}


def varint(value: int) -> bytes:
    value = value * 2 if value >= 0 else -value * 2 - 1
    digits = []
    while True:
        value, digit = divmod(value, 128)
        digits.append(digit + (128 if value else 0))
        if not value:
            return bytes(digits)


def read_varint(stream: io.BytesIO) -> int:
    value, weight = 0, 1
    while True:
        byte = stream.read(1)[0]
        value += byte % 128 * weight
        weight *= 128
        if byte < 128:
            return value // 2 if value % 2 == 0 else -(value // 2) - 1


def nullable(data: bytes | None) -> bytes:
    return varint(-1) if data is None else varint(len(data)) + data


def read_nullable(stream: io.BytesIO) -> bytes | None:
    length = read_varint(stream)
    return None if length < 0 else stream.read(length)


def encode(record: Plain) -> bytes:
    body = b"\0" + varint(record.timestamp_delta) + varint(record.offset_delta)
    body += nullable(record.key) + nullable(record.value) + varint(len(record.headers))
    for name, content in record.headers:
        body += nullable(name.encode()) + nullable(content)
    return varint(len(body)) + body


def decode(data: bytes) -> list[Plain]:
    stream = io.BytesIO(data)
    records = []
    while stream.tell() < len(data):
        read_varint(stream)
        stream.read(1)
        timestamp_delta, offset_delta = read_varint(stream), read_varint(stream)
        key, value = read_nullable(stream), read_nullable(stream)
        headers = [((read_nullable(stream) or b"").decode(), read_nullable(stream)) for _ in range(read_varint(stream))]
        records.append(Plain(offset_delta, timestamp_delta, key, value, headers))
    return records


def place(record: Plain, base_offset: int, base_timestamp: int) -> Record:
    return Record(
        base_offset + record.offset_delta,
        base_timestamp + record.timestamp_delta,
        record.key,
        record.value,
        tuple(record.headers),
    )


# 62 to 65 bytes and 8190 to 8193 are where a length needs another byte.
payloads = st.none() | st.binary(max_size=20) | st.sampled_from([b"x" * size for size in (62, 63, 64, 65, 8191, 8192)])
headers = st.lists(st.tuples(st.text(max_size=5), payloads), max_size=3)
timestamps = st.integers(0, 2**45)


@st.composite
def plain_records(draw: st.DrawFn, *, has_gaps: bool = True) -> list[Plain]:
    """Records with rising offset deltas, contiguous from 0 or with the gaps that compaction leaves."""
    records: list[Plain] = []
    delta = -1
    for _ in range(draw(st.integers(1, 8))):
        delta += draw(st.integers(1, 70)) if has_gaps else 1
        timestamp_delta = draw(st.integers(-(2**40), 2**40) | st.integers(-70, 70))
        records.append(Plain(delta, timestamp_delta, draw(payloads), draw(payloads), draw(headers)))
    return records
