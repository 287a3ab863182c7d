"""UpdateFeatures: levels go up where every node supports them, and down where nothing is lost by it.

Eligible leader replicas change what an ISR may be: switched on, fenced brokers leave every ISR; switched off, an ISR
that is empty gets back a member that had everything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import IntEnum
from typing import Final

from barnabas.controller.activation import MIN_INSYNC_REPLICAS, cluster_min_isr, static_min_isr
from barnabas.controller.decision import Decision, KRaftUpgrade, Operation, RequestContext, Situation
from barnabas.controller.effective_configs import CLUSTER_DEFAULT
from barnabas.controller.errors import InvalidUpdateVersion
from barnabas.controller.planner import PartitionPlanner
from barnabas.metadata.configs import ConfigResourceType
from barnabas.metadata.features import (
    ELIGIBLE_LEADER_REPLICAS_VERSION,
    KRAFT_VERSION,
    FeatureError,
    check_needs,
)
from barnabas.metadata.versions import METADATA_VERSION, MetadataVersion, is_metadata_changed
from barnabas.protocol.errors import ApiError
from barnabas.protocol.messages.update_features import (
    FeatureUpdateKey,
    UpdatableFeatureResult,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)
from barnabas.protocol.metadata_records.clear_elr import ClearElrRecord
from barnabas.protocol.metadata_records.config import ConfigRecord
from barnabas.protocol.metadata_records.feature_level import FeatureLevelRecord
from barnabas.protocol.metadata_records.no_op import NoOpRecord
from barnabas.protocol.metadata_records.partition_change import PartitionChangeRecord
from barnabas.protocol.schema import Message
from barnabas.protocol.version_range import VersionRange
from barnabas.security.acls import AclOperation

NOT_SUPPORTED: Final = VersionRange(0, 0)


class UpgradeType(IntEnum):
    UPGRADE = 1
    SAFE_DOWNGRADE = 2
    UNSAFE_DOWNGRADE = 3


def update_features(situation: Situation, request: UpdateFeaturesRequest, context: RequestContext) -> Decision:
    """All of the levels, or none."""
    levels = {
        METADATA_VERSION: int(situation.metadata_version),
        KRAFT_VERSION: situation.kraft_version,
        **situation.image.features.levels,
    }
    proposed = levels | {update.feature: update.max_version_level for update in request.feature_updates}
    records: list[Message] = []
    kraft_upgrade: KRaftUpgrade | None = None
    for update in request.feature_updates:
        _check(situation, update, levels.get(update.feature, 0), proposed, context.version)
        if update.feature != KRAFT_VERSION:
            records.append(FeatureLevelRecord(name=update.feature, feature_level=update.max_version_level))
        elif update.max_version_level != situation.kraft_version:
            kraft_upgrade = KRaftUpgrade(update.max_version_level, request.validate_only)
            # The quorum writes the level in its own records; this one is what the answer waits for.
            records.append(NoOpRecord())
    return Decision(
        UpdateFeaturesResponse(
            throttle_time_ms=0,
            error_code=0,
            error_message=None,
            results=[
                UpdatableFeatureResult(feature=update.feature, error_code=0, error_message=None)
                for update in request.feature_updates
            ]
            if context.version <= 1
            else [],
        ),
        [] if request.validate_only else _with_consequences(situation, records, proposed),
        is_atomic=True,
        kraft_upgrade=kraft_upgrade,
    )


def _check(
    situation: Situation, update: FeatureUpdateKey, current: int, proposed: Mapping[str, int], version: int
) -> None:
    name, level = update.feature, update.max_version_level
    try:
        kind = UpgradeType(update.upgrade_type)
    except ValueError:
        raise _refusal(name, level, f"there is no type of upgrade {update.upgrade_type}") from None
    if version == 0 and update.allow_downgrade:
        kind = UpgradeType.SAFE_DOWNGRADE
    if level < 0:
        raise _refusal(name, level, "a level is at least 0")
    for reason in _unsupported(situation, name, level):
        raise _refusal(name, level, reason)
    if level < current and kind is UpgradeType.UPGRADE:
        raise _refusal(name, level, f"it is at {current}, and going back has to be asked for as a downgrade")
    if level > current and kind is not UpgradeType.UPGRADE:
        raise _refusal(name, level, f"it is at {current}, so this is no downgrade")
    if name == METADATA_VERSION:
        _check_metadata_version(situation, level)
    elif name == KRAFT_VERSION:
        if level < current:
            raise _refusal(name, level, "it cannot go back")
    else:
        try:
            check_needs(name, level, proposed)
        except FeatureError as error:
            raise _refusal(name, level, str(error)) from None


def _check_metadata_version(situation: Situation, level: int) -> None:
    try:
        wanted = MetadataVersion.of_level(level)
    except ValueError as error:
        raise _refusal(METADATA_VERSION, level, str(error)) from None
    current = situation.metadata_version
    if wanted < current and is_metadata_changed(current, wanted):
        raise _refusal(METADATA_VERSION, level, f"metadata that is written since {current} would be lost")


def _unsupported(situation: Situation, name: str, level: int) -> Iterator[str]:
    """Every reason why the cluster could not go on at this level."""
    settings, cluster = situation.settings, situation.image.cluster
    nodes: list[tuple[str, Mapping[str, VersionRange]]] = [("this controller", settings.supported_features)]
    nodes += [(f"broker {broker.id}", broker.supported_features) for broker in cluster.brokers.contents()]
    nodes += [
        (f"controller {controller.id}", controller.supported_features)
        for controller in cluster.controllers.contents()
        if controller.id != settings.node_id
    ]
    for node, supported in nodes:
        levels = supported.get(name, NOT_SUPPORTED)
        if level not in levels:
            yield f"{node} does not know it" if levels == NOT_SUPPORTED else f"{node} knows levels {levels}"
    for voter_id in sorted(situation.voter_ids - {settings.node_id} - set(cluster.controllers)):
        yield f"controller {voter_id} has not registered yet and may not know it"


def _refusal(name: str, level: int, reason: str) -> InvalidUpdateVersion:
    return InvalidUpdateVersion(f"{name} cannot be set to {level}: {reason}")


def _with_consequences(situation: Situation, records: list[Message], proposed: Mapping[str, int]) -> list[Message]:
    was = situation.image.features.is_elr_enabled
    will = proposed.get(ELIGIBLE_LEADER_REPLICAS_VERSION, 0) > 0
    if will and not was:
        return _eligibility_on(situation, records)
    if was and not will:
        return _eligibility_off(situation, records)
    return records


def _eligibility_on(situation: Situation, records: list[Message]) -> list[Message]:
    """One min.insync.replicas for all brokers, and nobody fenced in an ISR."""
    configs = situation.image.configs
    first: list[Message] = []
    if MIN_INSYNC_REPLICAS not in (configs.get(CLUSTER_DEFAULT) or {}):
        first.append(cluster_min_isr(static_min_isr(situation.settings)))
    for resource, values in configs.entries():
        if resource.type is ConfigResourceType.BROKER and resource.name and MIN_INSYNC_REPLICAS in values:
            first.append(
                ConfigRecord(
                    resource_type=resource.type, resource_name=resource.name, name=MIN_INSYNC_REPLICAS, value=None
                )
            )
    later = situation.after([*first, *records])
    planner = PartitionPlanner(later.image, later.settings)
    for broker in later.image.cluster.brokers.contents():
        if broker.is_fenced:
            fenced = broker.id
            planner.take_out(fenced, planner.select(lambda partition, fenced=fenced: fenced in partition.isr))  # type: ignore[misc]
    return [*first, *records, *planner.records]


def _eligibility_off(situation: Situation, records: list[Message]) -> list[Message]:
    """A member for every empty ISR: somebody eligible, or the last leader. Then nobody is eligible any more."""
    restored: list[Message] = []
    for topic in situation.image.topics.by_id.contents():
        for index, partition in topic.partitions.entries():
            if not partition.isr:
                had_most = (*partition.eligible_leader_replicas, *partition.last_known_elr, *partition.replicas)
                member = next(replica for replica in had_most if replica in partition.replicas)
                restored.append(PartitionChangeRecord(partition_id=index, topic_id=topic.id, isr=[member]))
    return [*restored, ClearElrRecord(topic_name=""), *records]


def _refuse(_request: UpdateFeaturesRequest, error: ApiError, _version: int) -> Message:
    return UpdateFeaturesResponse(throttle_time_ms=0, error_code=error.code, error_message=str(error))


OPERATIONS: Mapping[type[Message], Operation] = {
    UpdateFeaturesRequest: Operation(update_features, _refuse, needs=AclOperation.ALTER)
}
