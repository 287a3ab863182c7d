"""Dumps a `.log` file or a metadata snapshot: a line for each batch and, if wanted, one for each record in it.

A line is written piece by piece, so that of a damaged batch everything up to the damage is seen.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TextIO

from barnabas.cli.dump.batches import Batch, open_batch
from barnabas.cli.dump.decoding import Decoder
from barnabas.cli.dump.files import SEGMENT_BYTES_MAX, DumpError, SegmentFile, offset_in_name
from barnabas.cli.dump.findings import Findings, note
from barnabas.log import names
from barnabas.protocol.errors import ApiError
from barnabas.protocol.schema import ProtocolError
from barnabas.records.record import Record

BOOTSTRAP_SNAPSHOT = "bootstrap.checkpoint"
_SNAPSHOT_NAME = re.compile(r"([0-9]{20}).([0-9]{10}).*")


@dataclass(frozen=True)
class SegmentView:
    """How much of a segment is shown."""

    shows_records: bool
    decode: Decoder | None  # None: keys and values are not shown.
    skips_metadata: bool
    limit_bytes: int


def dump_segment(path: str, view: SegmentView, findings: Findings, out: TextIO) -> None:
    print(_title(path), file=out)
    end = 0
    last_offset = -1
    with SegmentFile(path) as segment:
        for raw in segment.batches(limit_bytes=view.limit_bytes):
            end = raw.position + len(raw.data)
            try:
                batch = open_batch(segment, raw)
                out.writelines(batch.text())
                if not view.shows_records:
                    continue
                for record, details in batch.records():
                    if record.offset != last_offset + 1:
                        note(findings.offset_gaps, path, last_offset, record.offset)
                    last_offset = record.offset
                    out.writelines(_record_text(batch, record, details, view))
            except (ApiError, ProtocolError) as error:
                raise DumpError(f"the batch at position {raw.position} of {path}: {error}") from error
        if segment.size_bytes > end and view.limit_bytes == SEGMENT_BYTES_MAX:
            print(f"Found {segment.size_bytes - end} invalid bytes at the end of {os.path.basename(path)}", file=out)


def _title(path: str) -> str:
    name = os.path.basename(path)
    if name.endswith(names.LOG):
        return f"Log starting offset: {offset_in_name(path)}"
    if name == BOOTSTRAP_SNAPSHOT:
        return "KRaft bootstrap snapshot"
    snapshot = _SNAPSHOT_NAME.fullmatch(name)
    if snapshot is None:
        raise DumpError(f"{path} is not named after an offset and an epoch")
    return f"Snapshot end offset: {int(snapshot[1])}, epoch: {int(snapshot[2])}"


def _record_text(batch: Batch, record: Record, details: str, view: SegmentView) -> Iterator[str]:
    if not view.skips_metadata:
        yield (
            f"| offset: {record.offset} {batch.timestamp_name}: {record.timestamp}"
            f" keySize: {-1 if record.key is None else len(record.key)}"
            f" valueSize: {-1 if record.value is None else len(record.value)}{details}"
        )
        if batch.is_control:
            from barnabas.cli.dump.control import control_text

            yield control_text(record)
    if view.decode is not None and not batch.is_control:
        key, payload = view.decode(record.offset, record.key, record.value)
        prefix = "| " if view.skips_metadata else " "
        if key is not None:
            yield f"{prefix}key: {key}"
            prefix = " "
        if payload is not None:
            yield f"{prefix}payload: {payload}"
    yield "\n"
