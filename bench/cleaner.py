"""Compaction in MB/s of log read, beside Apache Kafka's cleaner on copies of the same partition."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from random import Random
from statistics import median
from time import perf_counter

from barnabas.log.cleaner.clean import clean, run_to_end
from barnabas.log.cleaner.offset_map import OffsetMap
from barnabas.log.cleaner.plan import plan_cleaning
from barnabas.log.log_config import LogConfig
from barnabas.log.partition_log import PartitionLog
from barnabas.records.build import build_batch
from barnabas.records.compression import Compression
from barnabas.records.record import Record
from barnabas.runtime.disk import PosixDisk
from bench.apache import ROUNDS, cleaning_mb_per_s
from bench.measure import Row, row

TITLE = "Compaction of a log, half of whose records are superseded"

SEGMENT_BYTES = 16 * 1024 * 1024
LOG_BYTES = 64 * 1024 * 1024
MEMORY_BYTES = 128 * 1024 * 1024
CHUNK_BYTES = 256 * 1024
BATCH_BYTES = 16 * 1024

CONFIG = LogConfig(cleanup_policy=frozenset({"compact"}), segment_bytes=SEGMENT_BYTES, file_delete_delay_ms=0)


def run() -> list[Row]:
    rows = []
    for work, value_bytes, compression in [
        ("100 B records", 80, Compression.NONE),
        ("1 KiB records", 1000, Compression.NONE),
        ("1 KiB records, zstd", 1000, Compression.ZSTD),
    ]:
        with tempfile.TemporaryDirectory(prefix="barnabas-bench-") as folder:
            partition = Path(folder) / "t-0"
            cleaned_bytes = _write(partition, value_bytes, compression)
            ours_s = median(_clean_copy(partition) for _ in range(ROUNDS))
            apache_s = cleaned_bytes / 1e6 / cleaning_mb_per_s(partition, {"segment.bytes": str(SEGMENT_BYTES)})
            rows.append(row(work, ours_s, apache_s, "Apache Kafka", bytes_each=cleaned_bytes))
    return rows


def _write(partition: Path, value_bytes: int, compression: Compression) -> int:
    """Fill a partition in which every key is written twice on average; the bytes before the active segment."""
    rng = Random(1)
    log = PartitionLog(PosixDisk(), str(partition), CONFIG, rng=rng, now_ms=0)
    per_batch = BATCH_BYTES // (value_bytes + 20)
    keys = LOG_BYTES // (value_bytes + 20) // 2
    written = 0
    while written < LOG_BYTES:
        pairs = [
            (b"key-%08d" % rng.randrange(keys), rng.randbytes(value_bytes // 2).hex().encode())
            for _ in range(per_batch)
        ]
        batch = build_batch([Record(i, 1, key, value) for i, (key, value) in enumerate(pairs)], compression=compression)
        log.append_as_leader(batch, 0, 1)
        written += BATCH_BYTES
    log.roll(1)
    cleaned_bytes = log.size_bytes
    log.append_as_leader(build_batch([Record(0, 1, b"last", b"")]), 0, 1)
    log.close(1)
    return cleaned_bytes


def _clean_copy(partition: Path) -> float:
    """Seconds that our cleaner takes for everything before the active segment, of a copy."""
    with tempfile.TemporaryDirectory(prefix="barnabas-bench-") as folder:
        copy = Path(folder) / partition.name
        shutil.copytree(partition, copy)
        disk = PosixDisk()
        log = PartitionLog(disk, str(copy), CONFIG, rng=Random(1), now_ms=2, had_clean_shutdown=True)
        log.update_high_watermark(log.log_end_offset)
        began = perf_counter()
        plan = plan_cleaning(log, None, 2)
        result = run_to_end(clean(disk, log, plan, OffsetMap(MEMORY_BYTES), chunk_bytes=CHUNK_BYTES, now_ms=2))
        seconds = perf_counter() - began
        assert result.end_offset == log.segments.active.base_offset, "one pass takes the whole log"
        log.release()
        return seconds
