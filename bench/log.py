"""A partition's log beside the bare system calls that it cannot do without, for the same bytes.

Everything stays in the page cache, so what is timed is work of the processor, and is counted as such.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from statistics import median
from struct import pack_into
from time import process_time

from barnabas.log.log_config import LogConfig
from barnabas.log.partition_log import PartitionLog
from barnabas.log.read import Isolation
from barnabas.records.build import build_batch
from barnabas.records.record import Record
from barnabas.runtime.disk import PosixDisk
from bench.measure import Row, row

TITLE = "log: appends and reads of a partition"
NOW_MS = 1_700_000_000_000
ROUNDS = 15
ROUND_BYTES = 32 * 1024 * 1024


def run() -> list[Row]:
    rows = []
    with tempfile.TemporaryDirectory(prefix="barnabas-bench-") as folder:
        place = Path(folder)
        batch_bytes = 16 * 1024
        rows.append(_compare_appends("append of 16 KiB batches", place, batch_bytes, 0.6))
        rows.append(_compare_appends("append of 16 KiB batches, idempotent", place, batch_bytes, None, producer_id=7))
        rows.append(_compare_appends("append of 1 MB batches", place, 1_000_000, None))
        rows.append(_compare_chunks(place))
        rows.append(_compare_reads(place, 64 * 1024, None))
        rows.append(_compare_reads(place, 1024 * 1024, 0.9))
    return rows


def _make_batches(batch_bytes: int, producer_id: int = -1) -> list[bytearray]:
    """The batches of one round; each is a buffer of its own, as requests are."""
    count = batch_bytes // 1024
    records = [Record(i, NOW_MS + i, b"key-%04d" % i, os.urandom(1000)) for i in range(count)]
    first = build_batch(records)
    batches = [bytearray(first) for _ in range(ROUND_BYTES // len(first))]
    if producer_id >= 0:
        batches = [
            build_batch(records, producer_id=producer_id, producer_epoch=0, base_sequence=index * count)
            for index in range(len(batches))
        ]
    return batches


def _open_log(place: Path) -> PartitionLog:
    return PartitionLog(PosixDisk(), str(place / "t-0"), LogConfig(), rng=Random(1), now_ms=NOW_MS)


def _compare_appends(work: str, place: Path, batch_bytes: int, wanted: float | None, *, producer_id: int = -1) -> Row:
    batches = _make_batches(batch_bytes, producer_id)

    def ours() -> float:
        for batch in batches:
            pack_into(">q", batch, 0, 0)
        log = _open_log(place)
        append = log.append_as_leader
        begin = process_time()
        for batch in batches:
            append(batch, 0, NOW_MS)
        seconds = process_time() - begin
        log.delete()
        return seconds

    return _row(work, ours, lambda: _write_bare(place, batches), "bare write", len(batches), wanted)


def _compare_chunks(place: Path) -> Row:
    """A follower's append of fetched chunks of 64 batches."""
    leader = _open_log(place)
    for batch in _make_batches(16 * 1024):
        leader.append_as_leader(batch, 0, NOW_MS)
    chunks = []
    offset = 0
    while offset < leader.log_end_offset:
        region = leader.read(offset, 1024 * 1024, isolation=Isolation.LOG_END).region
        size = region.size_bytes // len(batch) * len(batch)
        chunks.append(region.file.read_at(region.position, size))
        offset += size // len(batch) * 16
    leader.delete()

    def ours() -> float:
        log = _open_log(place)
        begin = process_time()
        for chunk in chunks:
            log.append_as_follower(chunk, 0, NOW_MS)
        seconds = process_time() - begin
        log.delete()
        return seconds

    return _row(
        "append of 1 MiB chunks as follower", ours, lambda: _write_bare(place, chunks), "bare write", len(chunks)
    )


def _write_bare(place: Path, pieces: list[bytearray] | list[bytes]) -> float:
    path = place / "bare"
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT)
    write = os.write
    begin = process_time()
    for piece in pieces:
        write(descriptor, piece)
    seconds = process_time() - begin
    os.close(descriptor)
    path.unlink()
    return seconds


def _compare_reads(place: Path, read_bytes: int, wanted: float | None) -> Row:
    """A replica that fetches on and on, beside reading the same places of the file."""
    log = _open_log(place)
    batches = _make_batches(16 * 1024)
    for batch in batches:
        log.append_as_leader(batch, 0, NOW_MS)
    batch_bytes = len(batches[0])
    step = max(1, read_bytes // batch_bytes)
    offsets = [index * 16 for index in range(0, len(batches) - step, step)]
    descriptor = log.segments.active.file.fileno()

    def ours() -> float:
        begin = process_time()
        for offset in offsets:
            log.read(offset, read_bytes, isolation=Isolation.LOG_END).region.bytes()
        return process_time() - begin

    def bare() -> float:
        begin = process_time()
        for offset in offsets:
            os.pread(descriptor, read_bytes, offset // 16 * batch_bytes)
        return process_time() - begin

    read = _row(f"read of {read_bytes // 1024} KiB regions", ours, bare, "bare pread", len(offsets), wanted)
    log.delete()
    return read


def _row(
    work: str,
    ours: Callable[[], float],
    bare: Callable[[], float],
    bare_name: str,
    times: int,
    wanted: float | None = None,
) -> Row:
    ours_s, bare_s = [], []
    for _ in range(ROUNDS):
        bare_s.append(bare())
        ours_s.append(ours())
    return row(work, median(ours_s) / times, median(bare_s) / times, bare_name, wanted)
