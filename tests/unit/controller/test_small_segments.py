"""Small segments and Apache's brokers keep each other out."""

from __future__ import annotations

from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.broker_registration import BrokerRegistrationResponse, Feature
from unit.controller.controlled_cluster import ControlledCluster, registration
from unit.controller.requests import create_topic, create_topics, new_topic, set_configs

SMALL, ALLOWED = "1048575", "1048576"


def apache_features() -> list[Feature]:
    features = [feature for feature in registration(1).features if feature.name != "metadata.version"]
    return [*features, Feature(name="metadata.version", min_supported_version=7, max_supported_version=30)]


def test_among_our_own_brokers_segments_may_be_small() -> None:
    cluster = ControlledCluster()
    cluster.start_brokers(1)
    create_topic(cluster, "t", [[1]], configs={"segment.bytes": "10240"})
    assert cluster.register(2) > 0


def test_beside_a_broker_of_apaches_they_may_not() -> None:
    cluster = ControlledCluster()
    cluster.start_brokers(1)
    cluster.start_brokers(2, features=apache_features())
    (result,) = create_topics(cluster, new_topic("t", configs={"segment.bytes": SMALL}))
    assert result.error_code == ErrorCode.INVALID_CONFIG
    create_topic(cluster, "t", [[1]], configs={"segment.bytes": ALLOWED})
    assert set_configs(cluster, 2, "t", {"segment.bytes": SMALL}) == ErrorCode.INVALID_CONFIG


def test_a_broker_of_apaches_registers_once_no_topic_stands_in_its_way() -> None:
    cluster = ControlledCluster()
    cluster.start_brokers(1)
    create_topic(cluster, "t", [[1]], configs={"segment.bytes": SMALL})
    response = cluster.ask(registration(2, features=apache_features()), BrokerRegistrationResponse)
    assert response.error_code == ErrorCode.INVALID_REGISTRATION
    assert set_configs(cluster, 2, "t", {"segment.bytes": ALLOWED}) == 0
    assert cluster.register(2, features=apache_features()) > 0
