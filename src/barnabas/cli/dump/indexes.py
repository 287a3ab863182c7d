"""Dumps the indexes of a segment: `.index` and `.timeindex`, each entry checked against the log, and `.txnindex`."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import TextIO, TypeVar

from barnabas.cli.dump.batches import Batch, open_batch
from barnabas.cli.dump.files import DumpError, ReadOnlyDisk, SegmentFile, offset_in_name, sibling
from barnabas.cli.dump.findings import Findings, note
from barnabas.log import names
from barnabas.log.index_file import CorruptIndexError
from barnabas.log.offset_index import OffsetIndex
from barnabas.log.time_index import NO_TIMESTAMP, TimeIndex
from barnabas.log.transaction_index import VERSION, CorruptTransactionIndexError, TransactionIndex

Index = TypeVar("Index", OffsetIndex, TimeIndex)


@dataclass(frozen=True)
class IndexView:
    """How much of an index is looked at and shown."""

    checks_sanity: bool  # What a broker checks at start, and nothing else.
    verifies_only: bool
    message_bytes_max: int


def dump_index(path: str, view: IndexView, findings: Findings, out: TextIO) -> None:
    """An offset or time index. The log must be there, and for a time index the offset index too."""
    with ExitStack() as opened:
        segment = opened.enter_context(SegmentFile(sibling(path, names.LOG)))
        is_time_index = path.endswith(names.TIME_INDEX)
        offsets = _open(OffsetIndex, sibling(path, names.OFFSET_INDEX) if is_time_index else path, opened)
        if is_time_index:
            _dump_time_index(path, segment, offsets, _open(TimeIndex, path, opened), view, findings, out)
        else:
            _dump_offset_index(path, segment, offsets, view, findings, out)


def _open(kind: type[Index], path: str, opened: ExitStack) -> Index:
    index = kind(ReadOnlyDisk(), path, offset_in_name(path), 0)
    index.open()
    opened.callback(index.close)
    return index


def _dump_offset_index(
    path: str, segment: SegmentFile, index: OffsetIndex, view: IndexView, findings: Findings, out: TextIO
) -> None:
    if index.entries == 0:
        print(f"{path} is empty.", file=out)
        return
    if view.checks_sanity:
        _check_sanity(path, index, out)
        return
    for slot in range(index.entries):
        entry = index.entry(slot)
        if slot and entry.offset == index.base_offset:
            return  # A crash leaves the zeros of a file that was made larger than its entries.
        found = _batch_at(segment, entry.position, view.message_bytes_max).last_offset
        if found != entry.offset:
            note(findings.index_mismatches, path, entry.offset, found)
        if not view.verifies_only:
            print(f"offset: {entry.offset} position: {entry.position}", file=out)


def _dump_time_index(
    path: str,
    segment: SegmentFile,
    offsets: OffsetIndex,
    index: TimeIndex,
    view: IndexView,
    findings: Findings,
    out: TextIO,
) -> None:
    if view.checks_sanity:
        _check_sanity(path, index, out)
        return
    previous = NO_TIMESTAMP
    for slot in range(index.entries):
        entry = index.entry(slot)
        if slot and entry.offset == index.base_offset:
            return
        batches = (open_batch(segment, raw) for raw in segment.batches(offsets.lookup(entry.offset).position))
        batch = next((batch for batch in batches if batch.last_offset >= entry.offset), None)
        found = -1 if batch is None else batch.last_offset
        if batch is None or found != entry.offset:
            note(findings.offsets_not_found, path, entry.offset, found)
        else:
            newest = max((record.timestamp for record, _ in batch.records()), default=NO_TIMESTAMP)
            if newest != entry.timestamp:
                note(findings.timestamp_mismatches, path, entry.timestamp, newest)
            if previous >= entry.timestamp:
                note(findings.timestamps_out_of_order, path, entry.timestamp, previous)
        if not view.verifies_only:
            print(f"timestamp: {entry.timestamp} offset: {entry.offset}", file=out)
        previous = entry.timestamp


def dump_transaction_index(path: str, out: TextIO) -> None:
    """An index that is not there is one without entries: a segment without aborted transactions has no file."""
    start_offset = offset_in_name(path)
    try:
        index = TransactionIndex(ReadOnlyDisk(), path, start_offset)
        entries = index.entries()
        index.close()
    except CorruptTransactionIndexError as error:
        raise DumpError(str(error)) from error
    for entry in entries:
        print(
            f"version: {VERSION} producerId: {entry.producer_id} firstOffset: {entry.first_offset}"
            f" lastOffset: {entry.last_offset} lastStableOffset: {entry.last_stable_offset}",
            file=out,
        )


def _check_sanity(path: str, index: OffsetIndex | TimeIndex, out: TextIO) -> None:
    try:
        index.sanity_check()
    except CorruptIndexError as error:
        raise DumpError(str(error)) from error
    print(f"{path} passed sanity check.", file=out)


def _batch_at(segment: SegmentFile, position: int, limit_bytes: int) -> Batch:
    raw = next(segment.batches(position, limit_bytes), None)
    if raw is None:
        raise DumpError(f"no whole batch at position {position} of {segment.path} within {limit_bytes} bytes")
    return open_batch(segment, raw)
