"""DescribeConfigs: what is told on demand, to whom, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.broker.call import Call, Client
from barnabas.broker.handlers.describe_configs import DescribeConfigs
from barnabas.broker.topic_configs import BrokerConfigs
from barnabas.metadata.access import AccessControlEntry
from barnabas.metadata.delta import MetadataDelta
from barnabas.metadata.image import EMPTY_IMAGE
from barnabas.metadata.sorted_map import SortedMap
from barnabas.protocol.api import ApiKey
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.framing import frame_response
from barnabas.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResult,
)
from barnabas.protocol.messages.request_header import RequestHeader
from barnabas.protocol.metadata_records.topic import TopicRecord
from barnabas.protocol.uuid import Uuid
from barnabas.security.acls import ANONYMOUS, CLUSTER_NAME, AclOperation, PatternType, PermissionType, ResourceType
from barnabas.security.authorizer import UNRESTRICTED, Access, Authorizer, AuthorizerRules

PROPERTIES = {"node.id": "1", "process.roles": "controller", "controller.listener.names": "CONTROLLER"}
TOPIC, BROKER, LOGGER, METRICS, GROUP = 2, 4, 8, 16, 32


def image() -> Any:
    delta = MetadataDelta(EMPTY_IMAGE)
    delta.replay(TopicRecord(name="t", topic_id=Uuid(b"topic id of tttt")))
    return delta.apply(EMPTY_IMAGE.provenance)


def describe(
    *asked: tuple[int, str],
    keys: list[str] | None = None,
    access: Access = UNRESTRICTED,
    version: int = 4,
    is_full: bool = False,
) -> list[DescribeConfigsResult]:
    handler = DescribeConfigs(
        BrokerConfigs(1, PROPERTIES),
        image=image,
        access=lambda _: access,
        loggers=lambda: {"root": "INFO", "barnabas.raft": "DEBUG"},
    )
    request = DescribeConfigsRequest(
        resources=[
            DescribeConfigsResource(resource_type=kind, resource_name=name, configuration_keys=keys)
            for kind, name in asked
        ],
        include_synonyms=is_full,
        include_documentation=is_full,
    )
    header = RequestHeader(
        request_api_key=ApiKey.DESCRIBE_CONFIGS, request_api_version=version, correlation_id=1, client_id=None
    )
    response = handler.handle(request, Call(header, version, Client("c", "127.0.0.1", 1, "L"), 0))
    assert frame_response(response, version, 1)
    return response.results


@pytest.mark.parametrize("version", [1, 2, 3, 4])
def test_every_version_carries_the_answer(version: int) -> None:
    results = describe((BROKER, "1"), (TOPIC, "t"), (LOGGER, "1"), (GROUP, "g"), (METRICS, "m"), version=version)
    assert [each.error_code for each in results] == [0] * 5
    assert all(each.configs for each in results)


def test_synonyms_and_documentation_are_told_on_demand() -> None:
    (plain,) = describe((TOPIC, "t"), keys=["retention.bytes"])
    (full,) = describe((TOPIC, "t"), keys=["retention.bytes"], is_full=True)
    assert (plain.configs[0].synonyms, plain.configs[0].documentation) == ([], None)
    assert [each.name for each in full.configs[0].synonyms] == ["log.retention.bytes"]
    assert full.configs[0].documentation


def test_names_that_are_asked_for_are_told_and_no_others() -> None:
    (some,) = describe((TOPIC, "t"), keys=["retention.ms", "nothing"])
    assert [each.name for each in some.configs] == ["retention.ms"]
    (every,) = describe((TOPIC, "t"), keys=[])
    assert len(every.configs) > 20


def test_loggers_tell_their_levels() -> None:
    (loggers,) = describe((LOGGER, "1"), keys=["root"])
    assert [(each.name, each.value, each.config_source) for each in loggers.configs] == [("root", "INFO", 6)]


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ((TOPIC, "absent"), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ((TOPIC, "a/b"), ErrorCode.INVALID_TOPIC_EXCEPTION),
        ((BROKER, "2"), ErrorCode.INVALID_REQUEST),
        ((BROKER, "x"), ErrorCode.INVALID_REQUEST),
        ((LOGGER, ""), ErrorCode.INVALID_REQUEST),
        ((LOGGER, "2"), ErrorCode.INVALID_REQUEST),
        ((GROUP, ""), ErrorCode.INVALID_REQUEST),
        ((METRICS, ""), ErrorCode.INVALID_REQUEST),
    ],
)
def test_one_resource_that_cannot_be_described_spares_the_others(asked: tuple[int, str], code: ErrorCode) -> None:
    refused, described = describe(asked, (TOPIC, "t"))
    assert (refused.error_code, refused.configs, refused.resource_name) == (code, [], asked[1])
    assert described.error_code == 0


def test_a_type_that_does_not_exist_makes_the_whole_request_senseless() -> None:
    assert [each.error_code for each in describe((TOPIC, "t"), (3, "x"))] == [ErrorCode.INVALID_REQUEST] * 2


@pytest.mark.parametrize(
    ("asked", "granted", "code"),
    [
        ((TOPIC, "t"), (ResourceType.TOPIC, "t"), ErrorCode.TOPIC_AUTHORIZATION_FAILED),
        ((GROUP, "g"), (ResourceType.GROUP, "g"), ErrorCode.GROUP_AUTHORIZATION_FAILED),
        ((BROKER, "1"), (ResourceType.CLUSTER, CLUSTER_NAME), ErrorCode.CLUSTER_AUTHORIZATION_FAILED),
        ((LOGGER, "1"), (ResourceType.CLUSTER, CLUSTER_NAME), ErrorCode.CLUSTER_AUTHORIZATION_FAILED),
        ((METRICS, "m"), (ResourceType.CLUSTER, CLUSTER_NAME), ErrorCode.CLUSTER_AUTHORIZATION_FAILED),
    ],
)
def test_settings_are_told_to_who_may_see_those_of_the_resource(
    asked: tuple[int, str], granted: tuple[ResourceType, str], code: ErrorCode
) -> None:
    def access(*operations: AclOperation) -> Access:
        acls = SortedMap(
            {
                Uuid(bytes(15) + bytes([operation])): AccessControlEntry(
                    *granted, PatternType.LITERAL, ANONYMOUS, "*", operation, PermissionType.ALLOW
                )
                for operation in operations
            }
        )
        return Access(Authorizer(AuthorizerRules(), lambda: acls))

    (refused,) = describe(asked, access=access(AclOperation.DESCRIBE))
    assert (refused.error_code, refused.configs) == (code, [])
    (allowed,) = describe(asked, access=access(AclOperation.DESCRIBE_CONFIGS))
    assert allowed.error_code == 0
