"""A snapshot is loaded in pieces: the image stays what it was until the last one, and a later snapshot goes first."""

from __future__ import annotations

from random import Random

import pytest

from barnabas.log.log_config import LogConfig
from barnabas.metadata.finalized_features import FeaturesImage
from barnabas.metadata.image import EMPTY_IMAGE, MetadataImage, Provenance
from barnabas.metadata.sorted_map import SortedMap
from barnabas.metadata.versions import LATEST_METADATA_VERSION
from barnabas.raft import control
from barnabas.raft.log_view import OffsetAndEpoch
from barnabas.runtime.quorum import replay as replay_module
from barnabas.runtime.quorum.metadata_log import MetadataLog
from barnabas.runtime.quorum.replay import MetadataReplay
from barnabas.runtime.quorum.snapshotting import snapshot_batches
from barnabas.sim.disk import SimDisk

NOW_MS = 1_000
FIRST, SECOND = OffsetAndEpoch(10, 1), OffsetAndEpoch(20, 2)


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> MetadataLog:
    monkeypatch.setattr(replay_module, "PIECE_RECORDS", 2)
    disk = SimDisk()
    disk.make_directory("/data")
    return MetadataLog(disk, "/data", LogConfig(), rng=Random(0), now_ms=NOW_MS)


def image_at(snapshot_id: OffsetAndEpoch) -> MetadataImage:
    """Of six records: its level and five more features, each at the level of the snapshot's epoch."""
    levels = SortedMap({f"feature.{number}": snapshot_id.epoch for number in range(5)})
    provenance = Provenance(snapshot_id.offset - 1, snapshot_id.epoch, NOW_MS, is_batch_aligned=True)
    return MetadataImage(provenance=provenance, features=FeaturesImage(LATEST_METADATA_VERSION, levels))


def install(log: MetadataLog, snapshot_id: OffsetAndEpoch) -> None:
    head = [control.snapshot_header(NOW_MS)]
    position = 0
    for batch in snapshot_batches(image_at(snapshot_id), head, snapshot_id.epoch, NOW_MS):
        log.snapshots.write_chunk(snapshot_id, position, batch)
        position += len(batch)
    log.install_snapshot(snapshot_id, NOW_MS)


def test_the_image_changes_with_the_last_piece(log: MetadataLog) -> None:
    replay = MetadataReplay(log)
    assert replay.snapshot_ahead is None
    install(log, FIRST)
    assert replay.snapshot_ahead == FIRST
    for _ in range(3):
        assert not replay.load_snapshot_piece()
        assert (replay.image, replay.next_offset) == (EMPTY_IMAGE, 0)
    assert replay.load_snapshot_piece()
    assert (replay.image, replay.next_offset) == (image_at(FIRST), FIRST.offset)
    assert replay.snapshot_ahead is None


def test_a_snapshot_that_comes_while_another_is_loaded_is_loaded_in_its_place(log: MetadataLog) -> None:
    replay = MetadataReplay(log)
    install(log, FIRST)
    assert not replay.load_snapshot_piece()
    install(log, SECOND)
    assert [replay.load_snapshot_piece() for _ in range(4)] == [False, False, False, True]
    assert (replay.image, replay.next_offset) == (image_at(SECOND), SECOND.offset)


def test_at_a_start_all_of_it_is_loaded_at_once(log: MetadataLog) -> None:
    install(log, FIRST)
    replay = MetadataReplay(log)
    assert replay.load_snapshot()
    assert (replay.image, replay.next_offset) == (image_at(FIRST), FIRST.offset)
    assert not replay.load_snapshot()
