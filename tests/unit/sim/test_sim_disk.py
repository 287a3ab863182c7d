"""The hostile disk: it keeps what was flushed, and everything it may lose it does lose in some world."""

from __future__ import annotations

import errno
from random import Random

import pytest

from barnabas.sim.disk import PIECE_BYTES, PowerCut, SimDisk

SEEDS = range(200)


def survivors(disk: SimDisk, path: str) -> set[bytes | None]:
    found: set[bytes | None] = set()
    for seed in SEEDS:
        world = disk.after_power_cut(Random(seed))
        found.add(world.open(path).read_at(0, 10**6) if world.exists(path) else None)
    return found


def durable_file(content: bytes) -> SimDisk:
    disk = SimDisk()
    file = disk.open("/f", create=True)
    file.write_at(0, content)
    file.flush()
    disk.flush_directory("/")
    return disk


def test_flushed_bytes_under_a_flushed_name_survive_every_cut() -> None:
    assert survivors(durable_file(b"safe"), "/f") == {b"safe"}


def test_a_file_whose_directory_was_not_flushed_may_be_gone() -> None:
    disk = SimDisk()
    file = disk.open("/f", create=True)
    file.write_at(0, b"x")
    file.flush()
    assert survivors(disk, "/f") == {None, b"x"}


def test_an_append_may_be_cut_at_every_byte_or_leave_zeros() -> None:
    disk = durable_file(b"ab")
    disk.open("/f").write_at(2, b"cde")
    assert survivors(disk, "/f") == {b"ab", b"abc", b"abcd", b"abcde", b"ab\0\0\0"}


def test_pieces_of_a_write_arrive_in_any_order() -> None:
    disk = durable_file(b"")
    disk.open("/f").write_at(0, b"a" * PIECE_BYTES + b"b" * PIECE_BYTES)
    assert bytes(PIECE_BYTES) + b"b" * PIECE_BYTES in survivors(disk, "/f")
    assert b"a" * PIECE_BYTES in survivors(disk, "/f")


def test_a_truncation_that_was_not_flushed_may_be_undone() -> None:
    disk = durable_file(b"abcd")
    disk.open("/f").truncate(1)
    assert survivors(disk, "/f") == {b"a", b"abcd"}


def test_memory_written_through_a_mapping_is_lost_or_kept_until_flushed() -> None:
    disk = durable_file(b"abcd")
    file = disk.open("/f")
    memory = file.map()
    memoryview(memory)[1:2] = b"X"
    assert survivors(disk, "/f") >= {b"abcd", b"aXcd"}
    file.flush()
    assert survivors(disk, "/f") == {b"aXcd"}


def test_directory_changes_survive_in_order_up_to_some_point() -> None:
    disk = durable_file(b"1")
    disk.rename("/f", "/g")
    disk.open("/h", create=True)
    worlds = {tuple(disk.after_power_cut(Random(seed)).names("/")) for seed in SEEDS}
    assert worlds == {("f",), ("g",), ("g", "h")}
    disk.flush_directory("/")
    assert {tuple(disk.after_power_cut(Random(seed)).names("/")) for seed in SEEDS} == {("g", "h")}


def test_a_cut_leaves_the_disk_itself_untouched() -> None:
    disk = durable_file(b"1")
    disk.rename("/f", "/g")
    for seed in SEEDS:
        disk.after_power_cut(Random(seed))
    assert disk.names("/") == ["g"]
    assert {tuple(disk.after_power_cut(Random(seed)).names("/")) for seed in SEEDS} == {("f",), ("g",)}


def test_renamed_directories_take_their_files_along() -> None:
    disk = SimDisk()
    disk.make_directory("/a/b")
    disk.open("/a/b/f", create=True).write_at(0, b"1")
    disk.rename("/a/b", "/a/c")
    assert disk.open("/a/c/f").read_at(0, 9) == b"1"
    assert not disk.exists("/a/b")


def test_a_full_disk_takes_what_fits_and_raises_enospc() -> None:
    disk = durable_file(b"abc")
    disk.free_bytes = 2
    with pytest.raises(OSError, match="No space") as raised:
        disk.open("/f").write_at(2, b"CDEF")
    assert raised.value.errno == errno.ENOSPC
    assert disk.open("/f").read_at(0, 99) == b"abCDE"


def test_an_injected_fault_hits_one_operation() -> None:
    disk = durable_file(b"abc")
    disk.fail("flush", "f", errno.EIO)
    with pytest.raises(OSError, match="Input/output"):
        disk.open("/f").flush()
    disk.open("/f").flush()


def test_the_world_can_be_stopped_before_any_operation() -> None:
    disk = durable_file(b"abc")

    def stop(operation: str, _path: str) -> None:
        if operation == "write":
            raise PowerCut

    disk.before_operation = stop
    with pytest.raises(PowerCut):
        disk.open("/f").write_at(0, b"x")
    assert survivors(disk, "/f") == {b"abc"}


def test_shrinking_a_mapped_file_is_a_bug() -> None:
    file = durable_file(b"abc").open("/f")
    memory = file.map()
    with pytest.raises(AssertionError, match="mapped"):
        file.truncate(1)
    memory.close()
    file.truncate(1)


def test_a_lock_is_held_once() -> None:
    disk = SimDisk()
    lock = disk.lock("/.lock")
    with pytest.raises(BlockingIOError):
        disk.lock("/.lock")
    lock.release()
    disk.lock("/.lock")


def test_missing_things_are_not_found() -> None:
    disk = SimDisk()
    for attempt in (disk.open, disk.remove, disk.names, disk.modified_ms, disk.remove_directory, disk.flush_directory):
        with pytest.raises(FileNotFoundError):
            attempt("/nothing")
    with pytest.raises(FileNotFoundError):
        disk.rename("/nothing", "/x")
