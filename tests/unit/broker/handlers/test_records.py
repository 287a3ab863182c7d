"""DeleteRecords and DescribeProducers: what the leader does to its log, tells of it, and refuses."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.broker.handlers.records import PartitionRecords
from barnabas.protocol.api import APIS, ApiKey
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.delete_records import DeleteRecordsPartition, DeleteRecordsRequest, DeleteRecordsTopic
from barnabas.protocol.messages.describe_producers import DescribeProducersRequest, TopicRequest
from barnabas.records.build import build_batch
from builders import make_records
from unit.broker.handlers.asking import serve
from unit.broker.hosting import NODE, OTHER, Hosting, produce_request


@pytest.fixture
def hosting() -> Hosting:
    hosting = Hosting()
    serve(hosting, PartitionRecords(hosting.replicas))
    hosting.create()
    return hosting


def delete(hosting: Hosting, offset: int, *, name: str = "t", partition: int = 0, version: int = 2) -> tuple[int, int]:
    asked = DeleteRecordsTopic(name=name, partitions=[DeleteRecordsPartition(partition_index=partition, offset=offset)])
    answer = hosting.ask(DeleteRecordsRequest(topics=[asked], timeout_ms=1000), version)
    (result,) = answer.topics[0].partitions
    return result.error_code, result.low_watermark


@pytest.mark.parametrize("version", APIS[ApiKey.DELETE_RECORDS].versions)
def test_records_before_an_offset_are_gone(hosting: Hosting, version: int) -> None:
    hosting.append(5)
    assert delete(hosting, 3, version=version) == (0, 3)
    assert hosting.replicas.find("t", 0).log.log_start_offset == 3
    # A start that is there already stays.
    assert delete(hosting, 1, version=version) == (0, 3)


def test_minus_one_stands_for_the_high_watermark(hosting: Hosting) -> None:
    hosting.append(5)
    assert delete(hosting, -1) == (0, 5)


@pytest.mark.parametrize("offset", [6, -2])
def test_an_offset_beyond_the_high_watermark_is_out_of_range(hosting: Hosting, offset: int) -> None:
    hosting.append(5)
    assert delete(hosting, offset) == (ErrorCode.OFFSET_OUT_OF_RANGE, -1)


def test_what_cannot_be_deleted_from_is_refused_by_itself(hosting: Hosting) -> None:
    hosting.create("compacted", configs={"cleanup.policy": "compact"})
    hosting.create("both", configs={"cleanup.policy": "compact,delete"})
    hosting.create("elsewhere", replicas=[NODE, OTHER], leader=OTHER)
    hosting.create("__consumer_offsets")
    assert delete(hosting, -1, name="compacted")[0] == ErrorCode.POLICY_VIOLATION
    assert delete(hosting, -1, name="both")[0] == 0
    assert delete(hosting, -1, name="elsewhere")[0] == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert delete(hosting, -1, name="__consumer_offsets")[0] == ErrorCode.INVALID_TOPIC_EXCEPTION
    assert delete(hosting, -1, name="nothing")[0] == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert delete(hosting, -1, partition=1)[0] == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def describe(hosting: Hosting, name: str = "t") -> Any:
    answer = hosting.ask(DescribeProducersRequest(topics=[TopicRequest(name=name, partition_indexes=[0])]))
    return answer.topics[0].partitions[0]


def test_producers_are_told_with_what_they_wrote_last(hosting: Hosting) -> None:
    records = make_records(3, timestamp=hosting.now_ms)
    batch = build_batch(records, producer_id=7, producer_epoch=2, base_sequence=0)
    answer = hosting.ask(produce_request(batch), 12)
    assert answer.responses[0].partition_responses[0].error_code == 0
    (producer,) = describe(hosting).active_producers
    assert (producer.producer_id, producer.producer_epoch, producer.last_sequence) == (7, 2, 2)
    assert producer.current_txn_start_offset == -1


def test_producers_of_what_is_not_led_here_are_not_told(hosting: Hosting) -> None:
    hosting.create("elsewhere", replicas=[NODE, OTHER], leader=OTHER)
    assert describe(hosting, "elsewhere").error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert describe(hosting, "nothing").error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert describe(hosting, "no name").error_code == ErrorCode.INVALID_TOPIC_EXCEPTION
