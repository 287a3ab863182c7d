"""Shards on real logs: answers wait for replicas, leaders come and go, logs are loaded, failures are told."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from barnabas.broker.handlers.coordinators import GROUPS_TOPIC
from barnabas.coordinator.group.settings import GroupSettings
from barnabas.coordinator.group.shard import GroupShard
from barnabas.coordinator.record_codec import RecordCodec
from barnabas.log.producer_entry import AppendOrigin
from barnabas.protocol.codec import encode
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.group_records import KEYS, VALUES
from barnabas.protocol.group_records.offset_commit import OffsetCommitKey
from barnabas.protocol.messages.heartbeat import HeartbeatRequest
from barnabas.records.batch import iterate_batches
from barnabas.records.build import build_batch
from barnabas.records.control import EndTransactionMarker, build_end_transaction_marker
from barnabas.records.record import Record
from barnabas.runtime.coordinator import loading
from barnabas.sim.disk import SimDisk
from unit.broker.handlers.group_hosting import GroupHosting, commit_request, fetch_request, fetched_offsets
from unit.broker.hosting import NODE, OTHER
from unit.coordinator.group.offset_records import commit_value

BOTH = (NODE, OTHER)


def code_of(answer: Any) -> int:
    return int(answer.topics[0].partitions[0].error_code)


def offset_of(hosting: GroupHosting, group_id: str = "g") -> Any:
    answer = hosting.told(hosting.ask(fetch_request(9, group_id), 9))
    return answer.groups[0].error_code or fetched_offsets(answer, 9)["t", 0][0]


def replicate(hosting: GroupHosting) -> None:
    """Let the follower have fetched everything."""
    leader = hosting.replicas.find_leader(GROUPS_TOPIC, 0)
    leader.follower_fetched(OTHER, leader.log.log_end_offset)
    hosting.waiting_room.wake(leader.name)


def make(replicas: tuple[int, ...] = (NODE,), disk: SimDisk | None = None, **settings: str) -> GroupHosting:
    hosting = GroupHosting(
        {name.replace("_", "."): value for name, value in settings.items()}, replicas=replicas, disk=disk
    )
    hosting.create("t")
    return hosting


def test_an_answer_waits_until_all_replicas_in_sync_have_what_it_tells() -> None:
    hosting = make(BOTH)
    commit = hosting.ask(commit_request(5))
    fetch = hosting.ask(fetch_request(9), 9)
    assert not commit.is_there
    # Nobody is told of a commit that may still be lost.
    assert not fetch.is_there
    replicate(hosting)
    assert code_of(hosting.told(commit)) == ErrorCode.NONE
    assert fetched_offsets(hosting.told(fetch), 9) == {("t", 0): (5, 0)}


def test_a_commit_that_the_replicas_do_not_take_in_time_fails() -> None:
    hosting = make(BOTH, offsets_commit_timeout_ms="2000")
    commit = hosting.ask(commit_request(5))
    hosting.pass_time(1_999)
    assert not commit.is_there
    hosting.pass_time(1)
    assert code_of(hosting.told(commit)) == ErrorCode.COORDINATOR_NOT_AVAILABLE
    replicate(hosting)
    assert offset_of(hosting) == 5


def test_too_few_replicas_in_sync_refuse_a_commit_at_once() -> None:
    hosting = make(BOTH)
    hosting.configure(GROUPS_TOPIC, "min.insync.replicas", "2")
    hosting.change(GROUPS_TOPIC, isr=[NODE])
    assert code_of(hosting.ask(commit_request(5))) == ErrorCode.COORDINATOR_NOT_AVAILABLE
    hosting.change(GROUPS_TOPIC, isr=list(BOTH))
    replicate(hosting)
    assert offset_of(hosting) == -1


def test_a_full_disk_is_told_as_no_coordinator_and_leaves_nothing_behind() -> None:
    hosting = make()
    hosting.disk.free_bytes = 0
    assert code_of(hosting.ask(commit_request(5))) == ErrorCode.NOT_COORDINATOR
    hosting.disk.free_bytes = None
    assert offset_of(hosting) == -1
    assert code_of(hosting.ask(commit_request(6))) == ErrorCode.NONE


def test_whoever_waits_is_told_when_another_broker_leads() -> None:
    hosting = make(BOTH)
    commit = hosting.ask(commit_request(5))
    joining = hosting.join(version=3)
    assert not commit.is_there
    assert not joining.is_there
    hosting.change(GROUPS_TOPIC, leader=OTHER)
    assert code_of(hosting.told(commit)) == ErrorCode.NOT_COORDINATOR
    assert hosting.told(joining).error_code == ErrorCode.NOT_COORDINATOR
    assert offset_of(hosting) == ErrorCode.NOT_COORDINATOR


def test_a_broker_that_leads_again_loads_the_log_again() -> None:
    hosting = make(BOTH)
    hosting.ask(commit_request(5))
    replicate(hosting)
    hosting.change(GROUPS_TOPIC, leader=OTHER)
    hosting.change(GROUPS_TOPIC, leader=NODE)
    assert offset_of(hosting) == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    heartbeat = hosting.ask(HeartbeatRequest(group_id="g", generation_id=1, member_id="m"))
    assert heartbeat.error_code == ErrorCode.NONE
    hosting.pass_time(0)
    replicate(hosting)
    assert offset_of(hosting) == 5


def test_what_was_committed_is_there_after_a_restart() -> None:
    hosting = make()
    joined = hosting.join_alone(group_id="h")
    hosting.sync(joined, {joined.member_id: b"part"}, group_id="h")
    hosting.ask(commit_request(5))
    again = make(disk=hosting.disk.after_kill())
    assert offset_of(again) == 5
    heartbeat = HeartbeatRequest(group_id="h", generation_id=1, member_id=joined.member_id)
    assert again.ask(heartbeat).error_code == ErrorCode.NONE


def test_a_long_log_is_loaded_in_pieces_and_others_have_their_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    hosting = make()
    for number in range(20):
        hosting.ask(commit_request(number, group_id=f"g{number}"))
    monkeypatch.setattr(loading, "PIECE_RECORDS", 3)
    leader = hosting.replicas.find_leader(GROUPS_TOPIC, 0)
    shard = GroupShard(GroupSettings, Random(1))
    pieces = list(loading.load_log(hosting.replicas, leader, RecordCodec(KEYS, VALUES), shard, 100))
    assert pieces == [3, 6, 9, 12, 15, 18]
    assert len(shard.state.groups) == 20


def test_offsets_in_transactions_are_loaded_with_their_markers() -> None:
    hosting = make()
    log = hosting.replicas.find_leader(GROUPS_TOPIC, 0).log
    key = b"\0\1" + bytes(encode(OffsetCommitKey(group="g", topic="t", partition=0), 0))
    for producer_id, offset in ((1, 10), (2, 20)):
        value = b"\0\4" + bytes(encode(commit_value(offset), 4))
        batch = build_batch(
            [Record(0, 0, key, value)],
            producer_id=producer_id,
            producer_epoch=0,
            base_sequence=0,
            is_transactional=True,
        )
        log.append_as_leader(batch, 0, 0)
    marker = build_end_transaction_marker(EndTransactionMarker(True, 0), producer_id=1, producer_epoch=1, timestamp=0)
    log.append_as_leader(marker, 0, 0, origin=AppendOrigin.COORDINATOR)
    again = make(disk=hosting.disk.after_kill())
    answer = again.ask(fetch_request(9, require_stable=True), 9)
    assert fetched_offsets(answer, 9) == {("t", 0): (-1, ErrorCode.UNSTABLE_OFFSET_COMMIT)}
    assert offset_of(again) == 10


@pytest.mark.parametrize("key", [b"\x7f\xff", b"\0\1"])
def test_a_type_of_a_later_release_is_passed_over_and_rubbish_keeps_the_shard_from_answering(key: bytes) -> None:
    hosting = make()
    log = hosting.replicas.find_leader(GROUPS_TOPIC, 0).log
    log.append_as_leader(build_batch([Record(0, 0, key, b"")]), 0, 0)
    again = make(disk=hosting.disk.after_kill())
    is_rubbish = key == b"\0\1"
    assert offset_of(again) == (ErrorCode.COORDINATOR_LOAD_IN_PROGRESS if is_rubbish else -1)


def test_a_group_topic_that_is_deleted_takes_its_groups_along() -> None:
    hosting = make()
    hosting.ask(commit_request(5))
    hosting.delete(GROUPS_TOPIC)
    assert offset_of(hosting) == ErrorCode.NOT_COORDINATOR
    hosting.create(GROUPS_TOPIC, incarnation=1)
    hosting.pass_time(0)
    assert offset_of(hosting) == -1


def test_the_offsets_of_a_deleted_topic_take_as_many_batches_as_they_need() -> None:
    hosting = make()
    for number in range(30):
        hosting.ask(commit_request(1, group_id=f"group-{number:03}", metadata="x"))
    log = hosting.replicas.find_leader(GROUPS_TOPIC, 0).log
    end_offset = log.log_end_offset
    hosting.configure(GROUPS_TOPIC, "max.message.bytes", "500")
    hosting.delete("t")
    region = log.read(end_offset, 1 << 20).region
    batches = [header for _, header in iterate_batches(region.bytes())]
    assert len(batches) > 1
    assert sum(header.record_count for header in batches) == 30
    assert all(header.size_bytes <= 500 for header in batches)


def test_a_coordinator_that_stops_answers_everybody() -> None:
    hosting = make()
    token = hosting.told(hosting.join()).member_id
    waiting = hosting.join(version=3, group_id="h")
    hosting.groups.close()
    answers = [hosting.told(outcome) for outcome in (waiting, hosting.join(token))]
    assert {answer.error_code for answer in answers} == {ErrorCode.COORDINATOR_NOT_AVAILABLE}
    hosting.pass_time(600_000)


def test_groups_are_found_on_the_partition_that_their_id_falls_to() -> None:
    hosting = GroupHosting(partitions=5)
    hosting.create("t")
    hosting.change(GROUPS_TOPIC, hosting.groups.partition_for("a"), leader=-1)
    assert offset_of(hosting, "a") == ErrorCode.NOT_COORDINATOR
    assert offset_of(hosting, "b") == -1
    assert hosting.groups.partition_for("a") not in hosting.groups.hosted_partitions
