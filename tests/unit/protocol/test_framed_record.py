"""Records that name themselves: what is written comes back, and every other frame is refused with its reason."""

from __future__ import annotations

import pytest

from barnabas.protocol.framed_record import FrameError, decode_framed, encode_framed
from barnabas.protocol.metadata_records import RECORDS
from barnabas.protocol.metadata_records.topic import TopicRecord
from barnabas.protocol.uuid import Uuid

RECORD = TopicRecord(name="orders", topic_id=Uuid(bytes(range(16))))
FRAMED = encode_framed(RECORD, 0)


def test_a_record_comes_back_with_its_version() -> None:
    assert decode_framed(RECORDS, FRAMED) == (RECORD, 0)
    assert FRAMED[:3] == bytes([1, TopicRecord.api_key or 0, 0])


def test_varints_in_a_long_form_are_read_too() -> None:
    kind = FRAMED[1]
    assert decode_framed(RECORDS, bytes([0x81, 0, kind | 0x80, 0, 0x80, 0]) + FRAMED[3:]) == (RECORD, 0)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (None, "has no value"),
        (b"", "frame cannot be read"),
        (FRAMED[:2], "frame cannot be read"),
        (b"\x01" + b"\x80" * 9, "frame cannot be read"),
        (b"\x02" + FRAMED[1:], "of version 2, not 1"),
        (b"\x01\x7f" + FRAMED[2:], "no record of type 127"),
        (FRAMED[:2] + b"\x09" + FRAMED[3:], "TopicRecord v9"),
        (FRAMED[:-1], "TopicRecord v0"),
        (FRAMED + b"\x00", "1 bytes follow"),
    ],
)
def test_anything_else_is_refused_with_its_reason(value: bytes | None, reason: str) -> None:
    with pytest.raises(FrameError, match=reason):
        decode_framed(RECORDS, value)
