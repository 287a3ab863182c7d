"""A call reaches the node it is meant for, is tried again where that can help, and ends when its time is over."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from random import Random

import pytest

from barnabas.client.addresses import Address
from barnabas.client.cluster import ANY_RETRIABLE, NOT_IN_CHARGE, Cluster, Target
from barnabas.client.errors import CallTimeoutError, ClientError, NoNodeError, check_code
from barnabas.client.settings import UnusableConfigError, parse_client
from barnabas.protocol.api import ApiKey
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from barnabas.protocol.messages.metadata import MetadataRequest, MetadataResponse
from barnabas.protocol.messages.unregister_broker import UnregisterBrokerRequest, UnregisterBrokerResponse
from unit.client.scripted_node import HangUp, ScriptedNode, Silence, VirtualTime, closed_port


def unregistered(code: ErrorCode = ErrorCode.NONE, message: str | None = None) -> UnregisterBrokerResponse:
    return UnregisterBrokerResponse(throttle_time_ms=0, error_code=code, error_message=message)


class Caller:
    """Opens clusters, all under one virtual time, and makes one call to them."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self.time = VirtualTime()
        self.timeouts_ms: list[int] = []

    def open(self, *addresses: Address, controllers: bool = False, seed: int = 0, **settings: int) -> Cluster:
        where = "bootstrap.controllers" if controllers else "bootstrap.servers"
        given = {name.replace("_", "."): str(value) for name, value in settings.items()}
        config = parse_client({where: ",".join(map(str, addresses)), **given})
        return self._stack.enter_context(Cluster(config, self.time, Random(seed), self.time.sleep))

    def call(
        self,
        cluster: Cluster,
        to: Target | int = Target.ANYONE,
        retried: frozenset[ErrorCode] = NOT_IN_CHARGE,
    ) -> None:
        def build(timeout_ms: int) -> UnregisterBrokerRequest:
            self.timeouts_ms.append(timeout_ms)
            return UnregisterBrokerRequest(broker_id=9)

        def read(response: UnregisterBrokerResponse) -> None:
            check_code(response.error_code, response.error_message)

        cluster.call("unregisterBroker", build, UnregisterBrokerResponse, read, to=to, retried=retried)


@pytest.fixture
def caller() -> Iterator[Caller]:
    with ExitStack() as stack:
        yield Caller(stack)


@pytest.fixture
def nodes() -> Iterator[list[ScriptedNode]]:
    """Three nodes of one cluster, of which node 2 is the controller."""
    with ExitStack() as stack:
        made = [
            stack.enter_context(ScriptedNode({UnregisterBrokerRequest: unregistered()}, node_id=each))
            for each in (1, 2, 3)
        ]
        for node in made:
            node.peers = made
            node.controller_id = 2
        yield made


def asked(nodes: list[ScriptedNode]) -> list[int]:
    return [len(node.asked(UnregisterBrokerRequest)) for node in nodes]


@pytest.mark.parametrize(
    ("controllers", "to", "expected"),
    [
        (False, Target.ANYONE, [1, 0, 0]),
        (False, Target.CONTROLLER, [0, 1, 0]),
        (False, 3, [0, 0, 1]),
        (True, Target.ANYONE, [0, 1, 0]),
        (True, Target.CONTROLLER, [0, 1, 0]),
        (True, 3, [0, 0, 1]),
    ],
)
def test_a_call_goes_to_whom_it_is_meant_for(
    caller: Caller, nodes: list[ScriptedNode], controllers: bool, to: Target | int, expected: list[int]
) -> None:
    caller.call(caller.open(nodes[0].address, controllers=controllers), to)
    assert asked(nodes) == expected
    assert len(nodes[0].asked(DescribeClusterRequest if controllers else MetadataRequest)) == 1
    assert caller.time.waits_ms == []


def test_a_second_call_asks_nobody_for_directions(caller: Caller, nodes: list[ScriptedNode]) -> None:
    cluster = caller.open(nodes[0].address)
    caller.call(cluster)
    caller.call(cluster)
    assert asked(nodes) == [2, 0, 0]
    assert len(nodes[0].requests) == 4  # Versions, the way, and the two calls.


@pytest.mark.parametrize("seed", range(4))
def test_bootstrap_nodes_that_are_down_are_passed_over(caller: Caller, nodes: list[ScriptedNode], seed: int) -> None:
    caller.call(caller.open(closed_port(), closed_port(), nodes[2].address, seed=seed))
    assert sum(asked(nodes)) == 1
    assert caller.time.waits_ms == []


def test_clients_do_not_all_turn_to_the_first_node(caller: Caller, nodes: list[ScriptedNode]) -> None:
    for seed in range(20):
        caller.call(caller.open(*(node.address for node in nodes), seed=seed))
    assert all(count > 0 for count in asked(nodes))


@pytest.mark.parametrize("code", [ErrorCode.NOT_CONTROLLER, ErrorCode.NOT_LEADER_OR_FOLLOWER])
def test_a_controller_that_was_replaced_is_found_again(
    caller: Caller, nodes: list[ScriptedNode], code: ErrorCode
) -> None:
    def step_down(_: UnregisterBrokerRequest) -> UnregisterBrokerResponse:
        for node in nodes:
            node.controller_id = 3
        return unregistered(code)

    nodes[1].script(UnregisterBrokerRequest, step_down)
    caller.call(caller.open(nodes[0].address, controllers=True), Target.CONTROLLER)
    assert asked(nodes) == [0, 1, 1]
    assert len(caller.time.waits_ms) == 1


def test_a_connection_that_breaks_is_made_again(caller: Caller, nodes: list[ScriptedNode]) -> None:
    nodes[0].script(UnregisterBrokerRequest, [HangUp(), unregistered()])
    caller.call(caller.open(nodes[0].address), 1)
    assert asked(nodes) == [2, 0, 0]


def test_an_error_that_no_new_try_can_mend_is_raised_at_once(caller: Caller, nodes: list[ScriptedNode]) -> None:
    nodes[0].script(UnregisterBrokerRequest, unregistered(ErrorCode.BROKER_ID_NOT_REGISTERED, "no broker 9"))
    with pytest.raises(ClientError, match=r"^no broker 9$") as caught:
        caller.call(caller.open(nodes[0].address))
    assert caught.value.code is ErrorCode.BROKER_ID_NOT_REGISTERED
    assert asked(nodes) == [1, 0, 0]


def test_which_errors_are_tried_again_is_up_to_the_call(caller: Caller, nodes: list[ScriptedNode]) -> None:
    nodes[0].script(UnregisterBrokerRequest, [unregistered(ErrorCode.REQUEST_TIMED_OUT), unregistered()])
    with pytest.raises(ClientError):
        caller.call(caller.open(nodes[0].address), 1)
    nodes[0].script(UnregisterBrokerRequest, [unregistered(ErrorCode.REQUEST_TIMED_OUT), unregistered()])
    caller.call(caller.open(nodes[0].address), 1, retried=ANY_RETRIABLE)
    assert asked(nodes) == [3, 0, 0]


def test_a_call_that_keeps_failing_ends_when_its_time_is_over(caller: Caller, nodes: list[ScriptedNode]) -> None:
    nodes[0].script(UnregisterBrokerRequest, unregistered(ErrorCode.NOT_CONTROLLER, "not me"))
    cluster = caller.open(nodes[0].address, default_api_timeout_ms=3_000, request_timeout_ms=2_000)
    with pytest.raises(CallTimeoutError, match="unregisterBroker timed out") as caught:
        caller.call(cluster, 1)
    assert str(caught.value.__cause__) == "not me"
    assert caught.value.code is ErrorCode.REQUEST_TIMED_OUT
    assert sum(caller.time.waits_ms) == 3_000
    assert caller.timeouts_ms[0] == 2_000
    assert 0 < caller.timeouts_ms[-1] <= 1_200, "no node is given longer than the call has left"


def test_a_silent_node_costs_a_request_its_time_and_not_the_call(caller: Caller, nodes: list[ScriptedNode]) -> None:
    nodes[0].script(UnregisterBrokerRequest, [Silence(), unregistered()])
    caller.call(caller.open(nodes[0].address, request_timeout_ms=250), 1)
    assert asked(nodes) == [2, 0, 0]


def test_waits_double_up_to_a_bound(caller: Caller) -> None:
    cluster = caller.open(closed_port(), default_api_timeout_ms=60_000, retry_backoff_ms=100, retry_backoff_max_ms=500)
    with pytest.raises(CallTimeoutError):
        caller.call(cluster)
    first, second, third, fourth, *rest = caller.time.waits_ms[:-1]
    assert 80 <= first <= 120
    assert 160 <= second <= 240
    assert 320 <= third <= 480
    assert all(400 <= wait <= 600 for wait in (fourth, *rest))


def test_no_more_tries_than_retries_allow(caller: Caller, nodes: list[ScriptedNode]) -> None:
    nodes[0].script(UnregisterBrokerRequest, HangUp())
    with pytest.raises(CallTimeoutError, match=r"after 3 attempt\(s\)"):
        caller.call(caller.open(nodes[0].address, retries=2), 1)
    assert asked(nodes) == [3, 0, 0]
    assert len(caller.time.waits_ms) == 2


def without_controller(node: ScriptedNode) -> None:
    node.controller_id = -1


def without_nodes(node: ScriptedNode) -> None:
    node.peers = []


def with_dead_peer(node: ScriptedNode) -> None:
    gone = ScriptedNode(node_id=7)
    gone.address = closed_port()
    node.peers = [gone]
    node.controller_id = 7
    gone._socket.close()


@pytest.mark.parametrize(
    ("change", "to", "reason"),
    [
        (without_controller, Target.CONTROLLER, "no controller is active"),
        (without_nodes, Target.ANYONE, "the cluster names no nodes"),
        (without_controller, 7, "the cluster names no node 7"),
        (with_dead_peer, Target.ANYONE, "Connection refused"),
        (with_dead_peer, 7, "Connection refused"),
    ],
)
def test_a_call_that_nobody_can_answer_says_so(
    caller: Caller, nodes: list[ScriptedNode], change: Callable[[ScriptedNode], None], to: Target | int, reason: str
) -> None:
    change(nodes[0])
    with pytest.raises(
        CallTimeoutError, match=r"^Timed out waiting for a node assignment\. Call: unregisterBroker$"
    ) as caught:
        caller.call(caller.open(nodes[0].address), to)
    assert isinstance(caught.value.__cause__, NoNodeError)
    assert reason in str(caught.value.__cause__)


def test_a_node_that_is_of_the_wrong_kind_is_not_asked_again(caller: Caller) -> None:
    mismatch = DescribeClusterResponse(
        throttle_time_ms=0,
        error_code=ErrorCode.MISMATCHED_ENDPOINT_TYPE,
        error_message="a broker",
        cluster_id="",
        brokers=[],
    )
    with ScriptedNode({DescribeClusterRequest: mismatch}, versions={ApiKey.METADATA: range(0)}) as node:
        with pytest.raises(ClientError, match=r"^a broker$"):
            caller.call(caller.open(node.address, controllers=True))
        with pytest.raises(ClientError, match=r"^The node does not support METADATA$"):
            caller.call(caller.open(node.address))
    assert caller.time.waits_ms == []


def test_a_node_that_sends_the_client_back_is_left_for_the_bootstrap_nodes(
    caller: Caller, nodes: list[ScriptedNode]
) -> None:
    sent_back = MetadataResponse(brokers=[], topics=[], error_code=ErrorCode.REBOOTSTRAP_REQUIRED)
    nodes[0].script(MetadataRequest, sent_back)
    caller.call(caller.open(nodes[0].address, nodes[1].address, seed=3))
    assert sum(asked(nodes)) == 1


def test_hosts_that_nobody_knows_make_no_cluster(caller: Caller, nodes: list[ScriptedNode]) -> None:
    unknown = Address("no-such-host.invalid", 9092)
    with pytest.raises(UnusableConfigError, match=r"no-such-host\.invalid:9092"):
        caller.open(unknown)
    caller.call(caller.open(unknown, nodes[0].address))
    assert asked(nodes) == [1, 0, 0]
