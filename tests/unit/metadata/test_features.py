"""The features of Kafka 4.3: which level a new cluster gets, what a level needs, and what a node supports."""

from __future__ import annotations

import pytest

from barnabas.metadata.features import (
    FEATURES,
    SUPPORTED_FEATURES,
    FeatureError,
    check_needs,
    default_levels,
    feature_named,
)
from barnabas.metadata.versions import MetadataVersion
from barnabas.protocol.version_range import VersionRange

ELR = "eligible.leader.replicas.version"


def test_a_new_cluster_of_kafka_4_3_has_every_feature_at_its_latest() -> None:
    assert default_levels(MetadataVersion.V4_3_IV0) == {
        "kraft.version": 1,
        "transaction.version": 2,
        "group.version": 1,
        ELR: 1,
        "share.version": 1,
        "streams.version": 1,
    }


@pytest.mark.parametrize(
    ("version", "features"),
    [
        ("3.9-IV0", {"kraft.version"}),
        ("4.0-IV0", {"kraft.version", "group.version"}),
        ("4.0-IV1", {"kraft.version", "group.version"}),
        ("4.0-IV2", {"kraft.version", "group.version", "transaction.version"}),
        ("4.1-IV0", {"kraft.version", "group.version", "transaction.version", ELR}),
        ("4.2-IV0", {"kraft.version", "group.version", "transaction.version", ELR, "share.version"}),
    ],
)
def test_a_feature_is_a_default_from_its_level_of_metadata_version_on(version: str, features: set[str]) -> None:
    levels = default_levels(MetadataVersion.parse(version))
    assert {name for name, level in levels.items() if level} == features


def test_eligible_leader_replicas_need_records_that_carry_them() -> None:
    assert feature_named(ELR).needs(1) == {"metadata.version": 23}
    check_needs(ELR, 1, {"metadata.version": 23})
    check_needs(ELR, 0, {"metadata.version": 21})
    with pytest.raises(
        FeatureError, match=f"{ELR} could not be set to 1 because it depends on metadata.version level 23"
    ):
        check_needs(ELR, 1, {"metadata.version": 22})


def test_a_level_that_does_not_exist_is_refused() -> None:
    for feature in FEATURES.values():
        assert feature.needs(0) == {}
        with pytest.raises(FeatureError, match="with feature level"):
            feature.needs(feature.supported.highest + 1)
    with pytest.raises(FeatureError, match=r"Unknown feature: rack.version. Known features are: kraft.version, "):
        feature_named("rack.version")


def test_a_node_supports_every_level_that_is_known() -> None:
    assert SUPPORTED_FEATURES["metadata.version"] == (21, 30)
    assert SUPPORTED_FEATURES["transaction.version"] == (0, 2)
    assert list(SUPPORTED_FEATURES) == ["metadata.version", *FEATURES]


def test_a_range_says_what_is_in_it() -> None:
    assert [level in VersionRange(1, 3) for level in range(5)] == [False, True, True, True, False]
    assert str(VersionRange(1, 3)) == "1-3"
    assert str(VersionRange(2, 2)) == "2"
