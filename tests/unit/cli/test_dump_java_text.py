"""Bytes and numbers as Java prints them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.cli.dump.java_text import optional_long, string


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_text_is_shown_as_it_is(text: str) -> None:
    assert string(text.encode()) == text


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        ("ff 41", "?A"),
        ("c0 af", "??"),
        ("e2 82", "?"),
        ("e2 82 41", "?A"),
        ("f0 9f 92", "?"),
        ("f4 90 80 80", "????"),
        ("ed a0 80 41", "?A"),
        ("ed a0 41", "?A"),
        ("ed a0", "?"),
        ("ed", "?"),
        ("ed 41", "?A"),
    ],
)
def test_what_is_no_text_is_replaced_fault_by_fault(data: str, shown: str) -> None:
    assert string(memoryview(bytes.fromhex(data))) == shown.replace("?", "\ufffd")


def test_a_number_that_may_be_absent() -> None:
    assert optional_long(None) == "OptionalLong.empty"
    assert optional_long(0) == "OptionalLong[0]"
