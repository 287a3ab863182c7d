"""Where records come from: which topics are meant, partitions that come later, and errors that pass or do not."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from confluent_kafka import OFFSET_BEGINNING, OFFSET_END, Consumer, KafkaError, KafkaException, Message
from confluent_kafka import TopicPartition as Position

from barnabas.cli.librdkafka.record_source import RecordSource, Topics


class FakeConsumer:
    """Remembers what it was asked; hands out what it was given."""

    def __init__(self, topics: dict[str, int] | None = None) -> None:
        self.topics = topics or {}
        self.failure: KafkaError | None = None
        self.failed_topic: KafkaError | None = None
        self.messages: list[Message] = []
        self.calls: list[tuple[str, Any]] = []

    def list_topics(self, topic: str | None, timeout: float) -> Any:  # noqa: ARG002 (as librdkafka has it)
        if self.failure is not None:
            raise KafkaException(self.failure)
        found = self.topics if topic is None else {topic: self.topics.get(topic, 0)}
        return SimpleNamespace(
            topics={
                name: SimpleNamespace(partitions=dict.fromkeys(range(count)), error=self.failed_topic)
                for name, count in found.items()
            }
        )

    def assign(self, positions: list[Position]) -> None:
        self.calls.append(("assign", [(each.topic, each.partition, each.offset) for each in positions]))

    def incremental_assign(self, positions: list[Position]) -> None:
        self.calls.append(("add", [(each.topic, each.partition, each.offset) for each in positions]))

    def subscribe(self, names: list[str], **callbacks: Any) -> None:
        self.calls.append(("subscribe", names))
        self.callbacks = callbacks

    def poll(self, timeout: float) -> Message | None:
        assert 0 <= timeout <= 0.1
        return self.messages.pop(0) if self.messages else None

    def consume(self, count: int, timeout: float) -> list[Message]:
        assert timeout == 0
        taken, self.messages = self.messages[:count], self.messages[count:]
        return taken


def source(
    fake: FakeConsumer, topics: Topics, *, start: int | None = OFFSET_BEGINNING, every_s: float = 0
) -> RecordSource:
    return RecordSource(cast(Consumer, fake), topics, start_offset=start, search_interval_s=every_s)


def test_a_pattern_means_whole_names_and_none_of_kafkas_own_topics() -> None:
    fake = FakeConsumer({"fit-1": 1, "fit-10": 1, "misfit-1": 1, "__consumer_offsets": 1})
    assert Topics.of(None, r"fit-\d").find(cast(Consumer, fake)) == {"fit-1": [0]}
    assert set(Topics.of(None, ".*").find(cast(Consumer, fake))) == {"fit-1", "fit-10", "misfit-1"}
    assert Topics.of("__consumer_offsets", None).find(cast(Consumer, fake)) == {"__consumer_offsets": [0]}


def test_topics_without_partitions_and_clusters_out_of_reach_have_nothing_to_read_yet() -> None:
    fake = FakeConsumer({"t": 1})
    assert Topics("absent").find(cast(Consumer, fake)) == {}
    fake.failed_topic = KafkaError(KafkaError.LEADER_NOT_AVAILABLE)
    assert Topics("t").find(cast(Consumer, fake)) == {}
    fake.failure = KafkaError(KafkaError._TRANSPORT)
    assert Topics("t").find(cast(Consumer, fake)) == {}
    fake.failure = KafkaError(KafkaError._AUTHENTICATION)
    with pytest.raises(KafkaException):
        Topics("t").find(cast(Consumer, fake))


def test_partitions_that_come_later_are_added_to_those_that_are_read() -> None:
    fake = FakeConsumer()
    reading = source(fake, Topics("t"), start=OFFSET_END)
    assert reading.receive(10, 1) == []
    assert fake.calls == []
    fake.topics["t"] = 1
    reading._search_at_s = 0
    reading.receive(10, 1)
    fake.topics["t"] = 3
    reading.receive(10, 1)
    reading.receive(10, 1)
    assert fake.calls == [("add", [("t", 0, OFFSET_END)]), ("add", [("t", 1, OFFSET_END), ("t", 2, OFFSET_END)])]


def test_nobody_asks_for_metadata_before_it_is_time() -> None:
    fake = FakeConsumer({"t": 1})
    reading = source(fake, Topics("t"), every_s=3600)
    reading.receive(10, 1)
    fake.topics["t"] = 2
    reading.receive(10, 1)
    assert fake.calls == [("add", [("t", 0, OFFSET_BEGINNING)])]


def test_a_group_is_told_of_topics_and_tells_of_partitions() -> None:
    fake = FakeConsumer({"a1": 1, "b": 1})
    told: list[str] = []
    reading = RecordSource(
        cast(Consumer, fake),
        Topics.of(None, "a."),
        start_offset=None,
        search_interval_s=0,
        assigned=lambda: told.append("assigned"),
        revoked=lambda: told.append("revoked"),
    )
    reading.receive(1, 1)
    fake.topics["a2"] = 1
    reading.receive(1, 1)
    assert fake.calls == [("subscribe", ["a1"]), ("subscribe", ["a1", "a2"])]
    fake.callbacks["on_assign"](fake, [])
    fake.callbacks["on_revoke"](fake, [])
    assert told == ["assigned", "revoked"]
    named = FakeConsumer()
    source(named, Topics("t"), start=None).receive(1, 1)
    assert named.calls == [("subscribe", ["t"])]


def test_one_partition_is_assigned_and_no_other_looked_for() -> None:
    fake = FakeConsumer({"t": 5})
    RecordSource.of_partition(cast(Consumer, fake), "t", 3, 42).receive(1, 1)
    assert fake.calls == [("assign", [("t", 3, 42)])]


def test_no_more_records_are_taken_than_asked_for() -> None:
    fake = FakeConsumer({"t": 1})
    fake.messages = [Message(value=b"%d" % number) for number in range(5)]
    reading = source(fake, Topics("t"))
    assert [message.value() for message in reading.receive(3, 1)] == [b"0", b"1", b"2"]
    assert [message.value() for message in reading.receive(1, 1)] == [b"3"]
    assert [message.value() for message in reading.receive(10, 1)] == [b"4"]


def test_an_error_that_may_pass_is_passed_over_and_another_is_raised() -> None:
    fake = FakeConsumer({"t": 1})
    fake.messages = [Message(error=KafkaError(KafkaError._ALL_BROKERS_DOWN)), Message(value=b"v")]
    reading = source(fake, Topics("t"))
    assert [message.value() for message in reading.receive(5, 1)] == [b"v"]
    fake.messages = [Message(value=b"w"), Message(error=KafkaError(KafkaError.TOPIC_AUTHORIZATION_FAILED))]
    assert [message.value() for message in reading.receive(5, 1)] == [b"w"]
    with pytest.raises(KafkaException):
        reading.receive(5, 1)
