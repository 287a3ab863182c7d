"""Metadata records as bytes, each framed with its type and version, and batches of them.

Batches of them are the batches of any log; control batches, which are the quorum's, are passed over and count only as
offsets.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from barnabas.metadata.errors import MetadataParseError
from barnabas.protocol.framed_record import FrameError, decode_framed, encode_framed
from barnabas.protocol.metadata_records import RECORDS
from barnabas.protocol.schema import Message
from barnabas.records.batch import HEADER_BYTES, BatchHeader, Buffer, iterate_batches, validate
from barnabas.records.build import build_batch
from barnabas.records.record import Record, iterate_records

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
    return encode_framed(record.message, record.version)


def decode_record(value: Buffer | None) -> VersionedRecord:
    try:
        return VersionedRecord(*decode_framed(RECORDS, value))
    except FrameError as error:
        raise MetadataParseError(f"no metadata record: {error}") from error


def build_batches(
    records: Iterable[VersionedRecord],
    *,
    base_offset: int,
    epoch: int,
    timestamp_ms: int,
    batch_bytes_max: int = BATCH_BYTES_MAX,
) -> Iterator[bytearray]:
    """Batches of these records, each as large as allowed; a record that is larger comes alone."""
    return batch_values(
        map(encode_record, records),
        base_offset=base_offset,
        epoch=epoch,
        timestamp_ms=timestamp_ms,
        batch_bytes_max=batch_bytes_max,
    )


def batch_values(
    values: Iterable[bytes], *, base_offset: int, epoch: int, timestamp_ms: int, batch_bytes_max: int
) -> Iterator[bytearray]:
    """`build_batches` of records that are written already."""
    pending: list[Record] = []
    size_bytes = HEADER_BYTES
    for offset, value in enumerate(values, base_offset):
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


def read_values(buffer: Buffer) -> Iterator[bytes | None]:
    """The records of a snapshot as they are written, one by one: a large one is never decoded as a whole."""
    for position, header in iterate_batches(buffer):
        validate(buffer, position)
        if not header.is_control:
            for record in iterate_records(buffer, position, header):
                yield record.value


def _decoded(buffer: Buffer, position: int, header: BatchHeader) -> Iterator[VersionedRecord]:
    if header.is_control:
        return
    for record in iterate_records(buffer, position, header):
        try:
            yield decode_record(record.value)
        except MetadataParseError as error:
            raise MetadataParseError(f"at offset {record.offset}: {error}") from error
