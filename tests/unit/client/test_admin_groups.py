"""Calls about groups: coordinators are looked up again when they have moved, and lists are narrowed by brokers."""

from __future__ import annotations

from random import Random

from barnabas.client.admin.group_offsets import fetch_group_offsets
from barnabas.client.admin.groups import delete_groups, describe_consumer_groups, list_groups
from barnabas.client.cluster import Cluster
from barnabas.client.errors import ClientError
from barnabas.client.settings import parse_client
from barnabas.log.checkpoint import TopicPartition
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.delete_groups import DeletableGroupResult, DeleteGroupsRequest, DeleteGroupsResponse
from barnabas.protocol.messages.find_coordinator import FindCoordinatorRequest
from barnabas.protocol.messages.list_groups import ListGroupsRequest
from unit.client.group_node import GroupNode
from unit.client.scripted_node import VirtualTime


def opened(node: GroupNode) -> Cluster:
    time = VirtualTime()
    return Cluster(parse_client({"bootstrap.servers": str(node.address)}), time, Random(0), time.sleep)


def deleted(**codes: ErrorCode) -> DeleteGroupsResponse:
    results = [DeletableGroupResult(group_id=group_id, error_code=code) for group_id, code in codes.items()]
    return DeleteGroupsResponse(throttle_time_ms=0, results=results)


def test_only_the_groups_whose_coordinator_moved_are_asked_for_again() -> None:
    answers = [deleted(a=ErrorCode.NONE, b=ErrorCode.NOT_COORDINATOR), deleted(b=ErrorCode.NONE)]
    node = GroupNode()
    node.script(DeleteGroupsRequest, answers)
    with node, opened(node) as cluster:
        assert delete_groups(cluster, ["a", "b"]) == {"a": None, "b": None}
    assert [request.groups_names for request in node.asked(DeleteGroupsRequest)] == [["a", "b"], ["b"]]
    assert [request.coordinator_keys for request in node.asked(FindCoordinatorRequest)] == [["a", "b"], ["b"]]


def test_a_group_that_is_refused_is_not_asked_for_again() -> None:
    node = GroupNode()
    node.script(DeleteGroupsRequest, deleted(a=ErrorCode.NON_EMPTY_GROUP))
    with node, opened(node) as cluster:
        outcome = delete_groups(cluster, ["a"])["a"]
    assert isinstance(outcome, ClientError)
    assert outcome.code == ErrorCode.NON_EMPTY_GROUP
    assert len(node.asked(DeleteGroupsRequest)) == 1


def test_groups_of_both_protocols_are_described_at_once() -> None:
    with GroupNode() as node, opened(node) as cluster:
        described = describe_consumer_groups(cluster, ["old", "young", "gone"])
    old, young, gone = (described[group_id] for group_id in ("old", "young", "gone"))
    assert not isinstance(old, ClientError)
    assert not isinstance(young, ClientError)
    assert old.members[0].assignment == {TopicPartition("t", 0), TopicPartition("t", 1)}
    assert (old.epoch, young.epoch) == (None, 7)
    assert isinstance(gone, ClientError)
    assert str(gone) == "Group gone not found."


def test_brokers_are_told_which_groups_are_wanted() -> None:
    with GroupNode() as node, opened(node) as cluster:
        assert [group.group_id for group in list_groups(cluster, states=["Empty"], types=["Classic"])] == ["idle"]
        (request,) = node.asked(ListGroupsRequest)
    assert (request.states_filter, request.types_filter) == (["Empty"], ["Classic"])


def test_committed_offsets_have_the_epochs_of_leaders() -> None:
    with GroupNode() as node, opened(node) as cluster:
        committed = fetch_group_offsets(cluster, "idle")
    assert {place: (each.offset, each.leader_epoch) for place, each in committed.items()} == {
        TopicPartition("t", 0): (4, 3),
        TopicPartition("t", 2): (9, 3),
    }
