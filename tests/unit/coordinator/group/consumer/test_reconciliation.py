"""A member gives up first, waits for what others have, and takes the rest."""

from __future__ import annotations

from dataclasses import replace

import pytest

from barnabas.coordinator.errors import FencedMemberEpoch
from barnabas.coordinator.group.assignors.spec import Assignment
from barnabas.coordinator.group.consumer.members import ConsumerMember, MemberState
from barnabas.coordinator.group.consumer.reconciliation import Reported, reconcile
from barnabas.protocol.uuid import Uuid

A, B = Uuid(b"a" * 16), Uuid(b"b" * 16)
STABLE, UNREVOKED, UNRELEASED = MemberState.STABLE, MemberState.UNREVOKED_PARTITIONS, MemberState.UNRELEASED_PARTITIONS
OWNER = ConsumerMember(member_id="m", member_epoch=3, previous_epoch=2, assigned={A: {0: 1, 1: 3}})


def step(
    member: ConsumerMember,
    target: Assignment,
    reported: Reported = None,
    *,
    epoch: int = 4,
    taken: frozenset[tuple[Uuid, int]] = frozenset(),
    topics: tuple[Uuid, ...] = (A, B),
    has_subscription_changed: bool = False,
) -> ConsumerMember:
    return reconcile(
        member,
        epoch,
        target,
        topic_ids=topics,
        reported=reported,
        has_owner=lambda topic_id, partition: (topic_id, partition) in taken,
        has_subscription_changed=has_subscription_changed,
    )


def of(*partitions: int) -> frozenset[int]:
    return frozenset(partitions)


def test_one_that_loses_nothing_goes_to_the_target_and_keeps_the_epochs_of_what_it_had() -> None:
    settled = step(OWNER, {A: of(0, 1, 2)})
    assert (settled.state, settled.member_epoch, settled.previous_epoch) == (STABLE, 4, 3)
    assert settled.assigned == {A: {0: 1, 1: 3, 2: 4}}


def test_one_that_loses_something_stays_at_its_epoch_until_it_has_stopped_to_read_that() -> None:
    revoking = step(OWNER, {A: of(0), B: of(0)}, {A: [0, 1]})
    assert (revoking.state, revoking.member_epoch) == (UNREVOKED, 3)
    assert (revoking.assigned, revoking.pending_revocation) == ({A: {0: 1}}, {A: {1: 3}})
    assert step(revoking, {A: of(0), B: of(0)}, {A: [0, 1]}) is revoking
    assert step(revoking, {A: of(0), B: of(0)}, None) is revoking
    revoked = step(revoking, {A: of(0), B: of(0)}, {A: [0]})
    assert (revoked.state, revoked.member_epoch) == (STABLE, 4)
    assert (revoked.assigned, revoked.pending_revocation) == ({A: {0: 1}, B: {0: 4}}, {})


def test_one_that_does_not_read_what_it_loses_need_not_be_asked() -> None:
    settled = step(OWNER, {A: of(0)}, {A: [0]})
    assert (settled.state, settled.member_epoch, settled.assigned) == (STABLE, 4, {A: {0: 1}})


def test_what_others_have_not_let_go_is_given_later() -> None:
    waiting = step(OWNER, {A: of(0, 1), B: of(0, 1)}, taken=frozenset({(B, 1)}))
    assert (waiting.state, waiting.member_epoch) == (UNRELEASED, 4)
    assert waiting.assigned == {A: {0: 1, 1: 3}, B: {0: 4}}
    assert step(waiting, {A: of(0, 1), B: of(0, 1)}).assigned == {A: {0: 1, 1: 3}, B: {0: 4, 1: 4}}


def test_what_it_was_giving_up_itself_it_can_be_given_back() -> None:
    revoking = step(OWNER, {A: of(0)}, {A: [0, 1]})
    back = step(revoking, {A: of(0, 1)}, {A: [0]}, epoch=5, taken=frozenset({(A, 0), (A, 1)}))
    assert (back.state, back.member_epoch, back.assigned) == (STABLE, 5, {A: {0: 1, 1: 5}})


def test_a_stable_member_at_the_targets_epoch_stays_as_it_is() -> None:
    assert step(OWNER, {A: of(0)}, epoch=3) is OWNER


def test_topics_that_a_member_has_unsubscribed_from_go_before_there_is_another_target() -> None:
    leaving = step(OWNER, {A: of(0, 1)}, {A: [0]}, epoch=3, topics=(B,), has_subscription_changed=True)
    assert (leaving.state, leaving.member_epoch) == (UNREVOKED, 3)
    assert (leaving.assigned, leaving.pending_revocation) == ({}, {A: {0: 1, 1: 3}})
    left = step(OWNER, {A: of(0, 1)}, {}, epoch=3, topics=(B,), has_subscription_changed=True)
    assert (left.state, left.assigned, left.pending_revocation) == (STABLE, {}, {})


def test_one_that_is_giving_up_gives_up_more_when_it_unsubscribes() -> None:
    revoking = step(replace(OWNER, assigned={A: {0: 1}, B: {0: 1}}), {B: of(0)}, {A: [0], B: [0]})
    more = step(revoking, {B: of(0)}, {A: [0], B: [0]}, topics=(A,), has_subscription_changed=True)
    assert (more.state, more.assigned, more.pending_revocation) == (UNREVOKED, {}, {A: {0: 1}, B: {0: 1}})


def test_a_target_in_a_topic_that_is_not_subscribed_to_any_more_is_no_target() -> None:
    assert step(OWNER, {A: of(0, 1), B: of(0)}, {}, topics=(A,)).assigned == {A: {0: 1, 1: 3}}


def test_one_in_a_state_of_a_later_release_has_to_begin_again_with_nothing() -> None:
    unknown = replace(OWNER, state=MemberState.UNKNOWN)
    for reported in (None, {A: [0]}):
        with pytest.raises(FencedMemberEpoch):
            step(unknown, {A: of(0)}, reported)
    assert step(unknown, {A: of(0)}, {}).assigned == {A: {0: 1}}
