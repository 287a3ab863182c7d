"""Checkpoint files: Kafka's text, malformed files, and replacement that a power cut never halves."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.log.checkpoint import (
    MalformedCheckpointError,
    TopicPartition,
    read_offsets,
    read_whole,
    replace_file,
    write_offsets,
)
from barnabas.sim.disk import PowerCut, SimDisk

PATH = "/data/recovery-point-offset-checkpoint"


def make_disk() -> SimDisk:
    disk = SimDisk()
    disk.make_directory("/data")
    disk.flush_directory("/")
    return disk


def test_the_text_is_kafkas() -> None:
    disk = make_disk()
    write_offsets(disk, PATH, {TopicPartition("orders", 0): 17, TopicPartition("a.b_c-d", 11): 0})
    assert read_whole(disk, PATH) == b"0\n2\norders 0 17\na.b_c-d 11 0\n"


topics = st.text("abc._-09", min_size=1, max_size=8)
partitions = st.builds(TopicPartition, topics, st.integers(0, 2**31 - 1))


@given(st.dictionaries(partitions, st.integers(0, 2**63 - 1), max_size=5))
def test_offsets_are_read_back(offsets: dict[TopicPartition, int]) -> None:
    disk = make_disk()
    write_offsets(disk, PATH, offsets)
    assert read_offsets(disk, PATH) == offsets


@pytest.mark.parametrize("content", [None, b"", b"0\n", b"0\n0\n"])
def test_a_file_without_entries_holds_nothing(content: bytes | None) -> None:
    disk = make_disk()
    if content is not None:
        replace_file(disk, PATH, content)
    assert read_offsets(disk, PATH) == {}


@pytest.mark.parametrize(
    "content",
    [
        b"1\n0\n",
        b"x\n",
        b"0\nx\n",
        b"0\n1\n",
        b"0\n1\na 0 1\nb 0 1\n",
        b"0\n1\na 0\n",
        b"0\n1\na 0 1 2\n",
        b"0\n1\na zero 1\n",
        b"0\n1\na 0 1_0\n",
        b"0\n1\na 0 9223372036854775808\n",
        b"0\n1\n\n",
        b"0 0\n0\n",
        b"\xff\n0\n",
    ],
)
def test_a_malformed_file_is_an_error_that_names_it(content: bytes) -> None:
    disk = make_disk()
    replace_file(disk, PATH, content)
    with pytest.raises(MalformedCheckpointError, match="recovery-point"):
        read_offsets(disk, PATH)


def test_a_power_cut_leaves_the_old_content_or_the_new() -> None:
    old, new = b"old" * 400, b"longer and new" * 400
    for cut_at in range(20):
        for seed in range(5):
            disk = make_disk()
            replace_file(disk, PATH, old)
            end = disk.operations + cut_at

            def cut(_operation: str, _path: str, disk: SimDisk = disk, end: int = end) -> None:
                if disk.operations == end:
                    raise PowerCut

            disk.before_operation = cut
            try:
                replace_file(disk, PATH, new)
            except PowerCut:
                expected = {old, new}
            else:
                expected = {new}
            disk.before_operation = None
            survivor = disk.after_power_cut(Random(seed))
            assert read_whole(survivor, PATH) in expected
            replace_file(survivor, PATH, new)
            assert read_whole(survivor, PATH) == new
