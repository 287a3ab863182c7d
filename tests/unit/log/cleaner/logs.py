"""Compacted logs for the cleaner's tests: written record by record, cleaned at a time, and read back."""

from __future__ import annotations

from random import Random

from barnabas.log.cleaner.clean import CleaningResult, clean, run_to_end
from barnabas.log.cleaner.kernel import SLOT_BYTES
from barnabas.log.cleaner.offset_map import OffsetMap
from barnabas.log.cleaner.plan import plan_cleaning
from barnabas.log.log_config import LogConfig
from barnabas.log.partition_log import PartitionLog
from barnabas.log.producer_entry import AppendOrigin
from barnabas.log.read import Isolation
from barnabas.records.batch import BatchHeader, Buffer, iterate_batches
from barnabas.records.build import build_batch
from barnabas.records.compression import Compression
from barnabas.records.control import EndTransactionMarker, build_end_transaction_marker
from barnabas.records.record import Record, iterate_records
from barnabas.sim.disk import SimDisk

DIRECTORY = "/data/t-0"

Pair = tuple[bytes | None, bytes | None]


def make_disk() -> SimDisk:
    disk = SimDisk()
    disk.make_directory(DIRECTORY)
    disk.flush_directory("/")
    disk.flush_directory("/data")
    return disk


def make_config(
    *,
    segment_bytes: int = 1024 * 1024,
    delete_retention_ms: int = 1_000,
    min_compaction_lag_ms: int = 0,
    max_compaction_lag_ms: int = 2**63 - 1,
    cleanup_policy: frozenset[str] = frozenset({"compact"}),
) -> LogConfig:
    return LogConfig(
        cleanup_policy=cleanup_policy,
        segment_bytes=segment_bytes,
        segment_index_bytes=4096,
        index_interval_bytes=64,
        delete_retention_ms=delete_retention_ms,
        min_compaction_lag_ms=min_compaction_lag_ms,
        max_compaction_lag_ms=max_compaction_lag_ms,
        file_delete_delay_ms=0,
    )


def open_log(disk: SimDisk, config: LogConfig | None = None, *, now_ms: int = 0) -> PartitionLog:
    return PartitionLog(disk, DIRECTORY, config or make_config(), rng=Random(0), now_ms=now_ms)


def append(
    log: PartitionLog,
    *pairs: Pair,
    now_ms: int = 0,
    compression: Compression = Compression.NONE,
    producer_id: int = -1,
    epoch: int = -1,
    sequence: int = -1,
    is_transactional: bool = False,
) -> None:
    """One batch, replicated at once."""
    records = [Record(index, now_ms, key, value) for index, (key, value) in enumerate(pairs)]
    batch = build_batch(
        records,
        compression=compression,
        producer_id=producer_id,
        producer_epoch=epoch,
        base_sequence=sequence,
        is_transactional=is_transactional,
    )
    log.append_as_leader(batch, 0, now_ms, origin=AppendOrigin.REPLICATION if producer_id < 0 else AppendOrigin.CLIENT)
    log.update_high_watermark(log.log_end_offset)


def append_at(log: PartitionLog, offset: int, *pairs: Pair) -> None:
    """One batch with its offset given, as a follower gets it: nothing inside it is checked."""
    replicate(log, build_batch([Record(offset + index, 0, key, value) for index, (key, value) in enumerate(pairs)]))


def replicate(log: PartitionLog, data: Buffer) -> None:
    log.append_as_follower(data, 0, 0)
    log.update_high_watermark(log.log_end_offset)


def end_transaction(log: PartitionLog, producer_id: int, *, is_commit: bool, now_ms: int = 0, epoch: int = 0) -> None:
    batch = build_end_transaction_marker(
        EndTransactionMarker(is_commit, 0), producer_id=producer_id, producer_epoch=epoch, timestamp=now_ms
    )
    log.append_as_leader(batch, 0, now_ms, origin=AppendOrigin.COORDINATOR, transaction_version=1)
    log.update_high_watermark(log.log_end_offset)


def clean_log(
    disk: SimDisk,
    log: PartitionLog,
    *,
    now_ms: int = 0,
    from_offset: int | None = None,
    keys_max: int = 10_000,
    chunk_bytes: int = 256,
) -> CleaningResult:
    """Clean everything before the active segment."""
    plan = plan_cleaning(log, from_offset, now_ms)
    offsets = OffsetMap((keys_max + 1) * SLOT_BYTES, load_factor=1.0)
    return run_to_end(clean(disk, log, plan, offsets, chunk_bytes=chunk_bytes, now_ms=now_ms))


def read_batches(log: PartitionLog) -> list[tuple[BatchHeader, list[Record]]]:
    """Every batch from the log's start to its end, with its records."""
    found = []
    offset = log.log_start_offset
    while offset < log.log_end_offset:
        data = log.read(offset, 1024 * 1024, isolation=Isolation.LOG_END).region.bytes()
        if not data:
            break
        for position, header in iterate_batches(data):
            if header.last_offset >= offset:
                found.append((header, list(iterate_records(data, position, header))))
                offset = header.next_offset
    return found


def read_records(log: PartitionLog) -> list[Record]:
    """Every data record, of whatever transaction."""
    return [record for header, records in read_batches(log) if not header.is_control for record in records]


def read_committed(log: PartitionLog) -> list[Record]:
    """The records that a consumer sees which leaves aborted transactions out, as the transaction index tells it."""
    aborted = sorted(
        log.aborted_transactions(log.log_start_offset, log.log_end_offset), key=lambda txn: txn.first_offset
    )
    found: list[Record] = []
    open_aborted: set[int] = set()
    for header, records in read_batches(log):
        while aborted and aborted[0].first_offset <= header.last_offset:
            open_aborted.add(aborted.pop(0).producer_id)
        if header.is_control:
            if records and records[0].key == b"\x00\x00\x00\x00":
                open_aborted.discard(header.producer_id)
        elif not (header.is_transactional and header.producer_id in open_aborted):
            found += records
    return found
