"""A leader: its high watermark is what all in-sync replicas have, and rests while they are too few."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from barnabas.log.checkpoint import TopicPartition
from barnabas.log.log_config import LogConfig
from barnabas.log.partition_log import PartitionLog
from barnabas.metadata.topics import UNASSIGNED_DIRECTORY, Partition
from barnabas.protocol.errors import FencedLeaderEpoch, NotLeaderOrFollower
from barnabas.replication.errors import NotEnoughReplicas, OffsetNotAvailable, UnknownLeaderEpoch
from barnabas.replication.follower import Follower
from barnabas.replication.leader import Leader
from barnabas.sim.disk import SimDisk
from builders import TIMESTAMP, make_batch

NAME = TopicPartition("t", 0)


def make_log(disk: SimDisk | None = None) -> PartitionLog:
    disk = disk or SimDisk()
    disk.make_directory("/data")
    return PartitionLog(disk, "/data/t-0", LogConfig(), rng=Random(1), now_ms=TIMESTAMP)


def partition(
    isr: tuple[int, ...] = (1,), replicas: tuple[int, ...] = (1, 2, 3), leader_epoch: int = 5, partition_epoch: int = 0
) -> Partition:
    return Partition(replicas, (UNASSIGNED_DIRECTORY,) * len(replicas), isr, 1, leader_epoch, partition_epoch)


def lead(
    log: PartitionLog,
    *,
    isr: tuple[int, ...] = (1,),
    replicas: tuple[int, ...] = (1, 2, 3),
    min_insync_replicas: int = 1,
) -> Leader:
    return Leader(NAME, log, partition(isr, replicas), min_insync_replicas=min_insync_replicas)


def test_a_leader_alone_in_sync_commits_what_it_appends() -> None:
    leader = lead(make_log())
    assert leader.append(make_batch(3), TIMESTAMP, needs_all=True).last_offset == 2
    assert leader.log.high_watermark == 3


def test_a_new_leader_notes_its_epoch_before_it_writes() -> None:
    log = make_log()
    lead(log).append(make_batch(3), TIMESTAMP, needs_all=False)
    Leader(NAME, log, partition(leader_epoch=9), min_insync_replicas=1)
    assert [tuple(entry) for entry in log.leader_epochs.entries()] == [(5, 0), (9, 3)]


def test_the_high_watermark_waits_for_the_slowest_in_sync_replica() -> None:
    leader = lead(make_log(), isr=(1, 2, 3))
    leader.append(make_batch(4), TIMESTAMP, needs_all=True)
    assert not leader.follower_fetched(2, 4)
    assert leader.follower_fetched(3, 2)
    assert leader.log.high_watermark == 2
    assert leader.follower_fetched(3, 4)
    assert leader.log.high_watermark == 4


def test_a_replica_out_of_sync_is_not_waited_for_until_it_is_in_the_isr() -> None:
    leader = lead(make_log(), isr=(1, 2))
    leader.append(make_batch(4), TIMESTAMP, needs_all=True)
    leader.follower_fetched(2, 4)
    assert leader.log.high_watermark == 4
    leader.take_partition(partition(isr=(1, 2, 3)), min_insync_replicas=1)
    leader.append(make_batch(1), TIMESTAMP, needs_all=True)
    leader.follower_fetched(2, 5)
    assert leader.log.high_watermark == 4


def test_what_a_follower_has_is_known_beyond_a_change_of_the_isr() -> None:
    leader = lead(make_log(), isr=(1, 2, 3))
    leader.append(make_batch(4), TIMESTAMP, needs_all=True)
    leader.follower_fetched(2, 3)
    assert leader.take_partition(partition(isr=(1, 2)), min_insync_replicas=1)
    assert leader.log.high_watermark == 3


def test_below_min_insync_replicas_the_high_watermark_rests() -> None:
    leader = lead(make_log(), isr=(1,), min_insync_replicas=2)
    with pytest.raises(NotEnoughReplicas):
        leader.append(make_batch(1), TIMESTAMP, needs_all=True)
    leader.append(make_batch(1), TIMESTAMP, needs_all=False)
    assert leader.log.high_watermark == 0
    assert not leader.has_enough_in_sync
    assert leader.require_in_sync(1)
    assert leader.log.high_watermark == 1


def test_no_more_replicas_are_required_than_there_are() -> None:
    leader = lead(make_log(), isr=(1,), replicas=(1,), min_insync_replicas=3)
    leader.append(make_batch(1), TIMESTAMP, needs_all=True)
    assert leader.log.high_watermark == 1


def test_the_end_is_not_told_before_the_high_watermark_has_reached_the_epochs_start() -> None:
    log = make_log()
    lead(log, isr=(1, 2)).append(make_batch(3), TIMESTAMP, needs_all=False)
    leader = Leader(NAME, log, partition(isr=(1, 2), leader_epoch=6), min_insync_replicas=1)
    with pytest.raises(OffsetNotAvailable):
        leader.check_offsets_known()
    leader.follower_fetched(2, 3)
    leader.check_offsets_known()


def test_an_unknown_follower_is_told_to_look_again() -> None:
    leader = lead(make_log())
    leader.check_follower(2, 5)
    with pytest.raises(UnknownLeaderEpoch):
        leader.check_follower(4, 5)
    with pytest.raises(NotLeaderOrFollower):
        leader.check_follower(4, -1)


def test_epochs_are_compared_on_either_side() -> None:
    for replica in (lead(make_log()), Follower(NAME, make_log(), partition())):
        replica.check_epoch(-1)
        replica.check_epoch(5)
        with pytest.raises(FencedLeaderEpoch):
            replica.check_epoch(4)
        with pytest.raises(UnknownLeaderEpoch):
            replica.check_epoch(6)


def test_a_follower_does_not_answer_for_the_leader() -> None:
    lead(make_log()).check_leader()
    with pytest.raises(NotLeaderOrFollower, match="led by broker 1"):
        Follower(NAME, make_log(), partition()).check_leader()


@settings(max_examples=40)
@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("append"), st.integers(1, 3)),
            st.tuples(st.sampled_from([2, 3]), st.integers(0, 12)),
            st.tuples(st.just("isr"), st.sampled_from([(1,), (1, 2), (1, 3), (1, 2, 3)])),
        ),
        max_size=20,
    )
)
def test_the_high_watermark_never_falls_and_is_never_above_an_in_sync_replica_that_told_its_end(
    steps: list[tuple[object, object]],
) -> None:
    leader = lead(make_log(), isr=(1, 2, 3))
    ends = {2: 0, 3: 0}
    highest = 0
    for what, value in steps:
        if what == "append":
            assert isinstance(value, int)
            leader.append(make_batch(value), TIMESTAMP, needs_all=False)
        elif what == "isr":
            assert isinstance(value, tuple)
            leader.take_partition(partition(isr=value), min_insync_replicas=1)
        else:
            assert isinstance(what, int)
            assert isinstance(value, int)
            # A follower's log does not shrink within an epoch.
            ends[what] = max(ends[what], min(value, leader.log.log_end_offset))
            leader.follower_fetched(what, ends[what])
        high_watermark = leader.log.high_watermark
        assert high_watermark >= highest
        if high_watermark > highest:
            reached = [leader.log.log_end_offset, *(ends[replica] for replica in leader.isr if replica != 1)]
            assert high_watermark == min(reached)
        highest = high_watermark
