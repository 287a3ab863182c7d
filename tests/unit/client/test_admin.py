"""Administrative calls read what a node says, and raise what it refuses."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from barnabas.client.admin.cluster import describe_cluster, unregister_broker
from barnabas.client.admin.features import FeatureMetadata, UpgradeType, describe_features, update_features
from barnabas.client.admin.quorum import (
    QuorumInfo,
    VoterEndpoint,
    add_raft_voter,
    describe_quorum,
    remove_raft_voter,
)
from barnabas.client.cluster import Cluster
from barnabas.client.errors import ClientError, check_code
from barnabas.client.settings import parse_client
from barnabas.protocol.api import ApiKey
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.add_raft_voter import AddRaftVoterRequest, AddRaftVoterResponse, Listener
from barnabas.protocol.messages.api_versions import ApiVersionsRequest
from barnabas.protocol.messages.describe_cluster import DescribeClusterRequest
from barnabas.protocol.messages.describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumResponse,
    ReplicaState,
)
from barnabas.protocol.messages.remove_raft_voter import RemoveRaftVoterRequest, RemoveRaftVoterResponse
from barnabas.protocol.messages.unregister_broker import UnregisterBrokerRequest, UnregisterBrokerResponse
from barnabas.protocol.messages.update_features import (
    FeatureUpdateKey,
    UpdatableFeatureResult,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)
from unit.client.described_quorum import DIRECTORY_ID, quorum
from unit.client.scripted_node import ScriptedNode, VirtualTime


def opened(node: ScriptedNode, *, controllers: bool = False) -> Cluster:
    where = "bootstrap.controllers" if controllers else "bootstrap.servers"
    time = VirtualTime()
    return Cluster(parse_client({where: str(node.address)}), time, Random(0), time.sleep)


def test_a_quorum_is_described() -> None:
    with ScriptedNode({DescribeQuorumRequest: quorum()}) as node, opened(node) as cluster:
        info = describe_quorum(cluster)
    (partition,) = quorum().topics[0].partitions
    assert info == QuorumInfo(
        leader_id=1,
        leader_epoch=4,
        high_watermark=90,
        voters=partition.current_voters,
        observers=partition.observers,
        endpoints={1: [VoterEndpoint("CONTROLLER", "h", 9093), VoterEndpoint("OTHER", "::1", 9094)]},
    )
    assert [str(endpoint) for endpoint in info.endpoints[1]] == ["CONTROLLER://h:9093", "OTHER://[::1]:9094"]
    (request,) = node.asked(DescribeQuorumRequest)
    assert [(each.topic_name, each.partitions[0].partition_index) for each in request.topics] == [
        ("__cluster_metadata", 0)
    ]


def test_an_older_node_describes_a_quorum_without_directories_and_listeners() -> None:
    versions = {ApiKey.DESCRIBE_QUORUM: range(1)}
    described = quorum(current_voters=[ReplicaState(replica_id=1, log_end_offset=100)])
    described.nodes = []
    with ScriptedNode({DescribeQuorumRequest: described}, versions=versions) as node, opened(node) as cluster:
        info = describe_quorum(cluster)
    assert info.voters == [ReplicaState(replica_id=1, log_end_offset=100)]
    assert info.endpoints == {}


def test_a_quorum_without_a_leader_is_asked_again() -> None:
    leaderless = quorum(error_code=ErrorCode.LEADER_NOT_AVAILABLE)
    with ScriptedNode({DescribeQuorumRequest: [leaderless, quorum()]}) as node, opened(node) as cluster:
        assert describe_quorum(cluster).leader_id == 1
    assert len(node.asked(DescribeQuorumRequest)) == 2


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        (quorum(error_code=ErrorCode.INVALID_REQUEST, error_message="no"), "^no$"),
        (quorum(topic="other"), "__cluster_metadata-0 was asked for, and the answer is about other-0"),
        (quorum(partition_index=3), "the answer is about __cluster_metadata-3"),
        (DescribeQuorumResponse(error_code=0, error_message=None, topics=[]), "the answer is about nothing"),
        (DescribeQuorumResponse(error_code=31, error_message="not you", topics=[]), "^not you$"),
    ],
)
def test_an_answer_that_describes_no_quorum_is_an_error(answer: DescribeQuorumResponse, complaint: str) -> None:
    with (
        ScriptedNode({DescribeQuorumRequest: answer}) as node,
        opened(node) as cluster,
        pytest.raises(ClientError, match=complaint),
    ):
        describe_quorum(cluster)


def add(cluster: Cluster) -> None:
    add_raft_voter(cluster, 5, DIRECTORY_ID, [VoterEndpoint("CONTROLLER", "h", 9093)])


def remove(cluster: Cluster) -> None:
    remove_raft_voter(cluster, 5, DIRECTORY_ID)


def unregister(cluster: Cluster) -> None:
    unregister_broker(cluster, 5)


@pytest.mark.parametrize(
    ("call", "response", "expected"),
    [
        (
            add,
            AddRaftVoterResponse,
            AddRaftVoterRequest(
                cluster_id=None,
                timeout_ms=30_000,
                voter_id=5,
                voter_directory_id=DIRECTORY_ID,
                listeners=[Listener(name="CONTROLLER", host="h", port=9093)],
                ack_when_committed=True,
            ),
        ),
        (
            remove,
            RemoveRaftVoterResponse,
            RemoveRaftVoterRequest(cluster_id=None, voter_id=5, voter_directory_id=DIRECTORY_ID),
        ),
        (unregister, UnregisterBrokerResponse, UnregisterBrokerRequest(broker_id=5)),
    ],
)
def test_a_change_is_asked_for_and_a_refusal_raised(
    call: Callable[[Cluster], None], response: Any, expected: Any
) -> None:
    accepted = response(throttle_time_ms=0, error_code=ErrorCode.NONE, error_message=None)
    refused = response(throttle_time_ms=0, error_code=ErrorCode.VOTER_NOT_FOUND, error_message="who?")
    with ScriptedNode({type(expected): [accepted, refused]}) as node, opened(node) as cluster:
        call(cluster)
        with pytest.raises(ClientError, match=r"^who\?$") as caught:
            call(cluster)
    assert caught.value.code is ErrorCode.VOTER_NOT_FOUND
    assert node.asked(type(expected)) == [expected, expected]


def test_a_broker_is_forgotten_though_the_first_request_took_too_long() -> None:
    late = UnregisterBrokerResponse(throttle_time_ms=0, error_code=ErrorCode.REQUEST_TIMED_OUT, error_message=None)
    done = UnregisterBrokerResponse(throttle_time_ms=0, error_code=ErrorCode.NONE, error_message=None)
    with ScriptedNode({UnregisterBrokerRequest: [late, done]}) as node, opened(node) as cluster:
        unregister_broker(cluster, 5)
    assert len(node.asked(UnregisterBrokerRequest)) == 2


@pytest.mark.parametrize(("controllers", "endpoint_type"), [(False, 1), (True, 2)])
def test_a_cluster_describes_the_nodes_it_was_reached_by(controllers: bool, endpoint_type: int) -> None:
    with ScriptedNode() as node, opened(node, controllers=controllers) as cluster:
        described = describe_cluster(cluster, includes_fenced=not controllers)
    assert (described.cluster_id, described.brokers[0].port) == ("barnabasBarnabasBarnab", node.address.port)
    request = node.asked(DescribeClusterRequest)[-1]
    assert (request.endpoint_type, request.include_fenced_brokers) == (endpoint_type, not controllers)


def test_features_are_described_by_the_node_that_was_named() -> None:
    with ScriptedNode(node_id=1) as one, ScriptedNode(node_id=2) as two:
        one.peers = [one, two]
        with opened(one) as cluster:
            assert describe_features(cluster, 2) == FeatureMetadata(
                supported={"metadata.version": (7, 30), "group.version": (0, 1)},
                finalized={"metadata.version": 29},
                epoch=41,
            )
        assert len(two.asked(ApiVersionsRequest)) == 2  # One to agree on versions.


def test_an_epoch_that_is_not_known_is_none() -> None:
    with ScriptedNode() as node, opened(node) as cluster:
        unknown = node.api_versions()
        unknown.finalized_features_epoch = -1
        node.script(ApiVersionsRequest, unknown)
        assert describe_features(cluster).epoch is None


def updated(code: ErrorCode, results: list[UpdatableFeatureResult] | None = None) -> UpdateFeaturesResponse:
    return UpdateFeaturesResponse(throttle_time_ms=0, error_code=code, error_message="why", results=results or [])


@pytest.mark.parametrize(
    ("version", "answer", "expected"),
    [
        (2, updated(ErrorCode.NONE), {"a": None, "b": None, "c": None}),
        (2, updated(ErrorCode.INVALID_UPDATE_VERSION), dict.fromkeys("abc", "why")),
        (
            1,
            updated(
                ErrorCode.NONE,
                [
                    UpdatableFeatureResult(feature="a", error_code=0, error_message=None),
                    UpdatableFeatureResult(feature="b", error_code=95, error_message="too high"),
                ],
            ),
            {"a": None, "b": "too high", "c": "The response has no result for c"},
        ),
    ],
)
def test_every_feature_has_an_outcome(
    version: int, answer: UpdateFeaturesResponse, expected: dict[str, str | None]
) -> None:
    versions = {ApiKey.UPDATE_FEATURES: range(version + 1)}
    with ScriptedNode({UpdateFeaturesRequest: answer}, versions=versions) as node, opened(node) as cluster:
        levels = {"a": 1, "b": 2, "c": 3}
        outcomes = update_features(cluster, levels, UpgradeType.SAFE_DOWNGRADE, validates_only=True)
    assert {name: error and str(error) for name, error in outcomes.items()} == expected
    (request,) = node.asked(UpdateFeaturesRequest)
    assert request == UpdateFeaturesRequest(
        timeout_ms=30_000,
        validate_only=True,
        feature_updates=[
            FeatureUpdateKey(feature=name, max_version_level=level, upgrade_type=2) for name, level in levels.items()
        ],
    )


def test_features_are_changed_by_the_controller() -> None:
    with ScriptedNode(node_id=1) as one, ScriptedNode(node_id=2) as two:
        for node in (one, two):
            node.script(UpdateFeaturesRequest, updated(ErrorCode.NONE))
        one.peers, one.controller_id = [one, two], 2
        with opened(one) as cluster:
            update_features(cluster, {"a": 1}, UpgradeType.UPGRADE, validates_only=False)
        assert (len(one.asked(UpdateFeaturesRequest)), len(two.asked(UpdateFeaturesRequest))) == (0, 1)


def test_a_code_that_nobody_knows_is_told_as_it_is() -> None:
    check_code(0, "fine")
    with pytest.raises(ClientError, match="error 9999, of which this client knows nothing: odd") as caught:
        check_code(9999, "odd")
    assert caught.value.code is ErrorCode.UNKNOWN_SERVER_ERROR
    with pytest.raises(ClientError, match=ErrorCode.NOT_CONTROLLER.message):
        check_code(ErrorCode.NOT_CONTROLLER, None)
