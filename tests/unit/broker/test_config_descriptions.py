"""The description of a setting: its value, where that comes from, and what is kept to oneself."""

from __future__ import annotations

from collections.abc import Iterable

from barnabas.broker.config_descriptions import ConfigDescription, ConfigDescriptions, GivenValue
from barnabas.broker.topic_configs import BrokerConfigs
from barnabas.controller.effective_configs import ConfigSource
from barnabas.metadata.configs import ConfigResource, ConfigResourceType
from barnabas.metadata.image import MetadataImage
from barnabas.metadata.sorted_map import SortedMap

STATIC = {
    "node.id": "1",
    "process.roles": "controller",
    "controller.listener.names": "CONTROLLER",
    "message.max.bytes": "10",
    "ssl.keystore.password": "secret",
    "my.own": "thing",
    "log.retention.hours": "2",
    "group.consumer.session.timeout.ms": "46000",
    "internal.metadata.delete.delay.millis": "5",
}
CONFIGS = {
    (ConfigResourceType.BROKER, ""): {"message.max.bytes": "20", "log.roll.ms": "3"},
    (ConfigResourceType.BROKER, "1"): {"message.max.bytes": "30", "leader.replication.throttled.rate": "9"},
    (ConfigResourceType.TOPIC, "t"): {"max.message.bytes": " 40 ", "cleanup.policy": "bad"},
    (ConfigResourceType.GROUP, "g"): {"share.isolation.level": "read_committed"},
    (ConfigResourceType.CLIENT_METRICS, "m"): {"interval.ms": "1000"},
}
DYNAMIC, OF_CLUSTER, STATIC_SOURCE, DEFAULT = (
    ConfigSource.DYNAMIC_BROKER_CONFIG,
    ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG,
    ConfigSource.STATIC_BROKER_CONFIG,
    ConfigSource.DEFAULT_CONFIG,
)


def descriptions() -> ConfigDescriptions:
    configs = {ConfigResource(*resource): SortedMap(values) for resource, values in CONFIGS.items()}
    return ConfigDescriptions(MetadataImage(configs=SortedMap(configs)), BrokerConfigs(1, STATIC))


def by_name(described: Iterable[ConfigDescription]) -> dict[str, ConfigDescription]:
    listed = list(described)
    assert [each.name for each in listed] == sorted({each.name for each in listed})
    return {each.name: each for each in listed}


def test_a_nodes_setting_tells_all_that_was_given_for_it_in_order() -> None:
    node = by_name(descriptions().node())
    limit = node["message.max.bytes"]
    assert (limit.text, limit.source, limit.is_sensitive, limit.is_read_only) == ("30", DYNAMIC, False, False)
    assert limit.given == (
        GivenValue("message.max.bytes", "30", DYNAMIC),
        GivenValue("message.max.bytes", "20", OF_CLUSTER),
        GivenValue("message.max.bytes", "10", STATIC_SOURCE),
        GivenValue("message.max.bytes", "1048588", DEFAULT),
    )
    assert node["node.id"].is_read_only
    assert (node["log.retention.ms"].text, node["log.retention.ms"].given) == (None, ())


def test_secrets_and_what_nobody_declared_have_no_text() -> None:
    node = by_name(descriptions().node())
    password = node["ssl.keystore.password"]
    assert (password.text, password.is_sensitive) == (None, True)
    assert password.given == (GivenValue("ssl.keystore.password", None, STATIC_SOURCE),)
    own = node["my.own"]
    assert (own.text, own.is_sensitive, own.is_read_only, own.setting) == (None, True, True, None)
    texts = {value.text for each in node.values() for value in each.given} | {each.text for each in node.values()}
    assert not texts & {"secret", "thing"}


def test_what_is_internal_or_of_running_brokers_only_is_told_where_it_was_given() -> None:
    node = by_name(descriptions().node())
    assert node["internal.metadata.delete.delay.millis"].text == "5"
    assert "internal.metadata.log.segment.bytes" not in node
    assert node["leader.replication.throttled.rate"].text == "9"
    assert "follower.replication.throttled.rate" not in node


def test_the_default_of_all_brokers_is_what_they_were_told_together() -> None:
    told = by_name(descriptions().cluster_default())
    assert told.keys() == {"message.max.bytes", "log.roll.ms"}
    assert told["message.max.bytes"].given == (GivenValue("message.max.bytes", "20", OF_CLUSTER),)


def test_a_topics_setting_falls_back_on_the_nodes() -> None:
    topic = by_name(descriptions().topic("t"))
    limit = topic["max.message.bytes"]
    assert (limit.text, limit.source) == ("40", ConfigSource.DYNAMIC_TOPIC_CONFIG)
    assert [each.source for each in limit.given][1:] == [DYNAMIC, OF_CLUSTER, STATIC_SOURCE, DEFAULT]
    retention = topic["retention.ms"]
    assert (retention.text, retention.source) == ("7200000", DEFAULT), "hours do not go by the name of milliseconds"
    assert topic["cleanup.policy"].text == "bad", "what others wrote is told as it is"
    assert by_name(descriptions().topic("other"))["max.message.bytes"].text == "30"


def test_groups_and_client_metrics_have_their_own_and_defaults() -> None:
    group = by_name(descriptions().group("g"))
    assert group["share.isolation.level"].source is ConfigSource.GROUP_CONFIG
    session = group["consumer.session.timeout.ms"]
    assert (session.text, session.source) == ("46000", STATIC_SOURCE)
    metrics = by_name(descriptions().client_metrics("m"))
    assert (metrics["interval.ms"].text, metrics["interval.ms"].source) == ("1000", ConfigSource.CLIENT_METRICS_CONFIG)
    assert (metrics["match"].text, metrics["match"].source) == ("", DEFAULT)
