"""Shows the control records: the ends of transactions, and what the quorum of the metadata log writes about itself."""

from __future__ import annotations

from typing import Any

from barnabas.protocol.catalogue import Catalogue
from barnabas.protocol.codec import decoder
from barnabas.protocol.json_form import json_text, to_json
from barnabas.records.control import ControlType, read_control_type, read_end_transaction_marker
from barnabas.records.record import Record

_BODIES = Catalogue(
    "barnabas.protocol.control_records",
    {
        ControlType.LEADER_CHANGE: ("leader_change", "LeaderChangeMessage"),
        ControlType.SNAPSHOT_HEADER: ("snapshot_header", "SnapshotHeaderRecord"),
        ControlType.SNAPSHOT_FOOTER: ("snapshot_footer", "SnapshotFooterRecord"),
        ControlType.KRAFT_VERSION: ("kraft_version", "KRaftVersionRecord"),
        ControlType.KRAFT_VOTERS: ("voters", "VotersRecord"),
    },
)
_TITLES = {
    ControlType.LEADER_CHANGE: "LeaderChange:",
    ControlType.SNAPSHOT_HEADER: "SnapshotHeader",
    ControlType.SNAPSHOT_FOOTER: "SnapshotFooter",
    ControlType.KRAFT_VERSION: "KRaftVersion",
    ControlType.KRAFT_VOTERS: "KRaftVoters",
}
_BODY_VERSION = 0  # What brokers write; the version inside a body decides only how it is shown.


def control_text(record: Record) -> str:
    """What is printed behind the record's sizes; InvalidRecord or ProtocolError where it cannot be read."""
    kind = read_control_type(record.key)
    marker = read_end_transaction_marker(record)
    if marker is not None:
        return f" endTxnMarker: {kind.name} coordinatorEpoch: {marker.coordinator_epoch}"
    if kind is ControlType.UNKNOWN:
        assert record.key is not None
        return f" controlType: {kind.name}({int.from_bytes(record.key[2:4], 'big', signed=True)})"
    body: Any
    body, _ = decoder(_BODIES[kind], _BODY_VERSION)(memoryview(record.value or b""), 0)
    return f" {_TITLES[kind]} {json_text(to_json(body, body.version))}"
