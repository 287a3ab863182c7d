"""A batch written anew for what cannot be changed in place: another codec, or offset deltas that have gaps."""

from __future__ import annotations

from barnabas.records.batch import COMPRESSION_MASK, KNOWN_ATTRIBUTES, BatchHeader, Buffer
from barnabas.records.build import assemble, encode_record
from barnabas.records.compression import Compression, compress
from barnabas.records.kernel import decode
from barnabas.records.record import LazyHeaders, Record


def recompress(
    header: BatchHeader, record_bytes: Buffer, compression: Compression, level: int | None = None
) -> bytearray:
    """The batch of these decompressed records under another codec or level."""
    attributes = header.attributes & ~COMPRESSION_MASK & KNOWN_ATTRIBUTES | compression
    return assemble(header._replace(attributes=attributes), compress(compression, record_bytes, level))


def renumber(
    header: BatchHeader, record_bytes: Buffer, compression: Compression, level: int | None = None
) -> bytearray:
    """The same with offset deltas 0, 1, 2, …, whatever they were."""
    renumbered = bytearray()
    records = decode(Record, LazyHeaders, bytes(record_bytes), header.record_count, 0, 0, None)
    for index, record in enumerate(records):
        encode_record(renumbered, index, record.timestamp, record.key, record.value, record.headers)
    header = header._replace(last_offset_delta=header.record_count - 1)
    return recompress(header, renumbered, compression, level)
