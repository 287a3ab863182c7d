"""A connection speaks the newest versions that both sides have, and is given up on the first thing that goes wrong."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from barnabas import __version__
from barnabas.client.connection import Connection
from barnabas.client.errors import ClientError, ConnectionLostError, UnsupportedByNodeError
from barnabas.client.patience import Deadline
from barnabas.protocol.api import ApiKey
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.framing import frame_response
from barnabas.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from barnabas.protocol.messages.describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from barnabas.protocol.messages.unregister_broker import UnregisterBrokerRequest, UnregisterBrokerResponse
from unit.client.scripted_node import Answer, HangUp, Raw, ScriptedNode, Silence, VirtualTime, closed_port

AMPLE_MS = 60_000
SHORT_MS = 20
DESCRIBE = DescribeClusterRequest(include_cluster_authorized_operations=False)


def deadline(timeout_ms: int = AMPLE_MS) -> Deadline:
    return Deadline(VirtualTime(), timeout_ms)


def connect(node: ScriptedNode, timeout_ms: int = AMPLE_MS) -> Connection:
    return Connection.open(node.address, "tester", deadline(), deadline(timeout_ms))


@pytest.fixture
def node() -> Iterator[ScriptedNode]:
    with ScriptedNode() as running:
        yield running


def test_a_request_goes_out_in_the_newest_version_that_both_sides_have() -> None:
    with ScriptedNode(versions={ApiKey.DESCRIBE_CLUSTER: range(2)}) as node, closing(connect(node)) as connection:
        answer = connection.request(DESCRIBE, DescribeClusterResponse, deadline())
    assert answer.brokers[0].broker_id == 1
    header, _ = node.requests[-1]
    assert (header.request_api_version, header.client_id) == (1, "tester")


def test_a_node_learns_who_is_calling(node: ScriptedNode) -> None:
    connect(node).close()
    hello: ApiVersionsRequest = node.asked(ApiVersionsRequest)[0]
    assert (hello.client_software_name, hello.client_software_version) == ("barnabas", __version__)


def test_an_older_node_is_asked_again_in_a_version_of_its_own() -> None:
    with ScriptedNode(versions={ApiKey.API_VERSIONS: range(3)}) as node, closing(connect(node)) as connection:
        assert ApiKey.METADATA in connection.versions
        assert [header.request_api_version for header, _ in node.requests] == [4, 2]


def test_a_node_that_refuses_to_say_its_versions_is_not_asked_more() -> None:
    refusal = ApiVersionsResponse(error_code=ErrorCode.CLUSTER_AUTHORIZATION_FAILED, api_keys=[])
    with ScriptedNode({ApiVersionsRequest: refusal}) as node, pytest.raises(ClientError) as caught:
        connect(node)
    assert caught.value.code is ErrorCode.CLUSTER_AUTHORIZATION_FAILED


@pytest.mark.parametrize(
    ("versions", "complaint"),
    [
        (range(0), "The node does not support UNREGISTER_BROKER"),
        (range(7, 9), r"UNREGISTER_BROKER with version in range \[0,0\]. The supported range is \[7,8\]"),
    ],
)
def test_an_api_without_a_version_in_both_sides_is_not_asked(versions: range, complaint: str) -> None:
    with (
        ScriptedNode({UnregisterBrokerRequest: HangUp()}, versions={ApiKey.UNREGISTER_BROKER: versions}) as node,
        closing(connect(node)) as connection,
    ):
        with pytest.raises(UnsupportedByNodeError, match=complaint):
            connection.request(UnregisterBrokerRequest(broker_id=1), UnregisterBrokerResponse, deadline())
        assert not connection.is_closed
        assert not node.asked(UnregisterBrokerRequest)


def test_a_request_that_no_version_of_the_node_can_carry_is_not_sent() -> None:
    fenced_too = DescribeClusterRequest(include_cluster_authorized_operations=False, include_fenced_brokers=True)
    with ScriptedNode(versions={ApiKey.DESCRIBE_CLUSTER: range(2)}) as node, closing(connect(node)) as connection:
        with pytest.raises(UnsupportedByNodeError, match="too old for this request"):
            connection.request(fenced_too, DescribeClusterResponse, deadline())
        assert not node.asked(DescribeClusterRequest)


def other_request(node: ScriptedNode) -> Raw:
    return Raw(b"".join(frame_response(node.cluster(DESCRIBE), 2, 77)))


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        (HangUp(), "the node closed the connection"),
        (Silence(), "no response came in time"),
        (Raw(b"\0\0\0\x06\0\0\0\x02\0\xff"), "a response that cannot be read"),
        (Raw(b"\0\0\0\x02\0\0"), "a response that cannot be read"),
        (Raw(b"\xff\xff\xff\xff"), "a frame of -1 bytes"),
        (Raw(b"HTTP/1.1 400 Bad Request\r\n"), "no response came in time"),
        (None, "answered another request"),
    ],
)
def test_a_connection_on_which_anything_went_wrong_is_closed(
    node: ScriptedNode, answer: Answer | None, complaint: str
) -> None:
    node.script(DescribeClusterRequest, answer or other_request(node))
    connection = connect(node)
    with pytest.raises(ConnectionLostError, match=complaint) as caught:
        connection.request(DESCRIBE, DescribeClusterResponse, deadline(SHORT_MS if "time" in complaint else AMPLE_MS))
    assert str(node.address) in str(caught.value)
    assert caught.value.code is ErrorCode.NETWORK_EXCEPTION
    assert connection.is_closed


def test_nobody_there_is_a_lost_connection() -> None:
    address = closed_port()
    with pytest.raises(ConnectionLostError, match=f"{address}: Connection refused"):
        Connection.open(address, "", deadline(), deadline())


def test_no_time_left_is_a_lost_connection(node: ScriptedNode) -> None:
    with pytest.raises(ConnectionLostError, match="no time was left"):
        Connection.open(node.address, "", deadline(0), deadline())
    with pytest.raises(ConnectionLostError, match="no response came in time"):
        connect(node, timeout_ms=0)
