"""A silent broker that is in sync with many partitions is fenced in several turns, and what holds in between."""

from __future__ import annotations

import pytest

from barnabas.controller import fencing
from barnabas.controller.effects import TimerFired
from barnabas.protocol.metadata_records.broker_registration_change import BrokerRegistrationChangeRecord
from barnabas.protocol.metadata_records.partition_change import PartitionChangeRecord
from unit.controller.controlled_cluster import ControlledCluster
from unit.controller.partitions import write_topic

SESSION_MS = 9_000


@pytest.fixture(autouse=True)
def few_records_a_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fencing, "RECORDS_MAX", 2)


def silent_broker(*, has_elr: bool, partitions: int = 5) -> ControlledCluster:
    """Broker 1 has been silent for longer than its session; broker 2, which is in every second partition, has not."""
    cluster = ControlledCluster(has_elr=has_elr, tasks=(fencing.FENCE_STALE_BROKERS,))
    cluster.start_brokers(1, 2)
    write_topic(cluster, "t", [[1, 2] if index % 2 else [1] for index in range(partitions)])
    cluster.heartbeat(1)
    cluster.now_ms += SESSION_MS + 1
    cluster.heartbeat(2)
    return cluster


def take_turn(cluster: ControlledCluster) -> list[object]:
    """Let what is due next happen, if it is due now; the records that came of it."""
    before = cluster.end_offset
    assert cluster.timer_ms is not None
    cluster.step(TimerFired())
    cluster.commit()
    return list(cluster.records(before))


def is_fenced(cluster: ControlledCluster, broker_id: int) -> bool:
    return cluster.image.cluster.brokers[broker_id].is_fenced


@pytest.mark.parametrize("has_elr", [True, False])
def test_partitions_go_in_turns_and_the_broker_last(has_elr: bool) -> None:
    cluster = silent_broker(has_elr=has_elr)
    turns = []
    while not is_fenced(cluster, 1):
        turns.append(take_turn(cluster))
        assert cluster.timer_ms == cluster.now_ms or is_fenced(cluster, 1), "the next turn is due at once"
    assert [len(turn) for turn in turns] == [2, 2, 2]
    *changes, last = [record for turn in turns for record in turn]
    assert all(isinstance(record, PartitionChangeRecord) for record in changes)
    assert isinstance(last, BrokerRegistrationChangeRecord)
    for index in range(5):
        partition = cluster.partition("t", index)
        assert partition.leader == (2 if index % 2 else -1)
        assert (1 in partition.isr) == (not has_elr and not index % 2)


def test_a_broker_that_is_heard_of_in_between_stays() -> None:
    cluster = silent_broker(has_elr=True)
    assert len(take_turn(cluster)) == 2
    assert not cluster.heartbeat(1).is_fenced
    assert take_turn(cluster) == []
    assert not is_fenced(cluster, 1)
    assert [1 in cluster.partition("t", index).isr for index in range(5)] == [False, False, True, True, True]
