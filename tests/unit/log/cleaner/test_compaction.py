"""Compaction against a model that remembers everything ever written, over random histories with several cleanings."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from barnabas.log.partition_log import PartitionLog
from barnabas.records.compression import Compression
from barnabas.records.record import Record
from barnabas.sim.disk import SimDisk
from unit.log.cleaner.logs import (
    DIRECTORY,
    Pair,
    append,
    clean_log,
    end_transaction,
    make_config,
    make_disk,
    open_log,
    read_batches,
    read_committed,
    read_records,
)

DELETE_RETENTION_MS = 1_000

keys = st.sampled_from([b"a", b"b", b"c", b"k" * 40])
values = st.none() | st.sampled_from([b"1", b"22", b"333"])
pairs = st.lists(st.tuples(keys, values), min_size=1, max_size=4)
producers = st.integers(1, 3)

operations = st.one_of(
    st.tuples(st.just("write"), pairs, st.sampled_from([Compression.NONE, Compression.ZSTD])),
    st.tuples(st.just("write in transaction"), producers, pairs),
    st.tuples(st.just("commit"), producers),
    st.tuples(st.just("abort"), producers),
    st.tuples(st.just("roll")),
    st.tuples(st.just("wait"), st.sampled_from([1, 400, 1_500])),
    st.tuples(st.just("clean"), st.sampled_from([4, 1_000])),
    st.tuples(st.just("reopen")),
)


@dataclass
class Model:
    """All that was ever appended, and the state of the cleaner."""

    records: list[Record] = field(default_factory=list)
    owners: list[int | None] = field(default_factory=list)  # Of each record: the transaction it is in.
    aborted: set[int] = field(default_factory=set)
    open_transactions: dict[int, int] = field(default_factory=dict)
    sequences: dict[int, int] = field(default_factory=dict)
    transactions: int = 0
    now_ms: int = 1
    clean_offset: int | None = None
    tombstones_seen_ms: dict[int, int] = field(default_factory=dict)

    def note(self, offset: int, pairs: list[Pair], owner: int | None) -> None:
        for index, (key, value) in enumerate(pairs):
            self.records.append(Record(offset + index, self.now_ms, key, value))
            self.owners.append(owner)

    def visible(self) -> list[Record]:
        return [record for record, owner in zip(self.records, self.owners, strict=True) if owner not in self.aborted]


def view(records: list[Record]) -> dict[bytes | None, bytes]:
    """What a reader from the beginning ends up with."""
    latest: dict[bytes | None, bytes] = {}
    for record in records:
        if record.value is None:
            latest.pop(record.key, None)
        else:
            latest[record.key] = record.value
    return latest


def run(disk: SimDisk, log: PartitionLog, model: Model, operation: tuple[object, ...]) -> PartitionLog:
    offset = log.log_end_offset
    match operation:
        case ("write", list(written), Compression() as compression):
            append(log, *written, now_ms=model.now_ms, compression=compression)
            model.note(offset, written, None)
        case ("write in transaction", int(producer), list(written)):
            if producer not in model.open_transactions:
                model.transactions += 1
                model.open_transactions[producer] = model.transactions
            sequence = model.sequences.get(producer, 0)
            model.sequences[producer] = sequence + len(written)
            append(
                log,
                *written,
                now_ms=model.now_ms,
                producer_id=producer,
                epoch=0,
                sequence=sequence,
                is_transactional=True,
            )
            model.note(offset, written, model.open_transactions[producer])
        case ("commit" | "abort" as outcome, int(producer)):
            transaction = model.open_transactions.pop(producer, None)
            if transaction is not None:
                end_transaction(log, producer, is_commit=outcome == "commit", now_ms=model.now_ms)
                if outcome == "abort":
                    model.aborted.add(transaction)
        case ("roll",):
            log.roll(model.now_ms)
        case ("wait", int(milliseconds)):
            model.now_ms += milliseconds
            disk.now_ms = model.now_ms
        case ("clean", int(keys_max)):
            clean_and_check(disk, log, model, keys_max)
        case ("reopen",):
            high_watermark = log.high_watermark
            log.close(model.now_ms)
            log = open_log(disk, log.config, now_ms=model.now_ms)
            log.update_high_watermark(high_watermark)
    return log


def clean_and_check(disk: SimDisk, log: PartitionLog, model: Model, keys_max: int) -> None:
    before = {record.offset for record in read_committed(log)}
    bases = log.segments.base_offsets
    clean_from = model.clean_offset or 0
    result = clean_log(disk, log, now_ms=model.now_ms, from_offset=model.clean_offset, keys_max=keys_max)
    log.remove_deleted(model.now_ms)
    model.clean_offset = result.end_offset
    left = read_committed(log)
    offsets = {record.offset for record in left}
    assert offsets <= before
    # What is clean holds a key once.
    clean_keys = [record.key for record in left if record.offset < result.end_offset]
    assert len(clean_keys) == len(set(clean_keys))
    if result.end_offset == clean_from:  # Where nothing is dirty, nothing is cleaned.
        return
    # A tombstone stays for its time from the first cleaning on that met it, if nothing supersedes it before. The last
    # segment is met whole, even where the map was full within it.
    copied_until = min(base for base in [*bases, log.log_end_offset] if base >= result.end_offset)
    latest = {record.key: record.offset for record in model.visible()}
    for record in model.visible():
        if record.value is None and record.offset in before and record.offset < copied_until:
            seen_ms = model.tombstones_seen_ms.setdefault(record.offset, model.now_ms)
            if latest[record.key] == record.offset < result.end_offset:
                assert (record.offset in offsets) == (model.now_ms < seen_ms + DELETE_RETENTION_MS)


def check(log: PartitionLog, model: Model) -> None:
    originals = {record.offset: record for record in model.records}
    left = read_records(log)
    assert all(originals[record.offset] == record for record in left)
    offsets = [record.offset for record in left]
    assert offsets == sorted(set(offsets))
    assert view(read_committed(log)) == view(model.visible())
    batches = read_batches(log)
    if batches:
        assert batches[-1][0].next_offset == log.log_end_offset


@given(st.lists(operations, max_size=25))
def test_a_cleaned_log_means_what_was_written(history: list[tuple[object, ...]]) -> None:
    disk = make_disk()
    model = Model()
    log = open_log(disk, make_config(delete_retention_ms=DELETE_RETENTION_MS, segment_bytes=400))
    for operation in [*history, ("roll",), ("clean", 1_000), ("wait", 1_500), ("clean", 1_000), ("reopen",)]:
        log = run(disk, log, model, operation)
        check(log, model)


@given(st.lists(operations, max_size=25))
def test_producers_are_known_from_a_cleaned_log_alone(history: list[tuple[object, ...]]) -> None:
    disk = make_disk()
    model = Model()
    log = open_log(disk, make_config(delete_retention_ms=DELETE_RETENTION_MS, segment_bytes=400))
    for operation in [*history, ("roll",), ("clean", 1_000), ("wait", 1_500), ("clean", 1_000)]:
        log = run(disk, log, model, operation)
    known = {
        entry.producer_id: (entry.producer_epoch, entry.last_sequence, entry.current_txn_first_offset)
        for entry in log.producer_state.producers.values()
    }
    log.close(model.now_ms)
    for name in disk.names(DIRECTORY):
        if name.endswith(".snapshot"):
            disk.remove(f"{DIRECTORY}/{name}")
    reopened = open_log(disk, log.config, now_ms=model.now_ms)
    again = {
        entry.producer_id: (entry.producer_epoch, entry.last_sequence, entry.current_txn_first_offset)
        for entry in reopened.producer_state.producers.values()
    }
    assert again == known
