"""Control records: types of this and later releases, and the markers that end transactions."""

from __future__ import annotations

from struct import pack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.protocol.codec import encode
from barnabas.protocol.control_records.control_record_type import ControlRecordTypeSchema
from barnabas.protocol.control_records.end_txn_marker import EndTxnMarker
from barnabas.protocol.errors import InvalidRecord
from barnabas.records.batch import validate
from barnabas.records.control import (
    ControlType,
    EndTransactionMarker,
    build_end_transaction_marker,
    encode_control_key,
    read_control_type,
    read_end_transaction_marker,
)
from barnabas.records.record import Record, iterate_records


@given(st.booleans(), st.integers(-1, 2**31 - 1), st.integers(0, 2**40), st.integers(0, 2**15 - 1))
def test_a_marker_comes_back(is_commit: bool, coordinator_epoch: int, producer_id: int, producer_epoch: int) -> None:
    marker = EndTransactionMarker(is_commit, coordinator_epoch)
    batch = build_end_transaction_marker(
        marker, producer_id=producer_id, producer_epoch=producer_epoch, timestamp=5, base_offset=9, leader_epoch=3
    )
    header = validate(batch)
    assert header.is_control
    assert header.is_transactional
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (producer_id, producer_epoch, -1)
    assert (header.base_offset, header.last_offset, header.leader_epoch) == (9, 9, 3)
    (record,) = iterate_records(batch, 0, header)
    assert read_end_transaction_marker(record) == marker
    declared = ControlRecordTypeSchema(type=ControlType.COMMIT if is_commit else ControlType.ABORT)
    assert record.key == b"\0\0" + encode(declared, 0)
    assert record.value == b"\0\0" + encode(EndTxnMarker(coordinator_epoch=coordinator_epoch), 0)


@pytest.mark.parametrize("control_type", [kind for kind in ControlType if kind is not ControlType.UNKNOWN])
def test_types_are_read_from_their_keys(control_type: ControlType) -> None:
    assert read_control_type(encode_control_key(control_type)) is control_type
    assert read_control_type(pack(">hh", 1, control_type) + b"later fields") is control_type
    if control_type > ControlType.COMMIT:
        assert read_end_transaction_marker(Record(0, 0, encode_control_key(control_type), b"")) is None


@pytest.mark.parametrize("number", [-1, -2, 7, 32767])
def test_a_type_of_a_later_release_is_unknown(number: int) -> None:
    assert read_control_type(pack(">hh", 0, number)) is ControlType.UNKNOWN


@pytest.mark.parametrize("key", [None, b"", b"\0\0\0", b"\xff\xff\0\0"])
def test_a_bad_key_is_refused(key: bytes | None) -> None:
    with pytest.raises(InvalidRecord):
        read_control_type(key)


@pytest.mark.parametrize("value", [None, b"", b"\0\0\0\0\0", b"\xff\xff\0\0\0\0"])
def test_a_bad_marker_is_refused(value: bytes | None) -> None:
    with pytest.raises(InvalidRecord):
        read_end_transaction_marker(Record(0, 0, encode_control_key(ControlType.ABORT), value))
