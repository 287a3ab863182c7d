"""Settings of every kind of resource, in both ways of changing them, and what the cluster does not allow."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.controller.policies import ConfigChange, Policies, PolicyViolation
from barnabas.metadata.configs import ConfigResource, ConfigResourceType
from barnabas.metadata.versions import MetadataVersion
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.alter_configs import (
    AlterableConfig,
    AlterConfigsRequest,
    AlterConfigsResource,
    AlterConfigsResponse,
)
from barnabas.protocol.messages.incremental_alter_configs import AlterableConfig as Change
from barnabas.protocol.messages.incremental_alter_configs import AlterConfigsResource as Resource
from barnabas.protocol.messages.incremental_alter_configs import (
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from barnabas.protocol.metadata_records.config import ConfigRecord
from unit.controller.controlled_cluster import ControlledCluster
from unit.controller.requests import alter_isr, create_topic, create_topics, new_topic, set_configs

TOPIC, BROKER, LOGGER, CLIENT_METRICS, GROUP = 2, 4, 8, 16, 32
APPEND, SUBTRACT = 2, 3


@pytest.fixture
def cluster() -> ControlledCluster:
    made = ControlledCluster()
    made.start_brokers(1, 2)
    create_topic(made, "t", [[1, 2]])
    return made


def configs(cluster: ControlledCluster, resource_type: int, name: str) -> dict[str, str]:
    found = cluster.image.configs.get(ConfigResource(ConfigResourceType(resource_type), name))
    return dict(found or {})


def replace(cluster: ControlledCluster, resource_type: int, name: str, **values: str | None) -> int:
    wanted = [AlterableConfig(name=key.replace("_", "."), value=value) for key, value in values.items()]
    resource = AlterConfigsResource(resource_type=resource_type, resource_name=name, configs=wanted)
    request = AlterConfigsRequest(resources=[resource], validate_only=False)
    return cluster.ask(request, AlterConfigsResponse).responses[0].error_code


def test_settings_are_set_and_deleted_one_by_one(cluster: ControlledCluster) -> None:
    assert set_configs(cluster, TOPIC, "t", {"retention.ms": "5", "segment.ms": "7"}) == 0
    assert set_configs(cluster, TOPIC, "t", {"retention.ms": None, "no.such": None}) == 0
    assert configs(cluster, TOPIC, "t") == {"segment.ms": "7"}


def test_the_older_request_replaces_everything(cluster: ControlledCluster) -> None:
    assert set_configs(cluster, TOPIC, "t", {"retention.ms": "5", "segment.ms": "7"}) == 0
    assert replace(cluster, TOPIC, "t", segment_ms="8") == 0
    assert configs(cluster, TOPIC, "t") == {"segment.ms": "8"}
    assert replace(cluster, TOPIC, "t") == 0
    assert configs(cluster, TOPIC, "t") == {}


def test_lists_are_appended_to_and_subtracted_from_beginning_with_the_default(cluster: ControlledCluster) -> None:
    name = "cleanup.policy"
    assert set_configs(cluster, TOPIC, "t", {name: "compact"}, operation=APPEND) == 0
    assert configs(cluster, TOPIC, "t") == {name: "delete,compact"}
    assert set_configs(cluster, TOPIC, "t", {name: "compact"}, operation=APPEND) == 0
    assert set_configs(cluster, TOPIC, "t", {name: "delete"}, operation=SUBTRACT) == 0
    assert configs(cluster, TOPIC, "t") == {name: "compact"}
    assert set_configs(cluster, TOPIC, "t", {"segment.ms": "1"}, operation=APPEND) == ErrorCode.INVALID_CONFIG


def test_what_stays_is_written_again_for_brokers_only(cluster: ControlledCluster) -> None:
    for resource_type, name, setting, is_written in (
        (TOPIC, "t", "segment.ms", False),
        (BROKER, "1", "log.roll.ms", True),
    ):
        assert set_configs(cluster, resource_type, name, {setting: "7"}) == 0
        end_offset = cluster.end_offset
        assert set_configs(cluster, resource_type, name, {setting: "7"}) == 0
        assert (cluster.end_offset > end_offset) == is_written


def test_validation_alone_writes_nothing(cluster: ControlledCluster) -> None:
    end_offset = cluster.end_offset
    assert set_configs(cluster, TOPIC, "t", {"segment.ms": "7"}, validate_only=True) == 0
    assert set_configs(cluster, TOPIC, "t", {"segment.ms": "x"}, validate_only=True) == ErrorCode.INVALID_CONFIG
    assert cluster.end_offset == end_offset


@pytest.mark.parametrize(
    ("resource_type", "name", "values", "expected"),
    [
        (TOPIC, "x", {"segment.ms": "7"}, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (TOPIC, "", {"segment.ms": "7"}, ErrorCode.INVALID_REQUEST),
        (TOPIC, "t t", {"segment.ms": "7"}, ErrorCode.INVALID_TOPIC_EXCEPTION),
        (TOPIC, "t", {"no.such": "7"}, ErrorCode.INVALID_CONFIG),
        (TOPIC, "t", {"segment.ms": "0"}, ErrorCode.INVALID_CONFIG),
        (TOPIC, "t", {"leader.replication.throttled.replicas": "0:1," * 8_192}, ErrorCode.INVALID_CONFIG),
        (BROKER, "", {"log.cleaner.threads": "2"}, 0),
        (BROKER, "1", {"log.cleaner.threads": "2"}, 0),
        (BROKER, "1", {"of.a.plugin": "x"}, 0),
        (BROKER, "1", {"log.cleaner.threads": "two"}, ErrorCode.INVALID_CONFIG),
        (BROKER, "9", {"log.cleaner.threads": "2"}, ErrorCode.BROKER_ID_NOT_REGISTERED),
        (BROKER, "3000", {"log.cleaner.threads": "2"}, 0),
        (BROKER, "one", {"log.cleaner.threads": "2"}, ErrorCode.INVALID_REQUEST),
        (BROKER, "-1", {"log.cleaner.threads": "2"}, ErrorCode.INVALID_REQUEST),
        (LOGGER, "1", {"kafka": "DEBUG"}, ErrorCode.INVALID_REQUEST),
        (99, "1", {"a": "b"}, ErrorCode.UNSUPPORTED_VERSION),
        (GROUP, "g", {"consumer.session.timeout.ms": "50000"}, 0),
        (GROUP, "g", {"consumer.session.timeout.ms": "1"}, ErrorCode.INVALID_CONFIG),
        (GROUP, "g", {"consumer.session.timeout.ms": "70000"}, ErrorCode.INVALID_CONFIG),
        (GROUP, "g", {"streams.num.standby.replicas": "3"}, ErrorCode.INVALID_CONFIG),
        (GROUP, "g", {"no.such": "1"}, ErrorCode.INVALID_CONFIG),
        (GROUP, "", {"consumer.session.timeout.ms": "50000"}, ErrorCode.INVALID_REQUEST),
        (GROUP, "g", {"share.auto.offset.reset": "by_duration:PT1H30M"}, 0),
        (GROUP, "g", {"share.auto.offset.reset": "by_duration:P"}, ErrorCode.INVALID_CONFIG),
        (GROUP, "g", {"share.auto.offset.reset": "by_duration:PT"}, ErrorCode.INVALID_CONFIG),
        (GROUP, "g", {"share.isolation.level": "read_committed"}, 0),
        (CLIENT_METRICS, "m", {"interval.ms": "100", "metrics": "a,b", "match": "client_id=x.*"}, 0),
        (CLIENT_METRICS, "m", {"interval.ms": "99"}, ErrorCode.INVALID_REQUEST),
        (CLIENT_METRICS, "m", {"no.such": "99"}, ErrorCode.INVALID_REQUEST),
        (CLIENT_METRICS, "m", {"match": "client_id=("}, ErrorCode.INVALID_CONFIG),
        (CLIENT_METRICS, "m", {"match": "client=x"}, ErrorCode.INVALID_CONFIG),
        (CLIENT_METRICS, "", {"interval.ms": "100"}, ErrorCode.INVALID_REQUEST),
    ],
)
def test_each_resource_takes_its_own_settings(
    cluster: ControlledCluster, resource_type: int, name: str, values: dict[str, str | None], expected: int
) -> None:
    assert set_configs(cluster, resource_type, name, values) == expected
    assert (values.items() <= configs(cluster, resource_type, name).items()) == (expected == 0)


def test_one_bad_resource_spares_its_neighbours(cluster: ControlledCluster) -> None:
    def resource(name: str) -> Resource:
        change = Change(name="segment.ms", config_operation=0, value="7")
        return Resource(resource_type=TOPIC, resource_name=name, configs=[change])

    create_topic(cluster, "u", [[1]])
    asked = [resource(name) for name in ("x", "t", "u", "u")]
    request = IncrementalAlterConfigsRequest(resources=asked, validate_only=False)
    responses = cluster.ask(request, IncrementalAlterConfigsResponse).responses
    assert {each.resource_name: each.error_code for each in responses} == {
        "x": ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        "t": 0,
        "u": ErrorCode.INVALID_REQUEST,
    }
    assert configs(cluster, TOPIC, "u") == {}


@pytest.mark.parametrize(("operation", "value"), [(0, None), (7, "x")])
def test_an_operation_without_sense_is_refused(cluster: ControlledCluster, operation: int, value: str | None) -> None:
    assert set_configs(cluster, TOPIC, "t", {"segment.ms": value}, operation=operation) in (
        ErrorCode.INVALID_CONFIG,
        ErrorCode.INVALID_REQUEST,
    )


def test_with_eligible_leader_replicas_the_least_isr_is_the_clusters() -> None:
    for has_elr in (True, False):
        cluster = ControlledCluster(has_elr=has_elr)
        cluster.start_brokers(1)
        refused = ErrorCode.INVALID_CONFIG if has_elr else 0
        assert set_configs(cluster, BROKER, "1", {"min.insync.replicas": "2"}) == refused
        assert set_configs(cluster, BROKER, "", {"min.insync.replicas": None}) == refused
        assert set_configs(cluster, BROKER, "", {"min.insync.replicas": "2"}) == 0


def test_another_least_isr_ends_eligibility(cluster: ControlledCluster) -> None:
    create_topic(cluster, "u", [[1, 2]])
    for resource_type, name in ((TOPIC, "t"), (BROKER, "")):
        assert set_configs(cluster, BROKER, "", {"min.insync.replicas": "2"}) == 0
        for topic in ("t", "u"):
            alter_isr(cluster, topic, [1, 2])
            alter_isr(cluster, topic, [1])
            assert cluster.partition(topic).eligible_leader_replicas == (2,)
        assert set_configs(cluster, resource_type, name, {"min.insync.replicas": "2"}) == 0
        assert cluster.partition("t").eligible_leader_replicas == ()
        assert cluster.partition("u").eligible_leader_replicas == ((2,) if resource_type == TOPIC else ())


def test_a_least_isr_above_the_number_of_replicas_counts_as_that_number(cluster: ControlledCluster) -> None:
    assert set_configs(cluster, TOPIC, "t", {"min.insync.replicas": "3"}) == 0
    alter_isr(cluster, "t", [1])
    assert cluster.partition("t").eligible_leader_replicas == (2,)
    alter_isr(cluster, "t", [1, 2])
    assert cluster.partition("t").eligible_leader_replicas == ()


def test_directories_are_cordoned_through_their_broker_and_freed_through_anybody(cluster: ControlledCluster) -> None:
    name = "cordoned.log.dirs"
    assert set_configs(cluster, BROKER, "1", {name: "/a,/b"}) == ErrorCode.INVALID_CONFIG
    assert set_configs(cluster, BROKER, "1", {name: "/a,/b"}, is_forwarded=True) == 0
    assert set_configs(cluster, BROKER, "1", {name: "/b"}) == 0
    assert set_configs(cluster, BROKER, "1", {name: None}) == 0


def test_cordoning_needs_its_metadata_version() -> None:
    cluster = ControlledCluster(version=MetadataVersion.V4_2_IV1)
    cluster.start_brokers(1)
    code = set_configs(cluster, BROKER, "1", {"cordoned.log.dirs": "/a"}, is_forwarded=True)
    assert code == ErrorCode.INVALID_CONFIG


def test_tiered_topics_follow_their_own_rules() -> None:
    cluster = ControlledCluster(static_configs={"remote.log.storage.system.enable": "true"})
    cluster.start_brokers(1)
    create_topic(cluster, "t", [[1]], configs={"remote.storage.enable": "true"})
    cases: list[tuple[dict[str, str | None], bool]] = [
        ({"cleanup.policy": "compact"}, False),
        ({"retention.ms": "5", "local.retention.ms": "6"}, False),
        ({"retention.ms": "5", "local.retention.ms": "-1"}, False),
        ({"retention.ms": "5", "local.retention.ms": "5"}, True),
        ({"retention.bytes": "5", "local.retention.bytes": "6"}, False),
        ({"local.retention.ms": "4", "remote.log.copy.disable": "true"}, False),
        ({"remote.storage.enable": "false"}, False),
        ({"remote.storage.enable": "false", "remote.log.delete.on.disable": "true"}, True),
    ]
    for values, is_allowed in cases:
        assert (set_configs(cluster, TOPIC, "t", values) == 0) == is_allowed, values


def test_a_policy_sees_what_is_asked_for_and_not_what_follows_from_it() -> None:
    seen: list[dict[str, Any]] = []

    def policy(change: ConfigChange) -> None:
        seen.append(dict(change.configs))
        if change.configs.get("segment.ms") == "13":
            raise PolicyViolation("not that number")

    cluster = ControlledCluster(policies=Policies(alter_configs=policy))
    cluster.start_brokers(1)
    create_topic(cluster, "t", [[1]])
    seen.clear()
    assert set_configs(cluster, TOPIC, "t", {"segment.ms": "13"}) == ErrorCode.POLICY_VIOLATION
    assert set_configs(cluster, TOPIC, "t", {"segment.ms": "14"}) == 0
    assert replace(cluster, TOPIC, "t", retention_ms="5") == 0
    assert seen == [{"segment.ms": "13"}, {"segment.ms": "14"}, {"retention.ms": "5"}]


def test_a_value_that_nobody_checked_does_not_stop_the_cluster() -> None:
    cluster = ControlledCluster()
    cluster.start_brokers(1, 2)
    cluster.resign()
    cluster.write(
        [
            ConfigRecord(resource_type=BROKER, resource_name="", name="min.insync.replicas", value="many"),
            ConfigRecord(resource_type=BROKER, resource_name="", name="log.retention.hours", value="some"),
        ]
    )
    cluster.lead()
    create_topics(cluster, new_topic("t", assignments=[[1, 2]]))
    cluster.fence(1)
