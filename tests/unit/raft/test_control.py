"""Control records: written, read back, and loaded from a log and its snapshot."""

from __future__ import annotations

import pytest

from barnabas.protocol.errors import CorruptMessage
from barnabas.raft import control
from barnabas.raft.history import QuorumChange, QuorumHistory
from barnabas.raft.log_view import OffsetAndEpoch
from barnabas.raft.voters import VoterSet
from barnabas.records.batch import read_header
from barnabas.sim.raft_storage import SimLog
from unit.raft.driven import data_batch, voter

VOTERS = VoterSet.of([voter(1), voter(2)])


def test_a_batch_of_control_records_tells_what_it_changes() -> None:
    records = [control.leader_change(1, [1, 2], [1]), control.kraft_version(1), control.voters(VOTERS)]
    batch = control.build(records, base_offset=10, epoch=3, timestamp_ms=5)
    header = read_header(batch)
    assert (header.is_control, header.base_offset, header.leader_epoch, header.record_count) == (True, 10, 3, 3)
    expected = [QuorumChange(11, kraft_version=1), QuorumChange(12, voters=VOTERS)]
    assert control.changes_in(batch, 0, header) == expected
    assert control.changes_of(records, 10) == expected


def test_fetched_batches_continue_the_log_or_are_refused() -> None:
    end = OffsetAndEpoch(4, 2)
    batches = data_batch(4, 2, count=2) + data_batch(6, 3)
    fetched = control.check_fetched(batches, end, epoch=3)
    assert (bytes(fetched.batches), fetched.end) == (batches, OffsetAndEpoch(7, 3))
    for wrong, epoch in [(data_batch(5, 2), 3), (data_batch(3, 2), 3), (data_batch(4, 1), 3), (data_batch(4, 4), 3)]:
        with pytest.raises(CorruptMessage):
            control.check_fetched(wrong, end, epoch)


def test_a_damaged_batch_is_refused_and_a_partial_one_left_out() -> None:
    batch = bytearray(data_batch(0, 1))
    batch[-1] ^= 1
    with pytest.raises(CorruptMessage):
        control.check_fetched(batch, OffsetAndEpoch(0, 0), epoch=1)
    whole = data_batch(0, 1)
    fetched = control.check_fetched(whole + data_batch(1, 1)[:-1], OffsetAndEpoch(0, 0), epoch=1)
    assert bytes(fetched.batches) == whole


def test_as_many_whole_batches_are_taken_as_fit_and_one_in_any_case() -> None:
    first, second = data_batch(0, 1), data_batch(1, 1)
    both = first + second
    assert bytes(control.whole_batches(both, len(both))) == both
    assert bytes(control.whole_batches(both, len(both) - 1)) == first
    assert bytes(control.whole_batches(both, 1)) == first


def test_history_is_loaded_from_the_latest_snapshot_and_the_log_behind_it() -> None:
    grown = VoterSet.of([*VOTERS, voter(3)])
    before = QuorumHistory()
    before.apply(QuorumChange(3, kraft_version=1))
    before.apply(QuorumChange(4, voters=VOTERS))
    snapshot_id = OffsetAndEpoch(6, 2)
    head = control.snapshot_head(before, snapshot_id, timestamp_ms=0)
    log = SimLog(start_offset=6)
    log.snapshots[snapshot_id] = control.build(head, base_offset=0, epoch=2, timestamp_ms=0)
    log.append(data_batch(6, 2))
    log.append(control.build([control.voters(grown)], base_offset=7, epoch=2, timestamp_ms=0))
    loaded = control.load_history(log)
    assert (loaded.voters_at(6), loaded.voters, loaded.voters_offset) == (VOTERS, grown, 7)
    assert loaded.kraft_version == 1
    loaded.truncate_to(7)
    assert loaded.voters == VOTERS


def test_a_static_quorum_has_no_voters_in_its_snapshots() -> None:
    head = control.snapshot_head(QuorumHistory(VOTERS), OffsetAndEpoch(6, 2), timestamp_ms=0)
    assert [record.type.name for record in head] == ["SNAPSHOT_HEADER"]


def test_a_snapshot_is_read_in_chunks_that_cut_its_batches() -> None:
    content = control.build(
        [control.snapshot_header(0), control.voters(VOTERS)], base_offset=0, epoch=1, timestamp_ms=0
    )
    content += data_batch(2, 1)
    chunks = [content[at : at + 7] for at in range(0, len(content), 7)]
    assert control.snapshot_changes(chunks, OffsetAndEpoch(9, 1)) == (QuorumChange(8, voters=VOTERS),)


def test_a_damaged_snapshot_is_not_believed() -> None:
    content = bytearray(
        control.build([control.snapshot_header(5), control.voters(VOTERS)], base_offset=0, epoch=0, timestamp_ms=0)
    )
    content[-10] ^= 1
    with pytest.raises(CorruptMessage):
        control.snapshot_changes([bytes(content)], OffsetAndEpoch(9, 1))
