"""Records of the topics that a tool was asked to read, from partitions that it assigns itself or gets from a group.

Without a group a tool reads every partition of its topics and leaves nothing behind on the cluster, where Apache's
tools join a group with a random name; what they print is the same. Topics and partitions that come later are found when
the metadata is asked for again.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from confluent_kafka import OFFSET_BEGINNING, OFFSET_END, OFFSET_INVALID, Consumer, KafkaError, KafkaException, Message
from confluent_kafka import TopicPartition as Position

INTERNAL_TOPICS: Final = frozenset({"__consumer_offsets", "__transaction_state", "__share_group_state"})
# While nothing to read is there, it is looked for in this interval.
SEARCH_INTERVAL_S: Final = 0.1
# The longest that a call waits, so that a signal is heeded soon.
WAIT_MAX_S: Final = 0.1

START_OFFSETS: Final = {"earliest": OFFSET_BEGINNING, "latest": OFFSET_END, "error": OFFSET_INVALID}
_WAITS_FOR: Final = frozenset(
    {
        KafkaError._ALL_BROKERS_DOWN,
        KafkaError._TIMED_OUT,
        KafkaError._TRANSPORT,
        KafkaError._UNKNOWN_PARTITION,
        KafkaError._UNKNOWN_TOPIC,
        KafkaError.LEADER_NOT_AVAILABLE,
        KafkaError.UNKNOWN_TOPIC_OR_PART,
    }
)


@dataclass(frozen=True)
class Topics:
    """Either one topic by its name, or all whose whole names fit a pattern but for Kafka's own."""

    name: str | None = None
    pattern: re.Pattern[str] | None = None

    @classmethod
    def of(cls, name: str | None, expression: str | None) -> Topics:
        return cls(name, None if expression is None else re.compile(expression))

    def find(self, consumer: Consumer) -> dict[str, list[int]]:
        """The topics that are there, with their partitions; none while the cluster cannot be reached."""
        try:
            found = consumer.list_topics(self.name, timeout=1).topics
        except KafkaException as error:
            if error.args[0].code() in _WAITS_FOR:
                return {}
            raise
        return {
            name: sorted(topic.partitions)
            for name, topic in found.items()
            if self._is_meant(name) and topic.error is None and topic.partitions
        }

    def _is_meant(self, name: str) -> bool:
        if self.pattern is None:
            return name == self.name
        return self.pattern.fullmatch(name) is not None and name not in INTERNAL_TOPICS


class RecordSource:
    """Hands out records as they come; tells when it got partitions to read from, and when a group took them away."""

    def __init__(
        self,
        consumer: Consumer,
        topics: Topics,
        *,
        start_offset: int | None,
        search_interval_s: float,
        assigned: Callable[[], None] = lambda: None,
        revoked: Callable[[], None] = lambda: None,
    ) -> None:
        """Read from `start_offset` of every partition, or, where that is None, as a member of the consumer's group."""
        self._consumer = consumer
        self._topics = topics
        self._start_offset = start_offset
        self._search_interval_s = search_interval_s
        self._assigned = assigned
        self._revoked = revoked
        self._known: dict[str, list[int]] = {}
        self._failure: KafkaError | None = None
        self._search_at_s = time.monotonic()
        if start_offset is None and topics.name is not None:
            self._subscribe([topics.name])
            self._search_at_s = float("inf")

    @classmethod
    def of_partition(cls, consumer: Consumer, topic: str, partition: int, start_offset: int) -> RecordSource:
        source = cls(consumer, Topics(topic), start_offset=start_offset, search_interval_s=float("inf"))
        consumer.assign([Position(topic, partition, start_offset)])
        source._search_at_s = float("inf")
        return source

    def receive(self, count_max: int, timeout_s: float) -> list[Message]:
        """The records that are there, at most `count_max`, after a wait for the first, which is short.

        KafkaException where the cluster refuses to give any.
        """
        if self._failure is not None:
            raise KafkaException(self._failure)
        self._search()
        first = self._consumer.poll(max(min(timeout_s, WAIT_MAX_S), 0))
        if first is None:
            return []
        more = self._consumer.consume(count_max - 1, 0) if count_max > 1 else []
        return self._without_errors([first, *more])

    def _without_errors(self, messages: list[Message]) -> list[Message]:
        """The records among what the consumer hands out; what is not one tells of an error, which may pass."""
        records = []
        for message in messages:
            error = message.error()
            if error is None:
                records.append(message)
            elif error.code() not in _WAITS_FOR and not error.retriable():
                self._failure = error
        if self._failure is not None and not records:
            raise KafkaException(self._failure)
        return records

    def _search(self) -> None:
        """Look whether there are more topics or partitions than are read already, if it is time to."""
        if time.monotonic() < self._search_at_s:
            return
        found = self._topics.find(self._consumer)
        if found and found != self._known:
            self._read_from(found)
        self._search_at_s = time.monotonic() + (self._search_interval_s if self._known else SEARCH_INTERVAL_S)

    def _read_from(self, found: dict[str, list[int]]) -> None:
        if self._start_offset is None:
            self._subscribe(sorted(found))
        else:
            added = [
                Position(topic, partition, self._start_offset)
                for topic, partitions in found.items()
                for partition in partitions
                if partition not in self._known.get(topic, [])
            ]
            self._consumer.incremental_assign(added)
            self._assigned()
        self._known |= found

    def _subscribe(self, names: list[str]) -> None:
        self._consumer.subscribe(names, on_assign=lambda *_: self._assigned(), on_revoke=lambda *_: self._revoked())

    def close(self) -> None:
        self._consumer.close()
