"""The finalized features of the cluster: the level of `metadata.version`, and those of the others that are not zero."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from barnabas.metadata.errors import ReplayError
from barnabas.metadata.features import ELIGIBLE_LEADER_REPLICAS_VERSION, KRAFT_VERSION
from barnabas.metadata.map_delta import MapDelta
from barnabas.metadata.sorted_map import SortedMap
from barnabas.metadata.versions import METADATA_VERSION, MetadataVersion
from barnabas.protocol.metadata_records.feature_level import FeatureLevelRecord
from barnabas.protocol.schema import Message


@dataclass(frozen=True, slots=True)
class FeaturesImage:
    """`levels` leaves out `metadata.version`, which is None before the first record, and `kraft.version`."""

    metadata_version: MetadataVersion | None = None
    levels: SortedMap[str, int] = field(default_factory=SortedMap)

    def level(self, name: str) -> int:
        if name == METADATA_VERSION:
            return self.metadata_version or 0
        return self.levels.get(name, 0)

    @property
    def is_elr_enabled(self) -> bool:
        return self.level(ELIGIBLE_LEADER_REPLICAS_VERSION) >= 1

    def records(self, version: MetadataVersion) -> Iterator[Message]:
        """First of all the level of `metadata.version`: it may bear on how the records behind it are read."""
        yield FeatureLevelRecord(name=METADATA_VERSION, feature_level=version)
        for name, level in self.levels.entries():
            yield FeatureLevelRecord(name=name, feature_level=level)


class FeaturesDelta:
    """`metadata_version` is None where it was not set again."""

    __slots__ = ("base", "levels", "metadata_version")

    def __init__(self, base: FeaturesImage) -> None:
        self.base = base
        self.metadata_version: MetadataVersion | None = None
        self.levels = MapDelta(base.levels)

    @classmethod
    def between(cls, base: FeaturesImage, image: FeaturesImage) -> FeaturesDelta:
        delta = cls(base)
        if image.metadata_version != base.metadata_version:
            delta.metadata_version = image.metadata_version
        delta.levels = MapDelta.between(base.levels, image.levels)
        return delta

    def set_level(self, record: FeatureLevelRecord) -> None:
        if record.name == METADATA_VERSION:
            try:
                self.metadata_version = MetadataVersion.of_level(record.feature_level)
            except ValueError as error:
                raise ReplayError(f"{error}; kafka-features of a release that knows it can change it") from None
        elif record.name == KRAFT_VERSION:
            pass  # It lives in control records; early releases wrote it here too, by mistake (KAFKA-18979).
        elif record.feature_level == 0:
            self.levels.remove(record.name)
        else:
            self.levels.put(record.name, record.feature_level)

    def apply(self) -> FeaturesImage:
        if self.metadata_version is None and not self.levels.changes:
            return self.base
        return FeaturesImage(self.metadata_version or self.base.metadata_version, self.levels.apply())
