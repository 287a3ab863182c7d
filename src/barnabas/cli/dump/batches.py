"""A batch of any format as the dump tells of it, be it whole or damaged.

Text comes in pieces, and an error is raised behind the piece that was still readable.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from functools import cached_property
from zlib import crc32

from barnabas.cli.dump.files import DumpError, RawBatch, SegmentFile
from barnabas.cli.dump.java_text import boolean, optional_long
from barnabas.protocol.errors import ApiError, InvalidRecord
from barnabas.records.batch import (
    COMPRESSION_MASK,
    HEADER_BYTES,
    LOG_OVERHEAD_BYTES,
    MAGIC,
    NO_SEQUENCE,
    BatchHeader,
    TimestampType,
    compute_crc,
    read_header,
)
from barnabas.records.compression import INFLATED_BYTES_MAX, Compression, decompress
from barnabas.records.kernel import RECORD_BYTES_MIN, ROW_COLUMNS, ROW_END, scan
from barnabas.records.legacy import iterate_any, iterate_any_records, read_legacy_header
from barnabas.records.record import Record, iterate_records

_TIMESTAMP_NAMES = {TimestampType.CREATE_TIME: "CreateTime", TimestampType.LOG_APPEND_TIME: "LogAppendTime"}
_LEGACY_CRC_END = 16
_LEGACY_ATTRIBUTES_POSITION = 17
_INT_MAX = 2**31 - 1

# A record, and what its format has to tell of it beside offset, time, key and value.
DescribedRecord = tuple[Record, str]


class CurrentBatch:
    """A record batch: magic 2, or one that is not known yet and taken for the same."""

    def __init__(self, segment: SegmentFile, raw: RawBatch) -> None:
        self._raw = raw
        # A size too small for a header is not believed while it is shown.
        head = raw.data if len(raw.data) >= HEADER_BYTES else segment.read_at(raw.position, HEADER_BYTES)
        self._header = read_header(head)
        self.last_offset = self._header.last_offset
        self.is_control = self._header.is_control
        self.timestamp_name = _TIMESTAMP_NAMES[self._header.timestamp_type]

    def text(self) -> Iterator[str]:
        header = self._header
        yield (
            f"baseOffset: {header.base_offset} lastOffset: {header.last_offset} count: {header.record_count}"
            f" baseSequence: {header.base_sequence} lastSequence: {self._last_sequence()}"
            f" producerId: {header.producer_id} producerEpoch: {header.producer_epoch}"
            f" partitionLeaderEpoch: {header.leader_epoch} isTransactional: {boolean(header.is_transactional)}"
            f" isControl: {boolean(header.is_control)} deleteHorizonMs: {optional_long(header.delete_horizon_ms)}"
        )
        data = self._raw.data
        is_valid = len(data) >= HEADER_BYTES and compute_crc(data, 0, len(data)) == header.crc
        yield _tail(self._raw, header, self.timestamp_name, is_valid)

    def records(self) -> Iterator[DescribedRecord]:
        header = self._header
        for record in self._records():
            sequence = NO_SEQUENCE
            if header.base_sequence >= 0:
                sequence = _advanced(header.base_sequence, record.offset - header.base_offset)
            yield record, f" sequence: {sequence} headerKeys: [{','.join([key for key, _ in record.headers])}]"

    def _last_sequence(self) -> int:
        header = self._header
        if header.base_sequence == NO_SEQUENCE:
            return NO_SEQUENCE
        return _advanced(header.base_sequence, header.last_offset_delta)

    def _records(self) -> Iterator[Record]:
        header, data = self._header, self._raw.data
        if header.record_count == 0:
            return
        if header.record_count < 0 or len(data) < HEADER_BYTES:
            raise DumpError(f"{header.record_count} records in a batch of {len(data)} bytes cannot be")
        try:
            records = iterate_records(data, 0, header)
        except ApiError:
            if header.compression is Compression.NONE:
                yield from self._readable_records()
            raise
        yield from records

    def _readable_records(self) -> Iterator[Record]:
        """The records before the first one that is malformed, or that stands where the batch should have ended."""
        header = self._header
        data = self._raw.data[HEADER_BYTES:]
        count = min(header.record_count, len(data) // RECORD_BYTES_MIN)
        rows = array("q", [0]) * (ROW_COLUMNS * count)
        try:
            scan(data, count, rows)
        except InvalidRecord:
            ends = rows[ROW_END::ROW_COLUMNS]
            count = ends.index(0) if 0 in ends else len(ends) - 1
        if count > 0:
            size = HEADER_BYTES + rows[ROW_COLUMNS * (count - 1) + ROW_END]
            shorter = header._replace(batch_length=size - LOG_OVERHEAD_BYTES, record_count=count)
            yield from iterate_records(self._raw.data, 0, shorter)


class LegacyBatch:
    """A message of magic 0 or 1, which may wrap others in compressed form."""

    is_control = False

    def __init__(self, raw: RawBatch) -> None:
        self._raw = raw
        self.last_offset = raw.offset

    @cached_property
    def _header(self) -> BatchHeader:
        return read_legacy_header(self._raw.data)

    @cached_property
    def timestamp_name(self) -> str:
        return "NoTimestampType" if self._raw.magic == 0 else _TIMESTAMP_NAMES[self._header.timestamp_type]

    def text(self) -> Iterator[str]:
        yield f"offset: {self.last_offset}"
        yield _tail(self._raw, self._header, self.timestamp_name, _is_valid(self._raw.data, 0, self._header))

    def records(self) -> Iterator[DescribedRecord]:
        """The message itself, or those that it wraps."""
        data = self._raw.data
        records = list(iterate_any_records(data, 0, self._header))
        messages: Iterable[tuple[int, BatchHeader]] = [(0, self._header)]
        if self._header.compression is not Compression.NONE:
            data = self._unwrapped()
            messages = iterate_any(data)
        for record, (position, header) in zip(records, messages, strict=True):
            yield record, f" isValid: {boolean(_is_valid(data, position, header))} crc: {header.crc}"

    def _unwrapped(self) -> bytes:
        """The messages inside, one behind the other: the value of this message, once it no longer counts as packed."""
        plain = bytearray(self._raw.data)
        plain[_LEGACY_ATTRIBUTES_POSITION] &= ~COMPRESSION_MASK
        (wrapper,) = iterate_any_records(plain, 0)
        return bytes(decompress(self._header.compression, wrapper.value or b"", INFLATED_BYTES_MAX))


Batch = CurrentBatch | LegacyBatch


def open_batch(segment: SegmentFile, raw: RawBatch) -> Batch:
    return LegacyBatch(raw) if raw.magic < MAGIC else CurrentBatch(segment, raw)


def _tail(raw: RawBatch, header: BatchHeader, timestamp_name: str, is_valid: bool) -> str:
    """The end of a batch's line, which all formats share."""
    codec = header.attributes & COMPRESSION_MASK
    if codec > Compression.ZSTD:
        raise DumpError(f"compression {codec} of the batch at position {raw.position} is unknown")
    return (
        f" position: {raw.position} {timestamp_name}: {header.max_timestamp} size: {len(raw.data)}"
        f" magic: {raw.magic} compresscodec: {Compression(codec).config_name} crc: {header.crc}"
        f" isvalid: {boolean(is_valid)}\n"
    )


def _is_valid(data: bytes, position: int, header: BatchHeader) -> bool:
    return crc32(memoryview(data)[position + _LEGACY_CRC_END : position + header.size_bytes]) == header.crc


def _advanced(sequence: int, increment: int) -> int:
    """Java's arithmetic of sequence numbers, which a damaged header takes to places where no sequence is."""
    if sequence > _int32(_INT_MAX - increment):
        return _int32(increment - _int32(_INT_MAX - sequence) - 1)
    return _int32(sequence + increment)


def _int32(value: int) -> int:
    return (value + 2**31) % 2**32 - 2**31
