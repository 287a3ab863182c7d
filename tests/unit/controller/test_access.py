"""Every request is held to what its asker may do, as Apache Kafka's controllers hold it."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.controller.operations import OPERATIONS, QUERIES
from barnabas.metadata.access import AccessControlEntry
from barnabas.metadata.sorted_map import SortedMap
from barnabas.protocol.api import APIS, ApiKey
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.alter_client_quotas import AlterClientQuotasRequest, AlterClientQuotasResponse
from barnabas.protocol.messages.alter_configs import AlterConfigsRequest, AlterConfigsResource, AlterConfigsResponse
from barnabas.protocol.messages.create_delegation_token import (
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
)
from barnabas.protocol.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
)
from barnabas.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse, DeleteTopicState
from barnabas.protocol.messages.describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from barnabas.protocol.messages.elect_leaders import ElectLeadersRequest, ElectLeadersResponse
from barnabas.protocol.messages.unregister_broker import UnregisterBrokerRequest, UnregisterBrokerResponse
from barnabas.protocol.schema import ZERO_UUID
from barnabas.protocol.uuid import Uuid
from barnabas.security.acls import CLUSTER_NAME, AclOperation, PatternType, PermissionType, ResourceType
from barnabas.security.authorizer import Access, Authorizer, AuthorizerRules
from unit.controller.controlled_cluster import ControlledCluster
from unit.controller.requests import create_topic, create_topics, new_topic, set_configs

ADA = "User:ada"
CLUSTER, TOPIC, GROUP, USER = ResourceType.CLUSTER, ResourceType.TOPIC, ResourceType.GROUP, ResourceType.USER
TOPIC_CONFIG, BROKER_CONFIG, CLIENT_METRICS_CONFIG, GROUP_CONFIG = 2, 4, 16, 32
DENIED_TOPIC = ErrorCode.TOPIC_AUTHORIZATION_FAILED
DENIED_CLUSTER = ErrorCode.CLUSTER_AUTHORIZATION_FAILED

# What Apache's ControllerApis asks of the cluster; None where it asks for each resource.
NEEDS: dict[ApiKey, AclOperation | None] = {
    ApiKey.ALTER_PARTITION: AclOperation.CLUSTER_ACTION,
    ApiKey.BROKER_HEARTBEAT: AclOperation.CLUSTER_ACTION,
    ApiKey.BROKER_REGISTRATION: AclOperation.CLUSTER_ACTION,
    ApiKey.CONTROLLER_REGISTRATION: AclOperation.CLUSTER_ACTION,
    ApiKey.ALLOCATE_PRODUCER_IDS: AclOperation.CLUSTER_ACTION,
    ApiKey.ASSIGN_REPLICAS_TO_DIRS: AclOperation.CLUSTER_ACTION,
    ApiKey.ELECT_LEADERS: AclOperation.ALTER,
    ApiKey.UNREGISTER_BROKER: AclOperation.ALTER,
    ApiKey.ALTER_PARTITION_REASSIGNMENTS: AclOperation.ALTER,
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS: AclOperation.ALTER,
    ApiKey.UPDATE_FEATURES: AclOperation.ALTER,
    ApiKey.DESCRIBE_CLUSTER: AclOperation.ALTER,
    ApiKey.CREATE_ACLS: AclOperation.ALTER,
    ApiKey.DELETE_ACLS: AclOperation.ALTER,
    ApiKey.ALTER_CLIENT_QUOTAS: AclOperation.ALTER_CONFIGS,
    ApiKey.LIST_PARTITION_REASSIGNMENTS: AclOperation.DESCRIBE,
    ApiKey.DESCRIBE_ACLS: AclOperation.DESCRIBE,
    ApiKey.CREATE_TOPICS: None,
    ApiKey.DELETE_TOPICS: None,
    ApiKey.CREATE_PARTITIONS: None,
    ApiKey.ALTER_CONFIGS: None,
    ApiKey.INCREMENTAL_ALTER_CONFIGS: None,
    ApiKey.CREATE_DELEGATION_TOKEN: None,
    ApiKey.RENEW_DELEGATION_TOKEN: None,
    ApiKey.EXPIRE_DELEGATION_TOKEN: None,
}


def access(*granted: tuple[AclOperation, ResourceType, str]) -> dict[str, Any]:
    """The context of Ada, who may do this and nothing else."""
    acls = SortedMap(
        {
            Uuid(number.to_bytes(16, "big")): AccessControlEntry(
                resource, name, PatternType.LITERAL, ADA, "*", operation, PermissionType.ALLOW
            )
            for number, (operation, resource, name) in enumerate(granted)
        }
    )
    return {"principal": ADA, "access": Access(Authorizer(AuthorizerRules(), lambda: acls), ADA, "10.0.0.1")}


@pytest.fixture
def cluster() -> ControlledCluster:
    cluster = ControlledCluster(delegation_token_secret_key="secret")
    cluster.start_brokers(1)
    return cluster


def test_each_request_needs_what_apache_asks_for() -> None:
    needs = {request: each.needs for table in (OPERATIONS, QUERIES) for request, each in table.items()}
    assert {ApiKey(request.api_key or 0): need for request, need in needs.items()} == NEEDS
    assert all(key in APIS for key in NEEDS)


@pytest.mark.parametrize(
    ("request_", "expected", "needed"),
    [
        (ElectLeadersRequest(topic_partitions=None), ElectLeadersResponse, AclOperation.ALTER),
        (UnregisterBrokerRequest(broker_id=7), UnregisterBrokerResponse, AclOperation.ALTER),
        (
            DescribeClusterRequest(include_cluster_authorized_operations=False, endpoint_type=2),
            DescribeClusterResponse,
            AclOperation.ALTER,
        ),
    ],
)
@pytest.mark.parametrize("is_active", [True, False])
def test_a_request_without_the_right_on_the_cluster_is_refused_as_a_whole(
    cluster: ControlledCluster, request_: Any, expected: Any, needed: AclOperation, is_active: bool
) -> None:
    if not is_active:
        cluster.resign()
    end = cluster.end_offset
    for context in (access(), access((AclOperation.DESCRIBE, CLUSTER, CLUSTER_NAME))):
        assert cluster.ask(request_, expected, **context).error_code == DENIED_CLUSTER
    allowed = cluster.ask(request_, expected, **access((needed, CLUSTER, CLUSTER_NAME)))
    assert allowed.error_code != DENIED_CLUSTER
    assert cluster.end_offset == end


def test_a_response_without_a_code_on_top_refuses_each_of_its_parts(cluster: ControlledCluster) -> None:
    request = AlterClientQuotasRequest(entries=[], validate_only=False)
    assert cluster.ask(request, AlterClientQuotasResponse, **access()).entries == []


def test_a_topic_is_created_by_who_may_create_it_or_any(cluster: ControlledCluster) -> None:
    topics = (new_topic("mine"), new_topic("theirs"), new_topic("__cluster_metadata"))
    results = create_topics(cluster, *topics, **access((AclOperation.CREATE, TOPIC, "mine")))
    assert [each.error_code for each in results] == [0, DENIED_TOPIC, ErrorCode.INVALID_REQUEST]
    (created, *_) = results
    assert created.topic_config_error_code == DENIED_TOPIC, "to create is not to look at"
    assert (created.configs, created.num_partitions, created.replication_factor) == ([], -1, -1)
    context = access((AclOperation.CREATE, CLUSTER, CLUSTER_NAME), (AclOperation.DESCRIBE_CONFIGS, TOPIC, "any"))
    (result,) = create_topics(cluster, new_topic("any"), **context)
    assert (result.error_code, result.topic_config_error_code, result.num_partitions) == (0, 0, 1)
    assert result.configs


def delete(cluster: ControlledCluster, context: dict[str, Any], *states: DeleteTopicState) -> list[Any]:
    return cluster.ask(
        DeleteTopicsRequest(topics=list(states), timeout_ms=0), DeleteTopicsResponse, **context
    ).responses


def test_who_may_not_look_at_a_topic_learns_nothing_of_it_by_deleting(cluster: ControlledCluster) -> None:
    for name in ("secret", "seen", "mine"):
        create_topic(cluster, name, [[1]])
    ids = {name: cluster.image.topics.ids[name] for name in ("secret", "seen", "mine")}
    context = access((AclOperation.DESCRIBE, TOPIC, "seen"), (AclOperation.DELETE, TOPIC, "mine"))
    by_name = delete(
        cluster,
        context,
        *(DeleteTopicState(name=name, topic_id=ZERO_UUID) for name in ("secret", "absent", "seen")),
    )
    assert [each.error_code for each in by_name] == [DENIED_TOPIC] * 3
    by_id = delete(cluster, context, *(DeleteTopicState(name=None, topic_id=ids[name]) for name in ("secret", "seen")))
    assert [(each.error_code, each.name) for each in by_id] == [(DENIED_TOPIC, None), (DENIED_TOPIC, "seen")]
    assert "secret" not in by_id[0].error_message
    (unknown,) = delete(
        cluster, access((AclOperation.DESCRIBE, TOPIC, "absent")), DeleteTopicState(name="absent", topic_id=ZERO_UUID)
    )
    assert unknown.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    (deleted,) = delete(cluster, context, DeleteTopicState(name=None, topic_id=ids["mine"]))
    assert (deleted.error_code, deleted.name) == (0, "mine")
    anything = access((AclOperation.DELETE, CLUSTER, CLUSTER_NAME))
    assert [
        each.error_code for each in delete(cluster, anything, DeleteTopicState(name="seen", topic_id=ZERO_UUID))
    ] == [0]
    assert list(cluster.image.topics.ids) == ["secret"]


def test_partitions_are_added_by_who_may_alter_the_topic(cluster: ControlledCluster) -> None:
    for name in ("mine", "theirs"):
        create_topic(cluster, name, [[1]])
    topics = [CreatePartitionsTopic(name=name, count=2, assignments=None) for name in ("mine", "theirs", "absent")]
    request = CreatePartitionsRequest(topics=topics, timeout_ms=0, validate_only=False)
    response = cluster.ask(request, CreatePartitionsResponse, **access((AclOperation.ALTER, TOPIC, "mine")))
    assert [each.error_code for each in response.results] == [0, DENIED_TOPIC, DENIED_TOPIC]


@pytest.mark.parametrize(
    ("resource_type", "name", "configs", "granted", "denied"),
    [
        (TOPIC_CONFIG, "t", {"retention.ms": "1"}, (TOPIC, "t"), DENIED_TOPIC),
        (
            GROUP_CONFIG,
            "g",
            {"share.isolation.level": "read_committed"},
            (GROUP, "g"),
            ErrorCode.GROUP_AUTHORIZATION_FAILED,
        ),
        (BROKER_CONFIG, "1", {"log.retention.ms": "1"}, (CLUSTER, CLUSTER_NAME), DENIED_CLUSTER),
        (CLIENT_METRICS_CONFIG, "m", {"interval.ms": "1000"}, (CLUSTER, CLUSTER_NAME), DENIED_CLUSTER),
    ],
)
def test_settings_are_altered_by_who_may_alter_those_of_the_resource(
    cluster: ControlledCluster,
    resource_type: int,
    name: str,
    configs: dict[str, str | None],
    granted: tuple[ResourceType, str],
    denied: ErrorCode,
) -> None:
    create_topic(cluster, "t", [[1]])
    other = ((AclOperation.ALTER, *granted), (AclOperation.DESCRIBE_CONFIGS, *granted))
    assert set_configs(cluster, resource_type, name, configs, **access(*other)) == denied
    resource = AlterConfigsResource(resource_type=resource_type, resource_name=name, configs=[])
    legacy = AlterConfigsRequest(resources=[resource], validate_only=True)
    assert cluster.ask(legacy, AlterConfigsResponse, **access(*other)).responses[0].error_code == denied
    allowed = access((AclOperation.ALTER_CONFIGS, *granted))
    assert set_configs(cluster, resource_type, name, configs, **allowed) == 0
    assert cluster.ask(legacy, AlterConfigsResponse, **allowed).responses[0].error_code == 0


def test_a_token_for_somebody_else_needs_a_right_on_them(cluster: ControlledCluster) -> None:
    def create(owner: str | None, context: dict[str, Any]) -> int:
        request = CreateDelegationTokenRequest(
            owner_principal_type="User", owner_principal_name=owner, renewers=[], max_lifetime_ms=-1
        )
        return cluster.ask(request, CreateDelegationTokenResponse, is_forwarded=True, **context).error_code

    assert create(None, access()) == 0
    assert create("ada", access()) == 0
    assert create("bob", access()) == ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED
    assert create("bob", access((AclOperation.CREATE_TOKENS, USER, "User:bob"))) == 0


def test_what_the_asker_may_do_with_the_cluster_is_told_on_demand(cluster: ControlledCluster) -> None:
    def operations(is_asked: bool, context: dict[str, Any]) -> int:
        request = DescribeClusterRequest(include_cluster_authorized_operations=is_asked, endpoint_type=2)
        response = cluster.ask(request, DescribeClusterResponse, **context)
        assert response.error_code == 0
        return response.cluster_authorized_operations

    alter = access((AclOperation.ALTER, CLUSTER, CLUSTER_NAME))
    assert operations(False, alter) == -(2**31)
    assert operations(True, alter) == 1 << AclOperation.ALTER | 1 << AclOperation.DESCRIBE
    assert operations(True, {}) == 0b1_1111_1010_0000
