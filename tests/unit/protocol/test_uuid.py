"""Ids: their printed form is Kafka's, and text that is no id is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.protocol.uuid import ZERO_UUID, Uuid


def test_an_id_prints_as_kafka_prints_it() -> None:
    assert str(ZERO_UUID) == "AAAAAAAAAAAAAAAAAAAAAA"
    assert str(Uuid(bytes(15) + b"\x01")) == "AAAAAAAAAAAAAAAAAAAAAQ"
    assert str(Uuid(b"\xff" * 16)) == "_____________________w"


@given(st.binary(min_size=16, max_size=16))
def test_the_printed_form_is_read_back(value: bytes) -> None:
    identity = Uuid(value)
    assert Uuid.parse(str(identity)) == identity
    assert eval(repr(identity)) == identity


@pytest.mark.parametrize("text", ["", "AAAA", "AAAAAAAAAAAAAAAAAAAAAAAAAA", "é"])
def test_text_that_is_no_id_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        Uuid.parse(text)


def test_an_id_has_sixteen_bytes() -> None:
    with pytest.raises(ValueError, match="16 bytes, not 15"):
        Uuid(bytes(15))
