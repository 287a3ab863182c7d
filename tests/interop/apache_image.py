"""Apache Kafka's image of a metadata log, as text to compare with ours, and the snapshot that it would write."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

from barnabas.metadata.framing import MetadataBatch, VersionedRecord, build_batches, decode_record
from barnabas.protocol.json_form import json_text, to_json
from interop.referee import PROGRAMS, JvmProcess


class ApacheImage(NamedTuple):
    """`text` is in the form of `metadata_text`."""

    text: dict[str, Any]
    snapshot: list[VersionedRecord]
    last_contained_offset: int
    last_contained_epoch: int


class ImageReferee:
    """A JVM that answers with the images of the logs it is given."""

    def __init__(self) -> None:
        self._jvm = JvmProcess(PROGRAMS / "Image.java")

    def image(self, log: bytes | bytearray) -> ApacheImage:
        answer = json.loads(self._jvm.ask(f"log {log.hex()}"))
        assert answer["faults"] == []
        snapshot = [decode_record(bytes.fromhex(record)) for record in answer["snapshot"]]
        return ApacheImage(answer["image"], snapshot, answer["offset"], answer["epoch"])

    def table(self, name: str) -> Any:
        return json.loads(self._jvm.ask(name))

    def close(self) -> None:
        self._jvm.close()


def log_of(batches: Iterable[MetadataBatch]) -> bytes:
    """The bytes of a log of these batches."""
    return b"".join(
        part
        for batch in batches
        for part in build_batches(
            batch.records, base_offset=batch.base_offset, epoch=batch.epoch, timestamp_ms=batch.timestamp_ms
        )
    )


def in_one_order(records: Iterable[VersionedRecord]) -> list[str]:
    """Records as texts that do not depend on the order in which a hash map gave them, or the parts within them."""
    return sorted(f"{type(each.message).__name__} {each.version} {json_text(_sorted(each))}" for each in records)


def _sorted(record: VersionedRecord) -> dict[str, Any]:
    node = to_json(record.message, record.version)
    for field, key in (("endPoints", "name"), ("features", "name"), ("entity", "entityType")):
        if field in node:
            node[field] = sorted(node[field], key=lambda part: part[key])
    return node
