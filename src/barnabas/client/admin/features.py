"""The features of a cluster: which levels its nodes support, which are finalized, and changes of those."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum

from barnabas import __version__
from barnabas.client.cluster import Cluster, Target
from barnabas.client.connection import SOFTWARE_NAME
from barnabas.client.errors import ClientError, check_code
from barnabas.client.outcomes import Outcomes, gather
from barnabas.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from barnabas.protocol.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest, UpdateFeaturesResponse


class UpgradeType(IntEnum):
    """What a change of a level may do, by the numbers of UpdateFeatures."""

    UPGRADE = 1
    SAFE_DOWNGRADE = 2
    UNSAFE_DOWNGRADE = 3


@dataclass(frozen=True, slots=True)
class FeatureMetadata:
    """`supported` holds the least and the greatest level of each feature; `epoch` is None where none is known."""

    supported: Mapping[str, tuple[int, int]]
    finalized: Mapping[str, int]
    epoch: int | None


def describe_features(cluster: Cluster, node_id: int | None = None) -> FeatureMetadata:
    """As the node of that id sees them, or any."""
    request = ApiVersionsRequest(client_software_name=SOFTWARE_NAME, client_software_version=__version__)

    def read(response: ApiVersionsResponse) -> FeatureMetadata:
        check_code(response.error_code)
        return FeatureMetadata(
            supported={each.name: (each.min_version, each.max_version) for each in response.supported_features},
            finalized={each.name: each.max_version_level for each in response.finalized_features},
            epoch=response.finalized_features_epoch if response.finalized_features_epoch >= 0 else None,
        )

    to = Target.ANYONE if node_id is None else node_id
    return cluster.call("describeFeatures", lambda _: request, ApiVersionsResponse, read, to=to)


def update_features(
    cluster: Cluster, levels: Mapping[str, int], upgrade_type: UpgradeType, *, validates_only: bool
) -> Outcomes[str]:
    """What came of each feature: None where it has its new level now, or could have."""
    updates = [
        FeatureUpdateKey(feature=name, max_version_level=level, upgrade_type=upgrade_type)
        for name, level in levels.items()
    ]

    def build(timeout_ms: int) -> UpdateFeaturesRequest:
        return UpdateFeaturesRequest(timeout_ms=timeout_ms, feature_updates=updates, validate_only=validates_only)

    def read(response: UpdateFeaturesResponse) -> Outcomes[str]:
        check_code(response.error_code, response.error_message)
        return _outcomes(response, levels)

    try:
        return cluster.call("updateFeatures", build, UpdateFeaturesResponse, read, to=Target.CONTROLLER)
    except ClientError as error:
        return dict.fromkeys(levels, error)


def _outcomes(response: UpdateFeaturesResponse, levels: Mapping[str, int]) -> Outcomes[str]:
    """Since version 2 all features share one outcome, and it stands on top of the response (KIP-1022)."""
    if not response.results:
        return dict.fromkeys(levels)
    return gather(levels, ((each.feature, each.error_code, each.error_message) for each in response.results))
