"""What is checked before batches are appended, and what an append answers.

A leader's batch comes out as the bytes that are to be written, but for offset and leader epoch; a follower's chunk is
taken as its leader wrote it.
"""

from __future__ import annotations

from typing import NamedTuple, TypeGuard

from barnabas.log.log_config import LogConfig
from barnabas.log.producer_entry import AppendOrigin
from barnabas.log.producer_state import ProducerState, ProducerUpdate
from barnabas.log.scan import end_marker
from barnabas.ports.disk import Buffer
from barnabas.protocol.errors import InvalidRecord, RecordTooLarge
from barnabas.records.batch import (
    HEADER_BYTES,
    LOG_OVERHEAD_BYTES,
    MAGIC,
    MAGIC_POSITION,
    BatchHeader,
    WritableBuffer,
    read_header,
    stamp,
    stamp_max_timestamp,
    validate,
)
from barnabas.records.kernel import plain_header
from barnabas.records.legacy import iterate_any, validate_any
from barnabas.records.recode import recompress, renumber
from barnabas.records.validation import CheckedRecords, check_produced, check_records


class AppendInfo(NamedTuple):
    """Where an append has put its records."""

    first_offset: int
    last_offset: int
    max_timestamp: int
    log_append_time_ms: int  # -1 where records keep their own timestamps; of the original, for a duplicate.
    log_start_offset: int
    is_duplicate: bool = False


class UnexpectedAppendOffsetError(Exception):
    """A follower was given batches that begin before its log ends."""

    def __init__(self, first_offset: int, last_offset: int, log_end_offset: int) -> None:
        super().__init__(f"offsets {first_offset} to {last_offset} do not follow the log's end at {log_end_offset}")
        self.first_offset = first_offset
        self.last_offset = last_offset


class OffsetsOutOfOrderError(Exception):
    """A chunk's batches are not in the order of their offsets."""


class Chunk(NamedTuple):
    """Batches as a leader wrote them."""

    data: Buffer
    headers: list[BatchHeader]


def check_leader_batch(
    records: Buffer, config: LogConfig, origin: AppendOrigin, now_ms: int
) -> tuple[Buffer, BatchHeader]:
    """The one batch that a producer or coordinator may append at a time, as the topic's settings want it."""
    if len(records) > config.max_message_bytes:
        _check_size(read_header(records), config)
    if not config.is_rewriting:
        # It is what most producers send, and is spared what the rest goes through.
        plain = plain_header(
            BatchHeader,
            records,
            now_ms - config.message_timestamp_before_max_ms,
            now_ms + config.message_timestamp_after_max_ms,
            config.is_compacted,
        )
        if plain is not None:
            return records, plain
    header = validate(records)
    size_bytes = header.size_bytes
    if size_bytes != len(records):
        records = _first_of(records, size_bytes)
    if origin is AppendOrigin.CLIENT:
        check_produced(header)
    checked = check_records(records, 0, header, config.record_rules, now_ms)
    if config.compression is not None or not checked.is_contiguous:
        rewritten = _rewrite(header, checked, config)
        if rewritten is not None:
            records, header = rewritten, read_header(rewritten)
            _check_size(header, config)
    timestamp_type = config.record_rules.timestamp_type
    if (header.timestamp_type, header.max_timestamp) != (timestamp_type, checked.max_timestamp):
        if not _is_writable(records):
            records = bytearray(records)
        stamp_max_timestamp(records, 0, timestamp_type, checked.max_timestamp)
        header = read_header(records)
    return records, header


def place(batch: Buffer, base_offset: int, leader_epoch: int) -> tuple[Buffer, ...]:
    """A batch with its place in the log: stamped where it lies, or with a fresh header in front of the rest."""
    if _is_writable(batch):
        stamp(batch, 0, base_offset, leader_epoch)
        return (batch,)
    header = bytearray(batch[:HEADER_BYTES])
    stamp(header, 0, base_offset, leader_epoch)
    return header, memoryview(batch)[HEADER_BYTES:]


def _check_size(header: BatchHeader, config: LogConfig) -> None:
    if header.size_bytes > config.max_message_bytes:
        raise RecordTooLarge(f"a batch of {header.size_bytes} bytes, where {config.max_message_bytes} are allowed")


def _first_of(records: Buffer, size_bytes: int) -> memoryview:
    """The first batch alone. What is left of a second one at the end is dropped, a whole one refused."""
    view = memoryview(records)
    for _ in iterate_any(view, size_bytes):
        raise InvalidRecord("more than one batch for a partition")
    return view[:size_bytes]


def _rewrite(header: BatchHeader, checked: CheckedRecords, config: LogConfig) -> bytearray | None:
    """The batch under the topic's codec and with offsets that have no gaps; None where it is so already."""
    compression, level = header.compression, None
    # Control records are compressed by whoever writes them, or not at all.
    if config.compression is not None and not header.is_control and config.compression is not compression:
        compression, level = config.compression, config.compression_level
    if not checked.is_contiguous:
        return renumber(header, checked.record_bytes, compression, level)
    if compression is not header.compression:
        return recompress(header, checked.record_bytes, compression, level)
    return None


def _is_writable(data: Buffer) -> TypeGuard[WritableBuffer]:
    return type(data) is bytearray or (type(data) is memoryview and not data.readonly)


def check_chunk(records: Buffer, leader_epoch: int, *, is_own: bool = False) -> Chunk:
    """The whole batches of a chunk, each sound and behind the one before it.

    A batch of a later epoch than `leader_epoch` ends the chunk: the leader that sent it has lost its office since and
    may be told to drop it. With `is_own` every batch must be of that very epoch, as a raft leader writes them.
    """
    headers: list[BatchHeader] = []
    position = 0
    last_offset = -1
    view = memoryview(records)
    end = len(view)
    while end - position > MAGIC_POSITION:
        length = int.from_bytes(view[position + 8 : position + LOG_OVERHEAD_BYTES], "big", signed=True)
        size_bytes = length + LOG_OVERHEAD_BYTES
        if size_bytes > end - position:
            break
        header = validate(view, position) if view[position + MAGIC_POSITION] == MAGIC else validate_any(view, position)
        if is_own and header.leader_epoch != leader_epoch:
            raise InvalidRecord(f"a batch of epoch {header.leader_epoch} from the raft leader of epoch {leader_epoch}")
        if header.leader_epoch > leader_epoch:
            break
        if header.last_offset <= last_offset:
            raise OffsetsOutOfOrderError(f"offset {header.last_offset} comes behind {last_offset}")
        last_offset = header.last_offset
        headers.append(header)
        position += size_bytes
    return Chunk(view[:position], headers)


def prepare_producers(state: ProducerState, chunk: Chunk) -> ProducerUpdate | None:
    """What a chunk will change in the producers' state; None where it has none to do with them."""
    if all(header.producer_id < 0 for header in chunk.headers):
        return None
    update = state.prepare(AppendOrigin.REPLICATION)
    position = 0
    for header in chunk.headers:
        batch = memoryview(chunk.data)[position : position + header.size_bytes]
        update.add(header, end_marker(batch, header) if header.is_control else None)
        position += header.size_bytes
    return update
