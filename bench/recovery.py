"""Recovery after an unclean stop in MB/s of log read, beside Apache Kafka's on copies of the same partition."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from random import Random
from statistics import median
from time import perf_counter

from barnabas.log.log_config import LogConfig
from barnabas.log.partition_log import PartitionLog
from barnabas.records.build import build_batch
from barnabas.records.record import Record
from barnabas.runtime.disk import PosixDisk
from bench.apache import ROUNDS, recovery_mb_per_s
from bench.measure import Row, row

TITLE = "Recovery of a log after an unclean stop"

SEGMENT_BYTES = 16 * 1024 * 1024
LOG_BYTES = 64 * 1024 * 1024
BATCH_BYTES = 16 * 1024

CONFIG = LogConfig(segment_bytes=SEGMENT_BYTES)


def run() -> list[Row]:
    rows = []
    for work, value_bytes, is_idempotent in [
        ("100 B records", 80, False),
        ("1 KiB records", 1000, False),
        ("1 KiB records, idempotent", 1000, True),
    ]:
        with tempfile.TemporaryDirectory(prefix="barnabas-bench-") as folder:
            partition = Path(folder) / "t-0"
            log_bytes = _write(partition, value_bytes, is_idempotent=is_idempotent)
            ours_s = median(_recover_copy(partition) for _ in range(ROUNDS))
            apache_s = log_bytes / 1e6 / recovery_mb_per_s(partition, {"segment.bytes": str(SEGMENT_BYTES)})
            rows.append(row(work, ours_s, apache_s, "Apache Kafka", bytes_each=log_bytes))
    return rows


def _write(partition: Path, value_bytes: int, *, is_idempotent: bool) -> int:
    rng = Random(1)
    log = PartitionLog(PosixDisk(), str(partition), CONFIG, rng=rng, now_ms=0)
    per_batch = BATCH_BYTES // (value_bytes + 20)
    sequence = 0
    while log.size_bytes < LOG_BYTES:
        records = [Record(i, 1, b"key-%08d" % i, rng.randbytes(value_bytes)) for i in range(per_batch)]
        batch = (
            build_batch(records, producer_id=7, producer_epoch=0, base_sequence=sequence)
            if is_idempotent
            else build_batch(records)
        )
        sequence += per_batch
        log.append_as_leader(batch, 0, 1)
    log_bytes = log.size_bytes
    log.close(1)
    return log_bytes


def _recover_copy(partition: Path) -> float:
    """Seconds from opening a copy as after kill -9 until it takes appends."""
    with tempfile.TemporaryDirectory(prefix="barnabas-bench-") as folder:
        copy = Path(folder) / partition.name
        shutil.copytree(partition, copy)
        began = perf_counter()
        log = PartitionLog(PosixDisk(), str(copy), CONFIG, rng=Random(1), now_ms=2)
        seconds = perf_counter() - began
        log.release()
        return seconds
