"""Who may register, in which epoch, and what becomes of the partitions of a broker that starts anew."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.metadata.versions import MetadataVersion
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.broker_registration import BrokerRegistrationResponse, Feature, Listener
from barnabas.protocol.messages.controller_registration import (
    ControllerRegistrationRequest,
    ControllerRegistrationResponse,
)
from barnabas.protocol.messages.unregister_broker import UnregisterBrokerRequest, UnregisterBrokerResponse
from barnabas.protocol.schema import ZERO_UUID
from unit.controller.controlled_cluster import ControlledCluster, directory, incarnation, registration
from unit.controller.partitions import write_topic


def refusal(cluster: ControlledCluster, broker_id: int = 1, **fields: Any) -> int:
    end_offset = cluster.end_offset
    response = cluster.ask(registration(broker_id, **fields), BrokerRegistrationResponse)
    assert cluster.end_offset == end_offset
    return response.error_code


def test_a_new_broker_is_fenced_and_its_epoch_is_the_end_of_the_log() -> None:
    cluster = ControlledCluster()
    end_offset = cluster.end_offset
    assert cluster.register(1) == end_offset
    broker = cluster.image.cluster.brokers[1]
    assert broker.is_fenced
    assert broker.epoch == end_offset
    assert broker.directories == (directory(1),)
    assert broker.cordoned_directories is None


def test_a_broker_of_another_cluster_is_refused() -> None:
    assert refusal(ControlledCluster(), cluster_id="other") == ErrorCode.INCONSISTENT_CLUSTER_ID


def test_a_living_broker_keeps_its_id_and_a_silent_one_loses_it() -> None:
    cluster = ControlledCluster()
    cluster.start_brokers(1)
    assert refusal(cluster, incarnation_number=1) == ErrorCode.DUPLICATE_BROKER_REGISTRATION
    cluster.now_ms += 9_001
    assert cluster.register(1, incarnation_number=1) > 0
    assert cluster.image.cluster.brokers[1].incarnation_id == incarnation(1, 1)


def test_the_same_incarnation_may_amend_its_registration_and_keeps_its_epoch() -> None:
    cluster = ControlledCluster()
    cluster.start_brokers(1)
    assert cluster.register(1, rack="b") == cluster.epochs[1]
    broker = cluster.image.cluster.brokers[1]
    assert broker.rack == "b"
    assert not broker.is_fenced


@pytest.mark.parametrize(
    "log_dirs",
    [[], [directory(1), directory(1)], [ZERO_UUID], [directory(2)]],
    ids=["none", "twice", "reserved", "of another broker"],
)
def test_directories_have_to_be_the_brokers_own(log_dirs: list[Any]) -> None:
    cluster = ControlledCluster()
    cluster.register(2)
    assert refusal(cluster, log_dirs=log_dirs) == ErrorCode.INVALID_REGISTRATION


def test_a_broker_that_lacks_a_finalized_feature_is_refused() -> None:
    cluster = ControlledCluster()
    features = [f for f in registration(1).features if f.name != "transaction.version"]
    assert refusal(cluster, features=features) == ErrorCode.UNSUPPORTED_VERSION
    features = [Feature(name="metadata.version", min_supported_version=7, max_supported_version=21)]
    assert refusal(cluster, features=features) == ErrorCode.UNSUPPORTED_VERSION
    assert refusal(cluster, features=[]) == ErrorCode.INVALID_REGISTRATION


def test_a_feature_that_is_not_finalized_asks_nothing_of_a_broker() -> None:
    cluster = ControlledCluster(version=MetadataVersion.V3_9_IV0, has_elr=False)
    features = [
        Feature(name="metadata.version", min_supported_version=7, max_supported_version=21),
        Feature(name="kraft.version", min_supported_version=0, max_supported_version=1),
    ]
    assert cluster.register(1, features=features) > 0


def test_a_listener_with_an_unknown_protocol_is_refused() -> None:
    listeners = [Listener(name="X", host="h", port=1, security_protocol=9)]
    assert refusal(ControlledCluster(), listeners=listeners) == ErrorCode.INVALID_REGISTRATION


def test_a_broker_that_migrates_is_refused() -> None:
    assert refusal(ControlledCluster(), is_migrating_zk_broker=True) == ErrorCode.BROKER_ID_NOT_REGISTERED


def test_after_a_clean_stop_a_broker_stays_eligible_and_after_an_unclean_one_it_does_not() -> None:
    for is_clean in (True, False):
        cluster = ControlledCluster(static_configs={"min.insync.replicas": "2"})
        cluster.start_brokers(1, 2)
        write_topic(cluster, "t", [[1, 2]])
        cluster.fence(2)
        assert cluster.partition("t").eligible_leader_replicas == (2,)
        cluster.now_ms += 9_001
        previous_epoch = cluster.epochs[2] if is_clean else -1
        cluster.register(2, incarnation_number=1, previous_epoch=previous_epoch)
        assert cluster.partition("t").eligible_leader_replicas == ((2,) if is_clean else ())


def test_an_old_broker_cannot_tell_that_it_stopped_cleanly() -> None:
    cluster = ControlledCluster(static_configs={"min.insync.replicas": "2"})
    cluster.start_brokers(1, 2)
    write_topic(cluster, "t", [[1, 2]])
    cluster.fence(2)
    cluster.now_ms += 9_001
    request = registration(2, incarnation_number=1, previous_epoch=cluster.epochs[2])
    cluster.ask(request, BrokerRegistrationResponse, version=2)
    assert cluster.partition("t").eligible_leader_replicas == ()


def test_a_broker_that_starts_anew_leaves_every_isr_before_it_is_registered() -> None:
    cluster = ControlledCluster(has_elr=False)
    cluster.start_brokers(1, 2)
    write_topic(cluster, "t", [[1, 2], [2, 1], [1]])
    cluster.now_ms += 9_001
    cluster.register(1, incarnation_number=1)
    assert [cluster.partition("t", index).isr for index in range(3)] == [(2,), (2,), (1,)]
    assert [cluster.partition("t", index).leader for index in range(3)] == [2, 2, -1]


def test_an_unregistered_broker_is_gone_and_out_of_every_isr() -> None:
    cluster = ControlledCluster()
    cluster.start_brokers(1, 2)
    write_topic(cluster, "t", [[1, 2]])
    response = cluster.ask(UnregisterBrokerRequest(broker_id=1), UnregisterBrokerResponse)
    assert response.error_code == 0
    assert 1 not in cluster.image.cluster.brokers
    assert 1 not in cluster.controller.contacts
    assert cluster.partition("t").isr == (2,)
    assert cluster.heartbeat(1).error_code == ErrorCode.STALE_BROKER_EPOCH
    response = cluster.ask(UnregisterBrokerRequest(broker_id=1), UnregisterBrokerResponse)
    assert response.error_code == ErrorCode.BROKER_ID_NOT_REGISTERED


def test_a_controller_registers_with_its_listeners() -> None:
    cluster = ControlledCluster()
    request = ControllerRegistrationRequest(
        controller_id=3000, incarnation_id=incarnation(3000), zk_migration_ready=False, listeners=[], features=[]
    )
    assert cluster.ask(request, ControllerRegistrationResponse).error_code == 0
    assert cluster.image.cluster.controllers[3000].incarnation_id == incarnation(3000)


def test_a_controller_takes_the_broker_in_its_own_process_for_no_longer_alive_after_a_crash() -> None:
    for roles, is_taken_in in (("controller", False), ("broker, controller", True)):
        cluster = ControlledCluster(static_configs={"process.roles": roles})
        own_id = cluster.controller.settings.node_id
        cluster.start_brokers(own_id)
        cluster.resign()
        cluster.lead()
        again = cluster.ask(registration(own_id, incarnation_number=1), BrokerRegistrationResponse)
        expected = ErrorCode.NONE if is_taken_in else ErrorCode.DUPLICATE_BROKER_REGISTRATION
        assert again.error_code == expected
