"""What the controller is told of where replicas are: once, in the end, and whatever becomes of the requests."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest

from barnabas.broker.directory_assignments import ASSIGNMENTS_PER_REQUEST, DirectoryAssignments, ReplicaId
from barnabas.log.checkpoint import TopicPartition
from barnabas.metadata.delta import MetadataDelta
from barnabas.metadata.image import EMPTY_IMAGE
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.assign_replicas_to_dirs import (
    AssignReplicasToDirsRequest,
    AssignReplicasToDirsResponse,
    ResponseDirectoryData,
    ResponsePartitionData,
    ResponseTopicData,
)
from barnabas.protocol.uuid import Uuid
from unit.broker.hosting import NODE, OTHER, Hosting, directory_id, topic_id

EPOCH = 17
A, B = directory_id("/a"), directory_id("/b")


class Telling:
    """A broker with two directories, and what it has to tell."""

    def __init__(self) -> None:
        self.hosting = Hosting(directories=("/a", "/b"))
        self.handed_over: set[TopicPartition] = set()
        self.assignments = DirectoryAssignments(NODE, self.hosting.directories, self.handed_over.__contains__)

    def follow(self) -> None:
        """Look at all that the metadata says."""
        delta = MetadataDelta(EMPTY_IMAGE)
        delta.topics = type(delta.topics).between(EMPTY_IMAGE.topics, self.hosting.image.topics)
        self.assignments.follow(delta, self.hosting.image)

    def take(self) -> AssignReplicasToDirsRequest | None:
        return self.assignments.take_request(self.hosting.image, EPOCH)

    def told(self) -> set[tuple[ReplicaId, Uuid]]:
        """What the next request tells."""
        request = self.take()
        return set() if request is None else set(told(request))


def told(request: AssignReplicasToDirsRequest) -> Iterator[tuple[ReplicaId, Uuid]]:
    for directory in request.directories:
        for topic in directory.topics:
            for partition in topic.partitions:
                yield ReplicaId(topic.topic_id, partition.partition_index), directory.id


def answer(*codes: tuple[ReplicaId, ErrorCode], error: ErrorCode = ErrorCode.NONE) -> AssignReplicasToDirsResponse:
    topics = [
        ResponseTopicData(
            topic_id=replica.topic_id,
            partitions=[ResponsePartitionData(partition_index=replica.partition, error_code=code)],
        )
        for replica, code in codes
    ]
    return AssignReplicasToDirsResponse(
        throttle_time_ms=0, error_code=error, directories=[ResponseDirectoryData(id=A, topics=topics)]
    )


def replica(name: str = "t", partition: int = 0) -> ReplicaId:
    return ReplicaId(topic_id(name), partition)


@pytest.fixture
def telling() -> Telling:
    return Telling()


def test_only_replicas_that_lie_elsewhere_than_the_metadata_says_are_told(telling: Telling) -> None:
    telling.hosting.create("known", directory=A)
    telling.hosting.create("unassigned", partitions=2)
    telling.hosting.create("elsewhere", replicas=(OTHER,))
    telling.follow()
    request = telling.take()
    assert request is not None
    assert (request.broker_id, request.broker_epoch) == (NODE, EPOCH)
    directories = telling.hosting.directories
    expected = {
        (replica("unassigned", index), directory_id(log.directory.rpartition("/")[0]))
        for index in range(2)
        for log in [directories.logs[TopicPartition("unassigned", index)]]
    }
    assert set(told(request)) == expected


def test_what_is_about_to_be_elsewhere_is_not_told_where_it_is(telling: Telling) -> None:
    telling.handed_over.add(TopicPartition("t", 0))
    telling.hosting.create("t", partitions=2)
    telling.follow()
    assert {each.partition for each, _ in telling.told()} == {1}


def test_who_waits_for_an_assignment_hears_of_it_once(telling: Telling) -> None:
    telling.hosting.create("t", directory=A)
    heard: list[str] = []
    telling.assignments.assign(replica(), B, lambda: heard.append("b"))
    assert telling.assignments.is_waiting
    assert telling.told() == {(replica(), B)}
    assert not telling.assignments.is_waiting
    assert telling.assignments.answered(answer((replica(), ErrorCode.NONE)))
    assert heard == ["b"]
    assert telling.take() is None


def test_what_was_refused_is_told_again_and_the_rest_is_not(telling: Telling) -> None:
    telling.hosting.create("t", partitions=2, directory=A)
    heard: list[int] = []
    for index in range(2):
        telling.assignments.assign(replica("t", index), B, partial(heard.append, index))
    telling.take()
    refusal = (replica("t", 1), ErrorCode.NOT_CONTROLLER)
    assert not telling.assignments.answered(answer((replica("t", 0), ErrorCode.NONE), refusal))
    assert heard == [0]
    assert telling.told() == {(replica("t", 1), B)}


@pytest.mark.parametrize("is_answered", [False, True])
def test_all_of_a_request_that_fails_is_told_again(telling: Telling, is_answered: bool) -> None:
    telling.hosting.create("t", directory=A)
    telling.assignments.assign(replica(), B)
    telling.take()
    if is_answered:
        assert not telling.assignments.answered(answer(error=ErrorCode.STALE_BROKER_EPOCH))
    else:
        telling.assignments.failed()
    assert telling.told() == {(replica(), B)}


def test_what_is_told_last_holds(telling: Telling) -> None:
    telling.hosting.create("t", directory=A)
    telling.assignments.assign(replica(), B, lambda: pytest.fail("the replica has gone back meanwhile"))
    telling.take()
    telling.assignments.assign(replica(), A)
    telling.assignments.answered(answer((replica(), ErrorCode.NONE)))
    assert telling.told() == {(replica(), A)}
    telling.assignments.assign(replica(), B)
    telling.assignments.failed()
    assert telling.told() == {(replica(), B)}


def test_replicas_that_are_no_longer_here_are_not_told(telling: Telling) -> None:
    telling.hosting.create("t", directory=A)
    telling.assignments.assign(replica(), B)
    telling.hosting.change(replicas=[OTHER], isr=[OTHER], leader=OTHER, directories=[A])
    telling.assignments.assign(replica("gone"), B)
    assert telling.take() is None
    assert not telling.assignments.is_waiting


def test_a_request_tells_no_more_than_a_controller_takes(telling: Telling) -> None:
    count = ASSIGNMENTS_PER_REQUEST + 1
    telling.hosting.create("t", partitions=1, directory=A)
    delta = MetadataDelta(telling.hosting.image)
    partition = telling.hosting.image.topics.by_id[topic_id("t")].partitions[0]
    for index in range(count):
        delta.replay(partition.record(topic_id("t"), index, is_elr_enabled=False))
    telling.hosting.replicas.image = delta.apply(telling.hosting.image.provenance)
    for index in range(count):
        telling.assignments.assign(replica("t", index), B)
    first = telling.told()
    assert len(first) == ASSIGNMENTS_PER_REQUEST
    telling.assignments.answered(answer(*((each, ErrorCode.NONE) for each, _ in first)))
    assert telling.told() == {(replica("t", count - 1), B)}
