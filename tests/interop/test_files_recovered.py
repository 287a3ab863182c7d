"""After an unclean stop our log and Apache's make the same of the same damaged directory, file by file."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from barnabas.log import names
from bench.apache import run_log_work
from interop.apache_logs import INDEX_BYTES_MAX, TOPICS, ApacheLogs
from interop.our_log import open_log

pytestmark = pytest.mark.referee
CASES_EACH = 4


def cut(data: bytearray, chance: random.Random) -> None:
    """The end of a write that did not reach the disk."""
    del data[chance.randrange(len(data)) :]


def flip(data: bytearray, chance: random.Random) -> None:
    """One bit that the disk lost."""
    data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)


def append_zeros(data: bytearray, chance: random.Random) -> None:
    """Blocks that a file system gave to the file and never filled."""
    data += bytes(chance.randrange(1, 5000))


def append_noise(data: bytearray, chance: random.Random) -> None:
    """The beginning of a batch that never became whole, or bytes that never were one."""
    data += chance.randbytes(chance.randrange(1, 500))


def leave_alone(data: bytearray, chance: random.Random) -> None:
    """Nothing happened to the log itself."""


DAMAGES: list[Callable[[bytearray, random.Random], None]] = [cut, flip, append_zeros, append_noise, leave_alone]


@pytest.mark.parametrize("topic", ["codec-none", "codec-lz4", "append-time", "transactions"])
def test_both_recoveries_leave_the_same_files(
    apache_logs_by_end: dict[str, ApacheLogs], tmp_path: Path, topic: str
) -> None:
    original = apache_logs_by_end["killed"].directory / f"{topic}-0"
    chance = random.Random(topic)
    cases = [f"{damage.__name__}-{number}" for damage in DAMAGES for number in range(CASES_EACH)]
    for case, damage in zip(cases, (damage for damage in DAMAGES for _ in range(CASES_EACH)), strict=True):
        copy = tmp_path / "theirs" / case / original.name
        shutil.copytree(original, copy)
        segments = sorted(copy.glob(f"*{names.LOG}"))
        segment = chance.choice([segments[-1], chance.choice(segments)])
        data = bytearray(segment.read_bytes())
        damage(data, chance)
        segment.write_bytes(data)
    shutil.copytree(tmp_path / "theirs", tmp_path / "ours")
    now_ms = max(path.stat().st_mtime_ns for path in original.iterdir()) // 1_000_000
    settings = {**TOPICS[topic], "segment.index.bytes": str(INDEX_BYTES_MAX)}
    run_log_work("recover", settings, now_ms, [tmp_path / "theirs" / case / original.name for case in cases])
    for case in cases:
        open_log(tmp_path / "ours" / case, topic, now_ms).close(now_ms)
        ours, theirs = (_files(tmp_path / side / case / original.name) for side in ("ours", "theirs"))
        assert ours == theirs, case


def _files(directory: Path) -> dict[str, bytes]:
    """All files but those that only wait for their deletion."""
    return {
        path.name: path.read_bytes()
        for path in sorted(directory.iterdir())
        if path.suffix != names.DELETED and path.name != names.PARTITION_METADATA
    }
