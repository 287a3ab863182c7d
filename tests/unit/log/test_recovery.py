"""Opening a log: torn tails at every byte, damaged and missing files, interrupted swaps, and clean starts."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from barnabas.log.log_config import LogConfig
from barnabas.log.names import CLEANED, DELETED, SEGMENT_FILES, SWAP, offset_name
from barnabas.log.partition_log import PartitionLog
from barnabas.log.producer_entry import AppendOrigin
from barnabas.log.read import Isolation
from barnabas.log.segment import LogSegment
from barnabas.records.batch import read_header
from barnabas.records.build import build_batch
from barnabas.records.control import EndTransactionMarker, build_end_transaction_marker
from barnabas.records.record import Record
from barnabas.sim.disk import SimDisk
from builders import TIMESTAMP, make_batch, make_records
from log_checks import check_log, stored_batches

NOW = TIMESTAMP + 1_000
SIZE = len(make_batch())
CONFIG = LogConfig(segment_bytes=4 * SIZE, segment_index_bytes=120, index_interval_bytes=SIZE)
SEEDS = range(60)


def open_log(disk: SimDisk, config: LogConfig = CONFIG, **options: object) -> PartitionLog:
    return PartitionLog(disk, "/t-0", config, rng=Random(0), now_ms=NOW, **options)  # type: ignore[arg-type]


def fill(log: PartitionLog, batches: int, timestamp: int = TIMESTAMP) -> None:
    for index in range(batches):
        log.append_as_leader(make_batch(timestamp=timestamp + index), 0, NOW)


def offsets(log: PartitionLog) -> list[int]:
    return [batch.header.base_offset for batch in stored_batches(log)]


def log_file(base_offset: int) -> str:
    return f"/t-0/{offset_name(base_offset, '.log')}"


def test_a_batch_without_an_epoch_is_sound_also_behind_one_that_has_an_epoch() -> None:
    """Cleaning makes such batches of messages from before epochs, which may lie between newer ones."""
    disk = SimDisk()
    log = open_log(disk)
    for offset, epoch in enumerate([5, -1, 5, 7]):
        log.append_as_follower(build_batch(make_records(1, offset), leader_epoch=epoch), 7, NOW)
    log.release()
    assert offsets(open_log(disk)) == [0, 1, 2, 3]


@pytest.mark.parametrize("tail", ["cut", "zeros", "garbage", "flipped"])
def test_a_tail_torn_at_any_byte_is_cut_at_the_last_sound_batch(tail: str) -> None:
    disk = SimDisk()
    log = open_log(disk)
    fill(log, 3)
    log.release()
    whole = disk.open(log_file(0)).read_at(0, 10_000)
    for position in range(SIZE, len(whole)):
        kept, lost = whole[:position], whole[position:]
        content = {
            "cut": kept,
            "zeros": kept + bytes(len(lost)),
            "garbage": kept + Random(position).randbytes(len(lost)),
            "flipped": kept + bytes([lost[0] ^ 1]) + lost[1:],
        }[tail]
        file = disk.open(log_file(0))
        file.truncate(0)
        file.write_at(0, content)
        log = open_log(disk, recovery_point=1)
        check_log(log)
        # What was lost may have been zeros anyway.
        sound = next(n for n in (3, 2, 1) if content[: n * SIZE] == whole[: n * SIZE])
        # Base offset and leader epoch are not under the checksum: one flipped there may go unseen.
        is_unseen = tail == "flipped" and (position % SIZE < 8 or 12 <= position % SIZE < 16)
        assert offsets(log)[:sound] == list(range(sound))
        assert is_unseen or (log.log_end_offset, log.size_bytes) == (sound, sound * SIZE)
        fill(log, 1)
        log.release()


def test_damage_in_the_middle_ends_the_log_there_and_drops_later_segments() -> None:
    disk = SimDisk()
    log = open_log(disk)
    fill(log, 10)
    log.release()
    file = disk.open(log_file(4))
    file.write_at(SIZE + 30, b"\xff")
    log = open_log(disk)
    assert (offsets(log), log.segments.base_offsets, log.log_end_offset) == ([0, 1, 2, 3, 4], [0, 4], 5)
    check_log(log)


def test_flushed_segments_are_not_read_again() -> None:
    disk = SimDisk()
    log = open_log(disk)
    fill(log, 10)
    log.flush(NOW)
    log.release()
    disk.open(log_file(0)).write_at(SIZE + 30, b"\xff")
    log = open_log(disk, recovery_point=8)
    assert log.log_end_offset == 10


def test_a_segment_that_lost_exactly_its_last_batch_ends_the_log() -> None:
    disk = SimDisk()
    log = open_log(disk)
    fill(log, 6)
    log.release()
    disk.open(log_file(0)).truncate(3 * SIZE)
    log = open_log(disk)
    assert (offsets(log), log.log_end_offset) == ([0, 1, 2], 3)


def test_gaps_in_a_compacted_log_are_ordinary() -> None:
    disk = SimDisk()
    config = LogConfig(segment_bytes=4 * SIZE, segment_index_bytes=120, cleanup_policy=frozenset({"compact"}))
    log = open_log(disk, config)
    fill(log, 6)
    log.release()
    disk.open(log_file(0)).truncate(3 * SIZE)
    assert offsets(open_log(disk, config)) == [0, 1, 2, 4, 5]


@pytest.mark.parametrize("where", ["inside the segment", "at its beginning", "between flushed segments", "in a batch"])
def test_gaps_are_ordinary_in_a_log_that_was_compacted_once(where: str) -> None:
    disk = SimDisk()
    log = open_log(disk)
    fill(log, 12)
    log.release()
    offsets_in, recovery_point = [4, 5, 6], 4
    if where == "inside the segment":
        offsets_in = [4, 6]
    elif where == "at its beginning":
        offsets_in = [5, 6]
    elif where == "between flushed segments":
        disk.open(log_file(0)).truncate(3 * SIZE)
    batches = [make_batch(1, base_offset=offset, timestamp=TIMESTAMP) for offset in offsets_in]
    if where == "in a batch":
        records = [Record(4, TIMESTAMP, b"k", b"v"), Record(6, TIMESTAMP, b"k", b"v")]
        batches = [build_batch(records, leader_epoch=0)]
    file = disk.open(log_file(4))
    file.truncate(0)
    file.write_at(0, b"".join(batches))
    log = open_log(disk, recovery_point=recovery_point)
    assert log.segments.base_offsets == [0, 4, 8]
    assert log.log_end_offset == 12


def test_a_log_tells_how_much_its_recovery_gave_up() -> None:
    disk, config = SimDisk(), replace(CONFIG, segment_bytes=2 * SIZE)
    log = open_log(disk, config)
    fill(log, 5)
    log.release()
    assert open_log(disk, config).dropped_bytes == 0
    disk.open(log_file(2)).truncate(SIZE + 1)
    again = open_log(disk, config)
    assert offsets(again) == [0, 1, 2]
    assert again.dropped_bytes == 1 + SIZE
    again.release()
    assert open_log(disk, config).dropped_bytes == 0


def test_what_recovery_cut_off_does_not_come_back_behind_what_is_written_next() -> None:
    disk = SimDisk()
    log = open_log(disk)
    fill(log, 3)
    log.flush(NOW)
    log.release()
    file = disk.open(log_file(0))
    file.write_at(SIZE + 30, b"\xff")
    file.flush()
    log = open_log(disk)
    assert offsets(log) == [0]
    fill(log, 1, timestamp=TIMESTAMP + 500)
    for seed in SEEDS:
        assert offsets(open_log(disk.after_power_cut(Random(seed)))) in ([0], [0, 1])


@pytest.mark.parametrize("missing", [".index", ".timeindex"])
@pytest.mark.parametrize("is_clean", [True, False])
def test_a_missing_index_is_built_anew(missing: str, is_clean: bool) -> None:
    disk = SimDisk()
    log = open_log(disk)
    fill(log, 10)
    log.close(NOW)
    names = [offset_name(base, missing) for base in (0, 4)]
    expected = [disk.open(f"/t-0/{name}").read_at(0, 999) for name in names]
    for name in names:
        disk.remove(f"/t-0/{name}")
    log = open_log(disk, recovery_point=10, had_clean_shutdown=is_clean)
    check_log(log)
    assert [disk.open(f"/t-0/{name}").read_at(0, 999) for name in names] == expected
    assert expected != [b"", b""]


@pytest.mark.parametrize("kind", [".log", ".index", ".timeindex"])
@pytest.mark.parametrize("damage", [bytes(240), bytes(range(240))])
def test_a_last_segment_that_does_not_end_properly_is_checked_also_after_a_clean_stop(kind: str, damage: bytes) -> None:
    disk = SimDisk()
    log = open_log(disk)
    fill(log, 10)
    active = log.segments.active.base_offset
    log.close(NOW)
    file = disk.open(f"/t-0/{offset_name(active, kind)}")
    expected = file.read_at(0, 9_999)
    file.write_at(len(expected), damage)
    log = open_log(disk, had_clean_shutdown=True)
    assert log.log_end_offset == 10
    check_log(log)
    log.close(NOW)
    assert disk.open(f"/t-0/{offset_name(active, kind)}").read_at(0, 9_999) == expected


def test_orphaned_indexes_and_deleted_files_are_removed_and_others_left() -> None:
    disk = SimDisk()
    log = open_log(disk)
    fill(log, 2)
    log.close(NOW)
    for name in (
        offset_name(9, ".index"),
        offset_name(9, ".txnindex"),
        offset_name(7, ".log", DELETED),
        offset_name(7, ".snapshot", DELETED),
        "00000000000000000005-0000000001.checkpoint.deleted",
        "partition.metadata",
    ):
        disk.open(f"/t-0/{name}", create=True).close()
    before = set(disk.names("/t-0"))
    open_log(disk, had_clean_shutdown=True)
    assert before - set(disk.names("/t-0")) == {
        offset_name(9, ".index"),
        offset_name(9, ".txnindex"),
        offset_name(7, ".log", DELETED),
        offset_name(7, ".snapshot", DELETED),
    }


def cleaned(log: PartitionLog, disk: SimDisk) -> LogSegment:
    """The first two segments as one, every other batch dropped."""
    segment = LogSegment.create(disk, "/t-0", 0, CONFIG, now_ms=NOW, suffix=CLEANED)
    for batch in stored_batches(log)[:8:2]:
        segment.append(batch.data, [batch.header])
    segment.become_inactive()
    segment.flush()
    return segment


def test_replacing_segments_survives_a_power_cut_at_every_operation() -> None:
    disk = SimDisk()
    config = LogConfig(
        segment_bytes=4 * SIZE,
        segment_index_bytes=120,
        index_interval_bytes=SIZE,
        cleanup_policy=frozenset({"compact"}),
    )
    log = open_log(disk, config)
    fill(log, 10)
    log.flush(NOW)
    full, thinned = list(range(10)), [0, 2, 4, 6, 8, 9]
    outcomes = set()

    def cut(_operation: str, _path: str) -> None:
        world = disk.after_power_cut(Random(disk.operations))
        survivor = open_log(world, config, recovery_point=10)
        check_log(survivor)
        outcomes.add(tuple(offsets(survivor)))
        assert not any(name.endswith((CLEANED, SWAP, DELETED)) for name in world.names("/t-0"))

    disk.before_operation = cut
    replacement = cleaned(log, disk)
    log.replace_segments([replacement], list(log.segments)[:2], NOW)
    log.flush(NOW)
    disk.before_operation = None
    cut("", "")
    assert outcomes == {tuple(full), tuple(thinned)}
    assert offsets(log) == thinned
    assert log.segments.base_offsets == [0, 8]
    assert log.read(3, 10, isolation=Isolation.LOG_END).region.bytes()[:8] == (4).to_bytes(8, "big")
    for seed in SEEDS:
        assert offsets(open_log(disk.after_power_cut(Random(seed)), config, recovery_point=10)) == thinned


def test_swapped_segments_are_dropped_while_their_group_is_not_complete() -> None:
    disk = SimDisk()
    log = open_log(disk)
    fill(log, 10)
    log.close(NOW)
    for kind in SEGMENT_FILES:
        disk.open(f"/t-0/{offset_name(0, kind, CLEANED)}", create=True).close()
        disk.open(f"/t-0/{offset_name(4, kind, SWAP)}", create=True).close()
    assert offsets(open_log(disk)) == list(range(10))


def test_a_log_that_ends_before_its_start_begins_there_anew() -> None:
    disk = SimDisk()
    log = open_log(disk)
    fill(log, 6)
    log.close(NOW)
    log = open_log(disk, log_start_offset=9, recovery_point=9)
    assert (log.log_start_offset, log.log_end_offset, log.segments.base_offsets) == (9, 9, [9])
    assert log.leader_epochs.entries() == []
    fill(log, 1)
    check_log(log)


def test_the_log_start_is_the_later_of_checkpoint_and_first_segment() -> None:
    disk = SimDisk()
    log = open_log(disk)
    fill(log, 10)
    log.close(NOW)
    log = open_log(disk, log_start_offset=3)
    assert log.log_start_offset == 3
    log.release()
    for kind in (".log", ".index", ".timeindex"):
        disk.remove(f"/t-0/{offset_name(0, kind)}")
    assert open_log(disk, log_start_offset=3).log_start_offset == 4


def test_leader_epochs_are_found_in_the_log_and_cut_to_it() -> None:
    disk = SimDisk()
    log = open_log(disk)
    for epoch in (1, 3, 4):
        log.append_as_leader(make_batch(2), epoch, NOW)
    log.release()
    disk.remove("/t-0/leader-epoch-checkpoint")
    log = open_log(disk)
    assert log.leader_epochs.entries() == [(1, 0), (3, 2), (4, 4)]
    log.release()
    disk.open(log_file(0)).truncate(2 * len(make_batch(2)))
    assert open_log(disk).leader_epochs.entries() == [(1, 0), (3, 2)]


def transactional(log: PartitionLog, sequence: int) -> None:
    batch = build_batch(make_records(1), producer_id=1, producer_epoch=0, base_sequence=sequence, is_transactional=True)
    log.append_as_leader(batch, 0, NOW)


def abort(log: PartitionLog) -> None:
    marker = EndTransactionMarker(is_commit=False, coordinator_epoch=0)
    batch = build_end_transaction_marker(marker, producer_id=1, producer_epoch=0, timestamp=NOW)
    log.append_as_leader(batch, 0, NOW, origin=AppendOrigin.COORDINATOR, transaction_version=1)


@pytest.mark.parametrize("is_clean", [True, False])
def test_producers_and_aborted_transactions_are_known_again(is_clean: bool) -> None:
    disk = SimDisk()
    log = open_log(disk)
    for sequence in range(6):
        transactional(log, sequence)
        if sequence % 2:
            abort(log)
    transactional(log, 6)
    aborted = log.aborted_transactions(0, 99)
    if is_clean:
        log.close(NOW)
    else:
        log.release()
    recovery_point = log.recovery_point
    log = open_log(disk, had_clean_shutdown=is_clean, recovery_point=recovery_point)
    assert log.aborted_transactions(0, 99) == aborted
    assert len(aborted) == 3
    assert dict(log.producer_state.ongoing) == {9: 1}
    assert log.producer_state.producers[1].last_sequence == 6
    transactional(log, 7)


def test_a_transaction_index_that_appeared_since_the_last_flush_is_durable_with_its_segment() -> None:
    disk = SimDisk()
    log = open_log(disk)
    transactional(log, 0)
    log.flush(NOW)
    abort(log)
    log.flush(NOW)
    log.roll(NOW)
    log.flush(NOW)
    for seed in SEEDS:
        log = open_log(disk.after_power_cut(Random(seed)), recovery_point=2)
        assert [entry.producer_id for entry in log.segments.first.transaction_index.entries()] == [1]


@pytest.mark.parametrize("way", ["truncated", "recovered"])
def test_a_snapshot_of_what_was_cut_off_does_not_come_back(way: str) -> None:
    disk = SimDisk()
    log = open_log(disk)
    transactional(log, 0)
    log.producer_state.take_snapshot()
    transactional(log, 1)
    log.producer_state.take_snapshot()
    log.flush(NOW)
    if way == "truncated":
        log.truncate_to(1, NOW)
    else:
        log.release()
        disk.open(log_file(0)).truncate(SIZE)
        log = open_log(disk)
    assert log.log_end_offset == 1
    fill(log, 3)
    log.flush(NOW)
    for seed in SEEDS:
        survivor = open_log(disk.after_power_cut(Random(seed)), recovery_point=4)
        assert survivor.log_end_offset == 4
        assert survivor.producer_state.producers[1].last_sequence == 0


def test_preallocated_zeros_are_cut_also_in_a_segment_flushed_before_it_was_rolled() -> None:
    disk = SimDisk()
    config = LogConfig(segment_bytes=4 * SIZE, segment_index_bytes=120, preallocate=True)
    log = open_log(disk, config)
    fill(log, 2)
    log.flush(NOW)
    log.roll(NOW)
    fill(log, 1)
    for seed in SEEDS:
        survivor = open_log(disk.after_power_cut(Random(seed)), config, recovery_point=2)
        check_log(survivor)
        assert offsets(survivor)[:2] == [0, 1]


def test_a_clean_stop_leaves_trimmed_files_and_a_snapshot() -> None:
    disk = SimDisk()
    log = open_log(disk)
    fill(log, 3)
    log.close(NOW)
    assert disk.names("/t-0") == [
        "00000000000000000000.index",
        "00000000000000000000.log",
        "00000000000000000000.timeindex",
        "00000000000000000003.snapshot",
        "leader-epoch-checkpoint",
    ]
    assert disk.open("/t-0/00000000000000000000.index").size() == 8
    assert disk.open("/t-0/00000000000000000000.timeindex").size() == 12
    assert read_header(disk.open(log_file(0)).read_at(2 * SIZE, SIZE)).base_offset == 2
