"""Writes a small partition log, closes it, opens it again and reads it back.

    python examples/write_a_log.py DIRECTORY

The directory is a partition as a Kafka broker keeps it; `kafka-dump-log` of either side reads its files.
"""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random

from barnabas.log.log_config import LogConfig
from barnabas.log.partition_log import PartitionLog
from barnabas.log.read import Isolation
from barnabas.records.batch import iterate_batches
from barnabas.records.build import build_batch
from barnabas.records.compression import Compression
from barnabas.records.record import Record, iterate_records
from barnabas.runtime.clock import SystemClock
from barnabas.runtime.disk import PosixDisk

ORDERS = [("alice", "3 apples"), ("bob", "1 melon"), ("alice", "2 pears")]


def open_log(directory: str) -> PartitionLog:
    return PartitionLog(PosixDisk(), directory, LogConfig(), rng=Random(), now_ms=SystemClock().now_ms())


def main(directory: str) -> None:
    clock = SystemClock()
    log = open_log(directory)
    for compression in (Compression.NONE, Compression.ZSTD):
        now_ms = clock.now_ms()
        records = [Record(delta, now_ms, key.encode(), value.encode(), ()) for delta, (key, value) in enumerate(ORDERS)]
        appended = log.append_as_leader(build_batch(records, compression=compression), leader_epoch=0, now_ms=now_ms)
        print(f"appended offsets {appended.first_offset} to {appended.last_offset}, {compression.name.lower()}")
    log.close(clock.now_ms())

    log = open_log(directory)
    read = log.read(log.log_start_offset, 1 << 20, isolation=Isolation.LOG_END)
    data = read.region.bytes()
    for position, header in iterate_batches(data):
        for record in iterate_records(data, position, header):
            who, what = (bytes(field or b"").decode() for field in (record.key, record.value))
            print(f"read {record.offset}: {who} orders {what}")
    log.close(clock.now_ms())


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(f"usage: {sys.argv[0]} DIRECTORY")
    main(str(Path(sys.argv[1]).absolute()))
