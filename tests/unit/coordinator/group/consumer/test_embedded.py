"""Subscriptions and assignments of classic consumers, in the versions that they come in."""

from __future__ import annotations

import pytest

from barnabas.coordinator.group.consumer.embedded import (
    MalformedEmbeddedProtocol,
    by_topic_id,
    read_assignment,
    read_subscription,
    write_assignment,
)
from barnabas.protocol.codec import encode
from barnabas.protocol.embedded.consumer_protocol_subscription import ConsumerProtocolSubscription, TopicPartition
from unit.coordinator.group.consumer.coordinated import Coordinated, topic_id

IMAGE = Coordinated({"a": 3, "b": 1}).image
SUBSCRIPTION = ConsumerProtocolSubscription(
    topics=["a", "b"], owned_partitions=[TopicPartition(topic="a", partitions=[0])], generation_id=7, rack_id="r"
)


def written(version: int) -> bytes:
    return version.to_bytes(2, "big") + bytes(encode(SUBSCRIPTION, version))


@pytest.mark.parametrize("version", range(4))
def test_a_subscription_is_read_in_its_version(version: int) -> None:
    subscription = read_subscription(written(version))
    assert subscription.topics == ["a", "b"]
    assert len(subscription.owned_partitions) == (1 if version >= 1 else 0)
    assert subscription.generation_id == (7 if version >= 2 else -1)
    assert subscription.rack_id == ("r" if version >= 3 else None)


def test_a_later_version_is_read_as_the_newest_that_is_known() -> None:
    later = (9).to_bytes(2, "big") + written(3)[2:] + b"more"
    assert read_subscription(later) == read_subscription(written(3))


@pytest.mark.parametrize("version", [0, 1, 3, 9])
def test_an_assignment_is_written_in_the_version_of_the_subscription(version: int) -> None:
    like = version.to_bytes(2, "big")
    gone = topic_id("gone")
    data = write_assignment({topic_id("a"): frozenset((2, 0)), gone: frozenset((0,))}, like, IMAGE)
    assert int.from_bytes(data[:2], "big") == min(version, 3)
    assignment = read_assignment(data)
    assert [(topic.topic, topic.partitions) for topic in assignment.assigned_partitions] == [("a", [0, 2])]


@pytest.mark.parametrize("data", [b"", b"\0", b"\xff\xff\0\0\0\0", b"\0\0\0\0\0\x05"])
def test_bytes_that_are_no_subscription_are_told_apart(data: bytes) -> None:
    with pytest.raises(MalformedEmbeddedProtocol):
        read_subscription(data)


def test_partitions_of_topics_that_are_gone_are_left_out() -> None:
    topics = [TopicPartition(topic="a", partitions=[1, 2]), TopicPartition(topic="gone", partitions=[0])]
    assert by_topic_id(topics, IMAGE) == {topic_id("a"): {1, 2}}
