"""What a partition's log holds open: a node has descriptors for few files, and may have ten thousand partitions."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

from barnabas.log.log_config import LogConfig
from barnabas.log.partition_log import PartitionLog
from barnabas.runtime.disk import PosixDisk
from builders import TIMESTAMP, make_batch


def open_descriptors() -> int:
    return len(os.listdir("/dev/fd"))


def open_log(path: Path, *, had_clean_shutdown: bool = False) -> PartitionLog:
    return PartitionLog(
        PosixDisk(),
        str(path),
        LogConfig(),
        rng=Random(1),
        now_ms=TIMESTAMP,
        had_clean_shutdown=had_clean_shutdown,
    )


def test_a_new_log_holds_one_descriptor_until_it_has_something_to_index(tmp_path: Path) -> None:
    before = open_descriptors()
    log = open_log(tmp_path / "t-0")
    assert open_descriptors() == before + 1
    log.append_as_leader(make_batch(1), 0, TIMESTAMP)
    log.update_high_watermark(1)
    assert len(log.read(0, 1000).region) > 0
    assert open_descriptors() == before + 1
    log.close(TIMESTAMP)
    assert open_descriptors() == before


def test_a_log_that_was_loaded_holds_one_descriptor(tmp_path: Path) -> None:
    for had_clean_shutdown in (True, False):
        directory = tmp_path / f"t-{had_clean_shutdown:d}"
        log = open_log(directory)
        for _ in range(100):
            log.append_as_leader(make_batch(10), 0, TIMESTAMP)
        log.close(TIMESTAMP)
        before = open_descriptors()
        log = open_log(directory, had_clean_shutdown=had_clean_shutdown)
        assert open_descriptors() == before + 1
        assert log.log_end_offset == 1000
        log.close(TIMESTAMP)
