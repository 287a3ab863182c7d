"""bootstrap.checkpoint: which records a new cluster starts from, and the file that holds them."""

from __future__ import annotations

import pytest

from barnabas.metadata.bootstrap import DEFAULT_BOOTSTRAP, BootstrapMetadata, read_checkpoint, write_checkpoint
from barnabas.metadata.errors import MetadataError
from barnabas.metadata.features import default_levels
from barnabas.metadata.framing import VersionedRecord, read_batches
from barnabas.metadata.versions import MetadataVersion
from barnabas.protocol.metadata_records.feature_level import FeatureLevelRecord
from barnabas.protocol.metadata_records.no_op import NoOpRecord
from barnabas.records.batch import iterate_batches
from barnabas.records.control import ControlType, read_control_type
from barnabas.records.record import iterate_records

NOW_MS = 1_700_000_000_000


def levels(bootstrap: BootstrapMetadata) -> list[tuple[str, int]]:
    return [(record.message.name, record.message.feature_level) for record in bootstrap.records]  # type: ignore[attr-defined]


def test_features_are_told_by_name_after_metadata_version() -> None:
    version = MetadataVersion.V4_3_IV0
    assert levels(BootstrapMetadata.of_features(version, default_levels(version))) == [
        ("metadata.version", 30),
        ("eligible.leader.replicas.version", 1),
        ("group.version", 1),
        ("share.version", 1),
        ("streams.version", 1),
        ("transaction.version", 2),
    ]


def test_features_at_zero_and_kraft_version_have_no_record() -> None:
    version = MetadataVersion.V3_9_IV0
    given = default_levels(version) | {"metadata.version": 21, "group.version": 0}
    assert levels(BootstrapMetadata.of_features(version, given)) == [("metadata.version", 21)]


def test_a_cluster_without_the_file_starts_at_the_latest_level() -> None:
    assert levels(DEFAULT_BOOTSTRAP) == [("metadata.version", 30)]
    assert DEFAULT_BOOTSTRAP.metadata_version is MetadataVersion.V4_3_IV0


def test_the_file_comes_back_as_it_was_written() -> None:
    bootstrap = BootstrapMetadata.of_features(MetadataVersion.V4_0_IV3, {"group.version": 1}, [NoOpRecord()])
    content = write_checkpoint(bootstrap.records, NOW_MS)
    assert read_checkpoint(content) == bootstrap
    assert [batch.base_offset for batch in read_batches(content)] == [0, 1, 4]


def test_the_file_is_framed_as_a_snapshot() -> None:
    content = write_checkpoint(DEFAULT_BOOTSTRAP.records, NOW_MS)
    kinds = [
        read_control_type(record.key) if header.is_control else None
        for position, header in iterate_batches(content)
        for record in iterate_records(content, position, header)
    ]
    assert kinds == [ControlType.SNAPSHOT_HEADER, None, ControlType.SNAPSHOT_FOOTER]


def test_a_file_without_a_known_level_is_refused() -> None:
    with pytest.raises(MetadataError, match=r"no record says the metadata\.version"):
        read_checkpoint(write_checkpoint([VersionedRecord(NoOpRecord(), 0)], NOW_MS))
    unknown = VersionedRecord(FeatureLevelRecord(name="metadata.version", feature_level=99), 0)
    with pytest.raises(MetadataError, match=r"No metadata\.version with feature level 99"):
        read_checkpoint(write_checkpoint([unknown], NOW_MS))
