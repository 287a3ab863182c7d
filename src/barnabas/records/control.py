"""Control records: what brokers and controllers write into a log beside its data.

Key and value each begin with a version. A newer version of the key only adds to the one known here, so that a reader
takes the type from any.
"""

from __future__ import annotations

from enum import IntEnum
from struct import Struct
from typing import NamedTuple

from barnabas.protocol.errors import InvalidRecord
from barnabas.records.batch import NO_LEADER_EPOCH
from barnabas.records.build import build_batch
from barnabas.records.record import Record

_KEY = Struct(">hh")  # version, type
_MARKER = Struct(">hi")  # version, coordinator epoch


class ControlType(IntEnum):
    """What a control record says. UNKNOWN stands for a type of a later release, which readers skip."""

    UNKNOWN = -1
    ABORT = 0
    COMMIT = 1
    LEADER_CHANGE = 2
    SNAPSHOT_HEADER = 3
    SNAPSHOT_FOOTER = 4
    KRAFT_VERSION = 5
    KRAFT_VOTERS = 6

    @classmethod
    def _missing_(cls, _value: object) -> ControlType:
        return cls.UNKNOWN


class EndTransactionMarker(NamedTuple):
    """The end of a producer's transaction in a partition."""

    is_commit: bool
    coordinator_epoch: int


def encode_control_key(control_type: ControlType) -> bytes:
    assert control_type is not ControlType.UNKNOWN
    return _KEY.pack(0, control_type)


def read_control_type(key: bytes | None) -> ControlType:
    """The type in a control record's key."""
    if key is None or len(key) < _KEY.size:
        raise InvalidRecord(f"a control record's key of {len(key or b'')} bytes is too short")
    version, control_type = _KEY.unpack_from(key)
    if version < 0:
        raise InvalidRecord(f"version {version} of a control record's key")
    return ControlType(control_type)


def read_end_transaction_marker(record: Record) -> EndTransactionMarker | None:
    """The marker in a control record, or None where it is of another type."""
    control_type = read_control_type(record.key)
    if control_type not in (ControlType.ABORT, ControlType.COMMIT):
        return None
    if record.value is None or len(record.value) < _MARKER.size:
        raise InvalidRecord(f"an end-transaction marker of {len(record.value or b'')} bytes is too short")
    version, coordinator_epoch = _MARKER.unpack_from(record.value)
    if version < 0:
        raise InvalidRecord(f"version {version} of an end-transaction marker")
    return EndTransactionMarker(control_type is ControlType.COMMIT, coordinator_epoch)


def build_end_transaction_marker(
    marker: EndTransactionMarker,
    *,
    producer_id: int,
    producer_epoch: int,
    timestamp: int,
    base_offset: int = 0,
    leader_epoch: int = NO_LEADER_EPOCH,
) -> bytearray:
    """The control batch that ends a transaction."""
    key = encode_control_key(ControlType.COMMIT if marker.is_commit else ControlType.ABORT)
    return build_batch(
        [Record(base_offset, timestamp, key, _MARKER.pack(0, marker.coordinator_epoch))],
        leader_epoch=leader_epoch,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        is_transactional=True,
        is_control=True,
    )
