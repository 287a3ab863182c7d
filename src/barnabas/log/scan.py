"""The batches in a log file, one behind the other: their headers alone, or all of their bytes checked.

Headers are read through a window that skips large batches and takes many small ones at once.
"""

from __future__ import annotations

from collections.abc import Iterator

from barnabas.log.producer_entry import EndMarker
from barnabas.ports.disk import Buffer, File
from barnabas.protocol.errors import CorruptMessage
from barnabas.records.batch import HEADER_BYTES, LOG_OVERHEAD_BYTES, MAGIC_POSITION, BatchHeader
from barnabas.records.control import read_end_transaction_marker
from barnabas.records.legacy import read_any_header, validate_any
from barnabas.records.record import iterate_records

_WINDOW_BYTES = 8192
_CHUNK_BYTES = 4 * 1024 * 1024


def iterate_headers(file: File, position: int, end: int) -> Iterator[tuple[int, BatchHeader]]:
    """(position, header) of each whole batch in [position, end), of any magic; a partial one at the end is left out.

    Where there is no batch, CorruptMessage is raised; what lies inside batches is not checked.
    """
    window = b""
    start = position  # Where the window begins.
    while end - position > MAGIC_POSITION:
        at = position - start
        if at + HEADER_BYTES > len(window):
            start, at = position, 0
            window = file.read_at(position, min(_WINDOW_BYTES, end - position))
        header = read_any_header(window, at)
        size_bytes = header.batch_length + LOG_OVERHEAD_BYTES
        if size_bytes <= MAGIC_POSITION:
            raise CorruptMessage(f"a batch of {size_bytes} bytes at position {position}")
        if size_bytes > end - position:
            return
        yield position, header
        position += size_bytes


def read_batches(file: File, position: int, end: int) -> Iterator[tuple[BatchHeader, memoryview]]:
    """Header and bytes of each whole batch in [position, end), of any magic, after checking it.

    CorruptMessage or InvalidRecord is raised at the first that is not sound; a partial one at the end is left out.
    """
    chunk_bytes = _CHUNK_BYTES
    while end - position > MAGIC_POSITION:
        chunk = memoryview(file.read_at(position, min(chunk_bytes, end - position)))
        at = 0
        while len(chunk) - at > MAGIC_POSITION:
            size_bytes = int.from_bytes(chunk[at + 8 : at + LOG_OVERHEAD_BYTES], "big") + LOG_OVERHEAD_BYTES
            if size_bytes > len(chunk) - at:
                break
            header = validate_any(chunk, at)
            yield header, chunk[at : at + size_bytes]
            at += size_bytes
        if not at:
            if size_bytes > end - position:
                return
            chunk_bytes = size_bytes
        position += at


def end_marker(batch: Buffer, header: BatchHeader) -> EndMarker | None:
    """The end of a transaction that a control batch holds; None for other control records, and where it was cleaned."""
    for record in iterate_records(batch, 0, header):
        marker = read_end_transaction_marker(record)
        if marker is not None:
            return EndMarker(not marker.is_commit, marker.coordinator_epoch, record.timestamp)
    return None


def read_marker(file: File, position: int, header: BatchHeader) -> EndMarker | None:
    """As `end_marker`, from the file; None for a batch of data."""
    if not header.is_control:
        return None
    return end_marker(file.read_at(position, header.size_bytes), header)
