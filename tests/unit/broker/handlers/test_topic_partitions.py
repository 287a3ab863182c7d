"""DescribeTopicPartitions: topics in the order of their names, in pages that a cursor continues."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.broker.handlers.topic_partitions import DescribeTopicPartitions
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
    RequestCursor,
    TopicRequest,
)
from unit.broker.handlers.asking import serve
from unit.broker.hosting import NODE, OTHER, Hosting, broker_record


def made(partitions_max: int = 2_000) -> Hosting:
    hosting = Hosting()
    serve(hosting, DescribeTopicPartitions(lambda: hosting.image, partitions_max))
    hosting.apply(broker_record(NODE), broker_record(OTHER, fenced=True))
    return hosting


def ask(hosting: Hosting, *names: str, limit: int = 2_000, cursor: tuple[str, int] | None = None) -> Any:
    at = None if cursor is None else RequestCursor(topic_name=cursor[0], partition_index=cursor[1])
    return hosting.ask(
        DescribeTopicPartitionsRequest(
            topics=[TopicRequest(name=name) for name in names], response_partition_limit=limit, cursor=at
        )
    )


def test_partitions_are_told_with_who_leads_and_who_is_not_there() -> None:
    hosting = made()
    hosting.create("b", replicas=[NODE, OTHER], isr=[NODE])
    hosting.create("a", replicas=[OTHER], leader=-1)
    answer = ask(hosting)
    assert [topic.name for topic in answer.topics] == ["a", "b"]
    lost, led = (topic.partitions[0] for topic in answer.topics)
    assert (led.leader_id, led.replica_nodes, led.isr_nodes) == (NODE, [NODE, OTHER], [NODE])
    assert (led.offline_replicas, lost.offline_replicas) == ([OTHER], [OTHER])
    assert lost.leader_id == -1
    assert answer.next_cursor is None


@given(
    st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 5), min_size=1),
    st.integers(-1, 12),
    st.integers(1, 12),
)
def test_pages_one_behind_the_other_are_the_whole(topics: dict[str, int], limit: int, partitions_max: int) -> None:
    hosting = made(partitions_max)
    for name, partitions in topics.items():
        hosting.create(name, partitions=partitions, replicas=[OTHER])
    told: list[tuple[str, int]] = []
    cursor: tuple[str, int] | None = None
    while True:
        answer = ask(hosting, limit=limit, cursor=cursor)
        page = [(topic.name, each.partition_index) for topic in answer.topics for each in topic.partitions]
        assert 0 < len(page) <= max(1, min(limit, partitions_max))
        told += page
        if answer.next_cursor is None:
            break
        cursor = (answer.next_cursor.topic_name, answer.next_cursor.partition_index)
    assert told == [(name, index) for name in sorted(topics) for index in range(topics[name])]


def test_topics_that_are_named_and_not_there_are_told_as_such() -> None:
    hosting = made()
    hosting.create("here")
    answer = ask(hosting, "here", "gone", "no name")
    assert {topic.name: topic.error_code for topic in answer.topics} == {
        "here": 0,
        "gone": ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        "no name": ErrorCode.INVALID_TOPIC_EXCEPTION,
    }


@pytest.mark.parametrize("cursor", [("other", 0), ("here", -1)])
def test_a_cursor_that_leads_nowhere_is_refused(cursor: tuple[str, int]) -> None:
    hosting = made()
    hosting.create("here")
    answer = ask(hosting, "here", cursor=cursor)
    assert [topic.error_code for topic in answer.topics] == [ErrorCode.INVALID_REQUEST]
