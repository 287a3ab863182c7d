"""What is left of each batch when a log is cleaned.

The rules are Kafka's: the latest record of a key stays; a tombstone and an empty transaction's marker stay until the
delete horizon, which the first cleaning that meets them sets (KIP-534); the batch that holds a producer's last sequence
or epoch stays even when it is empty, and so does the last batch of the round, so that no offset is lost.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import dataclass

from barnabas.log.cleaner.offset_map import OffsetMap
from barnabas.log.cleaner.transactions import CleanedTransactions
from barnabas.log.producer_entry import ProducerEntry
from barnabas.log.transaction_index import AbortedTransaction
from barnabas.ports.disk import Buffer
from barnabas.records.batch import MAGIC, BatchHeader, TimestampType
from barnabas.records.build import build_batch
from barnabas.records.control import ControlType, read_control_type
from barnabas.records.kernel import (
    ROW_COLUMNS,
    ROW_KEY_LENGTH,
    ROW_KEY_POSITION,
    ROW_OFFSET_DELTA,
    ROW_VALUE_LENGTH,
    read_rows,
)
from barnabas.records.legacy import iterate_any_records
from barnabas.records.record import read_record_bytes
from barnabas.records.retain import retain, retain_nothing


@dataclass
class CleaningStats:
    """What a cleaning has done so far."""

    mapped_bytes: int = 0
    read_bytes: int = 0
    written_bytes: int = 0
    records_read: int = 0
    records_kept: int = 0
    records_without_key: int = 0


def read_records(batch: Buffer, header: BatchHeader) -> tuple[bytes, array[int]]:
    """The records of a batch of magic 2, uncompressed, and their scanned columns."""
    data = bytes(read_record_bytes(batch, 0, header))
    return data, read_rows(data, header.record_count) if header.record_count else array("q")


def read_is_abort(data: bytes, rows: array[int]) -> bool | None:
    """Whether a control batch aborts or commits a transaction; None where it does neither."""
    if not rows:
        return None
    position, length = rows[ROW_KEY_POSITION], rows[ROW_KEY_LENGTH]
    control_type = read_control_type(data[position : position + length] if length >= 0 else None)
    if control_type in (ControlType.ABORT, ControlType.COMMIT):
        return control_type is ControlType.ABORT
    return None


class BatchFilter:
    """Decides batch by batch in offset order; `aborted` gathers what the cleaned segment's index must hold."""

    def __init__(
        self,
        offsets: OffsetMap,
        transactions: CleanedTransactions,
        producers: Mapping[int, ProducerEntry],
        stats: CleaningStats,
        *,
        round_end_offset: int,
        delete_retention_ms: int,
        now_ms: int,
    ) -> None:
        self._offsets = offsets
        self._transactions = transactions
        self._producers = producers
        self._stats = stats
        self._round_end_offset = round_end_offset
        self._delete_retention_ms = delete_retention_ms
        self._now_ms = now_ms
        self.keeps_legacy_tombstones = True  # As the age of the segment says, for records without a delete horizon.
        self.aborted: list[AbortedTransaction] = []

    def apply(self, batch: Buffer, header: BatchHeader) -> Buffer | None:
        """The batch itself, what is left of it, or None where nothing is."""
        self._stats.read_bytes += header.size_bytes
        if header.magic < MAGIC:
            return self._apply_to_legacy(batch, header)
        if header.is_control:
            return self._apply_to_control(batch, header)
        if self._transactions.can_drop_data(header):
            return self._without_records(header)
        if not header.record_count:
            return self._without_records(header)
        data, rows = read_records(batch, header)
        kept_count, is_kept = self._offsets.mark_latest(data, rows, header.base_offset)
        needs_horizon = False
        if min(rows[ROW_VALUE_LENGTH::ROW_COLUMNS]) < 0:
            needs_horizon = self._judge_tombstones(header, rows, is_kept)
            kept_count = sum(is_kept)
        self._stats.records_read += header.record_count
        self._stats.records_kept += kept_count
        key_lengths = rows[ROW_KEY_LENGTH::ROW_COLUMNS]
        if min(key_lengths) < 0:
            self._stats.records_without_key += sum(length < 0 for length in key_lengths)
        if not kept_count:
            return self._without_records(header)
        if needs_horizon:
            return retain(header, data, rows, is_kept, delete_horizon_ms=self._now_ms + self._delete_retention_ms)
        return batch if kept_count == header.record_count else retain(header, data, rows, is_kept)

    def _judge_tombstones(self, header: BatchHeader, rows: array[int], is_kept: bytearray) -> bool:
        """Drop the tombstones whose time is over; true where some stay and the batch has no delete horizon yet."""
        horizon_ms = header.delete_horizon_ms
        latest_delta = self._offsets.latest_offset - header.base_offset
        has_tombstone = False
        for index, kept in enumerate(is_kept):
            if kept and rows[index * ROW_COLUMNS + ROW_VALUE_LENGTH] < 0:
                is_behind_map = rows[index * ROW_COLUMNS + ROW_OFFSET_DELTA] > latest_delta
                if horizon_ms is None or self._now_ms < horizon_ms or is_behind_map:
                    has_tombstone = True
                else:
                    is_kept[index] = False
        return has_tombstone and horizon_ms is None

    def _apply_to_control(self, batch: Buffer, header: BatchHeader) -> Buffer | None:
        data, rows = read_records(batch, header)
        is_empty_transaction, aborted = self._transactions.can_drop_marker(header, read_is_abort(data, rows))
        if aborted is not None:
            self.aborted.append(aborted)
        self._stats.records_read += header.record_count
        horizon_ms = header.delete_horizon_ms
        if header.record_count == 0 or (is_empty_transaction and horizon_ms is not None and horizon_ms <= self._now_ms):
            return self._without_records(header)
        self._stats.records_kept += header.record_count
        if is_empty_transaction and horizon_ms is None:
            horizon_ms = self._now_ms + self._delete_retention_ms
            return retain(header, data, rows, [True] * header.record_count, delete_horizon_ms=horizon_ms)
        return batch

    def _apply_to_legacy(self, batch: Buffer, header: BatchHeader) -> Buffer | None:
        """What is left of a message set from before batches, as a batch."""
        records = list(iterate_any_records(batch, 0, header))
        kept = [
            record
            for record in records
            if self._offsets.is_latest(record.key, record.offset)
            and (
                record.value is not None or self.keeps_legacy_tombstones or record.offset > self._offsets.latest_offset
            )
        ]
        self._stats.records_read += len(records)
        self._stats.records_kept += len(kept)
        self._stats.records_without_key += sum(record.key is None for record in records)
        if not kept:
            return None
        has_tombstone = any(record.value is None for record in kept)
        return build_batch(
            kept,
            compression=header.compression,
            timestamp_type=header.timestamp_type,
            append_time_ms=header.max_timestamp if header.timestamp_type is TimestampType.LOG_APPEND_TIME else None,
            delete_horizon_ms=self._now_ms + self._delete_retention_ms if has_tombstone else None,
        )

    def _without_records(self, header: BatchHeader) -> Buffer | None:
        if self._is_last_of_producer(header) or header.next_offset == self._round_end_offset:
            return retain_nothing(header)
        return None

    def _is_last_of_producer(self, header: BatchHeader) -> bool:
        """Whether the batch is what a producer's sequence, or its epoch where it has none, is known from."""
        producer = self._producers.get(header.producer_id)
        if producer is None:
            return False
        if producer.last_data_offset >= 0:
            return header.last_offset == producer.last_data_offset
        return header.is_control and header.producer_epoch == producer.producer_epoch
