"""Metadata records as bytes: each stands behind a frame version, its type and its own version, all three varints.

Batches of them are the batches of any log; control batches, which are the quorum's, are passed over and count only as
offsets.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from barnabas.metadata.errors import MetadataParseError
from barnabas.protocol.codec import decoder, encoder
from barnabas.protocol.metadata_records import RECORDS
from barnabas.protocol.schema import Message, ProtocolError
from barnabas.protocol.varint import read_unsigned_varint, unsigned_varint
from barnabas.records.batch import HEADER_BYTES, BatchHeader, Buffer, iterate_batches, validate
from barnabas.records.build import build_batch
from barnabas.records.record import Record, iterate_records

FRAME_VERSION: Final = 1
BATCH_BYTES_MAX: Final = 8 * 1024 * 1024
RECORD_OVERHEAD_BYTES_MAX: Final = 21  # Attributes and the varints of a record without key and headers.


class VersionedRecord(NamedTuple):
    """A metadata record with the version in which it is, or will be, written."""

    message: Message
    version: int


class MetadataBatch(NamedTuple):
    """A batch of the metadata log. A control batch has no records here, but it has offsets."""

    base_offset: int
    last_offset: int
    epoch: int
    timestamp_ms: int
    size_bytes: int
    records: list[VersionedRecord]


def encode_record(record: VersionedRecord) -> bytes:
    message, version = record
    assert message.api_key is not None, "a metadata record has a type"
    out = bytearray((FRAME_VERSION,))
    out += unsigned_varint(message.api_key)
    out += unsigned_varint(version)
    encoder(type(message), version)(message, out)
    return bytes(out)


def decode_record(value: Buffer | None) -> VersionedRecord:
    if value is None:
        raise MetadataParseError("a metadata record has no value")
    view = memoryview(value)
    kind, version, position = _read_frame(view)
    if kind not in RECORDS:
        raise MetadataParseError(f"there is no metadata record of type {kind}")
    try:
        message, position = decoder(RECORDS[kind], version)(view, position)
    except ProtocolError as error:
        raise MetadataParseError(str(error)) from error
    if position != len(view):
        raise MetadataParseError(f"{len(view) - position} bytes follow a metadata record of type {kind}")
    return VersionedRecord(message, version)


def _read_frame(view: memoryview) -> tuple[int, int, int]:
    """The type of a record, its version, and where it begins."""
    # Types and versions are small: three bytes, unless somebody wrote them in a long form.
    if len(view) >= 3 and view[0] == FRAME_VERSION and view[1] < 0x80 and view[2] < 0x80:
        return view[1], view[2], 3
    try:
        frame_version, position = read_unsigned_varint(view, 0)
        kind, position = read_unsigned_varint(view, position)
        version, position = read_unsigned_varint(view, position)
    except (IndexError, ValueError) as error:
        raise MetadataParseError(f"the frame of a metadata record cannot be read: {error}") from None
    if frame_version != FRAME_VERSION:
        raise MetadataParseError(f"a metadata record has frame version {frame_version}, only {FRAME_VERSION} is known")
    return kind, version, position


def build_batches(
    records: Iterable[VersionedRecord],
    *,
    base_offset: int,
    epoch: int,
    timestamp_ms: int,
    batch_bytes_max: int = BATCH_BYTES_MAX,
) -> Iterator[bytearray]:
    """Batches of these records, each as large as allowed; a record that is larger comes alone."""
    pending: list[Record] = []
    size_bytes = HEADER_BYTES
    for offset, record in enumerate(records, base_offset):
        value = encode_record(record)
        record_bytes = len(value) + RECORD_OVERHEAD_BYTES_MAX
        if pending and size_bytes + record_bytes > batch_bytes_max:
            yield build_batch(pending, leader_epoch=epoch)
            pending, size_bytes = [], HEADER_BYTES
        pending.append(Record(offset, timestamp_ms, None, value))
        size_bytes += record_bytes
    if pending:
        yield build_batch(pending, leader_epoch=epoch)


def read_batches(buffer: Buffer) -> Iterator[MetadataBatch]:
    """The whole batches in a piece of the metadata log."""
    for position, header in iterate_batches(buffer):
        validate(buffer, position)
        yield MetadataBatch(
            header.base_offset,
            header.last_offset,
            header.leader_epoch,
            header.max_timestamp,
            header.size_bytes,
            list(_decoded(buffer, position, header)),
        )


def read_records(buffer: Buffer) -> Iterator[VersionedRecord]:
    """The records of a snapshot, one by one: a large one is never there as a whole."""
    for position, header in iterate_batches(buffer):
        validate(buffer, position)
        yield from _decoded(buffer, position, header)


def _decoded(buffer: Buffer, position: int, header: BatchHeader) -> Iterator[VersionedRecord]:
    if header.is_control:
        return
    for record in iterate_records(buffer, position, header):
        try:
            yield decode_record(record.value)
        except MetadataParseError as error:
            raise MetadataParseError(f"at offset {record.offset}: {error}") from error
