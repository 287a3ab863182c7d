"""The records of a batch (magic 2) as values.

The records of a batch are checked before the first one is handed out, so that a reader never sees half of a malformed
batch; headers, which few readers want, are decoded when they are looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, overload

from barnabas.records.batch import (
    COMPRESSION_MASK,
    HEADER_BYTES,
    LOG_OVERHEAD_BYTES,
    BatchHeader,
    Buffer,
    TimestampType,
)
from barnabas.records.compression import INFLATED_BYTES_MAX, decompress
from barnabas.records.kernel import decode

Header = tuple[str, bytes | None]


class Record(NamedTuple):
    """One record with its place and time in the log; headers are (key, value) pairs in their order."""

    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: Sequence[Header] = ()


class LazyHeaders(Sequence[Header]):
    """Headers inside the bytes of checked records, decoded at the first look; equal to a sequence of the same pairs."""

    __slots__ = ("_count", "_data", "_decoded", "_position")

    def __init__(self, data: bytes, position: int, count: int) -> None:
        self._data = data
        self._position = position
        self._count = count
        self._decoded: list[Header] | None = None

    def _decode(self) -> list[Header]:
        if self._decoded is None:
            data, position = self._data, self._position
            self._decoded = []
            for _ in range(self._count):
                length, position = _read_length(data, position)
                # Java replaces what is not UTF-8, too.
                key = data[position : position + length].decode("utf-8", "replace")
                length, position = _read_length(data, position + length)
                value = data[position : position + length] if length >= 0 else None
                position += max(length, 0)
                self._decoded.append((key, value))
        return self._decoded

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> Header: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Header]: ...
    def __getitem__(self, index: int | slice) -> Header | Sequence[Header]:
        return self._decode()[index]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self._decode() == list(other)

    def __hash__(self) -> int:
        return hash(tuple(self._decode()))

    def __repr__(self) -> str:
        return repr(self._decode())


def _read_length(data: bytes, position: int) -> tuple[int, int]:
    """A zigzag varint that the scan of the records has found in order, and the position behind it."""
    value = shift = 0
    while True:
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            value &= 0xFFFFFFFF
            return (value >> 1) ^ -(value & 1), position


def read_record_bytes(
    buffer: Buffer, position: int, header: BatchHeader, limit_bytes: int = INFLATED_BYTES_MAX
) -> Buffer:
    """The batch's records, decompressed: as a view of `buffer` where they were not compressed."""
    view = memoryview(buffer)[position + HEADER_BYTES : position + LOG_OVERHEAD_BYTES + header.batch_length]
    # A batch that is not compressed is there already: no limit on what it inflates to can matter.
    return decompress(header.compression, view, limit_bytes) if header.attributes & COMPRESSION_MASK else view


def iterate_records(
    buffer: Buffer, position: int, header: BatchHeader, limit_bytes: int = INFLATED_BYTES_MAX
) -> Iterator[Record]:
    """The records of the batch at `position`; InvalidRecord or RecordTooLarge where they cannot be read."""
    if not header.record_count:
        return iter(())
    is_append_time = header.timestamp_type is TimestampType.LOG_APPEND_TIME
    return iter(
        decode(
            Record,
            LazyHeaders,
            bytes(read_record_bytes(buffer, position, header, limit_bytes)),
            header.record_count,
            header.base_offset,
            header.base_timestamp,
            header.max_timestamp if is_append_time else None,
        )
    )
