"""Features go up and down where every node and the metadata allow it, and eligible replicas come and go with theirs."""

from __future__ import annotations

import pytest

from barnabas.controller.effects import KRaftUpgradeRefused
from barnabas.metadata.versions import MetadataVersion
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.allocate_producer_ids import AllocateProducerIdsRequest, AllocateProducerIdsResponse
from barnabas.protocol.messages.broker_registration import Feature
from barnabas.protocol.messages.controller_registration import (
    ControllerRegistrationRequest,
    ControllerRegistrationResponse,
)
from barnabas.protocol.messages.controller_registration import Feature as ControllerFeature
from barnabas.protocol.messages.update_features import (
    FeatureUpdateKey,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)
from barnabas.protocol.metadata_records.no_op import NoOpRecord
from unit.controller.controlled_cluster import ControlledCluster, bootstrap, incarnation, registration
from unit.controller.requests import alter_isr, create_topic, set_configs

UPGRADE, SAFE, UNSAFE = 1, 2, 3
ELR = "eligible.leader.replicas.version"


def update(
    cluster: ControlledCluster,
    levels: dict[str, int],
    upgrade_type: int = UPGRADE,
    *,
    validate_only: bool = False,
    version: int = 2,
) -> UpdateFeaturesResponse:
    updates = [
        FeatureUpdateKey(feature=name, max_version_level=level, upgrade_type=upgrade_type)
        for name, level in levels.items()
    ]
    request = UpdateFeaturesRequest(feature_updates=updates, validate_only=validate_only)
    return cluster.ask(request, UpdateFeaturesResponse, version=version)


def code(cluster: ControlledCluster, levels: dict[str, int], upgrade_type: int = UPGRADE) -> int:
    end_offset = cluster.end_offset
    error_code = update(cluster, levels, upgrade_type).error_code
    assert (cluster.end_offset == end_offset) == (error_code != 0)
    return error_code


def test_the_metadata_version_is_raised_and_others_with_it() -> None:
    cluster = ControlledCluster(version=MetadataVersion.V3_9_IV0, has_elr=False)
    cluster.start_brokers(1)
    assert code(cluster, {"metadata.version": 30, ELR: 1, "transaction.version": 2}) == 0
    features = cluster.image.features
    assert features.metadata_version is MetadataVersion.V4_3_IV0
    assert features.is_elr_enabled
    assert features.level("transaction.version") == 2


@pytest.mark.parametrize(
    ("levels", "upgrade_type"),
    [
        ({"metadata.version": 31}, UPGRADE),
        ({"metadata.version": 20}, SAFE),
        ({"metadata.version": 29}, UPGRADE),
        ({"metadata.version": 29}, SAFE),
        ({"metadata.version": 29}, UNSAFE),
        ({"metadata.version": 30}, 0),
        ({"group.version": -1}, SAFE),
        ({"group.version": 2}, UPGRADE),
        ({"group.version": 0}, UPGRADE),
        ({"no.such": 1}, UPGRADE),
        ({"no.such": 0}, SAFE),
        ({"kraft.version": 0}, SAFE),
        ({"kraft.version": 2}, UPGRADE),
        ({"transaction.version": 2, "group.version": 7}, UPGRADE),
    ],
)
def test_each_mistake_is_refused_and_changes_nothing(levels: dict[str, int], upgrade_type: int) -> None:
    cluster = ControlledCluster()
    assert code(cluster, levels, upgrade_type) == ErrorCode.INVALID_UPDATE_VERSION


def test_a_downgrade_that_loses_nothing_is_taken() -> None:
    cluster = ControlledCluster(version=MetadataVersion.V4_2_IV1)
    assert code(cluster, {"metadata.version": 28}, SAFE) == 0
    assert cluster.image.features.metadata_version is MetadataVersion.V4_2_IV0
    assert code(cluster, {"metadata.version": 29}, SAFE) == ErrorCode.INVALID_UPDATE_VERSION
    assert code(cluster, {"metadata.version": 22}, SAFE) == ErrorCode.INVALID_UPDATE_VERSION


def test_a_level_needs_what_it_depends_on() -> None:
    cluster = ControlledCluster(version=MetadataVersion.V3_9_IV0, has_elr=False)
    assert code(cluster, {ELR: 1}) == ErrorCode.INVALID_UPDATE_VERSION
    assert code(cluster, {ELR: 1, "metadata.version": 23}) == 0


def test_every_broker_and_controller_has_to_know_a_level() -> None:
    cluster = ControlledCluster(version=MetadataVersion.V4_0_IV0, has_elr=False)
    features = [f for f in registration(1).features if f.name != "metadata.version"]
    features.append(Feature(name="metadata.version", min_supported_version=7, max_supported_version=24))
    cluster.start_brokers(1, features=features)
    assert code(cluster, {"metadata.version": 25}) == ErrorCode.INVALID_UPDATE_VERSION
    assert code(cluster, {"metadata.version": 23}) == 0
    request = ControllerRegistrationRequest(
        controller_id=3001,
        incarnation_id=incarnation(3001),
        zk_migration_ready=False,
        listeners=[],
        features=[ControllerFeature(name="metadata.version", min_supported_version=7, max_supported_version=23)],
    )
    assert cluster.ask(request, ControllerRegistrationResponse).error_code == 0
    assert code(cluster, {"metadata.version": 24}) == ErrorCode.INVALID_UPDATE_VERSION


def test_validation_alone_writes_nothing() -> None:
    cluster = ControlledCluster(version=MetadataVersion.V4_0_IV0, has_elr=False)
    end_offset = cluster.end_offset
    assert update(cluster, {"metadata.version": 30}, validate_only=True).error_code == 0
    assert cluster.end_offset == end_offset


def test_older_clients_are_told_feature_by_feature() -> None:
    cluster = ControlledCluster()
    response = update(cluster, {"transaction.version": 2}, version=1)
    assert [result.feature for result in response.results] == ["transaction.version"]
    assert update(cluster, {"transaction.version": 2}).results == []


def test_the_oldest_version_says_downgrade_in_its_own_way() -> None:
    cluster = ControlledCluster()
    key = FeatureUpdateKey(feature="share.version", max_version_level=0, allow_downgrade=True)
    request = UpdateFeaturesRequest(feature_updates=[key])
    assert cluster.ask(request, UpdateFeaturesResponse, version=0).error_code == 0
    assert cluster.image.features.level("share.version") == 0


def test_the_quorum_has_the_last_word_on_kraft_version() -> None:
    cluster = ControlledCluster(kraft_version=0)
    cluster.kraft_answer = KRaftUpgradeRefused(ErrorCode.INVALID_UPDATE_VERSION, "a voter does not know it")
    response = update(cluster, {"kraft.version": 1, "transaction.version": 1}, SAFE)
    assert response.error_code == ErrorCode.INVALID_UPDATE_VERSION
    response = update(cluster, {"kraft.version": 1})
    assert (response.error_code, response.error_message) == (
        ErrorCode.INVALID_UPDATE_VERSION,
        "a voter does not know it",
    )


def test_an_upgrade_of_the_quorum_is_answered_when_it_is_committed() -> None:
    cluster = ControlledCluster(kraft_version=0)
    end_offset = cluster.end_offset
    assert update(cluster, {"kraft.version": 1}).error_code == 0
    assert [type(record) for record in cluster.records(end_offset)] == [NoOpRecord]
    assert update(cluster, {"kraft.version": 1}).error_code == 0
    assert cluster.controller.situation(0).kraft_version == 1


def test_eligible_replicas_switched_on_empty_the_isr_of_who_is_fenced_and_off_fill_it_again() -> None:
    cluster = ControlledCluster(has_elr=False, static_configs={"min.insync.replicas": "2"})
    cluster.start_brokers(1, 2)
    create_topic(cluster, "t", [[1, 2]])
    assert set_configs(cluster, 4, "1", {"min.insync.replicas": "1"}) == 0
    cluster.fence(2)
    cluster.fence(1)
    assert cluster.partition("t").isr == (1,)
    assert code(cluster, {ELR: 1}) == 0
    partition = cluster.partition("t")
    assert (partition.isr, partition.eligible_leader_replicas) == ((), (1,))
    configs = {resource.name: dict(values) for resource, values in cluster.image.configs.entries()}
    assert configs == {"": {"min.insync.replicas": "2"}}
    assert code(cluster, {ELR: 0}, SAFE) == 0
    partition = cluster.partition("t")
    assert (partition.isr, partition.eligible_leader_replicas, partition.last_known_elr) == ((1,), (), ())
    cluster.heartbeat(1)
    assert cluster.partition("t").leader == 1


def test_a_cluster_can_be_made_at_every_level() -> None:
    for version in MetadataVersion:
        cluster = ControlledCluster(version=version, has_elr=version >= MetadataVersion.V4_0_IV1)
        cluster.start_brokers(1, 2)
        create_topic(cluster, "t", [[1, 2]])
        alter_isr(cluster, "t", [1])
        assert cluster.image.features.metadata_version is version
        assert len(bootstrap(version)) <= len(cluster.records())


def test_producer_ids_come_in_blocks_that_never_overlap() -> None:
    cluster = ControlledCluster()
    cluster.start_brokers(1, 2)
    starts = []
    for broker_id in (1, 2, 1):
        request = AllocateProducerIdsRequest(broker_id=broker_id, broker_epoch=cluster.epochs[broker_id])
        response = cluster.ask(request, AllocateProducerIdsResponse)
        assert (response.error_code, response.producer_id_len) == (0, 1_000)
        starts.append(response.producer_id_start)
    assert starts == [0, 1_000, 2_000]
    request = AllocateProducerIdsRequest(broker_id=1, broker_epoch=0)
    assert cluster.ask(request, AllocateProducerIdsResponse).error_code == ErrorCode.STALE_BROKER_EPOCH
