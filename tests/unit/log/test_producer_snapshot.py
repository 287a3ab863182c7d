"""Producer snapshots: Kafka's bytes, and damage that is found."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.log.producer_snapshot import (
    CorruptSnapshotError,
    SnapshotEntry,
    decode_snapshot,
    encode_snapshot,
    read_snapshot,
    write_snapshot,
)
from barnabas.protocol.codec import encode
from barnabas.protocol.files.producer_snapshot import ProducerEntry, ProducerSnapshot
from barnabas.sim.disk import SimDisk

int16 = st.integers(-(2**15), 2**15 - 1)
int32 = st.integers(-(2**31), 2**31 - 1)
int64 = st.integers(-(2**63), 2**63 - 1)
entries = st.lists(st.builds(SnapshotEntry, int64, int16, int32, int64, int32, int64, int32, int64), max_size=5)


@given(entries)
def test_what_is_written_is_read_back(saved: list[SnapshotEntry]) -> None:
    assert decode_snapshot(encode_snapshot(saved)) == saved


@given(entries, st.data())
def test_any_changed_byte_is_noticed(saved: list[SnapshotEntry], data: st.DataObject) -> None:
    content = bytearray(encode_snapshot(saved))
    position = data.draw(st.integers(0, len(content) - 1))
    content[position] ^= data.draw(st.integers(1, 255))
    with pytest.raises(CorruptSnapshotError):
        decode_snapshot(bytes(content))


@given(entries, st.data())
def test_any_cut_is_noticed(saved: list[SnapshotEntry], data: st.DataObject) -> None:
    content = encode_snapshot(saved)
    with pytest.raises(CorruptSnapshotError):
        decode_snapshot(content[: data.draw(st.integers(0, len(content) - 1))])


@given(entries)
def test_the_bytes_are_those_of_the_declared_message_behind_its_version(saved: list[SnapshotEntry]) -> None:
    content = encode_snapshot(saved)
    crc = int.from_bytes(content[2:6], "big")
    declared = ProducerSnapshot(crc=crc, producer_entries=[declared_entry(entry) for entry in saved])
    assert content == b"\x00\x01" + encode(declared, 1)


def declared_entry(entry: SnapshotEntry) -> ProducerEntry:
    return ProducerEntry(
        producer_id=entry.producer_id,
        epoch=entry.producer_epoch,
        last_sequence=entry.last_sequence,
        last_offset=entry.last_offset,
        offset_delta=entry.offset_delta,
        timestamp=entry.timestamp,
        coordinator_epoch=entry.coordinator_epoch,
        current_txn_first_offset=entry.current_txn_first_offset,
    )


def test_the_layout_is_version_1_of_kafkas_schema() -> None:
    content = encode_snapshot([SnapshotEntry(1, 2, 3, 4, 5, 6, 7, -1)])
    assert content[:2] == b"\x00\x01"
    assert content[6:10] == b"\x00\x00\x00\x01"
    assert content[10:].hex() == (
        "0000000000000001000200000003000000000000000400000005000000000000000600000007ffffffffffffffff"
    )


def test_a_shorter_snapshot_leaves_nothing_of_a_longer_one() -> None:
    disk = SimDisk()
    disk.make_directory("/t-0")
    entry = SnapshotEntry(1, 2, 3, 4, 5, 6, 7, -1)
    write_snapshot(disk, "/t-0/1.snapshot", [entry, entry], flush=True)
    write_snapshot(disk, "/t-0/1.snapshot", [entry], flush=True)
    assert read_snapshot(disk, "/t-0/1.snapshot") == [entry]
