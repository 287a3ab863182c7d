"""Fetch: what is read, by whom, how much at once, and when the answer waits."""

from __future__ import annotations

from collections.abc import Sequence
from errno import EIO
from typing import Any

import pytest

from barnabas.log.producer_entry import AppendOrigin
from barnabas.protocol.api import APIS, ApiKey
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchTopic,
    ForgottenTopic,
    ReplicaState,
)
from barnabas.records.batch import iterate_batches
from barnabas.records.build import build_batch
from barnabas.records.control import EndTransactionMarker, build_end_transaction_marker
from builders import make_batch, make_records
from unit.broker.hosting import NODE, OTHER, THIRD, Hosting, broker_record, topic_id

VERSIONS = APIS[ApiKey.FETCH].versions
NEWEST = VERSIONS[-1]


def asked(
    *offsets: tuple[int, int],
    name: str = "t",
    partition_max_bytes: int = 1_000_000,
    max_wait_ms: int = 0,
    min_bytes: int = 1,
    **fields: Any,
) -> FetchRequest:
    """A request for some partitions of a topic from some offsets on."""
    of_partition = {key: fields.pop(key) for key in ("current_leader_epoch", "last_fetched_epoch") if key in fields}
    partitions = [
        FetchPartition(partition=index, fetch_offset=offset, partition_max_bytes=partition_max_bytes, **of_partition)
        for index, offset in offsets
    ]
    topics = [FetchTopic(topic=name, topic_id=topic_id(name), partitions=partitions)] if offsets else []
    return FetchRequest(max_wait_ms=max_wait_ms, min_bytes=min_bytes, topics=topics, **fields)


def of_replica(replica_id: int) -> dict[str, Any]:
    """The field that names a replica from version 15 on."""
    return {"replica_state": ReplicaState(replica_id=replica_id)}


def partitions(response: Any) -> list[Any]:
    return [partition for topic in response.responses for partition in topic.partitions]


def only(response: Any) -> Any:
    (partition,) = partitions(response)
    return partition


def base_offsets(partition: Any) -> list[int]:
    return [header.base_offset for _, header in iterate_batches(partition.records)]


@pytest.fixture
def hosting() -> Hosting:
    hosting = Hosting()
    hosting.create("t", partitions=3)
    return hosting


@pytest.mark.parametrize("version", VERSIONS)
def test_records_come_with_the_offsets_of_their_partition_in_every_version(hosting: Hosting, version: int) -> None:
    hosting.append(2)
    hosting.append(3)
    answer = only(hosting.ask(asked((0, 0)), version))
    assert (answer.error_code, answer.high_watermark, answer.last_stable_offset) == (0, 5, 5)
    assert answer.log_start_offset == (0 if version >= 5 else -1)
    assert answer.aborted_transactions is None
    assert base_offsets(answer) == [0, 2]


def test_a_fetch_inside_a_batch_begins_with_that_batch(hosting: Hosting) -> None:
    hosting.append(2)
    hosting.append(3)
    assert base_offsets(only(hosting.ask(asked((0, 3))))) == [2]


def test_topics_go_by_id_from_version_13_on(hosting: Hosting) -> None:
    request = asked((0, 0))
    request.topics[0].topic = "something else"
    response = hosting.ask(request, 13)
    assert (only(response).error_code, response.responses[0].topic_id) == (0, topic_id("t"))
    request.topics[0].topic_id = topic_id("t", 1)
    assert only(hosting.ask(request, 13)).error_code == ErrorCode.UNKNOWN_TOPIC_ID
    assert only(hosting.ask(asked((9, 0)), 13)).error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert only(hosting.ask(asked((0, 0), name="none"), 12)).error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@pytest.mark.parametrize("offset", [-1, 3])
def test_an_offset_outside_the_log_is_refused_without_telling_its_bounds(hosting: Hosting, offset: int) -> None:
    hosting.append(2)
    answer = only(hosting.ask(asked((0, offset))))
    assert (answer.error_code, answer.high_watermark, answer.records) == (ErrorCode.OFFSET_OUT_OF_RANGE, -1, b"")


def test_between_high_watermark_and_log_end_consumers_find_nothing_and_no_error() -> None:
    hosting = Hosting()
    hosting.create(replicas=(NODE, OTHER))
    hosting.append(2)
    for offset in (0, 1, 2):
        answer = only(hosting.ask(asked((0, offset))))
        assert (answer.error_code, answer.high_watermark, answer.records) == (0, 0, b"")


# How much


def test_the_first_batch_is_whole_whatever_the_limits_and_the_others_keep_to_them(hosting: Hosting) -> None:
    for partition in range(3):
        hosting.append(1, partition=partition, value_bytes=1000)
    first, second, third = partitions(hosting.ask(asked((0, 0), (1, 0), (2, 0), max_bytes=1)))
    assert base_offsets(first) == [0]
    assert (second.records, third.records) == (b"", b"")
    assert second.high_watermark == 1


def test_what_one_partition_takes_is_not_there_for_the_next_and_half_a_batch_is_not_given(hosting: Hosting) -> None:
    for partition in range(3):
        hosting.append(1, partition=partition, value_bytes=1000)
    first, second, third = partitions(hosting.ask(asked((0, 0), (1, 0), (2, 0), max_bytes=2500)))
    assert (base_offsets(first), base_offsets(second), third.records) == ([0], [0], b"")


def test_a_partition_is_read_up_to_its_own_limit(hosting: Hosting) -> None:
    for _ in range(5):
        hosting.append(1, value_bytes=1000)
        hosting.append(1, partition=1, value_bytes=1000)
    first, second = partitions(hosting.ask(asked((0, 0), (1, 0), partition_max_bytes=2500)))
    assert (base_offsets(first), base_offsets(second)) == ([0, 1], [0, 1])
    assert len(first.records) == 2500


def test_the_brokers_limit_holds_beside_the_requests() -> None:
    hosting = Hosting(fetch_max_bytes=2500)
    hosting.create()
    for _ in range(5):
        hosting.append(1, value_bytes=1000)
    assert len(only(hosting.ask(asked((0, 0)))).records) == 2500


# Waiting


def test_a_fetch_waits_until_there_is_something_to_tell(hosting: Hosting) -> None:
    awaited = hosting.ask(asked((0, 0), (1, 0), max_wait_ms=500))
    assert not awaited.is_there
    hosting.append(2, partition=1)
    assert awaited.is_there
    first, second = partitions(awaited.answer())
    assert (first.records, base_offsets(second)) == (b"", [0])


def test_it_waits_for_as_many_bytes_as_it_asks_for_and_no_longer_than_it_says(hosting: Hosting) -> None:
    batch_bytes = len(make_batch(1, value_bytes=500))
    awaited = hosting.ask(asked((0, 0), (1, 0), max_wait_ms=500, min_bytes=3 * batch_bytes))
    late = hosting.ask(asked((0, 0), max_wait_ms=500, min_bytes=100 * batch_bytes))
    hosting.append(1, value_bytes=500)
    hosting.append(1, partition=1, value_bytes=500)
    assert not awaited.is_there
    hosting.append(1, partition=1, value_bytes=500)
    assert [base_offsets(each) for each in partitions(awaited.answer())] == [[0], [0, 1]]
    hosting.pass_time(499)
    assert not late.is_there
    hosting.pass_time(1)
    assert base_offsets(only(late.answer())) == [0]


def test_a_fetch_for_nothing_or_without_patience_is_answered_at_once(hosting: Hosting) -> None:
    assert hosting.ask(asked((0, 0))).responses
    assert hosting.ask(asked(max_wait_ms=500)).responses == []
    assert hosting.ask(asked((0, 0), max_wait_ms=500, min_bytes=0)).responses


def test_an_error_in_one_partition_is_told_at_once(hosting: Hosting) -> None:
    codes = [each.error_code for each in partitions(hosting.ask(asked((0, 0), (9, 0), max_wait_ms=500)))]
    assert codes == [0, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]


def test_a_consumer_waits_for_the_high_watermark_not_for_the_log_end() -> None:
    hosting = Hosting()
    hosting.create(replicas=(NODE, OTHER))
    awaited = hosting.ask(asked((0, 0), max_wait_ms=500))
    hosting.append(2)
    assert not awaited.is_there
    hosting.change(isr=[NODE])
    assert base_offsets(only(awaited.answer())) == [0]


def test_who_waits_is_told_that_the_leader_has_changed_or_the_topic_is_gone() -> None:
    hosting = Hosting()
    hosting.apply(broker_record(OTHER))
    hosting.create("moving", replicas=(NODE, OTHER))
    hosting.create("going")
    moving = hosting.ask(asked((0, 0), name="moving", max_wait_ms=500, current_leader_epoch=0))
    going = hosting.ask(asked((0, 0), name="going", max_wait_ms=500))
    hosting.change("moving", leader=OTHER)
    hosting.delete("going")
    response = moving.answer()
    answer = only(response)
    assert answer.error_code == ErrorCode.FENCED_LEADER_EPOCH
    assert (answer.current_leader.leader_id, answer.current_leader.leader_epoch) == (OTHER, 1)
    assert [node.host for node in response.node_endpoints] == ["host2"]
    assert only(going.answer()).error_code == ErrorCode.UNKNOWN_TOPIC_ID


# Leaders, followers, epochs


@pytest.mark.parametrize(
    ("epoch", "code"),
    [(-1, 0), (2, ErrorCode.FENCED_LEADER_EPOCH), (3, 0), (4, ErrorCode.UNKNOWN_LEADER_EPOCH)],
)
def test_the_leader_epoch_is_checked_where_it_is_told(epoch: int, code: int) -> None:
    hosting = Hosting()
    hosting.create(leader_epoch=3)
    assert only(hosting.ask(asked((0, 0), current_leader_epoch=epoch))).error_code == code


def test_a_follower_serves_consumers_from_version_11_on_and_who_looks_closely_before() -> None:
    hosting = Hosting()
    hosting.create(replicas=(OTHER, NODE))
    assert only(hosting.ask(asked((0, 0)), 10)).error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert only(hosting.ask(asked((0, 0)), 11)).error_code == 0
    assert only(hosting.ask(asked((0, 0), replica_id=-2), 10)).error_code == 0
    assert only(hosting.ask(asked((0, 0), **of_replica(THIRD)))).error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_a_storage_error_is_another_one_to_clients_that_do_not_know_it(hosting: Hosting) -> None:
    hosting.append(1)
    hosting.disk.fail("read", ".log", EIO)
    assert only(hosting.ask(asked((0, 0)), 6)).error_code == ErrorCode.KAFKA_STORAGE_ERROR
    assert hosting.failed == ["/data"]
    assert only(hosting.ask(asked((1, 0)), 5)).error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_a_replica_reads_to_the_log_end_and_moves_the_high_watermark_by_it() -> None:
    hosting = Hosting()
    hosting.create(replicas=(NODE, OTHER), leader_epoch=1)
    hosting.append(2)
    awaited = hosting.ask(asked((0, 0), max_wait_ms=500))
    answer = only(hosting.ask(asked((0, 0), **of_replica(OTHER), current_leader_epoch=1)))
    assert (base_offsets(answer), answer.high_watermark) == ([0], 0)
    assert not awaited.is_there
    waiting = hosting.ask(asked((0, 2), **of_replica(OTHER), current_leader_epoch=1, max_wait_ms=500))
    assert base_offsets(only(awaited.answer())) == [0]
    hosting.append(1)
    assert base_offsets(only(waiting.answer())) == [2]


@pytest.mark.parametrize(
    ("epoch", "code"), [(1, ErrorCode.UNKNOWN_LEADER_EPOCH), (-1, ErrorCode.NOT_LEADER_OR_FOLLOWER)]
)
def test_a_replica_that_the_partition_does_not_have_is_refused(epoch: int, code: ErrorCode) -> None:
    hosting = Hosting()
    hosting.create(replicas=(NODE, OTHER), leader_epoch=1)
    answer = only(hosting.ask(asked((0, 0), **of_replica(THIRD), current_leader_epoch=epoch)))
    assert answer.error_code == code


def test_logs_that_have_parted_are_told_where() -> None:
    hosting = Hosting()
    hosting.create(replicas=(NODE, OTHER), isr=(NODE,), leader_epoch=1)
    hosting.append(2)
    hosting.change(leader=NODE)
    hosting.change(leader=NODE)
    hosting.append(2)
    ahead = only(hosting.ask(asked((0, 3), last_fetched_epoch=1, max_wait_ms=500)))
    assert (ahead.diverging_epoch.epoch, ahead.diverging_epoch.end_offset, ahead.records) == (1, 2, b"")
    unknown = only(hosting.ask(asked((0, 2), last_fetched_epoch=2)))
    assert (unknown.diverging_epoch.epoch, unknown.diverging_epoch.end_offset) == (1, 2)
    level = only(hosting.ask(asked((0, 2), last_fetched_epoch=1)))
    assert (level.diverging_epoch.epoch, base_offsets(level)) == (-1, [2])
    newer = only(hosting.ask(asked((0, 2), last_fetched_epoch=9)))
    assert newer.error_code == ErrorCode.OFFSET_OUT_OF_RANGE


def test_a_consumer_is_sent_to_a_replica_that_is_nearer() -> None:
    hosting = Hosting(select_replica=lambda _leader, rack, _listener, _offset: OTHER if rack == "near" else None)
    hosting.create(replicas=(NODE, OTHER), isr=(NODE,))
    hosting.append(2)
    answer = only(hosting.ask(asked((0, 0), rack_id="near", max_wait_ms=500)))
    assert (answer.preferred_read_replica, answer.records, answer.high_watermark) == (OTHER, b"", 2)
    assert only(hosting.ask(asked((0, 0), rack_id="far"))).preferred_read_replica == -1
    assert base_offsets(only(hosting.ask(asked((0, 0)), 10))) == [0]


# Transactions


def test_who_reads_committed_records_stops_at_the_open_transaction_and_learns_of_aborted_ones(
    hosting: Hosting,
) -> None:
    log = hosting.replicas.find_leader("t", 0).log

    def append(batch: bytearray, origin: AppendOrigin = AppendOrigin.CLIENT) -> None:
        log.append_as_leader(batch, 0, hosting.now_ms, origin=origin)
        log.increment_high_watermark(log.log_end_offset)

    def transactional(producer_id: int, sequence: int = 0) -> bytearray:
        return build_batch(
            make_records(1), producer_id=producer_id, producer_epoch=0, base_sequence=sequence, is_transactional=True
        )

    append(transactional(7))
    aborted = EndTransactionMarker(is_commit=False, coordinator_epoch=0)
    append(
        build_end_transaction_marker(aborted, producer_id=7, producer_epoch=1, timestamp=hosting.now_ms),
        AppendOrigin.COORDINATOR,
    )
    append(transactional(8))
    append(make_batch(1))
    committed = only(hosting.ask(asked((0, 0), isolation_level=1)))
    assert (committed.last_stable_offset, committed.high_watermark) == (2, 4)
    assert base_offsets(committed) == [0, 1]
    assert [(each.producer_id, each.first_offset) for each in committed.aborted_transactions] == [(7, 0)]
    uncommitted = only(hosting.ask(asked((0, 0))))
    assert (base_offsets(uncommitted), uncommitted.aborted_transactions) == ([0, 1, 2, 3], None)
    waiting = hosting.ask(asked((0, 2), isolation_level=1, max_wait_ms=500))
    hosting.append(1)
    assert not waiting.is_there


# Sessions


def session(response: Any) -> int:
    assert response.error_code == 0
    return int(response.session_id)


def test_a_session_is_told_only_what_is_new(hosting: Hosting) -> None:
    hosting.append(1)
    begun = hosting.ask(asked((0, 0), (1, 0), (2, 0), session_epoch=0))
    session_id = session(begun)
    assert session_id > 0
    assert len(partitions(begun)) == 3
    nothing = hosting.ask(asked((0, 1), session_id=session_id, session_epoch=1))
    assert (nothing.error_code, nothing.session_id, nothing.responses) == (0, session_id, [])
    hosting.append(1, partition=2)
    (news,) = partitions(hosting.ask(asked(session_id=session_id, session_epoch=2)))
    assert (news.partition_index, base_offsets(news)) == (2, [0])


def test_a_session_waits_for_all_its_partitions(hosting: Hosting) -> None:
    session_id = session(hosting.ask(asked((0, 0), (1, 0), session_epoch=0)))
    awaited = hosting.ask(asked(session_id=session_id, session_epoch=1, max_wait_ms=500))
    hosting.append(1, partition=1)
    assert only(awaited.answer()).partition_index == 1


def test_a_session_forgets_partitions_and_ends_with_the_last(hosting: Hosting) -> None:
    def forget(session_id: int, epoch: int, partitions: Sequence[int]) -> Any:
        forgotten = ForgottenTopic(topic="t", topic_id=topic_id("t"), partitions=list(partitions))
        return hosting.ask(asked(session_id=session_id, session_epoch=epoch, forgotten_topics_data=[forgotten]))

    session_id = session(hosting.ask(asked((0, 0), (1, 0), session_epoch=0)))
    assert forget(session_id, 1, [0]).session_id == session_id
    hosting.append(1)
    assert hosting.ask(asked(session_id=session_id, session_epoch=2)).responses == []
    assert forget(session_id, 3, [1]).session_id == 0
    assert len(hosting.sessions) == 0


def test_wrong_ids_epochs_and_ways_to_name_topics_are_refused_on_top(hosting: Hosting) -> None:
    session_id = session(hosting.ask(asked((0, 0), session_epoch=0)))

    def code(session_id: int, epoch: int, version: int = NEWEST) -> int:
        response = hosting.ask(asked((0, 0), session_id=session_id, session_epoch=epoch), version)
        assert (response.responses, response.session_id) == ([], 0)
        return int(response.error_code)

    assert code(session_id + 1, 1) == ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    assert code(session_id, 2) == ErrorCode.INVALID_FETCH_SESSION_EPOCH
    assert code(session_id, 1, 12) == ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR
    hosting.ask(asked((0, 0), session_id=session_id, session_epoch=-1))
    assert code(session_id, 1) == ErrorCode.FETCH_SESSION_ID_NOT_FOUND


def test_a_waiting_fetch_whose_session_has_gone_on_says_so(hosting: Hosting) -> None:
    session_id = session(hosting.ask(asked((0, 0), session_epoch=0)))
    awaited = hosting.ask(asked(session_id=session_id, session_epoch=1, max_wait_ms=500))
    hosting.ask(asked(session_id=session_id, session_epoch=2))
    hosting.pass_time(500)
    assert awaited.answer().error_code == ErrorCode.INVALID_FETCH_SESSION_EPOCH


def test_a_topic_that_a_session_names_by_id_may_come_later(hosting: Hosting) -> None:
    session_id = session(hosting.ask(asked((0, 0), name="later", session_epoch=0)))
    response = hosting.ask(asked(session_id=session_id, session_epoch=1))
    assert only(response).error_code == ErrorCode.UNKNOWN_TOPIC_ID
    hosting.create("later")
    assert only(hosting.ask(asked(session_id=session_id, session_epoch=2))).error_code == 0
