"""Apache Kafka's classes and ours make the same image of the same metadata log, and the same snapshot of that image."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from barnabas.metadata.bootstrap import BootstrapMetadata, read_checkpoint, write_checkpoint
from barnabas.metadata.features import FEATURES, default_levels
from barnabas.metadata.framing import build_batches, read_batches, read_values
from barnabas.metadata.image import MetadataImage, Provenance
from barnabas.metadata.loader import MetadataLoader, SnapshotLoad
from barnabas.metadata.versions import LATEST_METADATA_VERSION, MetadataVersion
from barnabas.protocol.metadata_records.partition import PartitionRecord
from barnabas.protocol.metadata_records.partition_change import PartitionChangeRecord
from barnabas.protocol.metadata_records.register_broker import RegisterBrokerRecord
from declared_messages import blank
from interop.apache_image import ImageReferee, in_one_order, log_of
from interop.apache_logs import ApacheLogs
from metadata_history import random_history
from metadata_text import describe

pytestmark = pytest.mark.referee

HISTORIES = 20


@pytest.fixture(scope="module")
def referee() -> Iterator[ImageReferee]:
    with closing(ImageReferee()) as running:
        yield running


def image_of(log: bytes) -> MetadataImage:
    loader = MetadataLoader()
    loader.load(read_batches(log))
    return loader.image


@pytest.mark.parametrize("version", MetadataVersion)
def test_random_histories_come_to_the_same_image_and_snapshot(referee: ImageReferee, version: MetadataVersion) -> None:
    for seed in range(HISTORIES):
        log = log_of(random_history(seed, version, 40).batches)
        ours, theirs = image_of(log), referee.image(log)
        assert describe(ours) == theirs.text
        assert ours.provenance[:2] == (theirs.last_contained_offset, theirs.last_contained_epoch)
        assert in_one_order(ours.records()) == in_one_order(theirs.snapshot)


@pytest.mark.parametrize("version", MetadataVersion)
def test_a_snapshot_of_ours_gives_apache_the_image_that_it_is_of(
    referee: ImageReferee, version: MetadataVersion
) -> None:
    for seed in range(HISTORIES):
        ours = image_of(log_of(random_history(seed, version, 40).batches))
        snapshot = build_batches(ours.records(), base_offset=0, epoch=1, timestamp_ms=1, batch_bytes_max=2000)
        assert referee.image(b"".join(snapshot)).text == describe(ours)


def test_the_log_of_an_apache_node_comes_to_the_same_image(referee: ImageReferee, apache_logs: ApacheLogs) -> None:
    log = metadata_log(apache_logs)
    ours, theirs = image_of(log), referee.image(log)
    assert describe(ours) == theirs.text
    assert theirs.text["topics"], "the node has made topics"
    assert in_one_order(ours.records()) == in_one_order(theirs.snapshot)


def test_every_snapshot_of_an_apache_node_is_the_one_that_we_would_write(apache_logs: ApacheLogs) -> None:
    batches = list(read_batches(metadata_log(apache_logs)))
    # The one at offset 0 is of the format command and has control records only.
    snapshots = [path for path in metadata_directory(apache_logs).glob("*.checkpoint") if int(path.stem.split("-")[0])]
    assert snapshots
    for path in snapshots:
        end_offset, epoch = map(int, path.stem.split("-"))
        records = [record for batch in read_batches(path.read_bytes()) for record in batch.records]
        loader = MetadataLoader()
        loader.load(batch for batch in batches if batch.last_offset < end_offset)
        assert loader.image.provenance[:2] == (end_offset - 1, epoch)
        assert in_one_order(loader.image.records()) == in_one_order(records)
        read = SnapshotLoad(read_values(path.read_bytes()), loader.image.provenance).load()
        assert read == loader.image


def test_the_bootstrap_checkpoint_of_apaches_format_is_ours_to_the_byte(apache_logs: ApacheLogs) -> None:
    content = (apache_logs.directory / "bootstrap.checkpoint").read_bytes()
    bootstrap = read_checkpoint(content)
    version = bootstrap.metadata_version
    assert bootstrap == BootstrapMetadata.of_features(version, default_levels(version))
    times = [batch.timestamp_ms for batch in read_batches(content)]
    assert len(times) == 3
    # Apache reads the clock for each batch; with its times, the bytes must be the same.
    ours = [write_checkpoint(bootstrap.records, now_ms) for now_ms in times]
    pieces = [list(read_batches(each)) for each in (content, *ours)]
    sizes = [[batch.size_bytes for batch in each] for each in pieces]
    assert all(each == sizes[0] for each in sizes)
    start = 0
    for index, size in enumerate(sizes[0]):
        assert ours[index][start : start + size] == content[start : start + size]
        start += size


def test_the_levels_of_metadata_version_are_apaches(referee: ImageReferee) -> None:
    ours = [
        [
            int(version),
            version.label,
            version.release,
            version.changes_records,
            *(version.record_version(blank(kind)) for kind in (RegisterBrokerRecord, PartitionRecord)),
            version.record_version(blank(PartitionChangeRecord)),
            version.has_eligible_leader_replicas,
            version.has_cordoned_log_dirs,
        ]
        for version in MetadataVersion
    ]
    known = [row for row in referee.table("versions") if row[0] >= ours[0][0]]
    assert ours == known


def test_the_features_are_apaches_in_its_order(referee: ImageReferee) -> None:
    rows = referee.table("features")
    assert [row[0] for row in rows] == list(FEATURES)
    for name, latest, defaults, dependencies in rows:
        feature = FEATURES[name]
        assert feature.supported == (0, latest)
        ours = {version.label: feature.default_level(version) for version in MetadataVersion}
        assert ours == {label: level for label, level in defaults.items() if label in ours}
        assert {level: dict(feature.needs(int(level))) for level in dependencies} == dependencies


def test_the_latest_level_is_what_an_apache_node_is_formatted_with(apache_logs: ApacheLogs) -> None:
    image = image_of(metadata_log(apache_logs))
    assert image.features.metadata_version is LATEST_METADATA_VERSION
    levels = {name: level for name, level in default_levels(LATEST_METADATA_VERSION).items() if name != "kraft.version"}
    assert dict(image.features.levels) == levels
    assert image.provenance > Provenance()


def metadata_directory(logs: ApacheLogs) -> Path:
    return logs.directory / "__cluster_metadata-0"


def metadata_log(logs: ApacheLogs) -> bytes:
    """All of the log, which none of it has been deleted from."""
    segments = sorted(metadata_directory(logs).glob("*.log"))
    assert int(segments[0].stem) == 0
    return b"".join(path.read_bytes() for path in segments)
