"""The levels of `metadata.version`: their names, and in which version each level writes which record.

Barnabas knows the levels from 3.9-IV0, with which voters became dynamic, to the latest of Kafka 4.3.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import Final

from barnabas.protocol.metadata_records.broker_registration_change import BrokerRegistrationChangeRecord
from barnabas.protocol.metadata_records.partition import PartitionRecord
from barnabas.protocol.metadata_records.partition_change import PartitionChangeRecord
from barnabas.protocol.metadata_records.register_broker import RegisterBrokerRecord
from barnabas.protocol.schema import Message

METADATA_VERSION: Final = "metadata.version"


class MetadataVersion(IntEnum):
    """A level of `metadata.version`. `changes_records`: a cluster cannot go back below it without losing metadata."""

    label: str
    changes_records: bool

    def __new__(cls, level: int, label: str, changes_records: bool = False) -> MetadataVersion:
        member = int.__new__(cls, level)
        member._value_ = level
        member.label = label
        member.changes_records = changes_records
        return member

    V3_9_IV0 = 21, "3.9-IV0"
    V4_0_IV0 = 22, "4.0-IV0"  # group.version 1 (KIP-848)
    V4_0_IV1 = 23, "4.0-IV1", True  # eligible leader replicas in partition records (KIP-966)
    V4_0_IV2 = 24, "4.0-IV2"  # transaction.version 2 (KIP-890)
    V4_0_IV3 = 25, "4.0-IV3"  # ListOffsets that waits for remote storage (KIP-1075)
    V4_1_IV0 = 26, "4.1-IV0"  # eligible leader replicas in clusters made from here on
    V4_1_IV1 = 27, "4.1-IV1"  # Fetch 18 between replicas (KIP-1166)
    V4_2_IV0 = 28, "4.2-IV0"  # share groups (KIP-932)
    V4_2_IV1 = 29, "4.2-IV1"  # streams groups (KIP-1071)
    V4_3_IV0 = 30, "4.3-IV0", True  # cordoned log directories in broker registrations

    @property
    def release(self) -> str:
        """The release that brought this level, such as 4.0."""
        return self.label.partition("-")[0]

    def __str__(self) -> str:
        return self.label

    @property
    def has_eligible_leader_replicas(self) -> bool:
        return self >= MetadataVersion.V4_0_IV1

    @property
    def has_cordoned_log_dirs(self) -> bool:
        return self >= MetadataVersion.V4_3_IV0

    def record_version(self, record: Message) -> int:
        """The version in which a cluster at this level writes the record."""
        if isinstance(record, BrokerRegistrationChangeRecord):
            return _least_version(record)
        return _VERSIONS_AT[self].get(type(record), 0)

    @property
    def partition_record_version(self) -> int:
        """The version in which a cluster at this level writes partitions."""
        return _VERSIONS_AT[self][PartitionRecord]

    @classmethod
    def parse(cls, text: str) -> MetadataVersion:
        """The level of a name such as 4.0-IV1, or the last one of a release such as 4.0 or 4.0.2."""
        parts = text.split(".")
        key = text if len(parts) <= 2 else ".".join(parts[:2])
        found = [version for version in cls if key in (version.label, version.release)]
        if not found:
            raise ValueError(
                f"Unknown metadata.version '{text}'. Supported metadata.version are: {', '.join(map(str, cls))}"
            )
        return found[-1]

    @classmethod
    def of_level(cls, level: int) -> MetadataVersion:
        for version in cls:
            if version == level:
                return version
        least, most = OLDEST_METADATA_VERSION, LATEST_METADATA_VERSION
        raise ValueError(
            f"No metadata.version with feature level {level}: this release knows {least.value} ({least}) to "
            f"{most.value} ({most})"
        )


OLDEST_METADATA_VERSION: Final = min(MetadataVersion)
LATEST_METADATA_VERSION: Final = max(MetadataVersion)

# From which level on a record is written in which version; records that are not named here have had one version only.
_RECORD_VERSIONS: Final[Mapping[type[Message], Mapping[MetadataVersion, int]]] = {
    RegisterBrokerRecord: {MetadataVersion.V3_9_IV0: 3, MetadataVersion.V4_3_IV0: 4},
    PartitionRecord: {MetadataVersion.V3_9_IV0: 1, MetadataVersion.V4_0_IV1: 2},
    PartitionChangeRecord: {MetadataVersion.V3_9_IV0: 1, MetadataVersion.V4_0_IV1: 2},
}
_VERSIONS_AT: Final[Mapping[MetadataVersion, Mapping[type[Message], int]]] = {
    level: {
        record: max(version for since, version in versions.items() if since <= level)
        for record, versions in _RECORD_VERSIONS.items()
    }
    for level in MetadataVersion
}


def is_metadata_changed(first: MetadataVersion, second: MetadataVersion) -> bool:
    """Whether a level above the lower of two, up to the higher, changed records: to go back would lose metadata."""
    low, high = min(first, second), max(first, second)
    return any(version.changes_records for version in MetadataVersion if low < version <= high)


def _least_version(record: BrokerRegistrationChangeRecord) -> int:
    """Controllers write this record in the least version that carries what changed."""
    if record.cordoned_log_dirs is not None:
        return 3
    if record.log_dirs:
        return 2
    return 1 if record.in_controlled_shutdown else 0
