"""The metadata log on a disk shows raft the same as the simulator's list of batches, and survives power cuts."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from barnabas.log.log_config import LogConfig
from barnabas.metadata.retention import RetentionSettings
from barnabas.raft import control
from barnabas.raft.log_view import OffsetAndEpoch, compare_follower
from barnabas.raft.quorum_state import BadQuorumState, QuorumState
from barnabas.raft.replica import ReplicaKey
from barnabas.records.build import build_batch
from barnabas.records.record import Record
from barnabas.runtime.quorum.metadata_log import DIRECTORY, DamagedMetadataLog, MetadataLog
from barnabas.runtime.quorum.snapshot_files import snapshot_name
from barnabas.sim.disk import SimDisk
from barnabas.sim.raft_storage import SimLog

NOW = 1_000
CONFIG = LogConfig(
    segment_bytes=300, segment_index_bytes=240, index_interval_bytes=80, retention_ms=-1, file_delete_delay_ms=0
)
KEEP_ONE = RetentionSettings(
    max_retention_bytes=1, max_retention_ms=-1, max_record_bytes_between_snapshots=1, max_snapshot_interval_ms=0
)


def formatted() -> SimDisk:
    disk = SimDisk()
    disk.make_directory("/data")
    disk.flush_directory("/")
    return disk


def open_log(disk: SimDisk) -> MetadataLog:
    return MetadataLog(disk, "/data", CONFIG, rng=Random(0), now_ms=NOW)


def batch(offset: int, epoch: int, count: int = 1) -> bytes:
    records = [Record(offset + delta, NOW, None, b"value") for delta in range(count)]
    return bytes(build_batch(records, base_offset=offset, leader_epoch=epoch))


def snapshot(epoch: int = 0) -> bytes:
    head = control.build([control.snapshot_header(NOW)], base_offset=0, epoch=epoch, timestamp_ms=NOW)
    return head + control.build([control.snapshot_footer()], base_offset=1, epoch=epoch, timestamp_ms=NOW)


class LogBesideModel(RuleBasedStateMachine):
    """Appends, truncations, snapshots, cleaning and restarts, on both."""

    @initialize()
    def start(self) -> None:
        self.disk = formatted()
        self.log = open_log(self.disk)
        self.model = SimLog()
        self.committed = 0

    @rule(batches=st.lists(st.integers(1, 3), min_size=1, max_size=4), rise=st.integers(0, 2))
    def append(self, batches: list[int], rise: int) -> None:
        offset, epoch = self.model.end
        data = b""
        for count in batches:
            data += batch(offset, epoch + rise, count)
            offset += count
        self.model.append(data)
        self.log.append(data, epoch + rise, NOW)

    @precondition(lambda self: self.model.end.offset > self.committed)
    @rule(data=st.data())
    def truncate(self, data: st.DataObject) -> None:
        bounds = [each.base_offset for each in self.model.batches if each.base_offset >= self.committed]
        end_offset = data.draw(st.sampled_from(bounds))
        assert self.log.end_if_truncated(end_offset) == self.model.end_if_truncated(end_offset)
        self.model.truncate(end_offset)
        self.log.truncate(end_offset, NOW)

    @precondition(lambda self: self.model.end.offset > self.committed)
    @rule(data=st.data())
    def commit_and_snapshot(self, data: st.DataObject) -> None:
        ends = [each.next_offset for each in self.model.batches if each.next_offset > self.committed]
        self.committed = data.draw(st.sampled_from(ends))
        self.log.update_high_watermark(self.committed)
        snapshot_id = self.model.end_if_truncated(self.committed)
        self.model.snapshots[snapshot_id] = snapshot(snapshot_id.epoch)
        self.log.snapshots.write_own(snapshot_id, [snapshot(snapshot_id.epoch)])
        assert self.log.keep_own_snapshot(snapshot_id)

    @rule()
    def clean(self) -> None:
        kept = self.log.clean(KEEP_ONE, self.committed, NOW)
        assert (kept is not None) == (
            self.model.latest_snapshot_id is not None and self.model.latest_snapshot_id.offset > self.model.start_offset
        )
        if kept is not None:
            assert kept == self.model.latest_snapshot_id
            self.model.delete_before(kept)

    @rule(rise=st.integers(1, 5), gap=st.integers(1, 5))
    def install_snapshot(self, rise: int, gap: int) -> None:
        snapshot_id = OffsetAndEpoch(self.model.end.offset + gap, self.model.end.epoch + rise)
        data = snapshot(snapshot_id.epoch)
        for position in range(0, len(data), 50):
            self.log.snapshots.write_chunk(snapshot_id, position, data[position : position + 50])
        self.log.install_snapshot(snapshot_id, NOW)
        self.model.batches, self.model.snapshots = [], {snapshot_id: data}
        self.model.start_offset = self.committed = snapshot_id.offset

    @rule()
    def restart(self) -> None:
        """What is before the log's start and still in its first file is there again, as in Apache's node."""
        self.log.close(NOW)
        self.log = open_log(self.disk)
        self.log.update_high_watermark(self.committed)
        assert self.log.start_offset <= self.model.start_offset
        self.log.clean(KEEP_ONE, self.committed, NOW)
        if self.model.latest_snapshot_id is not None:
            self.model.delete_before(self.model.latest_snapshot_id)

    @invariant()
    def show_the_same(self) -> None:
        log, model = self.log, self.model
        assert log.start_offset == model.start_offset
        assert log.end == model.end
        assert log.latest_snapshot_id == model.latest_snapshot_id
        assert log.earliest_snapshot_id == model.earliest_snapshot_id
        for epoch in range(model.end.epoch + 2):
            for offset in range(max(0, model.start_offset - 1), model.end.offset + 2):
                follower = OffsetAndEpoch(offset, epoch)
                assert compare_follower(log, follower) == compare_follower(model, follower), follower
        for offset in {model.start_offset, (model.start_offset + model.end.offset) // 2, model.end.offset}:
            for size in (1, 100, 10_000):
                read, expected = bytes(log.read(offset, size)), bytes(model.read(offset, size))
                # A read ends with its segment, the model has none.
                assert expected.startswith(read)
                assert bool(read) == bool(expected)
        for snapshot_id, data in model.snapshots.items():
            assert log.snapshot_size(snapshot_id) == len(data)
            assert bytes(log.read_snapshot(snapshot_id, 10, 40)) == data[10:50]


TestLogBesideModel = LogBesideModel.TestCase
TestLogBesideModel.settings = settings(stateful_step_count=20)


@given(st.integers(0, 2**32), st.integers(0, 60))
def test_a_power_cut_leaves_the_log_or_the_snapshot_that_replaces_it(seed: int, operations: int) -> None:
    class Cut(BaseException):
        pass

    disk = formatted()
    log = open_log(disk)
    log.append(batch(0, 1, 3), 1, NOW)
    flush = log.prepare_flush()
    assert flush is not None
    flush.run()
    before = OffsetAndEpoch(3, 1)
    after = OffsetAndEpoch(10, 2)
    begun = disk.operations

    def cut(_operation: str, _path: str) -> None:
        if disk.operations - begun >= operations:
            raise Cut

    disk.before_operation = cut
    try:
        log.snapshots.write_chunk(after, 0, snapshot(2))
        log.install_snapshot(after, NOW)
    except Cut:
        pass
    else:
        before = after
    again = open_log(disk.after_power_cut(Random(seed)))
    assert again.end in (before, after)
    assert (again.latest_snapshot_id == after) == (again.end == after)
    assert not [name for name in again._disk.names(f"/data/{DIRECTORY}") if name.endswith(".part")]


def test_an_end_that_is_cut_off_is_told(caplog: pytest.LogCaptureFixture) -> None:
    disk = formatted()
    log = open_log(disk)
    log.append(batch(0, 1), 1, NOW)
    log.append(batch(1, 1), 1, NOW)
    log.close(NOW)
    segment = disk.open(f"/data/{DIRECTORY}/{0:020}.log")
    segment.truncate(segment.size() - 1)
    assert open_log(disk).end.offset == 1
    (told,) = caplog.records
    assert told.levelname == "WARNING"
    assert vars(told)["log_end_offset"] == 1


def test_quorum_state_is_read_back_and_a_damaged_one_refused() -> None:
    disk = formatted()
    log = open_log(disk)
    assert log.read_quorum_state() is None
    state = QuorumState(epoch=3, voted_key=ReplicaKey(2))
    log.write_quorum_state(state)
    assert open_log(disk.after_power_cut(Random(0))).read_quorum_state() == state
    disk.open(f"/data/{DIRECTORY}/quorum-state").truncate(5)
    with pytest.raises(BadQuorumState, match="__cluster_metadata-0: quorum-state"):
        log.read_quorum_state()


def test_an_own_snapshot_that_was_overtaken_by_an_installed_one_is_dropped() -> None:
    disk = formatted()
    log = open_log(disk)
    own, later = OffsetAndEpoch(5, 1), OffsetAndEpoch(10, 2)
    log.snapshots.write_own(own, [snapshot(1)])
    log.snapshots.write_chunk(later, 0, snapshot(2))
    log.install_snapshot(later, NOW)
    assert not log.keep_own_snapshot(own)
    assert log.earliest_snapshot_id == log.latest_snapshot_id == later
    assert [name for name in disk.names(f"/data/{DIRECTORY}") if ".checkpoint" in name] == [snapshot_name(later)]


def test_a_log_that_lacks_its_beginning_and_a_snapshot_of_it_is_refused() -> None:
    disk = formatted()
    log = open_log(disk)
    snapshot_id = OffsetAndEpoch(10, 2)
    log.snapshots.write_chunk(snapshot_id, 0, snapshot(2))
    log.install_snapshot(snapshot_id, NOW)
    log.append(batch(10, 2), 2, NOW)
    log.close(NOW)
    disk.remove(f"/data/{DIRECTORY}/{snapshot_name(snapshot_id)}")
    with pytest.raises(DamagedMetadataLog, match="no snapshot"):
        open_log(disk)


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda data: data[: len(data) // 2], "is cut off"),
        (lambda data: data[:-1], "is cut off"),
        (lambda _: b"x", "is cut off"),
        (lambda data: data[:-1] + bytes([data[-1] ^ 1]), "is damaged: checksum"),
    ],
)
def test_a_log_is_not_given_up_for_a_snapshot_that_is_not_whole(damage: Callable[[bytes], bytes], reason: str) -> None:
    disk = formatted()
    log = open_log(disk)
    log.append(batch(0, 1), 1, NOW)
    log.close(NOW)
    ahead = OffsetAndEpoch(10, 2)
    path = f"/data/{DIRECTORY}/{snapshot_name(ahead)}"
    file = disk.open(path, create=True)
    file.write_at(0, damage(snapshot(2)))
    file.close()
    with pytest.raises(DamagedMetadataLog, match=f"{snapshot_name(ahead)} {reason}"):
        open_log(disk)
    disk.remove(path)
    assert open_log(disk).end == OffsetAndEpoch(1, 1)
