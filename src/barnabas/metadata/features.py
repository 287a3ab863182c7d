"""The features of a cluster beside `metadata.version`: their levels, when each became the default, what it needs.

The order of the table is the one in which `kafka-features version-mapping` prints it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from barnabas.metadata.versions import (
    LATEST_METADATA_VERSION,
    METADATA_VERSION,
    OLDEST_METADATA_VERSION,
    MetadataVersion,
)
from barnabas.protocol.version_range import VersionRange

KRAFT_VERSION: Final = "kraft.version"
TRANSACTION_VERSION: Final = "transaction.version"
GROUP_VERSION: Final = "group.version"
ELIGIBLE_LEADER_REPLICAS_VERSION: Final = "eligible.leader.replicas.version"
SHARE_VERSION: Final = "share.version"
STREAMS_VERSION: Final = "streams.version"


class FeatureError(ValueError):
    """A feature or level that does not exist, or that needs another one first."""


@dataclass(frozen=True, slots=True)
class FeatureLevel:
    """A level of a feature. A cluster made at `default_since` or later has it unless told otherwise."""

    level: int
    default_since: MetadataVersion
    needs: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Feature:
    """A feature, whose level 0 is its absence."""

    name: str
    levels: tuple[FeatureLevel, ...]

    @property
    def supported(self) -> VersionRange:
        return VersionRange(0, self.levels[-1].level)

    def default_level(self, version: MetadataVersion) -> int:
        """The level that a cluster formatted at `version` starts with."""
        return max((each.level for each in self.levels if each.default_since <= version), default=0)

    def needs(self, level: int) -> Mapping[str, int]:
        """The features that this level depends on, each with the least level of it."""
        if level == 0:
            return {}
        for each in self.levels:
            if each.level == level:
                return each.needs
        raise FeatureError(f"No feature:{self.name} with feature level {level}")


FEATURES: Final[Mapping[str, Feature]] = {
    feature.name: feature
    for feature in (
        Feature(KRAFT_VERSION, (FeatureLevel(1, MetadataVersion.V3_9_IV0),)),
        Feature(
            TRANSACTION_VERSION,
            (FeatureLevel(1, MetadataVersion.V4_0_IV2), FeatureLevel(2, MetadataVersion.V4_0_IV2)),
        ),
        Feature(GROUP_VERSION, (FeatureLevel(1, MetadataVersion.V4_0_IV0),)),
        Feature(
            ELIGIBLE_LEADER_REPLICAS_VERSION,
            (FeatureLevel(1, MetadataVersion.V4_1_IV0, {METADATA_VERSION: MetadataVersion.V4_0_IV1}),),
        ),
        Feature(SHARE_VERSION, (FeatureLevel(1, MetadataVersion.V4_2_IV0),)),
        Feature(STREAMS_VERSION, (FeatureLevel(1, MetadataVersion.V4_2_IV1),)),
    )
}

SUPPORTED_FEATURES: Final[Mapping[str, VersionRange]] = {
    METADATA_VERSION: VersionRange(OLDEST_METADATA_VERSION, LATEST_METADATA_VERSION),
    **{feature.name: feature.supported for feature in FEATURES.values()},
}


def feature_named(name: str) -> Feature:
    try:
        return FEATURES[name]
    except KeyError:
        raise FeatureError(f"Unknown feature: {name}. Known features are: {', '.join(FEATURES)}") from None


def default_levels(version: MetadataVersion) -> dict[str, int]:
    """Every feature with its default level in a cluster made at `version`, in the order in which tools print them."""
    return {feature.name: feature.default_level(version) for feature in FEATURES.values()}


def check_needs(name: str, level: int, levels: Mapping[str, int]) -> None:
    """Raise FeatureError where `levels`, the features of a cluster, lack what this level of a feature depends on."""
    for needed, least in feature_named(name).needs(level).items():
        if levels.get(needed, 0) < least:
            raise FeatureError(f"{name} could not be set to {level} because it depends on {needed} level {int(least)}")
