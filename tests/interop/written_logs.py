"""Logs that ours wrote, with everything in them that a log can hold, closed or left as a killed process leaves them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from barnabas.log.cleaner.clean import clean, run_to_end
from barnabas.log.cleaner.offset_map import OffsetMap
from barnabas.log.cleaner.plan import plan_cleaning
from barnabas.log.partition_log import PartitionLog
from barnabas.log.producer_entry import AppendOrigin
from barnabas.records.build import build_batch
from barnabas.records.compression import Compression
from barnabas.records.control import EndTransactionMarker, build_end_transaction_marker
from barnabas.records.record import Header, Record
from interop.apache_logs import TOPICS, ReadRecord
from interop.our_log import DISK, open_log, shown

LEADER_EPOCH = 0
CODECS = {f"codec-{codec.config_name}": codec for codec in Compression}
WRITTEN = [topic for topic in TOPICS if topic != "trimmed"]


class Written(NamedTuple):
    """The records that were appended, and those of them that a reader of committed records sees."""

    records: list[ReadRecord]
    committed: list[ReadRecord]


class Producer:
    """Numbers its batches and ends its transactions as Kafka's producer and its coordinator do it together."""

    def __init__(self, producer_id: int) -> None:
        self._id = producer_id
        self._epoch = 0
        self._sequence = 0

    def batch(self, records: list[Record], codec: Compression, *, is_transactional: bool = False) -> bytearray:
        first = self._sequence
        self._sequence += len(records)
        return build_batch(
            records,
            compression=codec,
            producer_id=self._id,
            producer_epoch=self._epoch,
            base_sequence=first,
            is_transactional=is_transactional,
        )

    def marker(self, *, is_commit: bool, timestamp: int) -> bytearray:
        """Ending a transaction takes the producer to its next epoch (KIP-890)."""
        self._epoch += 1
        self._sequence = 0
        return build_end_transaction_marker(
            EndTransactionMarker(is_commit, coordinator_epoch=0),
            producer_id=self._id,
            producer_epoch=self._epoch,
            timestamp=timestamp,
        )


def write_log(
    log_directory: Path, topic: str, now_ms: int, *, is_closed: bool = True, is_cleaned: bool = True
) -> Written:
    """Write a topic's log into the directory, clean it if it is compacted, and close it or only let go of its files."""
    chance = random.Random(topic)
    log = open_log(log_directory, topic, now_ms)
    if "transactions" in topic:
        written = _write_transactions(log, chance, now_ms)
    else:
        codec = CODECS.get(topic, Compression.LZ4)
        written = _write_batches(log, chance, codec, now_ms)
    log.update_high_watermark(log.log_end_offset)
    if log.config.is_compacted and is_cleaned:
        clean_log(log, now_ms)
    if is_closed:
        log.close(now_ms)
    else:
        log.release()
    return written


def clean_log(log: PartitionLog, now_ms: int) -> None:
    plan = plan_cleaning(log, None, now_ms)
    result = run_to_end(clean(DISK, log, plan, OffsetMap(1 << 20), chunk_bytes=1 << 16, now_ms=now_ms))
    assert result.end_offset == plan.first_uncleanable_offset > 0


def _records(chance: random.Random, now_ms: int, *, has_keys: bool) -> list[Record]:
    """A batch of records of every shape that a record may have."""
    records = []
    for delta in range(chance.randint(1, 12)):
        key = b"key %d" % chance.randrange(25) if has_keys or chance.random() < 0.7 else None
        value = chance.choice([None, b"", b"a value with gr\xc3\xbc\xc3\x9fe " * chance.randint(1, 5)])
        headers: list[Header] = [(f"h{n}", chance.choice([None, b"", b"x"])) for n in range(chance.randrange(3))]
        records.append(Record(delta, now_ms - chance.randrange(5_000), key, value, headers))
    return records


def _write_batches(log: PartitionLog, chance: random.Random, codec: Compression, now_ms: int) -> Written:
    producer = Producer(1000)
    appended: list[ReadRecord] = []
    for number in range(60):
        records = _records(chance, now_ms, has_keys=log.config.is_compacted)
        batch = build_batch(records, compression=codec) if number % 3 else producer.batch(records, codec)
        first = log.append_as_leader(batch, LEADER_EPOCH, now_ms).first_offset
        appended += _placed(log, records, first, now_ms)
    return Written(appended, appended)


def _write_transactions(log: PartitionLog, chance: random.Random, now_ms: int) -> Written:
    """Transactions of two producers, interleaved; the last ones stay open."""
    producers = [Producer(1000), Producer(1001)]
    appended: list[ReadRecord] = []
    ended: list[ReadRecord] = []
    for round_number in range(12):
        pending: dict[Producer, list[ReadRecord]] = {producer: [] for producer in producers}
        for _ in range(6):
            producer = chance.choice(producers)
            records = _records(chance, now_ms, has_keys=True)
            batch = producer.batch(records, chance.choice(list(Compression)), is_transactional=True)
            first = log.append_as_leader(batch, LEADER_EPOCH, now_ms).first_offset
            pending[producer] += _placed(log, records, first, now_ms)
        for producer, records_read in pending.items():
            appended += records_read
            is_commit = chance.random() < 0.6
            if records_read and round_number < 11:
                marker = producer.marker(is_commit=is_commit, timestamp=now_ms)
                log.append_as_leader(marker, LEADER_EPOCH, now_ms, origin=AppendOrigin.COORDINATOR)
                ended += records_read if is_commit else []
    return Written(sorted(appended), sorted(ended))


def _placed(log: PartitionLog, records: list[Record], first: int, now_ms: int) -> Iterator[ReadRecord]:
    for record in records:
        timestamp = now_ms if log.config.is_log_append_time else record.timestamp
        yield shown(record._replace(offset=first + record.offset, timestamp=timestamp), LEADER_EPOCH)


def latest_by_key(records: list[ReadRecord]) -> dict[str | None, ReadRecord]:
    return {record.key: record for record in records}
