"""Dumps a `.snapshot` file: a line for each producer that the log knew at its offset."""

from __future__ import annotations

from typing import TextIO

from barnabas.cli.dump.files import ReadOnlyDisk
from barnabas.cli.dump.java_text import optional_long
from barnabas.log.producer_snapshot import CorruptSnapshotError, read_snapshot

_SEQUENCES = 1 << 31


def dump_producer_snapshot(path: str, out: TextIO, err: TextIO) -> None:
    """A snapshot that fails its checks is told of and passed over, as a broker does with it."""
    try:
        entries = read_snapshot(ReadOnlyDisk(), path)
    except CorruptSnapshotError as error:
        out.flush()
        print(f"{path}: {error}", file=err)
        return
    for entry in entries:
        first_offset = entry.current_txn_first_offset if entry.current_txn_first_offset >= 0 else None
        line = (
            f"producerId: {entry.producer_id} producerEpoch: {entry.producer_epoch}"
            f" coordinatorEpoch: {entry.coordinator_epoch} currentTxnFirstOffset: {optional_long(first_offset)}"
            f" lastTimestamp: {entry.timestamp}"
        )
        if entry.last_offset >= 0:
            first_sequence = (entry.last_sequence - entry.offset_delta) % _SEQUENCES
            line += (
                f" firstSequence: {first_sequence} lastSequence: {entry.last_sequence}"
                f" lastOffset: {entry.last_offset} offsetDelta: {entry.offset_delta} timestamp: {entry.timestamp}"
            )
        print(line, file=out)
