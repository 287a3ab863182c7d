"""DescribeCluster, ListConfigResources and FindCoordinator: what a broker tells of the cluster around it."""

from __future__ import annotations

import pytest

from barnabas.broker.handlers.cluster import DescribeCluster
from barnabas.broker.handlers.config_resources import ListConfigResources
from barnabas.broker.handlers.coordinators import FindCoordinator
from barnabas.metadata.configs import ConfigResourceType
from barnabas.protocol.api import APIS, ApiKey
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.describe_cluster import DescribeClusterRequest
from barnabas.protocol.messages.find_coordinator import FindCoordinatorRequest
from barnabas.protocol.messages.list_config_resources import ListConfigResourcesRequest
from unit.broker.handlers.asking import serve
from unit.broker.hosting import NODE, OTHER, THIRD, Hosting, broker_record, config_record

CONTROLLERS, NOBODY = 2, 3


@pytest.fixture
def hosting() -> Hosting:
    hosting = Hosting()
    serve(
        hosting,
        DescribeCluster(lambda: hosting.image, node_id=NODE, cluster_id="cluster"),
        ListConfigResources(lambda: hosting.image),
        FindCoordinator(lambda: hosting.image, lambda _: 0, lambda names, _: dict.fromkeys(names, ErrorCode.NONE)),
    )
    hosting.apply(
        broker_record(NODE, rack="r"), broker_record(OTHER, fenced=True), broker_record(THIRD, listener="INTERNAL")
    )
    return hosting


@pytest.mark.parametrize("version", APIS[ApiKey.DESCRIBE_CLUSTER].versions)
def test_brokers_are_told_that_live_and_have_the_listener(hosting: Hosting, version: int) -> None:
    answer = hosting.ask(DescribeClusterRequest(include_cluster_authorized_operations=False), version)
    assert [(each.broker_id, each.host, each.rack) for each in answer.brokers] == [(NODE, "host1", "r")]
    assert (answer.cluster_id, answer.controller_id) == ("cluster", NODE)
    assert answer.cluster_authorized_operations == -(2**31)


def test_fenced_brokers_are_told_to_who_wants_them(hosting: Hosting) -> None:
    answer = hosting.ask(
        DescribeClusterRequest(include_cluster_authorized_operations=True, include_fenced_brokers=True)
    )
    assert [(each.broker_id, each.is_fenced) for each in answer.brokers] == [(NODE, False), (OTHER, True)]
    assert answer.cluster_authorized_operations > 0


@pytest.mark.parametrize(
    ("endpoint_type", "code"),
    [(CONTROLLERS, ErrorCode.MISMATCHED_ENDPOINT_TYPE), (NOBODY, ErrorCode.UNSUPPORTED_ENDPOINT_TYPE)],
)
def test_a_broker_tells_of_brokers_only(hosting: Hosting, endpoint_type: int, code: ErrorCode) -> None:
    request = DescribeClusterRequest(include_cluster_authorized_operations=False, endpoint_type=endpoint_type)
    assert hosting.ask(request).error_code == code


def test_what_has_settings_is_listed_by_its_kind(hosting: Hosting) -> None:
    hosting.create("t")
    hosting.apply(
        config_record("m", "metrics", "", ConfigResourceType.CLIENT_METRICS),
        config_record("g", "consumer.session.timeout.ms", "1", ConfigResourceType.GROUP),
    )

    def listed(*kinds: int, version: int = 1) -> list[tuple[int, str]]:
        answer = hosting.ask(ListConfigResourcesRequest(resource_types=list(kinds)), version)
        assert answer.error_code == 0
        return [(each.resource_type, each.resource_name) for each in answer.config_resources]

    assert listed(version=0) == [(ConfigResourceType.CLIENT_METRICS, "m")]
    assert listed(ConfigResourceType.TOPIC) == [(ConfigResourceType.TOPIC, "t")]
    everything = listed()
    assert (ConfigResourceType.GROUP, "g") in everything
    assert [name for kind, name in everything if kind == ConfigResourceType.BROKER] == ["1", "2"]
    assert [name for kind, name in everything if kind == ConfigResourceType.BROKER_LOGGER] == ["1", "2"]


def test_kinds_that_there_are_not_cannot_be_listed(hosting: Hosting) -> None:
    answer = hosting.ask(ListConfigResourcesRequest(resource_types=[99]))
    assert answer.error_code == ErrorCode.UNSUPPORTED_VERSION


@pytest.mark.parametrize(
    ("version", "key_type"),
    [(version, kind) for version in APIS[ApiKey.FIND_COORDINATOR].versions for kind in range(4 if version else 1)],
)
def test_there_is_no_coordinator_yet_and_never_one_for_what_is_no_key(
    hosting: Hosting, version: int, key_type: int
) -> None:
    keys = ["a", "b"] if version >= 4 else []
    request = FindCoordinatorRequest(key="" if keys else "a", key_type=key_type, coordinator_keys=keys)
    answer = hosting.ask(request, version)
    codes = [each.error_code for each in answer.coordinators] if keys else [answer.error_code]
    is_known = key_type <= (2 if version >= 6 else 1)
    expected = ErrorCode.COORDINATOR_NOT_AVAILABLE if is_known else ErrorCode.INVALID_REQUEST
    assert codes == [expected] * max(1, len(keys))
