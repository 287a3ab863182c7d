"""`kafka-cluster` prints what the cluster says of itself, in the columns of Kafka's tool."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest

from barnabas.cli.cluster import run
from barnabas.protocol.api import ApiKey
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.describe_cluster import (
    DescribeClusterBroker,
    DescribeClusterRequest,
    DescribeClusterResponse,
)
from barnabas.protocol.messages.unregister_broker import UnregisterBrokerRequest, UnregisterBrokerResponse
from unit.client.scripted_node import ScriptedNode, closed_port


def call(*arguments: str) -> tuple[int, str, str]:
    out, err = StringIO(), StringIO()
    return run(arguments, out, err), out.getvalue(), err.getvalue()


def unregistered(code: ErrorCode, message: str | None = None) -> UnregisterBrokerResponse:
    return UnregisterBrokerResponse(throttle_time_ms=0, error_code=code, error_message=message)


def test_the_id_of_a_cluster_is_printed() -> None:
    with ScriptedNode() as node:
        for option in ("-b", "--bootstrap-server", "-C", "--bootstrap-controller"):
            assert call("cluster-id", option, str(node.address)) == (0, "Cluster ID: barnabasBarnabasBarnab\n", "")


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (unregistered(ErrorCode.NONE), (0, "Broker 7 is no longer registered.\n", "")),
        (
            unregistered(ErrorCode.BROKER_ID_NOT_REGISTERED, "no broker 7"),
            (1, "", "org.apache.kafka.common.errors.BrokerIdNotRegisteredException: no broker 7\n"),
        ),
    ],
)
def test_a_broker_is_unregistered(answer: UnregisterBrokerResponse, expected: tuple[int, str, str]) -> None:
    with ScriptedNode({UnregisterBrokerRequest: answer}) as node:
        assert call("unregister", "-b", str(node.address), "--id", "7") == expected
        assert node.asked(UnregisterBrokerRequest) == [UnregisterBrokerRequest(broker_id=7)]


def test_a_cluster_that_cannot_unregister_says_so() -> None:
    with ScriptedNode() as node:
        status, out, err = call("unregister", "-b", str(node.address), "-i", "7")
    assert (status, err) == (0, "")
    assert out == "The target cluster does not support the broker unregistration API.\n"


NODES = [
    DescribeClusterBroker(broker_id=2, host="a.example", port=9092, rack="cellar", is_fenced=True),
    DescribeClusterBroker(broker_id=1, host="b", port=19092),
]


def cluster_of(nodes: list[DescribeClusterBroker]) -> DescribeClusterResponse:
    return DescribeClusterResponse(
        throttle_time_ms=0, error_code=0, cluster_id="c", controller_id=2, brokers=nodes, endpoint_type=1
    )


def test_endpoints_are_listed_in_columns() -> None:
    with ScriptedNode({DescribeClusterRequest: cluster_of(NODES)}) as node:
        status, out, err = call("list-endpoints", "-b", str(node.address), "--include-fenced-brokers")
    assert (status, err) == (0, "")
    assert out.splitlines() == [
        "ID         HOST      PORT       RACK   STATE      ENDPOINT_TYPE  ",
        "1          b         19092      null   unfenced   broker         ",
        "2          a.example 9092       cellar fenced     broker         ",
    ]
    assert [request.include_fenced_brokers for request in node.asked(DescribeClusterRequest)] == [True]


def test_controllers_have_no_state_and_a_wide_column_for_no_racks() -> None:
    with ScriptedNode() as node:
        status, out, err = call("list-endpoints", "-C", str(node.address))
    assert (status, err) == (0, "")
    port = str(node.address.port)
    assert out.splitlines() == [
        "ID         HOST      PORT       RACK       ENDPOINT_TYPE  ",
        f"1          127.0.0.1 {port:10} null       controller     ",
    ]


def test_an_older_cluster_cannot_list_fenced_brokers() -> None:
    with ScriptedNode(versions={ApiKey.DESCRIBE_CLUSTER: range(2)}) as node:
        status, out, err = call("list-endpoints", "-b", str(node.address), "--include-fenced-brokers")
    assert (status, err) == (0, "")
    assert "too old for this request" in out


def test_settings_come_from_a_file_under_either_name(tmp_path: Path) -> None:
    settings = tmp_path / "client.properties"
    settings.write_text("client.id=me\nbootstrap.servers=ignored:1\n")
    with ScriptedNode() as node:
        status, out, _ = call("cluster-id", "-b", str(node.address), "-c", str(settings))
        assert (status, out) == (0, "Cluster ID: barnabasBarnabasBarnab\n")
        status, out, _ = call("cluster-id", "-b", str(node.address), "--config", str(settings))
        assert status == 0
        assert out.startswith("Option --config has been deprecated")
        assert {header.client_id for header, _ in node.requests} == {"me"}
        status, _, err = call("cluster-id", "-b", str(node.address), "--config", str(settings), "-c", str(settings))
        assert (status, err) == (1, "--config and --command-config cannot be specified together.\n")


def test_an_unreachable_cluster_is_named(tmp_path: Path) -> None:
    address = closed_port()
    settings = tmp_path / "client.properties"
    settings.write_text("default.api.timeout.ms=1\nrequest.timeout.ms=1\n")
    status, out, err = call("cluster-id", "-b", str(address), "-c", str(settings))
    assert (status, out) == (1, "")
    first, second = err.splitlines()
    assert first == (
        "org.apache.kafka.common.errors.TimeoutException: Timed out waiting for a node assignment. Call: listNodes"
    )
    assert second.startswith(str(address))


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ("", "kafka-cluster: error: too few arguments"),
        ("cluster-id", "one of the arguments --bootstrap-server/-b --bootstrap-controller/-C is required"),
        ("unregister -b a:1", "argument --id/-i is required"),
        ("list-endpoints -C 127.0.0.1:1 --include-fenced-brokers", "only supported with --bootstrap-server option"),
        ("cluster-id -b nowhere", "Invalid url in bootstrap.servers: nowhere"),
        ("cluster-id -b 127.0.0.1:1 -c /no/such/file", "/no/such/file"),
    ],
)
def test_what_cannot_be_done_is_refused(arguments: str, complaint: str) -> None:
    status, out, err = call(*arguments.split())
    assert (status, out) == (1, "")
    assert complaint in err


def test_the_help_page_ends_with_kafkas_status() -> None:
    status, out, err = call("--help")
    assert (status, err) == (1, "")
    assert "list-endpoints" in out
