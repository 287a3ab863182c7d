"""The offset map against a dict, and within its memory."""

from __future__ import annotations

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.log.cleaner.offset_map import ENTRY_BYTES, OffsetMap
from barnabas.records.batch import validate
from barnabas.records.build import build_batch
from barnabas.records.kernel import read_rows
from barnabas.records.record import Record, read_record_bytes

# Short and long keys, and a long one beside a short one that begins alike.
keys = st.none() | st.sampled_from([b"", b"a", b"b", b"c" * 31, b"c" * 32, b"c" * 33, b"d" * 500])


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
    offsets = OffsetMap(100 * ENTRY_BYTES)
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
    assert offsets.are_latest(data, rows, 0) == expected
    assert [offsets.is_latest(key, index) for index, key in enumerate(every)] == expected


def test_nothing_behind_the_map_is_known_to_be_superseded() -> None:
    offsets = OffsetMap(100 * ENTRY_BYTES)
    add(offsets, 0, [b"a", b"a", b"a"])
    offsets.latest_offset = 0
    assert [offsets.is_latest(b"a", offset) for offset in range(3)] == [False, True, True]
    assert offsets.is_latest(None, 1)


@pytest.mark.parametrize("capacity", [1, 2, 3])
def test_a_full_map_says_so_and_holds_no_more(capacity: int) -> None:
    offsets = OffsetMap(capacity * ENTRY_BYTES, load_factor=1.0)
    assert offsets.capacity == capacity
    assert add(offsets, 0, [b"%d" % index for index in range(capacity)])
    assert not add(offsets, capacity, [b"more"])
    assert not offsets.add(b"more", capacity)
    assert len(offsets) == capacity
    offsets.clear()
    assert len(offsets) == 0
    assert offsets.latest_offset == -1
    assert add(offsets, 0, [b"more"])


def test_a_batch_that_fits_only_because_its_keys_repeat_is_taken() -> None:
    offsets = OffsetMap(3 * ENTRY_BYTES, load_factor=1.0)
    assert add(offsets, 0, [b"a", b"b", b"a", b"b", b"a"])
    assert offsets.add(b"c", 5)
    assert not offsets.add(b"d", 6)


def test_memory_for_not_even_one_key_is_refused() -> None:
    with pytest.raises(ValueError, match="single key"):
        OffsetMap(ENTRY_BYTES, load_factor=0.9)
