"""What a new cluster starts from: `bootstrap.checkpoint`, written by the format command, read by the first controller.

The file is framed like a snapshot, with a header and a footer, but it is of no offset: its records are appended to the
log of the new cluster.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from barnabas.metadata.errors import MetadataError
from barnabas.metadata.features import KRAFT_VERSION
from barnabas.metadata.framing import VersionedRecord, build_batches, decode_record, read_values
from barnabas.metadata.versions import LATEST_METADATA_VERSION, METADATA_VERSION, MetadataVersion
from barnabas.protocol.codec import encode
from barnabas.protocol.control_records.snapshot_footer import SnapshotFooterRecord
from barnabas.protocol.control_records.snapshot_header import SnapshotHeaderRecord
from barnabas.protocol.metadata_records.feature_level import FeatureLevelRecord
from barnabas.protocol.schema import Message
from barnabas.records.batch import Buffer
from barnabas.records.build import build_batch
from barnabas.records.control import ControlType, encode_control_key
from barnabas.records.record import Record

BOOTSTRAP_FILE: Final = "bootstrap.checkpoint"
FRAME_RECORD_VERSION: Final = 0
EPOCH: Final = 0


class BootstrapMetadata(NamedTuple):
    """The first records of a cluster, and the `metadata.version` that is among them."""

    records: Sequence[VersionedRecord]
    metadata_version: MetadataVersion

    @classmethod
    def of_features(
        cls, version: MetadataVersion, levels: Mapping[str, int], more: Iterable[Message] = ()
    ) -> BootstrapMetadata:
        """From the levels of features, of which those at 0 need no record, and further records such as credentials."""
        named = sorted(levels.keys() - {METADATA_VERSION, KRAFT_VERSION})
        messages: list[Message] = [
            FeatureLevelRecord(name=METADATA_VERSION, feature_level=version),
            *(FeatureLevelRecord(name=name, feature_level=levels[name]) for name in named if levels[name] > 0),
            *more,
        ]
        return cls([VersionedRecord(message, version.record_version(message)) for message in messages], version)

    @classmethod
    def of_records(cls, records: Sequence[VersionedRecord]) -> BootstrapMetadata:
        level = None
        for message, _ in records:
            if isinstance(message, FeatureLevelRecord) and message.name == METADATA_VERSION:
                level = message.feature_level
        if level is None:
            raise MetadataError(f"no record says the {METADATA_VERSION} of the cluster that is to begin")
        try:
            return cls(records, MetadataVersion.of_level(level))
        except ValueError as error:
            raise MetadataError(str(error)) from None


# What a cluster starts from where there is no bootstrap.checkpoint.
DEFAULT_BOOTSTRAP: Final = BootstrapMetadata.of_features(LATEST_METADATA_VERSION, {})


def write_checkpoint(records: Sequence[VersionedRecord], now_ms: int) -> bytes:
    """The content of a bootstrap.checkpoint."""
    header = SnapshotHeaderRecord(version=FRAME_RECORD_VERSION, last_contained_log_timestamp=0)
    footer = SnapshotFooterRecord(version=FRAME_RECORD_VERSION)
    return b"".join(
        (
            _control_batch(0, ControlType.SNAPSHOT_HEADER, header, now_ms),
            *build_batches(records, base_offset=1, epoch=EPOCH, timestamp_ms=now_ms),
            _control_batch(1 + len(records), ControlType.SNAPSHOT_FOOTER, footer, now_ms),
        )
    )


def read_checkpoint(content: Buffer) -> BootstrapMetadata:
    return BootstrapMetadata.of_records([decode_record(value) for value in read_values(content)])


def _control_batch(offset: int, kind: ControlType, message: Message, now_ms: int) -> bytearray:
    value = bytes(encode(message, FRAME_RECORD_VERSION))
    return build_batch([Record(offset, now_ms, encode_control_key(kind), value)], leader_epoch=EPOCH, is_control=True)
