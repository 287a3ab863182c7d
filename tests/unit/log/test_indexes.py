"""Both sparse indexes against sorted lists, their bytes, and the room they take."""

from __future__ import annotations

import errno
from random import Random
from struct import pack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.log.index_file import CorruptIndexError
from barnabas.log.offset_index import OffsetIndex, OffsetPosition
from barnabas.log.time_index import NO_TIMESTAMP, TimeIndex, TimestampOffset
from barnabas.sim.disk import SimDisk

BASE = 5_000_000_000


def offset_index(disk: SimDisk, max_bytes: int = 1024) -> OffsetIndex:
    index = OffsetIndex(disk, "/x.index", BASE, max_bytes)
    index.open()
    return index


def time_index(disk: SimDisk, max_bytes: int = 1024) -> TimeIndex:
    index = TimeIndex(disk, "/x.timeindex", BASE, max_bytes)
    index.open()
    return index


def fill_offsets(index: OffsetIndex, distances: list[int]) -> list[OffsetPosition]:
    entries = [OffsetPosition(BASE + distance, 10 * distance) for distance in distances]
    for entry in entries:
        index.reserve()
        index.append(*entry)
    return entries


distances = st.sets(st.integers(0, 200), max_size=60).map(sorted)


def test_files_are_preallocated_to_the_whole_entries_that_fit() -> None:
    disk = SimDisk()
    OffsetIndex(disk, "/a", 0, 10 * 1024 * 1024).open()
    TimeIndex(disk, "/b", 0, 10 * 1024 * 1024).open()
    assert (disk.open("/a").size(), disk.open("/b").size()) == (10_485_760, 10_485_756)


def test_entries_have_kafkas_bytes_and_trim_cuts_behind_them() -> None:
    disk = SimDisk()
    offsets, times = offset_index(disk), time_index(disk)
    fill_offsets(offsets, [7, 9])
    times.reserve()
    times.append_if_newer(TimestampOffset(1_700_000_000_000, BASE + 7))
    offsets.trim()
    times.trim()
    assert disk.open("/x.index").read_at(0, 99) == pack(">iiii", 7, 70, 9, 90)
    assert disk.open("/x.timeindex").read_at(0, 99) == pack(">qi", 1_700_000_000_000, 7)


@given(distances, st.integers(-1, 201))
def test_lookup_finds_the_last_entry_at_or_before(distances: list[int], target: int) -> None:
    index = offset_index(SimDisk())
    entries = fill_offsets(index, distances)
    before = [entry for entry in entries if entry.offset <= BASE + target]
    assert index.lookup(BASE + target) == (before[-1] if before else OffsetPosition(BASE, 0))


@given(distances, distances, st.integers(0, 401))
def test_a_file_that_rests_is_read_and_appended_to_as_if_it_had_not(
    first: list[int], more: list[int], target: int
) -> None:
    disk = SimDisk()
    index = offset_index(disk)
    entries = fill_offsets(index, first)
    index.rest()
    assert index.lookup(BASE + target) == next(
        (entry for entry in reversed(entries) if entry.offset <= BASE + target), OffsetPosition(BASE, 0)
    )
    index.rest()
    entries += fill_offsets(index, [201 + distance for distance in more])
    index.rest()
    index.trim()
    assert [index.entry(slot) for slot in range(index.entries)] == entries
    assert disk.open("/x.index").size() == 8 * len(entries)


@given(distances, st.integers(0, 2010))
def test_first_behind_finds_the_first_entry_at_a_larger_position(distances: list[int], position: int) -> None:
    index = offset_index(SimDisk())
    behind = [entry for entry in fill_offsets(index, distances) if entry.position > position]
    assert index.first_behind(position) == (behind[0] if behind else None)


@given(distances, st.integers(-1, 201))
def test_truncating_drops_the_offset_and_all_beyond_and_leaves_zeros(distances: list[int], cut: int) -> None:
    disk = SimDisk()
    index = offset_index(disk)
    kept = [entry for entry in fill_offsets(index, distances) if entry.offset < BASE + cut]
    index.truncate_to(BASE + cut)
    assert [index.entry(slot) for slot in range(index.entries)] == kept
    assert index.last_offset == (kept[-1].offset if kept else BASE)
    assert not any(disk.open("/x.index").read_at(index.size_bytes, 1024))


timed = st.lists(st.tuples(st.integers(0, 50), st.integers(0, 3)), max_size=40)


@given(timed, st.integers(-1, 52), st.integers(-1, 130))
def test_time_index_keeps_ascending_timestamps_and_finds_and_cuts_them(
    steps: list[tuple[int, int]], target: int, cut: int
) -> None:
    index = time_index(SimDisk())
    model: list[TimestampOffset] = []
    offset = BASE
    for timestamp, step in steps:
        offset += step
        index.reserve()
        index.append_if_newer(TimestampOffset(timestamp, offset))
        if not model or timestamp > model[-1].timestamp:
            model.append(TimestampOffset(timestamp, offset))
    before = [entry for entry in model if entry.timestamp <= target]
    assert index.lookup(target) == (before[-1] if before else TimestampOffset(NO_TIMESTAMP, BASE))
    index.truncate_to(BASE + cut)
    model = [entry for entry in model if entry.offset < BASE + cut]
    assert [index.entry(slot) for slot in range(index.entries)] == model
    assert index.last_entry == (model[-1] if model else TimestampOffset(NO_TIMESTAMP, BASE))


def test_the_time_index_is_full_one_entry_early() -> None:
    disk = SimDisk()
    offsets, times = offset_index(disk, 16), time_index(disk, 24)
    fill_offsets(offsets, [1])
    times.reserve()
    times.append_if_newer(TimestampOffset(1, BASE))
    assert not offsets.is_full
    assert times.is_full
    fill_offsets(offsets, [2])
    assert offsets.is_full


def test_a_reopened_index_has_its_entries_and_grows_again() -> None:
    disk = SimDisk()
    index = offset_index(disk)
    entries = fill_offsets(index, [3, 4])
    index.trim()
    index.close()
    index = offset_index(disk)
    assert (index.entries, index.entries_max, index.last_offset) == (2, 2, BASE + 4)
    index.grow()
    assert index.entries_max == 128
    entries += fill_offsets(index, [5])
    assert [index.entry(slot) for slot in range(3)] == entries


def test_an_empty_index_can_be_trimmed_closed_and_opened() -> None:
    disk = SimDisk()
    index = offset_index(disk)
    index.trim()
    index.close()
    index = offset_index(disk)
    assert (index.entries, index.is_full, index.lookup(BASE + 9)) == (0, True, OffsetPosition(BASE, 0))


def test_reset_forgets_what_an_unclean_stop_left() -> None:
    disk = SimDisk()
    fill_offsets(offset_index(disk), [3, 4])
    index = offset_index(disk.after_power_cut(Random(0)))
    index.reset()
    assert (index.entries, index.entries_max, index.last_offset) == (0, 128, BASE)


def test_reset_cuts_the_file_before_it_maps_it() -> None:
    disk = SimDisk()
    disk.open("/x.index", create=True).truncate(1024)
    operations: list[str] = []
    disk.before_operation = lambda operation, _: operations.append(operation)
    OffsetIndex(disk, "/x.index", BASE, 1024).reset()
    # Memory over a hole would ask a full disk for room, and the answer would be a signal.
    assert operations.index("truncate") < operations.index("map")


def test_an_index_whose_file_cannot_be_cut_keeps_its_entries() -> None:
    disk = SimDisk()
    index = offset_index(disk)
    entries = fill_offsets(index, [3, 4])
    disk.fail("truncate", ".index", errno.ENOSPC)
    with pytest.raises(OSError, match="No space"):
        index.trim()
    entries += fill_offsets(index, [5])
    assert [index.entry(slot) for slot in range(3)] == entries


def test_a_full_disk_refuses_the_room_before_memory_is_touched() -> None:
    disk = SimDisk()
    index = offset_index(disk)
    disk.fail("write", ".index", errno.ENOSPC)
    with pytest.raises(OSError, match="No space"):
        index.reserve()
    assert index.entries == 0
    index.reserve()
    index.append(BASE, 0)


def test_offsets_farther_than_an_int32_do_not_fit() -> None:
    index = offset_index(SimDisk())
    assert index.can_hold(BASE)
    assert index.can_hold(BASE + 2**31 - 1)
    assert not index.can_hold(BASE + 2**31)
    assert not index.can_hold(BASE - 1)


def test_sanity_checks_find_odd_sizes_and_entries_below_the_base() -> None:
    disk = SimDisk()
    disk.open("/x.index", create=True).write_at(0, bytes(9))
    disk.open("/x.timeindex", create=True).write_at(0, pack(">qiqi", 5, 1, 4, 2))
    with pytest.raises(CorruptIndexError, match="multiple"):
        offset_index(disk).sanity_check()
    with pytest.raises(CorruptIndexError, match="timestamp"):
        time_index(disk).sanity_check()
    disk = SimDisk()
    disk.open("/x.index", create=True).write_at(0, pack(">ii", -1, 0))
    with pytest.raises(CorruptIndexError, match="below the base"):
        offset_index(disk).sanity_check()
