"""A directory that says that it is formatted is, whenever the power went; one that does not can be formatted again."""

from __future__ import annotations

from io import StringIO
from random import Random

import pytest

from barnabas.cli.formatting.controllers import parse_controllers
from barnabas.cli.formatting.directories import (
    FIRST_SNAPSHOT,
    METADATA_PARTITION,
    StorageFormat,
    build_first_snapshot,
    format_directories,
)
from barnabas.cli.formatting.errors import FormatError
from barnabas.cli.formatting.levels import choose_levels
from barnabas.log.checkpoint import read_whole
from barnabas.log.meta_properties import read_meta_properties
from barnabas.metadata.bootstrap import BOOTSTRAP_FILE, BootstrapMetadata, read_checkpoint
from barnabas.metadata.versions import LATEST_METADATA_VERSION
from barnabas.sim.disk import SimDisk

NOW_MS = 1_700_000_000_000
DIRECTORIES = ("/data/a", "/data/b")
CUTS_AT_EACH_OPERATION = 3
VOTERS = parse_controllers("1@localhost:9093:JEXY6aqzQY-32P5TStzaFg", "CONTROLLER")
WANTED = StorageFormat(
    cluster_id="abc",
    node_id=1,
    directories=DIRECTORIES,
    metadata_directory=DIRECTORIES[0],
    bootstrap=BootstrapMetadata.of_features(
        LATEST_METADATA_VERSION, choose_levels(LATEST_METADATA_VERSION, {}, is_dynamic=True)
    ),
    kraft_version=1,
    voters=VOTERS,
    ignores_formatted=True,
)


def check_formatted(disk: SimDisk) -> int:
    """How many directories say that they are formatted; those that do are whole."""
    count = 0
    for directory in DIRECTORIES:
        meta = read_meta_properties(disk, directory) if disk.is_directory(directory) else None
        if meta is None:
            continue
        count += 1
        assert read_checkpoint(read_whole(disk, f"{directory}/{BOOTSTRAP_FILE}")) == WANTED.bootstrap
        if directory == WANTED.metadata_directory:
            assert meta.directory_id == VOTERS.by_id[1].key.directory_id
            snapshot = read_whole(disk, f"{directory}/{METADATA_PARTITION}/{FIRST_SNAPSHOT}")
            assert snapshot == build_first_snapshot(1, VOTERS, NOW_MS)
    return count


@pytest.mark.parametrize("seed", range(3))
def test_no_moment_of_formatting_is_a_bad_one_for_a_power_cut(seed: int) -> None:
    disk = SimDisk()
    rng = Random(seed)
    counts = set()

    def cut_power(_operation: str, _path: str) -> None:
        for _ in range(CUTS_AT_EACH_OPERATION):
            survivor = disk.after_power_cut(rng)
            counts.add(check_formatted(survivor))
            format_directories(survivor, WANTED, NOW_MS, StringIO())
            assert check_formatted(survivor.after_power_cut(rng)) == len(DIRECTORIES)

    disk.before_operation = cut_power
    format_directories(disk, WANTED, NOW_MS, StringIO())
    disk.before_operation = None
    assert check_formatted(disk.after_power_cut(rng)) == len(DIRECTORIES)
    assert counts == {0, 1, 2}


def test_a_disk_that_fails_is_named() -> None:
    disk = SimDisk()
    disk.fail("flush", BOOTSTRAP_FILE + ".tmp", 5)
    with pytest.raises(FormatError, match=r"Error while writing meta\.properties file /data/a: "):
        format_directories(disk, WANTED, NOW_MS, StringIO())
    assert check_formatted(disk) == 0
