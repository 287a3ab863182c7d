"""What members of consumer groups ask, in every version, through frames and a real log."""

from __future__ import annotations

import pytest

from barnabas.broker.handlers.groups_consumer import ConsumerGroups
from barnabas.protocol.api import APIS, ApiKey
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from barnabas.protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from unit.broker.handlers.asking import serve
from unit.broker.handlers.group_hosting import GroupHosting
from unit.broker.hosting import topic_id


def hosting(*, is_enabled: bool = True) -> GroupHosting:
    made = GroupHosting()
    serve(made, ConsumerGroups(made.groups, lambda: is_enabled))
    made.create("t", partitions=2)
    made.pass_time(0)
    return made


def join_request(group_id: str = "g") -> ConsumerGroupHeartbeatRequest:
    return ConsumerGroupHeartbeatRequest(
        group_id=group_id,
        member_id="m",
        member_epoch=0,
        rebalance_timeout_ms=10_000,
        subscribed_topic_names=["t"],
        topic_partitions=[],
    )


def describe_request(*group_ids: str, with_operations: bool = False) -> ConsumerGroupDescribeRequest:
    return ConsumerGroupDescribeRequest(group_ids=list(group_ids), include_authorized_operations=with_operations)


@pytest.mark.parametrize("version", APIS[ApiKey.CONSUMER_GROUP_HEARTBEAT].versions)
def test_a_member_joins_and_is_told_what_it_owns(version: int) -> None:
    host = hosting()
    joined = host.told(host.ask(join_request(), version))
    assert (joined.error_code, joined.member_id, joined.member_epoch, joined.heartbeat_interval_ms) == (
        0,
        "m",
        2,
        5_000,
    )
    assert [(topic.topic_id, topic.partitions) for topic in joined.assignment.topic_partitions] == [
        (topic_id("t"), [0, 1])
    ]


@pytest.mark.parametrize("version", APIS[ApiKey.CONSUMER_GROUP_DESCRIBE].versions)
def test_groups_are_described_in_the_order_in_which_they_are_asked_for(version: int) -> None:
    host = hosting()
    host.told(host.ask(join_request(), 1))
    none, found, unnamed = host.told(host.ask(describe_request("none", "g", ""), version)).groups
    assert (none.group_id, none.error_code) == ("none", ErrorCode.GROUP_ID_NOT_FOUND)
    assert (unnamed.group_id, unnamed.error_code) == ("", ErrorCode.INVALID_GROUP_ID)
    assert (found.group_id, found.group_state, found.group_epoch, found.assignor_name) == ("g", "Stable", 2, "uniform")
    assert found.authorized_operations == -(2**31)
    member = found.members[0]
    assert member.assignment.topic_partitions[0].topic_name == "t"
    assert member.member_type == (1 if version >= 1 else -1)


def test_who_asks_for_them_is_told_what_is_permitted() -> None:
    host = hosting()
    host.told(host.ask(join_request(), 1))
    group = host.told(host.ask(describe_request("g", with_operations=True), 1)).groups[0]
    assert group.authorized_operations > 0


def test_a_cluster_without_the_protocol_refuses_it() -> None:
    host = hosting(is_enabled=False)
    assert host.told(host.ask(join_request(), 1)).error_code == ErrorCode.UNSUPPORTED_VERSION
    assert host.told(host.ask(describe_request("g"), 1)).groups[0].error_code == ErrorCode.UNSUPPORTED_VERSION


def test_a_group_is_not_served_before_its_partition_is() -> None:
    made = GroupHosting(partitions=1, replicas=(2, 1))
    serve(made, ConsumerGroups(made.groups, lambda: True))
    assert made.told(made.ask(join_request(), 1)).error_code == ErrorCode.NOT_COORDINATOR
