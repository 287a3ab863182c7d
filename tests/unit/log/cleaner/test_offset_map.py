"""The offset map against a dict, and within its memory."""

from __future__ import annotations

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.log.cleaner.kernel import SLOT_BYTES
from barnabas.log.cleaner.offset_map import OffsetMap
from barnabas.records.batch import validate
from barnabas.records.build import build_batch
from barnabas.records.kernel import read_rows
from barnabas.records.record import Record, read_record_bytes

# Short and long keys, and a long one beside a short one that begins alike.
keys = st.none() | st.sampled_from([b"", b"a", b"b", b"c" * 31, b"c" * 32, b"c" * 33, b"d" * 500])


def make_map(keys: int) -> OffsetMap:
    """A map with room for so many keys; one slot more is always empty."""
    offsets = OffsetMap((keys + 1) * SLOT_BYTES, load_factor=1.0)
    offsets.clear(keys_expected=keys)
    return offsets


def scan(records: list[Record]) -> tuple[bytes, array[int]]:
    batch = build_batch(records)
    header = validate(batch)
    data = bytes(read_record_bytes(batch, 0, header))
    return data, read_rows(data, header.record_count)


def add(offsets: OffsetMap, first: int, batch_keys: list[bytes | None], from_offset: int = 0) -> bool:
    records = [Record(first + index, 0, key, b"v") for index, key in enumerate(batch_keys)]
    data, rows = scan(records)
    return offsets.add_batch(data, rows, first, from_offset)


@given(st.lists(st.lists(keys, min_size=1, max_size=5), min_size=1, max_size=6), st.integers(0, 10))
def test_the_latest_offset_of_each_key_is_known(batches: list[list[bytes | None]], from_offset: int) -> None:
    offsets = make_map(100)
    latest: dict[bytes, int] = {}
    offset = 0
    for batch in batches:
        assert add(offsets, offset, batch, from_offset)
        for key in batch:
            if key is not None and offset >= from_offset:
                latest[key] = offset
            offset += 1
    offsets.latest_offset = offset - 1
    assert len(offsets) == len(latest)
    every = [key for batch in batches for key in batch]
    data, rows = scan([Record(index, 0, key, b"v") for index, key in enumerate(every)])
    expected = [key is not None and latest.get(key, -1) <= index for index, key in enumerate(every)]
    count, is_latest = offsets.mark_latest(data, rows, 0)
    assert list(map(bool, is_latest)) == expected
    assert count == sum(expected)
    assert [offsets.is_latest(key, index) for index, key in enumerate(every)] == expected


def test_nothing_behind_the_map_is_known_to_be_superseded() -> None:
    offsets = make_map(100)
    add(offsets, 0, [b"a", b"a", b"a"])
    offsets.latest_offset = 0
    assert [offsets.is_latest(b"a", offset) for offset in range(3)] == [False, True, True]
    assert offsets.is_latest(None, 1)


@pytest.mark.parametrize("capacity", [1, 2, 3])
def test_a_full_map_says_so_and_holds_no_more(capacity: int) -> None:
    offsets = make_map(capacity)
    assert offsets.capacity == capacity
    assert add(offsets, 0, [b"%d" % index for index in range(capacity)])
    assert not add(offsets, capacity, [b"more"])
    assert not offsets.add(b"more", capacity)
    assert len(offsets) == capacity
    offsets.clear(10)
    assert len(offsets) == 0
    assert offsets.latest_offset == -1
    assert add(offsets, 0, [b"more"])


def test_a_batch_that_fits_only_because_its_keys_repeat_is_taken() -> None:
    offsets = make_map(3)
    assert add(offsets, 0, [b"a", b"b", b"a", b"b", b"a"])
    assert offsets.add(b"c", 5)
    assert not offsets.add(b"d", 6)


def test_memory_for_not_even_one_key_is_refused() -> None:
    with pytest.raises(ValueError, match="single key"):
        OffsetMap(SLOT_BYTES, load_factor=0.9)


def test_a_map_takes_no_more_memory_than_its_keys_need() -> None:
    offsets = OffsetMap(10**12)
    assert offsets.capacity < 100
    offsets.clear(keys_expected=1_000)
    assert 1_000 <= offsets.capacity <= 4_000
    assert OffsetMap(1_000 * SLOT_BYTES).capacity <= 900


@given(st.lists(st.binary(max_size=20), max_size=60, unique=True), st.integers(0, 2**64 - 1))
def test_a_table_that_is_full_but_for_one_slot_still_finds_every_key(many: list[bytes], seed: int) -> None:
    offsets = OffsetMap((len(many) + 1) * SLOT_BYTES if many else 2 * SLOT_BYTES, load_factor=1.0, seed=seed)
    offsets.clear(keys_expected=len(many))
    assert all(offsets.add(key, index) for index, key in enumerate(many))
    offsets.latest_offset = len(many)
    assert all(offsets.is_latest(key, index) for index, key in enumerate(many))
    assert not any(offsets.is_latest(key, index - 1) for index, key in enumerate(many) if index)
    assert offsets.is_latest(b"a key of 21 bytes and more", 0)
