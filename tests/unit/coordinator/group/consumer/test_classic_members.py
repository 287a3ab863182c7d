"""Members of the classic protocol in a consumer group: the coordinator assigns for them, in rebalances of their own."""

from __future__ import annotations

import pytest

from barnabas.coordinator.group.classic.group import ClassicGroup
from barnabas.coordinator.group.consumer.settings import ConsumerGroupSettings
from barnabas.coordinator.group.settings import GroupSettings
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from unit.coordinator.group.consumer.classic_clients import REBALANCE_MS, SESSION_MS, ClassicConsumer
from unit.coordinator.group.consumer.coordinated import Consumer, Coordinated


def mixed(coordinated: Coordinated) -> tuple[Consumer, ClassicConsumer]:
    """A member of each protocol, who share topic `a`."""
    x, c = coordinated.member("x", "a"), ClassicConsumer(coordinated, "a")
    x.beat()
    coordinated.advance(1_000)
    c.join_and_sync()
    x.beat()
    x.beat()
    c.follow()
    return x, c


def test_a_classic_member_is_given_an_id_first_and_then_a_generation_without_a_leader() -> None:
    coordinated = Coordinated({"a": 2})
    coordinated.member("x", "a").beat()
    coordinated.advance(1_000)
    c = ClassicConsumer(coordinated, "a")
    assert c.refused_join() == ErrorCode.MEMBER_ID_REQUIRED
    joined = c.join()
    assert (joined.generation_id, joined.protocol_type, joined.protocol_name) == (3, "consumer", "range")
    assert (joined.leader, joined.members) == ("", [])
    c.sync()
    assert c.partitions == []


def test_it_is_told_to_join_again_when_what_it_waits_for_is_free() -> None:
    coordinated = Coordinated({"a": 2})
    x, c = coordinated.member("x", "a"), ClassicConsumer(coordinated, "a")
    x.beat()
    coordinated.advance(1_000)
    c.join_and_sync()
    assert c.beat() == ErrorCode.NONE, "the other still reads it"
    x.beat()
    assert c.beat() == ErrorCode.NONE
    x.beat()
    assert c.beat() == ErrorCode.REBALANCE_IN_PROGRESS
    c.join_and_sync()
    assert (c.partitions, x.partitions) == (["a-1"], ["a-0"])
    assert coordinated.group.state_name == "Stable"


def test_it_gives_up_in_one_rebalance_what_another_is_given_then() -> None:
    coordinated = Coordinated({"a": 4})
    x, c = mixed(coordinated)
    assert (len(x.partitions), len(c.partitions)) == (2, 2)
    coordinated.advance(1_000)
    y = coordinated.member("y", "a")
    y.beat()
    for _ in range(4):
        c.follow()
        x.beat()
        y.beat()
    assert sorted([*x.partitions, *y.partitions, *c.partitions]) == ["a-0", "a-1", "a-2", "a-3"]
    assert coordinated.group.state_name == "Stable"


def test_a_sync_in_a_generation_that_is_over_is_refused_and_its_member_has_to_join_in_time() -> None:
    coordinated = Coordinated({"a": 4})
    x, c = mixed(coordinated)
    coordinated.advance(1_000)
    coordinated.member("y", "a").beat()
    answer = coordinated.ask(c.sync_request())
    assert answer.error_code == ErrorCode.REBALANCE_IN_PROGRESS
    for _ in range(6):
        # Heartbeats keep its session, but do not give it more time to join.
        coordinated.advance(5_000 - 1)
        if c.member_id in coordinated.group.members:
            assert c.beat() == ErrorCode.REBALANCE_IN_PROGRESS
            x.beat()
    coordinated.advance(10)
    assert c.member_id not in coordinated.group.members


def test_a_member_that_does_not_fetch_its_assignment_is_removed() -> None:
    coordinated = Coordinated({"a": 4})
    x, c = mixed(coordinated)
    c.join()
    for _ in range(6):
        coordinated.advance(REBALANCE_MS // 6)
        x.beat()
        if c.member_id in coordinated.group.members:
            c.beat()
    assert c.member_id not in coordinated.group.members


def test_its_session_is_the_one_that_it_asked_for() -> None:
    coordinated = Coordinated({"a": 2})
    _, c = mixed(coordinated)
    coordinated.advance(SESSION_MS - 1)
    assert c.member_id in coordinated.group.members
    coordinated.advance(1)
    assert c.member_id not in coordinated.group.members


def test_members_are_told_apart_by_generation_protocol_and_instance() -> None:
    coordinated = Coordinated({"a": 2})
    x, c = mixed(coordinated)
    stale = c.sync_request()
    stale.generation_id -= 1
    assert coordinated.ask(stale).error_code == ErrorCode.ILLEGAL_GENERATION
    other = c.sync_request()
    other.protocol_name = "sticky"
    assert coordinated.ask(other).error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    newer = c.sync_request()
    newer.member_id, newer.generation_id = "x", x.epoch
    assert coordinated.ask(newer).error_code == ErrorCode.UNKNOWN_MEMBER_ID
    unknown = ClassicConsumer(coordinated, "a", instance="none")
    unknown.member_id = c.member_id
    assert unknown.beat() == ErrorCode.UNKNOWN_MEMBER_ID


@pytest.mark.parametrize(
    ("consumer", "code"),
    [
        ({"protocol_type": "connect"}, ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
        ({"protocols": ("mine",)}, ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
    ],
)
def test_one_that_has_no_assignor_in_common_with_the_other_classic_members_cannot_join(
    consumer: dict[str, str], code: ErrorCode
) -> None:
    coordinated = Coordinated({"a": 2})
    mixed(coordinated)
    assert ClassicConsumer(coordinated, "a", **consumer).refused_join() == code  # type: ignore[arg-type]


def test_bytes_that_are_no_subscription_are_refused() -> None:
    coordinated = Coordinated({"a": 2})
    _, c = mixed(coordinated)
    request = c.join_request()
    request.protocols[0].metadata = b"?"
    assert coordinated.ask(request).error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL


def test_nobody_joins_with_a_session_out_of_bounds_or_into_a_full_group() -> None:
    coordinated = Coordinated({"a": 2}, GroupSettings(consumer=ConsumerGroupSettings(max_size=1)))
    coordinated.member("x", "a").beat()
    assert ClassicConsumer(coordinated, "a").refused_join() == ErrorCode.GROUP_MAX_SIZE_REACHED
    request = ClassicConsumer(coordinated, "a").join_request()
    request.session_timeout_ms = 1
    assert coordinated.ask(request).error_code == ErrorCode.INVALID_SESSION_TIMEOUT


def test_without_migration_classic_members_stay_out() -> None:
    settings = GroupSettings(consumer=ConsumerGroupSettings(may_upgrade=False, may_downgrade=False))
    coordinated = Coordinated({"a": 2}, settings)
    coordinated.member("x", "a").beat()
    assert ClassicConsumer(coordinated, "a").refused_join() == ErrorCode.INCONSISTENT_GROUP_PROTOCOL


def test_a_static_classic_member_that_comes_back_takes_over_what_it_had() -> None:
    coordinated = Coordinated({"a": 2})
    x, c = coordinated.member("x", "a"), ClassicConsumer(coordinated, "a", instance="i")
    x.beat()
    coordinated.advance(1_000)
    c.join_and_sync()
    x.beat()
    x.beat()
    c.follow()
    had = c.partitions
    back = ClassicConsumer(coordinated, "a", instance="i")
    back.join_and_sync()
    assert (back.partitions, had) == (["a-1"], ["a-1"])
    assert c.beat() == ErrorCode.FENCED_INSTANCE_ID
    assert set(coordinated.group.members) == {"x", back.member_id}


def test_members_leave_each_by_id_or_by_instance() -> None:
    coordinated = Coordinated({"a": 2})
    x, c = mixed(coordinated)
    static = ClassicConsumer(coordinated, "a", instance="i")
    static.join_and_sync()
    answer = coordinated.ask(
        LeaveGroupRequest(
            group_id="g",
            members=[
                MemberIdentity(member_id=c.member_id),
                MemberIdentity(member_id="", group_instance_id="i"),
                MemberIdentity(member_id="nobody"),
                MemberIdentity(member_id="other", group_instance_id="j"),
            ],
        )
    )
    assert [member.error_code for member in answer.members] == [0, 0] + [ErrorCode.UNKNOWN_MEMBER_ID] * 2
    assert set(coordinated.group.members) == {"x"}
    x.leave()
    assert coordinated.group.is_empty


def test_a_group_without_members_becomes_a_classic_one_for_the_next_who_joins_that_way() -> None:
    coordinated = Coordinated({"a": 2})
    x = coordinated.member("x", "a")
    x.beat()
    x.leave()
    c = ClassicConsumer(coordinated, "a")
    assert c.refused_join() == ErrorCode.MEMBER_ID_REQUIRED
    coordinated.load()
    group = coordinated.shard.state.groups.get("g")
    assert isinstance(group, ClassicGroup), "as the log says"


def test_one_that_is_refused_leaves_the_empty_group_as_it_is() -> None:
    coordinated = Coordinated({"a": 2})
    x = coordinated.member("x", "a")
    x.beat()
    x.leave()
    c = ClassicConsumer(coordinated, "a")
    c.member_id = "never-heard-of"
    assert c.refused_join() == ErrorCode.UNKNOWN_MEMBER_ID
    assert coordinated.group.is_empty
