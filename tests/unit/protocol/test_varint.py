"""Variable-length integers: the published examples, round trips, and what is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.protocol.varint import UINT32_MAX, read_unsigned_varint, unsigned_varint


@pytest.mark.parametrize(
    ("value", "encoded"),
    [
        (0, "00"),
        (127, "7f"),
        (128, "8001"),
        (300, "ac02"),
        (16383, "ff7f"),
        (16384, "808001"),
        (2**32 - 1, "ffffffff0f"),
    ],
)
def test_known_values_have_their_known_bytes(value: int, encoded: str) -> None:
    assert unsigned_varint(value).hex() == encoded
    assert read_unsigned_varint(memoryview(bytes.fromhex(encoded)), 0) == (value, len(encoded) // 2)


@given(st.integers(0, UINT32_MAX), st.binary(max_size=3), st.binary(max_size=3))
def test_a_value_is_read_back_from_its_place(value: int, before: bytes, after: bytes) -> None:
    encoded = unsigned_varint(value)
    view = memoryview(before + encoded + after)
    assert read_unsigned_varint(view, len(before)) == (value, len(before) + len(encoded))


@pytest.mark.parametrize("encoded", ["808080808001", "ffffffff10", "ffffffffff"])
def test_more_than_five_bytes_or_32_bits_are_refused(encoded: str) -> None:
    with pytest.raises(ValueError, match="5 bytes"):
        read_unsigned_varint(memoryview(bytes.fromhex(encoded)), 0)


@pytest.mark.parametrize("value", [-1, 2**32])
def test_a_value_outside_32_unsigned_bits_is_not_written(value: int) -> None:
    with pytest.raises(ValueError, match="32"):
        unsigned_varint(value)
