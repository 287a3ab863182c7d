"""Hosted replicas: they follow the metadata step by step, and answer for what is not here with Kafka's errors."""

from __future__ import annotations

from errno import EIO

import pytest

from barnabas.metadata.configs import ConfigResourceType
from barnabas.protocol.errors import ApiError, ErrorCode
from barnabas.protocol.metadata_records.partition_change import PartitionChangeRecord
from barnabas.protocol.metadata_records.remove_topic import RemoveTopicRecord
from barnabas.protocol.metadata_records.topic import TopicRecord
from barnabas.replication.follower import Follower
from barnabas.replication.leader import Leader
from builders import make_batch
from unit.broker.hosting import NODE, OTHER, Hosting, config_record, directory_id, topic_id


def code_of(hosting: Hosting, topic: str = "t", partition: int = 0) -> ErrorCode:
    with pytest.raises(ApiError) as refused:
        hosting.replicas.find(topic, partition)
    return refused.value.code


def test_a_partition_is_led_or_followed_as_the_metadata_says() -> None:
    hosting = Hosting()
    hosting.create("led", replicas=(NODE, OTHER))
    hosting.create("followed", replicas=(OTHER, NODE))
    hosting.create("elsewhere", replicas=(OTHER,))
    assert isinstance(hosting.replicas.find("led", 0), Leader)
    assert isinstance(hosting.replicas.find(topic_id("followed"), 0), Follower)
    assert code_of(hosting, "elsewhere") is ErrorCode.NOT_LEADER_OR_FOLLOWER
    logs = {name for name in hosting.disk.names("/data") if name.endswith("-0")}
    assert logs == {"led-0", "followed-0"}


def test_what_the_cluster_does_not_know_is_told_apart() -> None:
    hosting = Hosting()
    hosting.create()
    assert code_of(hosting, "none") is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert code_of(hosting, "t", 1) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    with pytest.raises(ApiError) as refused:
        hosting.replicas.find(topic_id("none"), 0)
    assert refused.value.code is ErrorCode.UNKNOWN_TOPIC_ID


def test_a_new_leader_epoch_makes_a_new_replica_on_the_same_log() -> None:
    hosting = Hosting()
    hosting.create(replicas=(NODE, OTHER), isr=(NODE,))
    hosting.append(3)
    first = hosting.replicas.find_leader("t", 0)
    hosting.change(leader=OTHER)
    follower = hosting.replicas.find("t", 0)
    assert isinstance(follower, Follower)
    assert (follower.leader_id, follower.leader_epoch) == (OTHER, 1)
    hosting.change(leader=NODE)
    leader = hosting.replicas.find_leader("t", 0)
    assert leader is not first
    assert leader.log is first.log
    assert (leader.leader_epoch, leader.epoch_start_offset) == (2, 3)
    assert not hosting.replicas.is_current(first)
    assert hosting.replicas.is_current(leader)


def test_a_change_within_the_epoch_keeps_the_leader() -> None:
    hosting = Hosting()
    hosting.create(replicas=(NODE, OTHER))
    leader = hosting.replicas.find_leader("t", 0)
    hosting.change(isr=[NODE])
    assert hosting.replicas.find_leader("t", 0) is leader
    assert (leader.isr, leader.partition_epoch) == ((NODE,), 1)


def test_a_partition_that_moves_away_takes_its_log_out_of_service() -> None:
    hosting = Hosting()
    hosting.create(partitions=2, replicas=(NODE, OTHER))
    hosting.change(replicas=[OTHER], directories=[directory_id("x")], isr=[OTHER], leader=OTHER)
    assert code_of(hosting) is ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert isinstance(hosting.replicas.find("t", 1), Leader)
    names = hosting.disk.names("/data")
    assert "t-0" not in names
    assert any(name.startswith("t-0.") and name.endswith("-delete") for name in names)


def test_a_topic_that_is_made_anew_in_one_step_has_none_of_the_old_records() -> None:
    hosting = Hosting()
    hosting.create()
    hosting.append(3)
    old = hosting.replicas.find_leader("t", 0)
    hosting.delete()
    assert code_of(hosting) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    hosting.create(incarnation=1)
    new = hosting.replicas.find_leader("t", 0)
    assert new.log is not old.log
    assert new.log.log_end_offset == 0
    assert hosting.replicas.find(topic_id("t", 1), 0) is new
    assert not hosting.replicas.is_current(old)


def test_a_topic_that_is_gone_and_back_within_a_step_is_another_one() -> None:
    hosting = Hosting()
    hosting.create()
    hosting.append(3)
    hosting.apply(RemoveTopicRecord(topic_id=topic_id("t")), TopicRecord(name="t", topic_id=topic_id("t", 1)))
    assert code_of(hosting) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_a_restart_finds_the_logs_and_their_high_watermarks_again() -> None:
    hosting = Hosting()
    hosting.create(replicas=(OTHER, NODE))
    log = hosting.replicas.find("t", 0).log
    log.append_as_leader(make_batch(3), 0, hosting.now_ms)
    log.update_high_watermark(2)
    hosting.directories.close(broker_epoch=1, now_ms=hosting.now_ms)
    again = Hosting(disk=hosting.disk)
    again.create(replicas=(OTHER, NODE))
    log = again.replicas.find("t", 0).log
    assert (log.log_end_offset, log.high_watermark) == (3, 2)


def test_a_log_of_another_topic_with_this_name_is_set_aside_and_never_served() -> None:
    hosting = Hosting()
    hosting.create()
    hosting.append(3)
    hosting.directories.close(broker_epoch=1, now_ms=hosting.now_ms)
    again = Hosting(disk=hosting.disk)
    again.create(incarnation=1)
    assert again.replicas.find_leader("t", 0).log.log_end_offset == 0
    assert any(name.endswith("-stray") for name in again.disk.names("/data"))


# Directories


def test_a_log_is_made_in_the_directory_that_the_assignment_names_or_where_the_fewest_are() -> None:
    hosting = Hosting(directories=("/a", "/b"))
    hosting.create("named", directory=directory_id("/b"))
    hosting.create("free")
    assert hosting.replicas.find("named", 0).log.directory == "/b/named-0"
    assert hosting.replicas.find("free", 0).log.directory == "/a/free-0"


def test_a_failed_directory_costs_its_own_partitions_only() -> None:
    hosting = Hosting(directories=("/a", "/b"))
    hosting.create("x", directory=directory_id("/a"))
    hosting.create("y", directory=directory_id("/b"))
    woken: list[bool] = []
    hosting.waiting_room.park(
        [hosting.replicas.find("x", 0).name], lambda: len(hosting.failed) > 0, 2**62, woken.append
    )
    hosting.directories.take_offline("/a", OSError(EIO, "gone"))
    hosting.replicas.let_failed_go()
    assert hosting.failed == ["/a"]
    assert woken == [False]
    assert code_of(hosting, "x") is ErrorCode.KAFKA_STORAGE_ERROR
    assert isinstance(hosting.replicas.find("y", 0), Leader)
    hosting.replicas.let_failed_go()
    assert hosting.failed == ["/a"]


def test_a_partition_that_may_lie_in_a_failed_directory_is_not_made_a_second_time() -> None:
    hosting = Hosting(directories=("/a", "/b"))
    hosting.directories.take_offline("/a", OSError(EIO, "gone"))
    hosting.replicas.let_failed_go()
    hosting.create("x", directory=directory_id("/a"))
    hosting.create("new")
    assert code_of(hosting, "x") is ErrorCode.KAFKA_STORAGE_ERROR
    assert hosting.replicas.find("new", 0).log.directory == "/b/new-0"


def test_a_partition_whose_log_cannot_be_made_is_refused_and_tells_of_the_disk() -> None:
    hosting = Hosting()
    hosting.disk.fail("open", ".log", EIO)
    hosting.create()
    assert hosting.failed == ["/data"]
    assert code_of(hosting) is ErrorCode.KAFKA_STORAGE_ERROR


# Settings


def test_settings_reach_logs_and_leaders_when_they_change() -> None:
    hosting = Hosting()
    hosting.create(replicas=(NODE, OTHER), isr=(NODE,))
    hosting.create("other")
    leader = hosting.replicas.find_leader("t", 0)
    hosting.configure("t", "segment.bytes", "1234567")
    hosting.configure("t", "min.insync.replicas", "2")
    assert leader.log.config.segment_bytes == 1234567
    assert not leader.has_enough_in_sync
    assert hosting.replicas.find("other", 0).log.config.segment_bytes == 1024**3
    hosting.configure("t", "segment.bytes", None)
    assert leader.log.config.segment_bytes == 1024**3


def test_a_default_of_the_cluster_reaches_every_log_that_has_no_setting_of_its_own() -> None:
    hosting = Hosting()
    hosting.create("own", configs={"segment.bytes": "2000000"})
    hosting.create("plain")
    hosting.apply(config_record("", "log.segment.bytes", "3000000", ConfigResourceType.BROKER))
    assert hosting.replicas.find("own", 0).log.config.segment_bytes == 2_000_000
    assert hosting.replicas.find("plain", 0).log.config.segment_bytes == 3_000_000


def test_a_step_without_topics_changes_nothing_but_the_image() -> None:
    hosting = Hosting()
    hosting.create()
    before = hosting.replicas.find("t", 0)
    hosting.apply()
    assert hosting.replicas.find("t", 0) is before


def test_an_older_state_of_the_same_epoch_is_not_taken() -> None:
    hosting = Hosting()
    hosting.create(replicas=(NODE, OTHER))
    leader = hosting.replicas.find_leader("t", 0)
    leader.partition_epoch = 7
    hosting.apply(PartitionChangeRecord(topic_id=topic_id("t"), partition_id=0, isr=[NODE]))
    assert leader.isr == (NODE, OTHER)
