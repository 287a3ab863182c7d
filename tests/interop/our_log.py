"""Our log opened on a directory, and what a consumer would read from it, in the terms of Apache's consumer."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

from barnabas.log import checkpoint
from barnabas.log.checkpoint import TopicPartition
from barnabas.log.clean_shutdown import CLEAN_SHUTDOWN
from barnabas.log.log_config import LogConfig
from barnabas.log.partition_log import PartitionLog
from barnabas.log.read import Isolation
from barnabas.records.batch import BatchHeader, iterate_batches
from barnabas.records.control import read_end_transaction_marker
from barnabas.records.record import Record, iterate_records
from barnabas.runtime.disk import PosixDisk
from interop.apache_logs import INDEX_BYTES_MAX, TOPICS, ReadRecord

DISK = PosixDisk()


def config_of(topic: str) -> LogConfig:
    """The settings that Apache's broker had for a topic of ours, or for one of its own."""
    configs = TOPICS.get(topic)
    if configs is None:
        return LogConfig(segment_index_bytes=INDEX_BYTES_MAX, cleanup_policy=frozenset({"compact"}))
    return LogConfig(
        segment_bytes=int(configs["internal.segment.bytes"]),
        segment_index_bytes=INDEX_BYTES_MAX,
        index_interval_bytes=int(configs["index.interval.bytes"]),
        message_timestamp_type=configs.get("message.timestamp.type", "CreateTime"),
        cleanup_policy=frozenset({configs.get("cleanup.policy", "delete")}),
        retention_ms=-1,
    )


def open_log(log_directory: Path, topic: str, now_ms: int) -> PartitionLog:
    """The log of a topic's only partition, opened as its log directory's checkpoints say."""
    partition = TopicPartition(topic, 0)

    def checkpointed(name: str) -> int:
        return checkpoint.read_offsets(DISK, str(log_directory / name)).get(partition, 0)

    log = PartitionLog(
        DISK,
        str(log_directory / str(partition)),
        config_of(topic),
        rng=random.Random(0),
        now_ms=now_ms,
        log_start_offset=checkpointed(checkpoint.LOG_START_CHECKPOINT),
        recovery_point=checkpointed(checkpoint.RECOVERY_POINT_CHECKPOINT),
        had_clean_shutdown=(log_directory / CLEAN_SHUTDOWN).exists(),
    )
    log.update_high_watermark(log.log_end_offset)
    return log


def read_all(log: PartitionLog) -> list[ReadRecord]:
    """All records, as a consumer reads them that does not ask for committed ones."""
    return [
        shown(record, header.leader_epoch)
        for header, records in _batches(log, Isolation.LOG_END)
        if not header.is_control
        for record in records
        if record.offset >= log.log_start_offset
    ]


def read_committed(log: PartitionLog) -> list[ReadRecord]:
    """The records of committed transactions and of none, told apart as a consumer does it.

    A consumer leaves out a producer's records from the first offset of an aborted transaction to its marker.
    """
    aborted = log.aborted_transactions(log.log_start_offset, log.last_stable_offset)
    pending = sorted(aborted, key=lambda transaction: transaction.first_offset)
    skipped: set[int] = set()
    read = []
    for header, records in _batches(log, Isolation.COMMITTED):
        while pending and pending[0].first_offset <= header.last_offset:
            skipped.add(pending.pop(0).producer_id)
        if header.is_control:
            if not all(marker.is_commit for marker in map(read_end_transaction_marker, records) if marker):
                skipped.discard(header.producer_id)
        elif not (header.is_transactional and header.producer_id in skipped):
            read += [shown(record, header.leader_epoch) for record in records if record.offset >= log.log_start_offset]
    return read


def _batches(log: PartitionLog, isolation: Isolation) -> Iterator[tuple[BatchHeader, list[Record]]]:
    offset = log.log_start_offset
    while data := log.read(offset, 10_000, isolation=isolation).region.bytes():
        for position, header in iterate_batches(data):
            offset = header.next_offset
            yield header, list(iterate_records(data, position, header))


def shown(record: Record, leader_epoch: int) -> ReadRecord:
    headers = [[key, _hex(value)] for key, value in record.headers]
    return ReadRecord(record.offset, record.timestamp, leader_epoch, _hex(record.key), _hex(record.value), headers)


def _hex(data: bytes | None) -> str | None:
    return None if data is None else data.hex()
