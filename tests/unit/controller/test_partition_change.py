"""Elections, eligible leader replicas and the end of reassignments, for one partition at a time."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from barnabas.controller.partition_change import (
    Election,
    PartitionRules,
    PlannedChange,
    change_record,
    plan_change,
)
from barnabas.metadata.sorted_map import SortedMap
from barnabas.metadata.topics import (
    UNASSIGNED_DIRECTORY,
    LeaderRecoveryState,
    Partition,
    Topic,
    TopicsDelta,
    TopicsImage,
)
from barnabas.protocol.uuid import Uuid

TOPIC = Uuid(b"0123456789abcdef")


def partition(replicas: tuple[int, ...], isr: tuple[int, ...], leader: int, **fields: object) -> Partition:
    made = Partition(replicas, (UNASSIGNED_DIRECTORY,) * len(replicas), isr, leader, 5, 7)
    return made._replace(**fields)  # type: ignore[arg-type]


def rules(*alive: int, min_isr: int = 2, has_elr: bool = True) -> PartitionRules:
    return PartitionRules(
        lambda replica, _directory: replica in alive, lambda _replica: UNASSIGNED_DIRECTORY, min_isr, has_elr
    )


def planned(change: PlannedChange | None) -> Partition:
    assert change is not None
    return change.partition


def test_a_leader_that_can_go_on_stays() -> None:
    was = partition((1, 2, 3), (2, 3), 2)
    assert plan_change(was, was, rules(1, 2, 3)) is None


def test_a_leader_comes_from_the_isr_in_the_order_of_replicas() -> None:
    was = partition((1, 2, 3), (1, 2, 3), 1)
    will = planned(plan_change(was, was._replace(isr=(2, 3)), rules(2, 3)))
    assert (will.leader, will.isr, will.leader_epoch, will.partition_epoch) == (2, (2, 3), 6, 8)


def test_a_preferred_election_takes_the_first_replica_if_it_is_in_sync() -> None:
    was = partition((1, 2, 3), (2, 1), 2)
    assert planned(plan_change(was, was, rules(1, 2, 3), Election.PREFERRED)).leader == 1
    was = partition((1, 2, 3), (2, 3), 2)
    assert plan_change(was, was, rules(1, 2, 3), Election.PREFERRED) is None


def test_below_the_least_isr_who_leaves_it_is_eligible() -> None:
    was = partition((1, 2, 3), (1, 2), 1)
    will = planned(plan_change(was, was._replace(isr=(1,)), rules(1, 3)))
    assert will.eligible_leader_replicas == (2,)
    will = planned(plan_change(was, was._replace(isr=(1,)), rules(1, 3), uncleanly_stopped=(2,)))
    assert will.eligible_leader_replicas == ()
    will = planned(plan_change(was, was._replace(isr=(1,)), rules(1, 3, min_isr=1)))
    assert will.eligible_leader_replicas == ()


def test_a_full_isr_ends_eligibility() -> None:
    was = partition((1, 2, 3), (1,), 1, eligible_leader_replicas=(2,))
    will = planned(plan_change(was, was._replace(isr=(1, 3)), rules(1, 2, 3)))
    assert (will.isr, will.eligible_leader_replicas) == ((1, 3), ())


def test_an_eligible_replica_leads_when_the_isr_is_empty() -> None:
    was = partition((1, 2), (), -1, eligible_leader_replicas=(1, 2), last_known_elr=(1,))
    will = planned(plan_change(was, was, rules(2)))
    assert (will.leader, will.isr, will.eligible_leader_replicas, will.last_known_elr) == (2, (2,), (1,), ())
    assert will.leader_recovery_state is LeaderRecoveryState.RECOVERED


def test_the_last_leader_is_remembered_and_returns_when_nobody_else_can() -> None:
    was = partition((1, 2), (1,), 1)
    gone = planned(plan_change(was, was._replace(isr=()), rules(), uncleanly_stopped=(1,)))
    assert (gone.leader, gone.isr, gone.eligible_leader_replicas, gone.last_known_elr) == (-1, (), (), (1,))
    assert plan_change(gone, gone, rules(2)) is None
    back = planned(plan_change(gone, gone, rules(1, 2)))
    assert (back.leader, back.isr, back.last_known_elr) == (1, (1,), ())
    assert back.leader_recovery_state is LeaderRecoveryState.RECOVERING


def test_a_last_leader_that_is_no_longer_a_replica_does_not_return() -> None:
    was = partition((1, 2), (), -1, last_known_elr=(1,))
    will = planned(plan_change(was, was._replace(replicas=(2,)), rules(1)))
    assert (will.leader, will.isr, will.replicas) == (-1, (), (2,))


def test_without_eligible_replicas_the_last_member_of_the_isr_stays() -> None:
    was = partition((1, 2), (1,), 1)
    will = planned(plan_change(was, was._replace(isr=()), rules(2, has_elr=False)))
    assert (will.leader, will.isr, will.eligible_leader_replicas, will.last_known_elr) == (-1, (1,), (), ())


def test_an_unclean_election_takes_anybody_alive_and_that_one_recovers() -> None:
    was = partition((1, 2, 3), (1,), 1)
    will = planned(plan_change(was, was._replace(isr=()), rules(3, has_elr=False), Election.UNCLEAN))
    assert (will.leader, will.isr) == (3, (3,))
    assert will.leader_recovery_state is LeaderRecoveryState.RECOVERING


def test_an_unclean_election_prefers_who_is_in_sync() -> None:
    was = partition((1, 2, 3), (1, 3), 1)
    will = planned(plan_change(was, was._replace(isr=(3,)), rules(2, 3), Election.UNCLEAN))
    assert (will.leader, will.leader_recovery_state) == (3, LeaderRecoveryState.RECOVERED)


def test_a_reassignment_ends_when_those_added_are_in_sync() -> None:
    was = partition((3, 4, 1, 2), (1, 2, 3), 1, adding_replicas=(3, 4), removing_replicas=(1, 2))
    assert planned(plan_change(was, was._replace(isr=(1, 3)), rules(1, 2, 3, 4))).removing_replicas == (1, 2)
    will = planned(plan_change(was, was._replace(isr=(1, 2, 3, 4)), rules(1, 2, 3, 4)))
    assert (will.replicas, will.isr, will.leader) == ((3, 4), (3, 4), 3)
    assert (will.adding_replicas, will.removing_replicas) == ((), ())
    assert len(will.directories) == 2


def test_a_reassignment_to_fewer_replicas_waits_for_all_that_remain() -> None:
    was = partition((1, 2, 3), (1, 3), 1, removing_replicas=(3,))
    assert plan_change(was, was, rules(1, 2, 3)) is None
    will = planned(plan_change(was, was._replace(isr=(1, 2, 3)), rules(1, 2, 3)))
    assert (will.replicas, will.isr) == ((1, 2), (1, 2))


def test_taking_replicas_off_begins_a_leader_epoch_with_the_same_leader() -> None:
    was = partition((1, 2), (1, 2), 1, removing_replicas=(2,))
    will = planned(plan_change(was, was, rules(1, 2)))
    assert (will.leader, will.leader_epoch) == (1, 6)


members = st.lists(st.integers(1, 5), unique=True)


@given(st.data())
def test_every_plan_keeps_the_invariants_and_its_record_replays_into_it(data: st.DataObject) -> None:
    has_elr = data.draw(st.booleans())
    replicas = tuple(data.draw(st.lists(st.integers(1, 5), unique=True, min_size=1)))
    isr = tuple(data.draw(st.lists(st.sampled_from(replicas), unique=True, min_size=0 if has_elr else 1)))
    rest = [replica for replica in replicas if replica not in isr]
    elr = tuple(data.draw(st.lists(st.sampled_from(rest), unique=True))) if has_elr and rest else ()
    was = partition(replicas, isr, data.draw(st.sampled_from((-1, *isr))), eligible_leader_replicas=elr)
    wanted = was._replace(isr=tuple(data.draw(st.lists(st.sampled_from(replicas), unique=True))))
    alive = data.draw(members)
    change = plan_change(
        was,
        wanted,
        rules(*alive, min_isr=data.draw(st.integers(1, 3)), has_elr=has_elr),
        data.draw(st.sampled_from(Election)),
        uncleanly_stopped=tuple(data.draw(members)),
    )
    if change is None:
        return
    will = change.partition
    assert will.leader == -1 or will.leader in will.isr
    assert will.leader == -1 or will.leader in alive
    assert not set(will.isr) & set(will.eligible_leader_replicas)
    assert has_elr or will.isr
    delta = TopicsDelta(TopicsImage(SortedMap({TOPIC: Topic("t", TOPIC, SortedMap({0: was}))})))
    delta.change_partition(change_record(was, change, TOPIC, 0))
    assert delta.apply().partition(TOPIC, 0) == will
