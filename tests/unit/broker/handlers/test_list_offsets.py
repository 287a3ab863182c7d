"""ListOffsets: every special timestamp, as far as the asker may see, and the checks before it."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.protocol.api import APIS, ApiKey
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from barnabas.records.build import build_batch
from barnabas.records.record import Record
from builders import TIMESTAMP, make_records
from unit.broker.hosting import NODE, OTHER, THIRD, Hosting, produce_request

VERSIONS = APIS[ApiKey.LIST_OFFSETS].versions
LATEST, EARLIEST, MAX_TIMESTAMP, EARLIEST_LOCAL, LATEST_TIERED, PENDING_UPLOAD = -1, -2, -3, -4, -5, -6


def ask(
    hosting: Hosting,
    timestamp: int,
    version: int = VERSIONS[-1],
    *,
    partition: int = 0,
    replica_id: int = -1,
    isolation_level: int = 0,
    epoch: int = -1,
) -> Any:
    asked = ListOffsetsPartition(partition_index=partition, timestamp=timestamp, current_leader_epoch=epoch)
    request = ListOffsetsRequest(
        replica_id=replica_id,
        isolation_level=isolation_level,
        topics=[ListOffsetsTopic(name="t", partitions=[asked])],
    )
    (topic,) = hosting.ask(request, version).topics
    (answer,) = topic.partitions
    return answer


@pytest.fixture
def hosting() -> Hosting:
    """Five records; the third has the newest timestamp, and the log starts at the second."""
    hosting = Hosting()
    hosting.create(leader_epoch=3)
    times = [0, 10, 40, 20, 30]
    for each in times:
        hosting.ask(produce_request(build_batch([Record(0, TIMESTAMP + each, b"k", b"v")])))
    hosting.replicas.find("t", 0).log.delete_records_before(1)
    return hosting


@pytest.mark.parametrize("version", VERSIONS)
def test_start_and_end_are_told_in_every_version(hosting: Hosting, version: int) -> None:
    epoch = 3 if version >= 4 else -1
    latest, earliest = ask(hosting, LATEST, version), ask(hosting, EARLIEST, version)
    assert (latest.error_code, latest.timestamp, latest.offset, latest.leader_epoch) == (0, -1, 5, epoch)
    assert (earliest.error_code, earliest.timestamp, earliest.offset, earliest.leader_epoch) == (0, -1, 1, epoch)


@pytest.mark.parametrize(("timestamp", "since"), [(-3, 7), (-4, 8), (-5, 9), (-6, 11), (-7, 12)])
def test_a_special_timestamp_has_the_version_that_brought_it(hosting: Hosting, timestamp: int, since: int) -> None:
    for version in VERSIONS:
        code = ask(hosting, timestamp, version).error_code
        assert code == (0 if version >= since else ErrorCode.UNSUPPORTED_VERSION)


def test_the_special_timestamps_mean_what_they_say(hosting: Hosting) -> None:
    newest = ask(hosting, MAX_TIMESTAMP)
    assert (newest.timestamp, newest.offset, newest.leader_epoch) == (TIMESTAMP + 40, 2, 3)
    assert ask(hosting, EARLIEST_LOCAL).offset == 1
    assert [(each.error_code, each.offset) for each in (ask(hosting, LATEST_TIERED), ask(hosting, PENDING_UPLOAD))] == [
        (0, -1),
        (0, -1),
    ]


def test_a_time_finds_the_first_record_that_is_not_older(hosting: Hosting) -> None:
    def found(after_ms: int) -> tuple[int, int]:
        answer = ask(hosting, TIMESTAMP + after_ms)
        assert answer.error_code == 0
        return answer.offset, answer.timestamp

    assert found(0) == (1, TIMESTAMP + 10)
    assert found(11) == (2, TIMESTAMP + 40)
    assert found(41) == (-1, -1)


def test_consumers_see_up_to_the_high_watermark_and_replicas_to_the_end() -> None:
    hosting = Hosting()
    hosting.create(replicas=(NODE, OTHER))
    hosting.append(2)
    assert ask(hosting, LATEST).offset == 0
    assert ask(hosting, TIMESTAMP).offset == -1
    assert ask(hosting, MAX_TIMESTAMP).offset == -1
    assert ask(hosting, LATEST, replica_id=OTHER).offset == 2
    assert ask(hosting, LATEST, replica_id=-2).offset == 2


def test_who_reads_committed_records_sees_up_to_the_last_stable_offset() -> None:
    hosting = Hosting()
    hosting.create()
    log = hosting.replicas.find_leader("t", 0).log
    hosting.append(1)
    batch = build_batch(make_records(1), producer_id=7, producer_epoch=0, base_sequence=0, is_transactional=True)
    log.append_as_leader(batch, 0, hosting.now_ms)
    log.increment_high_watermark(2)
    assert ask(hosting, LATEST).offset == 2
    assert ask(hosting, LATEST, isolation_level=1).offset == 1


def test_after_an_election_the_end_is_not_told_before_it_is_known() -> None:
    hosting = Hosting()
    hosting.create(replicas=(NODE, OTHER))
    hosting.append(2)
    hosting.change(leader=NODE)
    assert ask(hosting, LATEST).error_code == ErrorCode.OFFSET_NOT_AVAILABLE
    assert ask(hosting, LATEST, 4).error_code == ErrorCode.LEADER_NOT_AVAILABLE
    assert ask(hosting, hosting.now_ms).error_code == ErrorCode.OFFSET_NOT_AVAILABLE
    assert ask(hosting, EARLIEST).error_code == 0
    assert ask(hosting, LATEST, replica_id=OTHER).offset == 2
    hosting.change(isr=[NODE])
    assert ask(hosting, LATEST).offset == 2


@pytest.mark.parametrize(
    ("epoch", "code"), [(2, ErrorCode.FENCED_LEADER_EPOCH), (3, 0), (4, ErrorCode.UNKNOWN_LEADER_EPOCH)]
)
def test_the_leader_epoch_is_checked(hosting: Hosting, epoch: int, code: int) -> None:
    assert ask(hosting, LATEST, epoch=epoch).error_code == code


def test_only_the_leader_answers_but_for_those_who_look_closely() -> None:
    hosting = Hosting()
    hosting.create(replicas=(OTHER, NODE))
    assert ask(hosting, LATEST).error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert ask(hosting, LATEST, replica_id=THIRD).error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert ask(hosting, LATEST, replica_id=-2).error_code == 0
    assert ask(hosting, LATEST, partition=5).error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_a_partition_that_is_asked_for_twice_is_refused_twice(hosting: Hosting) -> None:
    asked = [ListOffsetsPartition(partition_index=0, timestamp=at) for at in (LATEST, EARLIEST)]
    request = ListOffsetsRequest(replica_id=-1, topics=[ListOffsetsTopic(name="t", partitions=asked)])
    (topic,) = hosting.ask(request).topics
    assert [each.error_code for each in topic.partitions] == [ErrorCode.INVALID_REQUEST] * 2
