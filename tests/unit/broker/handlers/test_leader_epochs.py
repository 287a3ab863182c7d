"""OffsetForLeaderEpoch: where epochs end, and what is checked before it is told."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.protocol.api import APIS, ApiKey
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from unit.broker.hosting import NODE, OTHER, Hosting

VERSIONS = APIS[ApiKey.OFFSET_FOR_LEADER_EPOCH].versions


def ask(hosting: Hosting, leader_epoch: int, *, version: int = 4, current: int = -1, partition: int = 0) -> Any:
    asked = OffsetForLeaderPartition(partition=partition, current_leader_epoch=current, leader_epoch=leader_epoch)
    request = OffsetForLeaderEpochRequest(topics=[OffsetForLeaderTopic(topic="t", partitions=[asked])])
    (topic,) = hosting.ask(request, version).topics
    (answer,) = topic.partitions
    return answer


@pytest.fixture
def hosting() -> Hosting:
    """Epoch 1 has offsets 0 and 1, epoch 3 offset 2."""
    hosting = Hosting()
    hosting.create(leader_epoch=1)
    hosting.append(2)
    hosting.change(leader=NODE)
    hosting.change(leader=NODE)
    hosting.append(1)
    return hosting


@pytest.mark.parametrize("version", VERSIONS)
def test_epochs_end_where_the_next_begins_in_every_version(hosting: Hosting, version: int) -> None:
    ends = {epoch: ask(hosting, epoch, version=version) for epoch in (1, 2, 3)}
    assert {epoch: (end.leader_epoch, end.end_offset) for epoch, end in ends.items()} == {
        1: (1, 2),
        2: (1, 2),
        3: (3, 3),
    }


@pytest.mark.parametrize("epoch", [4, -1])
def test_of_an_epoch_that_nothing_is_known_of_nothing_is_told(hosting: Hosting, epoch: int) -> None:
    answer = ask(hosting, epoch)
    assert (answer.error_code, answer.leader_epoch, answer.end_offset) == (0, -1, -1)


def test_askers_of_another_epoch_and_of_other_partitions_are_refused(hosting: Hosting) -> None:
    assert ask(hosting, 1, current=2).error_code == ErrorCode.FENCED_LEADER_EPOCH
    assert ask(hosting, 1, current=4).error_code == ErrorCode.UNKNOWN_LEADER_EPOCH
    assert ask(hosting, 1, partition=1).error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_a_follower_does_not_answer() -> None:
    hosting = Hosting()
    hosting.create(replicas=(OTHER, NODE))
    assert ask(hosting, 0).error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
