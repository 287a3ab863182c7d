"""Records of a coordinator's topic as bytes: they come back, later types are told apart, rubbish is refused."""

from __future__ import annotations

import pytest

from barnabas.coordinator.decision import CoordinatorRecord
from barnabas.coordinator.record_codec import RecordCodec
from barnabas.protocol.group_records import KEYS, VALUES
from barnabas.protocol.group_records.offset_commit import OffsetCommitKey
from unit.coordinator.group.offset_records import commit_value

CODEC = RecordCodec(KEYS, VALUES)
KEY = OffsetCommitKey(group="g", topic="t", partition=1)


def test_a_record_comes_back() -> None:
    value = commit_value(5, leader_epoch=2)
    key, encoded = CODEC.encode(CoordinatorRecord(KEY, value, 4))
    assert key[:2] == b"\0\1"
    assert encoded is not None
    assert encoded[:2] == b"\0\4"
    assert CODEC.decode(key, encoded) == (KEY, value)


def test_a_tombstone_has_no_value() -> None:
    key, encoded = CODEC.encode(CoordinatorRecord(KEY))
    assert encoded is None
    assert CODEC.decode(key, encoded) == (KEY, None)


def test_a_type_of_a_later_release_is_passed_over() -> None:
    assert CODEC.decode(b"\x7f\xff", b"") is None


@pytest.mark.parametrize(("key", "value"), [(None, None), (b"\0", None), (b"\0\1\0\5g", None), (b"\0\1", b"\0")])
def test_what_cannot_be_read_is_refused(key: bytes | None, value: bytes | None) -> None:
    with pytest.raises(ValueError, match=r"."):
        CODEC.decode(key, value)
