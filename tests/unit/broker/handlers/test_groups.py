"""What members and administrators ask of classic groups, in every version, through frames and a real log."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.protocol.api import APIS, ApiKey
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.delete_groups import DeleteGroupsRequest
from barnabas.protocol.messages.describe_groups import DescribeGroupsRequest
from barnabas.protocol.messages.heartbeat import HeartbeatRequest
from barnabas.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from barnabas.protocol.messages.list_groups import ListGroupsRequest
from unit.broker.handlers.group_hosting import GroupHosting, commit_request, join_request
from unit.broker.hosting import OTHER


def versions(key: ApiKey) -> range:
    return APIS[key].versions


@pytest.mark.parametrize("version", versions(ApiKey.JOIN_GROUP))
def test_a_member_joins_and_learns_that_it_leads(version: int) -> None:
    hosting = GroupHosting()
    joined = hosting.join_alone(version)
    assert (joined.error_code, joined.generation_id, joined.protocol_name) == (0, 1, "range")
    assert joined.leader == joined.member_id
    assert joined.member_id.startswith("me-")
    assert [member.member_id for member in joined.members] == [joined.member_id]
    assert joined.protocol_type == ("consumer" if version >= 7 else None)


@pytest.mark.parametrize("version", versions(ApiKey.JOIN_GROUP))
def test_a_refused_join_can_be_read_in_every_version(version: int) -> None:
    answer = GroupHosting().join(version=version, session_timeout_ms=1)
    assert answer.error_code == ErrorCode.INVALID_SESSION_TIMEOUT
    assert answer.protocol_name == (None if version >= 7 else "")


@pytest.mark.parametrize("version", versions(ApiKey.SYNC_GROUP))
def test_the_leaders_assignment_is_told_in_every_version(version: int) -> None:
    hosting = GroupHosting()
    joined = hosting.join_alone()
    synced = hosting.sync(joined, {joined.member_id: b"part"}, version)
    assert (synced.error_code, synced.assignment) == (0, b"part")
    assert synced.protocol_name == ("range" if version >= 5 else None)


@pytest.mark.parametrize("version", versions(ApiKey.HEARTBEAT))
def test_a_heartbeat_is_refused_in_another_generation(version: int) -> None:
    hosting = GroupHosting()
    joined = hosting.join_alone()
    hosting.sync(joined, {})
    codes = [
        hosting.ask(
            HeartbeatRequest(group_id="g", generation_id=generation, member_id=joined.member_id), version
        ).error_code
        for generation in (1, 2)
    ]
    assert codes == [ErrorCode.NONE, ErrorCode.ILLEGAL_GENERATION]


@pytest.mark.parametrize("version", versions(ApiKey.LEAVE_GROUP))
def test_a_member_leaves_and_an_unknown_one_cannot(version: int) -> None:
    hosting = GroupHosting()
    joined = hosting.join_alone()
    hosting.sync(joined, {})

    def leave(member_id: str) -> int:
        if version < 3:
            answer = hosting.ask(LeaveGroupRequest(group_id="g", member_id=member_id), version)
            return int(answer.error_code)
        members = [MemberIdentity(member_id=member_id)]
        answer = hosting.ask(LeaveGroupRequest(group_id="g", members=members), version)
        assert answer.error_code == 0
        return int(answer.members[0].error_code)

    assert leave("nobody") == ErrorCode.UNKNOWN_MEMBER_ID
    assert leave(joined.member_id) == ErrorCode.NONE
    assert hosting.ask(DescribeGroupsRequest(groups=["g"])).groups[0].group_state == "Empty"


@pytest.mark.parametrize("version", versions(ApiKey.DESCRIBE_GROUPS))
def test_groups_are_described_and_dead_where_there_are_none(version: int) -> None:
    hosting = GroupHosting(partitions=5)
    joined = hosting.join_alone()
    hosting.sync(joined, {joined.member_id: b"part"})
    request = DescribeGroupsRequest(groups=["none", "g"], include_authorized_operations=version >= 3)
    dead, group = hosting.ask(request, version).groups
    assert (dead.group_id, dead.group_state) == ("none", "Dead")
    assert dead.error_code == (ErrorCode.GROUP_ID_NOT_FOUND if version >= 6 else ErrorCode.NONE)
    assert (group.group_state, group.protocol_type, group.protocol_data) == ("Stable", "consumer", "range")
    (member,) = group.members
    assert (member.client_id, member.client_host, member.member_assignment) == ("me", "/127.0.0.1", b"part")
    # READ, DELETE, DESCRIBE and the two of configurations.
    assert group.authorized_operations == (sum(1 << bit for bit in (3, 6, 8, 10, 11)) if version >= 3 else -(2**31))


@pytest.mark.parametrize("version", versions(ApiKey.LIST_GROUPS))
def test_groups_of_all_partitions_are_listed_by_state_and_type(version: int) -> None:
    hosting = GroupHosting(partitions=5)
    hosting.create("t")
    hosting.sync(hosting.join_alone(group_id="g"), {})
    for name in ("simple", "h", "i"):
        hosting.ask(commit_request(1, group_id=name))

    def listed(**filters: Any) -> set[tuple[str, str]]:
        answer = hosting.ask(ListGroupsRequest(**filters), version)
        assert answer.error_code == 0
        return {(group.group_id, group.group_state) for group in answer.groups}

    simple = {(name, "Empty" if version >= 4 else "") for name in ("simple", "h", "i")}
    assert listed() == {("g", "Stable" if version >= 4 else ""), *simple}
    if version >= 4:
        assert listed(states_filter=["EMPTY"]) == simple
    if version >= 5:
        assert listed(types_filter=["consumer"]) == set()
        assert len(listed(types_filter=["Classic"])) == 4


@pytest.mark.parametrize("version", versions(ApiKey.DELETE_GROUPS))
def test_empty_groups_are_deleted_and_others_are_not(version: int) -> None:
    hosting = GroupHosting(partitions=5)
    hosting.create("t")
    hosting.sync(hosting.join_alone(), {})
    hosting.ask(commit_request(1, group_id="simple"))
    answer = hosting.ask(DeleteGroupsRequest(groups_names=["g", "simple", "none", "simple"]), version)
    assert {result.group_id: result.error_code for result in answer.results} == {
        "g": ErrorCode.NON_EMPTY_GROUP,
        "simple": ErrorCode.NONE,
        "none": ErrorCode.GROUP_ID_NOT_FOUND,
    }
    assert [group.group_id for group in hosting.ask(ListGroupsRequest()).groups] == ["g"]


def test_a_group_needs_a_name() -> None:
    hosting = GroupHosting()
    assert hosting.ask(join_request(group_id="")).error_code == ErrorCode.INVALID_GROUP_ID
    request = HeartbeatRequest(group_id="", generation_id=1, member_id="m")
    assert hosting.ask(request).error_code == ErrorCode.INVALID_GROUP_ID


def test_a_broker_that_does_not_lead_the_partition_is_no_coordinator() -> None:
    hosting = GroupHosting(replicas=(OTHER, 1))
    assert hosting.join().error_code == ErrorCode.NOT_COORDINATOR
    assert hosting.ask(ListGroupsRequest()).groups == []
    answer = hosting.ask(DescribeGroupsRequest(groups=["g"]))
    assert answer.groups[0].error_code == ErrorCode.NOT_COORDINATOR
