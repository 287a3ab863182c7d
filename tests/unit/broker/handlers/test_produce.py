"""Produce: what is appended, what is refused with which code, and when it is acknowledged."""

from __future__ import annotations

from errno import EIO, ENOSPC
from typing import Any

import pytest

from barnabas.broker.call import Disconnect
from barnabas.protocol.api import APIS, ApiKey
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from barnabas.records.batch import read_header
from barnabas.records.build import build_batch
from barnabas.records.compression import Compression
from barnabas.records.record import Record
from builders import TIMESTAMP, make_batch, make_legacy_message, make_records
from unit.broker.hosting import NODE, OTHER, THIRD, Hosting, broker_record, produce_request, topic_id

VERSIONS = APIS[ApiKey.PRODUCE].versions


def only(response: Any) -> Any:
    """The answer for the only partition that was asked for."""
    (topic,) = response.responses
    (partition,) = topic.partition_responses
    return partition


def compressed(compression: Compression) -> bytearray:
    return build_batch(make_records(5), compression=compression)


@pytest.fixture
def hosting() -> Hosting:
    hosting = Hosting()
    hosting.create("t", partitions=2)
    return hosting


@pytest.mark.parametrize("version", VERSIONS)
def test_a_batch_is_appended_and_its_place_told_in_every_version(hosting: Hosting, version: int) -> None:
    hosting.append(3)
    answer = only(hosting.ask(produce_request(make_batch(2), acks=-1), version))
    assert (answer.error_code, answer.base_offset, answer.index) == (0, 3, 0)
    assert answer.log_append_time_ms == -1
    assert answer.log_start_offset == (0 if version >= 5 else -1)
    assert hosting.replicas.find_leader("t", 0).log.log_end_offset == 5


def test_several_partitions_are_answered_each_for_itself(hosting: Hosting) -> None:
    batches = [(0, make_batch(1)), (9, make_batch(1)), (1, make_batch(2))]
    topic = TopicProduceData(
        name="t", partition_data=[PartitionProduceData(index=index, records=batch) for index, batch in batches]
    )
    other = TopicProduceData(name="none", partition_data=[PartitionProduceData(index=0, records=make_batch())])
    response = hosting.ask(ProduceRequest(acks=1, timeout_ms=10, topic_data=[topic, other]), 9)
    assert [topic.name for topic in response.responses] == ["t", "none"]
    assert [each.error_code for each in response.responses[0].partition_responses] == [
        0,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        0,
    ]
    assert only_of(response.responses[1]).error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def only_of(topic: Any) -> Any:
    (partition,) = topic.partition_responses
    return partition


def test_from_version_13_on_a_topic_goes_by_its_id(hosting: Hosting) -> None:
    request = produce_request(make_batch())
    request.topic_data[0].name = "something else"
    response = hosting.ask(request, 13)
    assert only(response).error_code == 0
    assert response.responses[0].topic_id == topic_id("t")
    request.topic_data[0].topic_id = topic_id("t", 1)
    assert only(hosting.ask(request, 13)).error_code == ErrorCode.UNKNOWN_TOPIC_ID


@pytest.mark.parametrize("acks", [-2, 2, 127])
def test_no_other_number_of_acks_is_taken(hosting: Hosting, acks: int) -> None:
    answer = only(hosting.ask(produce_request(make_batch(), acks=acks)))
    assert (answer.error_code, answer.base_offset) == (ErrorCode.INVALID_REQUIRED_ACKS, -1)
    assert hosting.replicas.find_leader("t", 0).log.log_end_offset == 0


def test_without_acks_there_is_no_answer_and_an_error_ends_the_connection(hosting: Hosting) -> None:
    assert hosting.ask(produce_request(make_batch(4), acks=0)) is None
    assert hosting.replicas.find_leader("t", 0).log.log_end_offset == 4
    with pytest.raises(Disconnect, match="INVALID_RECORD"):
        hosting.ask(produce_request(b"", acks=0))


@pytest.mark.parametrize(
    ("records", "code"),
    [
        (None, ErrorCode.INVALID_RECORD),
        (b"", ErrorCode.INVALID_RECORD),
        (bytes(60), ErrorCode.INVALID_RECORD),
        (make_batch() + make_batch(), ErrorCode.INVALID_RECORD),
        (make_legacy_message(0, 1, b"k", bytes(60)), ErrorCode.INVALID_RECORD),
        (make_batch(base_offset=5), ErrorCode.INVALID_RECORD),
        (make_batch()[:-1], ErrorCode.INVALID_RECORD),
        (make_batch()[:-1] + b"\xff", ErrorCode.CORRUPT_MESSAGE),
        (make_batch(value_bytes=1024 * 1024 + 100), ErrorCode.MESSAGE_TOO_LARGE),
    ],
)
def test_what_is_not_one_sound_batch_of_magic_2_is_refused(
    hosting: Hosting, records: bytes | None, code: ErrorCode
) -> None:
    answer = only(hosting.ask(produce_request(records), 12))
    assert (answer.error_code, answer.base_offset) == (code, -1)
    assert answer.error_message
    assert hosting.replicas.find_leader("t", 0).log.log_end_offset == 0


@pytest.mark.parametrize(("version", "code"), [(6, ErrorCode.UNSUPPORTED_COMPRESSION_TYPE), (7, ErrorCode.NONE)])
def test_zstd_is_taken_from_version_7_on(hosting: Hosting, version: int, code: ErrorCode) -> None:
    assert only(hosting.ask(produce_request(compressed(Compression.ZSTD)), version)).error_code == code


def test_batches_of_transactions_are_refused_while_nobody_coordinates_them(hosting: Hosting) -> None:
    batch = build_batch(make_records(1), producer_id=7, producer_epoch=0, base_sequence=0, is_transactional=True)
    nameless = only(hosting.ask(produce_request(batch)))
    assert nameless.error_code == ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    named = only(hosting.ask(produce_request(batch, transactional_id="mine")))
    assert named.error_code == ErrorCode.INVALID_PRODUCER_ID_MAPPING


def test_clients_do_not_write_to_internal_topics_but_the_administrators_client_does(hosting: Hosting) -> None:
    hosting.create("__consumer_offsets")
    request = produce_request(make_batch(), "__consumer_offsets")
    assert only(hosting.ask(request)).error_code == ErrorCode.INVALID_TOPIC_EXCEPTION
    assert only(hosting.ask(request, client_id="__admin_client")).error_code == 0


def test_records_that_break_a_rule_are_named_one_by_one(hosting: Hosting) -> None:
    hosting.create("compacted", configs={"cleanup.policy": "compact"})
    records = [Record(0, TIMESTAMP, b"k", b""), Record(1, TIMESTAMP, None, b""), Record(2, TIMESTAMP, None, b"")]
    answer = only(hosting.ask(produce_request(build_batch(records), "compacted")))
    assert answer.error_code == ErrorCode.INVALID_RECORD
    assert [each.batch_index for each in answer.record_errors] == [1, 2]
    assert all(each.batch_index_error_message for each in answer.record_errors)
    assert answer.log_start_offset == 0


def test_the_time_of_appending_is_told_where_it_becomes_the_records_time(hosting: Hosting) -> None:
    hosting.create("stamped", configs={"message.timestamp.type": "LogAppendTime"})
    hosting.now_ms += 5000
    answer = only(hosting.ask(produce_request(make_batch(), "stamped")))
    assert answer.log_append_time_ms == hosting.now_ms


def test_a_batch_sent_twice_is_acknowledged_twice_and_written_once(hosting: Hosting) -> None:
    def send() -> Any:
        batch = build_batch(make_records(2), producer_id=7, producer_epoch=0, base_sequence=0)
        return only(hosting.ask(produce_request(batch)))

    assert (send().base_offset, send().base_offset) == (0, 0)
    assert hosting.replicas.find_leader("t", 0).log.log_end_offset == 2


# Leaders elsewhere


def test_who_leads_instead_is_told_from_version_10_on() -> None:
    hosting = Hosting()
    hosting.apply(broker_record(NODE), broker_record(OTHER, rack="r"))
    hosting.create(replicas=(OTHER, NODE), leader_epoch=4)
    response = hosting.ask(produce_request(make_batch()), 10)
    answer = only(response)
    assert answer.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert (answer.current_leader.leader_id, answer.current_leader.leader_epoch) == (OTHER, 4)
    (node,) = response.node_endpoints
    assert (node.node_id, node.host, node.port, node.rack) == (OTHER, "host2", 9002, "r")
    assert only(hosting.ask(produce_request(make_batch()), 9)).error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_a_partition_that_is_not_here_at_all_is_answered_alike() -> None:
    hosting = Hosting()
    hosting.create(replicas=(OTHER,))
    answer = only(hosting.ask(produce_request(make_batch())))
    assert (answer.error_code, answer.current_leader.leader_id) == (ErrorCode.NOT_LEADER_OR_FOLLOWER, OTHER)


# Replicas


def test_acks_of_all_wait_for_the_in_sync_replicas() -> None:
    hosting = Hosting()
    hosting.create(replicas=(NODE, OTHER), leader_epoch=3)
    awaited = hosting.ask(produce_request(make_batch(2)))
    leader = hosting.replicas.find_leader("t", 0)
    assert not awaited.is_there
    leader.follower_fetched(OTHER, 1)
    hosting.waiting_room.wake(leader.name)
    assert not awaited.is_there
    leader.follower_fetched(OTHER, 2)
    hosting.waiting_room.wake(leader.name)
    assert only(awaited.answer()).error_code == 0


def test_acks_of_one_wait_for_nobody() -> None:
    hosting = Hosting()
    hosting.create(replicas=(NODE, OTHER))
    assert only(hosting.ask(produce_request(make_batch(2), acks=1))).error_code == 0


def test_what_the_replicas_do_not_get_in_time_is_answered_as_timed_out() -> None:
    hosting = Hosting()
    hosting.create(replicas=(NODE, OTHER))
    awaited = hosting.ask(produce_request(make_batch(2), timeout_ms=500))
    hosting.pass_time(499)
    assert not awaited.is_there
    hosting.pass_time(1)
    answer = only(awaited.answer())
    assert (answer.error_code, answer.base_offset) == (ErrorCode.REQUEST_TIMED_OUT, 0)


def test_a_shrunk_isr_is_all_that_some_wait_for() -> None:
    hosting = Hosting()
    hosting.create(replicas=(NODE, OTHER))
    awaited = hosting.ask(produce_request(make_batch(2)))
    hosting.change(isr=[NODE])
    assert only(awaited.answer()).error_code == 0


def test_too_few_in_sync_replicas_take_nothing_for_all_but_something_for_one() -> None:
    hosting = Hosting()
    hosting.create(replicas=(NODE, OTHER, THIRD), isr=(NODE,), configs={"min.insync.replicas": "2"})
    assert only(hosting.ask(produce_request(make_batch()))).error_code == ErrorCode.NOT_ENOUGH_REPLICAS
    assert hosting.replicas.find_leader("t", 0).log.log_end_offset == 0
    assert only(hosting.ask(produce_request(make_batch(), acks=1))).error_code == 0
    assert hosting.replicas.find_leader("t", 0).log.high_watermark == 0


def test_too_few_in_sync_replicas_after_the_append_are_told() -> None:
    hosting = Hosting()
    hosting.create(replicas=(NODE, OTHER, THIRD), isr=(NODE, OTHER), configs={"min.insync.replicas": "2"})
    awaited = hosting.ask(produce_request(make_batch()))
    hosting.replicas.find_leader("t", 0).follower_fetched(OTHER, 1)
    hosting.change(isr=[NODE])
    assert only(awaited.answer()).error_code == ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND


def test_who_waits_is_told_that_another_broker_leads_now() -> None:
    hosting = Hosting()
    hosting.apply(broker_record(OTHER))
    hosting.create(replicas=(NODE, OTHER))
    awaited = hosting.ask(produce_request(make_batch()))
    hosting.change(leader=OTHER)
    response = awaited.answer()
    assert only(response).error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert [node.node_id for node in response.node_endpoints] == [OTHER]


def test_who_waits_goes_on_waiting_when_this_broker_is_elected_again() -> None:
    hosting = Hosting()
    hosting.create(replicas=(NODE, OTHER))
    awaited = hosting.ask(produce_request(make_batch()))
    hosting.change(leader=NODE)
    assert not awaited.is_there
    hosting.change(isr=[NODE])
    assert only(awaited.answer()).error_code == 0


def test_who_waits_is_told_that_the_topic_is_gone_even_if_there_is_another_of_its_name() -> None:
    hosting = Hosting()
    hosting.create(replicas=(NODE, OTHER))
    by_name = hosting.ask(produce_request(make_batch()), 12)
    by_id = hosting.ask(produce_request(make_batch()), 13)
    hosting.delete()
    assert only(by_name.answer()).error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert only(by_id.answer()).error_code == ErrorCode.UNKNOWN_TOPIC_ID


# Compression


def test_a_batch_is_compressed_as_the_topic_wants_it_before_it_is_appended(hosting: Hosting) -> None:
    hosting.create("zipped", configs={"compression.type": "lz4"})
    awaited = hosting.ask(produce_request(make_batch(50, value_bytes=200), "zipped"))
    assert not awaited.is_there
    assert hosting.replicas.find_leader("zipped", 0).log.log_end_offset == 0
    hosting.work_off_loop()
    assert only(awaited.answer()).error_code == 0
    log = hosting.replicas.find_leader("zipped", 0).log
    header = read_header(log.read(0, 1000).region.bytes())
    assert (header.compression, header.record_count) == (Compression.LZ4, 50)


def test_a_batch_that_is_compressed_so_already_does_not_wait(hosting: Hosting) -> None:
    hosting.create("zipped", configs={"compression.type": "lz4"})
    assert only(hosting.ask(produce_request(compressed(Compression.LZ4), "zipped"))).error_code == 0


def test_a_damaged_batch_that_was_to_be_compressed_is_refused_like_any_other(hosting: Hosting) -> None:
    hosting.create("zipped", configs={"compression.type": "gzip"})
    awaited = hosting.ask(produce_request(make_batch()[:-1] + b"\xff", "zipped"))
    hosting.work_off_loop()
    assert only(awaited.answer()).error_code == ErrorCode.CORRUPT_MESSAGE


def test_without_acks_the_connection_waits_for_the_compression_and_for_no_more(hosting: Hosting) -> None:
    hosting.create("zipped", configs={"compression.type": "gzip"})
    awaited = hosting.ask(produce_request(make_batch(), "zipped", acks=0))
    hosting.work_off_loop()
    assert awaited.answer() is None
    failing = hosting.ask(produce_request(make_batch()[:-1] + b"\xff", "zipped", acks=0))
    hosting.work_off_loop()
    with pytest.raises(Disconnect, match="CORRUPT_MESSAGE"):
        failing.answer()


def test_leadership_that_was_lost_during_the_compression_is_told(hosting: Hosting) -> None:
    hosting.create("zipped", replicas=(NODE, OTHER), configs={"compression.type": "gzip"})
    awaited = hosting.ask(produce_request(make_batch(), "zipped"))
    hosting.change("zipped", leader=OTHER)
    hosting.work_off_loop()
    assert only(awaited.answer()).error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER


# Disks


def test_a_full_disk_costs_the_append_and_nothing_else(hosting: Hosting) -> None:
    hosting.disk.fail("write", ".log", ENOSPC)
    assert only(hosting.ask(produce_request(make_batch()))).error_code == ErrorCode.KAFKA_STORAGE_ERROR
    assert hosting.failed == []
    assert only(hosting.ask(produce_request(make_batch()))).base_offset == 0


def test_any_other_error_takes_the_directory_offline(hosting: Hosting) -> None:
    hosting.disk.fail("write", ".log", EIO)
    assert only(hosting.ask(produce_request(make_batch()))).error_code == ErrorCode.KAFKA_STORAGE_ERROR
    assert hosting.failed == ["/data"]
    assert only(hosting.ask(produce_request(make_batch(), partition=1))).error_code == ErrorCode.KAFKA_STORAGE_ERROR


def test_a_request_of_nothing_is_answered_with_nothing(hosting: Hosting) -> None:
    assert hosting.ask(ProduceRequest(acks=-1, timeout_ms=0, topic_data=[])).responses == []
