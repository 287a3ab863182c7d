"""The real disk behaves as the simulated one promises: the same calls give the same answers on both."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from barnabas.ports.disk import Buffer, Disk
from barnabas.runtime.clock import SystemClock
from barnabas.runtime.disk import PosixDisk, PosixFile
from barnabas.sim.disk import SimDisk


@pytest.fixture(params=["posix", "sim"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Disk, str]:
    if request.param == "posix":
        return PosixDisk(), str(tmp_path)
    disk = SimDisk()
    disk.make_directory("/home")
    return disk, "/home"


def test_bytes_are_written_read_gathered_and_cut(place: tuple[Disk, str]) -> None:
    disk, home = place
    file = disk.open(f"{home}/f", create=True)
    file.write_at(0, b"hello")
    file.write_gathered_at(5, [b" ", memoryview(b"wide"), b"", bytearray(b" world")])
    assert file.read_at(0, 100) == b"hello wide world"
    assert file.read_at(6, 4) == b"wide"
    assert file.read_at(100, 4) == b""
    file.truncate(5)
    file.truncate(7)
    assert (file.size(), file.read_at(0, 100)) == (7, b"hello\0\0")
    file.flush()
    file.close()


def test_a_mapping_and_the_file_show_the_same_bytes(place: tuple[Disk, str]) -> None:
    disk, home = place
    file = disk.open(f"{home}/f", create=True)
    file.truncate(4)
    memory = file.map()
    memoryview(memory)[1:3] = b"ab"
    assert (len(memory), file.read_at(0, 9)) == (4, b"\0ab\0")
    file.write_at(0, b"z")
    assert bytes(memory) == b"zab\0"
    memory.flush()
    memory.close()
    file.close()


def test_names_come_sorted_and_renames_replace(place: tuple[Disk, str]) -> None:
    disk, home = place
    for name in "ba":
        disk.open(f"{home}/{name}", create=True).close()
    disk.make_directory(f"{home}/x/y")
    disk.make_directory(f"{home}/x/y")
    assert disk.names(home) == ["a", "b", "x"]
    disk.rename(f"{home}/a", f"{home}/b")
    disk.flush_directory(home)
    disk.remove(f"{home}/b")
    assert disk.names(home) == ["x"]
    assert disk.is_directory(f"{home}/x")
    assert not disk.exists(f"{home}/b")
    with pytest.raises(OSError, match="not empty"):
        disk.remove_directory(f"{home}/x")
    disk.remove_directory(f"{home}/x/y")
    with pytest.raises(FileNotFoundError):
        disk.open(f"{home}/b")


def test_modification_times_are_kept_in_milliseconds(place: tuple[Disk, str]) -> None:
    disk, home = place
    disk.open(f"{home}/f", create=True).close()
    disk.set_modified_ms(f"{home}/f", 1_700_000_000_123)
    assert disk.modified_ms(f"{home}/f") == 1_700_000_000_123


def test_short_writes_are_carried_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = PosixDisk().open(str(tmp_path / "f"), create=True)
    pwrite = os.pwrite

    def miserly(descriptor: int, data: Buffer, position: int) -> int:
        return pwrite(descriptor, memoryview(data)[:3], position)

    def miserly_gather(descriptor: int, parts: list[memoryview], position: int) -> int:
        return pwrite(descriptor, b"".join(parts)[:3], position)

    def miserly_read(descriptor: int, size: int, position: int, pread: object = os.pread) -> bytes:
        return pread(descriptor, min(size, 3), position)  # type: ignore[operator, no-any-return]

    monkeypatch.setattr(os, "pwrite", miserly)
    monkeypatch.setattr(os, "pwritev", miserly_gather)
    monkeypatch.setattr(os, "pread", miserly_read)
    file.write_at(0, b"0123456789")
    file.write_gathered_at(10, [b"ab", b"cdefg", b"h"])
    assert file.read_at(0, 50) == b"0123456789abcdefgh"
    file.close()


def test_the_lock_shuts_other_processes_out_as_javas_would(tmp_path: Path) -> None:
    path = str(tmp_path / ".lock")
    lock = PosixDisk().lock(path)
    try_lock = (
        "import sys; from barnabas.runtime.disk import PosixDisk\n"
        "try: PosixDisk().lock(sys.argv[1])\n"
        "except BlockingIOError: print('taken')\n"
        "else: print('free')"
    )

    def other_process() -> str:
        return subprocess.run(
            [sys.executable, "-c", try_lock, path], capture_output=True, text=True, check=True
        ).stdout.strip()

    assert other_process() == "taken"
    lock.release()
    assert other_process() == "free"


def test_the_descriptor_serves_sendfile(tmp_path: Path) -> None:
    file: PosixFile = PosixDisk().open(str(tmp_path / "f"), create=True)
    assert fcntl.fcntl(file.fileno(), fcntl.F_GETFD) & fcntl.FD_CLOEXEC
    file.close()
    file.close()


def test_the_clock_counts_milliseconds_since_the_epoch() -> None:
    clock = SystemClock()
    assert clock.now_ms() > 1_700_000_000_000
    assert clock.elapsed_ms() <= clock.elapsed_ms()
