"""The first records of an active controller: an empty log's bootstrap, the end of what its predecessor left open."""

from __future__ import annotations

from collections.abc import Sequence

from barnabas.config.topic import TOPIC_SETTINGS
from barnabas.controller.settings import ControllerSettings
from barnabas.metadata.configs import ConfigResourceType
from barnabas.metadata.features import ELIGIBLE_LEADER_REPLICAS_VERSION
from barnabas.metadata.image import MetadataImage
from barnabas.metadata.versions import METADATA_VERSION, MetadataVersion
from barnabas.protocol.metadata_records.abort_transaction import AbortTransactionRecord
from barnabas.protocol.metadata_records.begin_transaction import BeginTransactionRecord
from barnabas.protocol.metadata_records.config import ConfigRecord
from barnabas.protocol.metadata_records.end_transaction import EndTransactionRecord
from barnabas.protocol.metadata_records.feature_level import FeatureLevelRecord
from barnabas.protocol.schema import Message

MIN_INSYNC_REPLICAS = "min.insync.replicas"


def activation_records(
    image: MetadataImage, bootstrap: Sequence[Message], settings: ControllerSettings, *, is_in_transaction: bool
) -> list[Message]:
    """Nothing, as a rule. A log without a metadata.version is empty or has a bootstrap that was cut off."""
    records: list[Message] = []
    if is_in_transaction:
        records.append(AbortTransactionRecord(reason="Controller failover"))
    if image.features.metadata_version is None:
        records.append(BeginTransactionRecord(name="Bootstrap records"))
        records += bootstrap
        if bootstrap_level(bootstrap, ELIGIBLE_LEADER_REPLICAS_VERSION) > 0:
            records.append(cluster_min_isr(static_min_isr(settings)))
        records.append(EndTransactionRecord())
    return records


def bootstrap_level(bootstrap: Sequence[Message], feature: str) -> int:
    levels = {each.name: each.feature_level for each in bootstrap if isinstance(each, FeatureLevelRecord)}
    return levels.get(feature, 0)


def bootstrap_version(bootstrap: Sequence[Message]) -> MetadataVersion:
    """The level that the bootstrap's own records are written in."""
    return MetadataVersion.of_level(bootstrap_level(bootstrap, METADATA_VERSION))


def static_min_isr(settings: ControllerSettings) -> int:
    (setting,) = (each for each in TOPIC_SETTINGS if each.name == MIN_INSYNC_REPLICAS)
    given = settings.static_configs.get(MIN_INSYNC_REPLICAS)
    value = setting.default if given is None else setting.parse(given)
    assert isinstance(value, int)
    return value


def cluster_min_isr(least: int) -> ConfigRecord:
    """Eligible leader replicas need one min.insync.replicas for all brokers (KIP-966)."""
    return ConfigRecord(
        resource_type=ConfigResourceType.BROKER, resource_name="", name=MIN_INSYNC_REPLICAS, value=str(least)
    )
