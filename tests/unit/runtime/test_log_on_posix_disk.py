"""A partition's log on the real disk: the files that other programs find, and regions that sendfile takes."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from random import Random

from barnabas.log.log_config import LogConfig
from barnabas.log.partition_log import PartitionLog
from barnabas.log.read import Isolation
from barnabas.runtime.disk import PosixDisk
from builders import TIMESTAMP, make_batch
from log_checks import check_log, stored_batches


def open_log(place: Path, **options: bool) -> PartitionLog:
    return PartitionLog(
        PosixDisk(), str(place / "t-0"), LogConfig(), rng=Random(0), now_ms=TIMESTAMP, recovery_point=0, **options
    )


def sizes(place: Path) -> dict[str, int]:
    return {path.suffix: path.stat().st_size for path in (place / "t-0").iterdir() if path.stem.isdigit()}


def test_active_indexes_are_preallocated_without_taking_room_and_trimmed_on_close(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    for _ in range(3):
        log.append_as_leader(make_batch(1, value_bytes=5_000), 0, TIMESTAMP)
    assert {**sizes(tmp_path), ".log": 0} == {".log": 0, ".index": 10_485_760, ".timeindex": 10_485_756}
    assert sum(path.stat().st_blocks for path in (tmp_path / "t-0").glob("*index")) < 100
    log.close(TIMESTAMP)
    assert sizes(tmp_path) == {
        ".log": 3 * len(make_batch(1, value_bytes=5_000)),
        ".index": 16,
        ".timeindex": 12,
        ".snapshot": 10,
    }


def test_a_log_is_read_again_after_a_clean_and_an_unclean_stop(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    log.append_as_leader(make_batch(2), 0, TIMESTAMP)
    log.release()
    log = open_log(tmp_path)
    log.append_as_leader(make_batch(2), 0, TIMESTAMP)
    log.close(TIMESTAMP)
    log = open_log(tmp_path, had_clean_shutdown=True)
    assert [batch.header.base_offset for batch in stored_batches(log)] == [0, 2]
    check_log(log)
    log.release()


def test_a_region_is_sent_from_its_file(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    for _ in range(3):
        log.append_as_leader(make_batch(2), 0, TIMESTAMP)
    region = log.read(2, 10_000, isolation=Isolation.LOG_END).region
    ours, theirs = socket.socketpair()
    with ours, theirs:
        assert os.sendfile(ours.fileno(), region.file.fileno(), region.position, region.size_bytes) == region.size_bytes
        assert theirs.recv(10_000) == region.bytes() == b"".join(batch.data for batch in stored_batches(log)[1:])
    log.delete()
    assert not (tmp_path / "t-0").exists()
