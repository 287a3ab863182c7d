"""What a consumer group permits: commits by the epochs of its members and of their partitions, fetches, deletion."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.coordinator.errors import (
    IllegalGeneration,
    NonEmptyGroup,
    StaleMemberEpoch,
    UnknownMemberId,
    UnsupportedRequestVersion,
)
from barnabas.coordinator.group.consumer.group import ConsumerGroup, preferred_assignor
from barnabas.coordinator.group.consumer.members import ClassicTerms, ConsumerMember
from unit.coordinator.group.consumer.coordinated import topic_id

A = topic_id("a")
MEMBER = ConsumerMember(
    member_id="m", member_epoch=7, instance_id="i", assigned={A: {0: 3, 1: 7}}, pending_revocation={A: {2: 4}}
)


def group_of(*members: ConsumerMember) -> ConsumerGroup:
    group = ConsumerGroup("g")
    for member in members:
        group.put(member)
    return group


def check(group: ConsumerGroup, epoch: int, member_id: str = "m", **changes: Any) -> Any:
    terms: dict[str, Any] = {"is_transactional": False, "version": 10, **changes}
    return group.check_offset_commit(member_id, None, epoch, **terms)


def test_a_member_commits_at_its_epoch() -> None:
    assert check(group_of(MEMBER), 7) is None


def test_an_older_epoch_will_do_for_what_the_member_has_owned_since() -> None:
    check_partition = check(group_of(MEMBER), 5)
    check_partition("a", A, 0)
    check_partition("a", A, 2)
    for partition in (1, 3):
        with pytest.raises(StaleMemberEpoch):
            check_partition("a", A, partition)
    with pytest.raises(StaleMemberEpoch):
        check_partition("b", topic_id("b"), 0)


def test_a_newer_epoch_and_other_members_are_refused() -> None:
    with pytest.raises(StaleMemberEpoch):
        check(group_of(MEMBER), 8)
    with pytest.raises(UnknownMemberId):
        check(group_of(MEMBER), 7, "other")


def test_old_clients_commit_in_a_consumer_group_only_as_classic_members() -> None:
    classic = ConsumerMember(member_id="c", member_epoch=7, classic=ClassicTerms(1, ()))
    group = group_of(MEMBER, classic)
    with pytest.raises(UnsupportedRequestVersion):
        check(group, 7, version=8)
    assert check(group, 7, "c", version=8) is None
    with pytest.raises(IllegalGeneration):
        check(group, 8, "c", version=8)
    with pytest.raises(IllegalGeneration):
        check(group, 6, "c")("a", A, 0)


def test_who_is_no_member_commits_while_there_are_none_or_in_a_transaction() -> None:
    assert check(group_of(), -1, "") is None
    with pytest.raises(UnknownMemberId):
        check(group_of(MEMBER), -1, "")
    assert check(group_of(MEMBER), -1, "", is_transactional=True) is None
    with pytest.raises(UnknownMemberId):
        check(group_of(MEMBER), 7, "other", is_transactional=True)
    assert check(group_of(MEMBER), 7, is_transactional=True, version=3) is None


def test_offsets_are_fetched_by_members_at_their_epoch_or_by_who_does_not_say() -> None:
    group = group_of(MEMBER)
    group.check_offset_fetch(None, -1)
    group.check_offset_fetch("m", 7)
    with pytest.raises(StaleMemberEpoch):
        group.check_offset_fetch("m", 6)
    with pytest.raises(UnknownMemberId):
        group.check_offset_fetch("other", 7)


def test_a_group_is_deleted_when_it_is_empty_and_its_offsets_grow_old_from_their_commit_on() -> None:
    group_of().check_delete()
    group_of(MEMBER).check_offset_delete()
    with pytest.raises(NonEmptyGroup):
        group_of(MEMBER).check_delete()
    assert group_of(MEMBER).offset_idle_since_ms(5) == 5


def test_partitions_have_an_owner_until_the_member_gives_them_up_or_goes() -> None:
    group = group_of(MEMBER)
    assert [group.has_owner(A, number) for number in range(4)] == [True, True, True, False]
    group.put(ConsumerMember(member_id="m", instance_id="i", assigned={A: {0: 3}}))
    assert [group.has_owner(A, number) for number in range(4)] == [True, False, False, False]
    group.remove("m")
    assert not group.has_owner(A, 0)
    assert not group.static_ids


def test_an_owner_that_comes_late_in_the_log_is_not_lost_with_the_one_before() -> None:
    group = group_of(MEMBER, ConsumerMember(member_id="n", assigned={A: {0: 8}}))
    group.remove("m")
    assert group.has_owner(A, 0)


def test_of_assignors_named_equally_often_the_first_by_name_is_taken() -> None:
    members = {name: ConsumerMember(member_id=name, assignor_name=name) for name in ("uniform", "range")}
    assert preferred_assignor(members, "default") == "range"
    assert preferred_assignor({}, "default") == "default"
