"""The offset map's table, compiled and as plain Python, against a dict."""

from __future__ import annotations

from array import array
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.log.cleaner import kernel
from barnabas.records.kernel import ROW_COLUMNS, ROW_KEY_LENGTH, ROW_KEY_POSITION, ROW_OFFSET_DELTA
from uncompiled_kernels import load_uncompiled

UNCOMPILED = load_uncompiled(kernel)
VARIANTS = [kernel, UNCOMPILED] if kernel.IS_COMPILED else [UNCOMPILED]
variants = pytest.mark.parametrize("variant", VARIANTS, ids=["compiled", "uncompiled"][-len(VARIANTS) :])

# Keys around the eight bytes that are digested at once, and some that differ in length alone.
keys = st.none() | st.sampled_from([bytes(length) for length in range(18)]) | st.binary(max_size=25)
batches = st.lists(st.lists(keys, max_size=6), max_size=6)


def lay_out(batch: list[bytes | None]) -> tuple[bytes, array[int]]:
    """Keys one behind the other, and the columns that point at them."""
    data = b""
    rows = array("q", bytes(8 * ROW_COLUMNS * len(batch)))
    for index, key in enumerate(batch):
        rows[index * ROW_COLUMNS + ROW_OFFSET_DELTA] = index
        rows[index * ROW_COLUMNS + ROW_KEY_POSITION] = len(data)
        rows[index * ROW_COLUMNS + ROW_KEY_LENGTH] = -1 if key is None else len(key)
        data += key or b""
    return data, rows


def make_table(slots: int) -> memoryview:
    return memoryview(bytearray(slots * kernel.SLOT_BYTES)).cast("Q")


def test_the_loaded_source_is_not_compiled() -> None:
    assert not UNCOMPILED.IS_COMPILED


@variants
@given(batches, st.integers(0, 40), st.integers(0, 12), st.integers(0, 2**64 - 1))
def test_the_table_knows_what_a_dict_knows(
    variant: ModuleType, written: list[list[bytes | None]], room: int, from_offset: int, seed: int
) -> None:
    table = make_table(room + 1)
    known: dict[bytes, int] = {}
    base = 0
    for batch in written:
        data, rows = lay_out(batch)
        before = len(known)
        is_all = True
        for index, key in enumerate(batch):
            if key is not None and base + index >= from_offset:
                if len(known) >= room:
                    is_all = False
                    break
                known[key] = base + index
        taken = variant.put_keys(table, seed, room - before, data, rows, base, from_offset)
        assert taken == (len(known) - before, is_all)
        if not is_all:
            break
        base += len(batch)
    base = 0
    latest_offset = sum(map(len, written)) - 3
    for batch in written:
        data, rows = lay_out(batch)
        is_latest = bytearray(len(batch))
        count = variant.mark_latest(table, seed, data, rows, base, latest_offset, is_latest)
        expected = [
            base + index > latest_offset or (key is not None and known.get(key, -1) <= base + index)
            for index, key in enumerate(batch)
        ]
        assert list(map(bool, is_latest)) == expected
        assert count == sum(expected)
        base += len(batch)


@variants
def test_the_largest_offsets_are_kept_whole(variant: ModuleType) -> None:
    table = make_table(4)
    data, rows = lay_out([b"k"])
    last = 2**63 - 2
    assert variant.put_keys(table, 1, 3, data, rows, last, 0) == (1, True)
    for offset, is_latest in [(last - 1, 0), (last, 1)]:
        marks = bytearray(1)
        variant.mark_latest(table, 1, data, rows, offset, last, marks)
        assert marks[0] == is_latest
