"""kafka-python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import monotonic

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition  # type: ignore[import-untyped]
from kafka.admin import NewTopic  # type: ignore[import-untyped]
from kafka.errors import KafkaError  # type: ignore[import-untyped]

from interop.clients.client import LIMIT_S, ClientError, Record


class KafkaPython:
    def __init__(self, bootstrap_servers: str) -> None:
        self._servers = bootstrap_servers
        self._admin = KafkaAdminClient(bootstrap_servers=bootstrap_servers)
        self._producers: dict[tuple[str, bool], KafkaProducer] = {}

    def create_topic(self, topic: str, partitions: int) -> None:
        self._admin.create_topics([NewTopic(topic, partitions, 1)])

    def delete_topic(self, topic: str) -> None:
        self._admin.delete_topics([topic])

    def _producer(self, codec: str, *, is_idempotent: bool) -> KafkaProducer:
        kept = self._producers.get((codec, is_idempotent))
        if kept is None:
            kept = self._producers[codec, is_idempotent] = KafkaProducer(
                bootstrap_servers=self._servers,
                acks="all",
                compression_type=None if codec == "none" else codec,
                enable_idempotence=is_idempotent,
                linger_ms=20,
            )
        return kept

    def write(
        self, topic: str, partition: int, records: Sequence[Record], *, codec: str = "none", is_idempotent: bool = False
    ) -> list[int]:
        producer = self._producer(codec, is_idempotent=is_idempotent)
        try:
            sent = [
                producer.send(
                    topic,
                    record.value,
                    record.key,
                    list(record.headers),
                    partition=partition,
                    timestamp_ms=record.timestamp_ms,
                )
                for record in records
            ]
            return [each.get(LIMIT_S).offset for each in sent]
        except KafkaError as error:
            raise ClientError(repr(error)) from error

    def read(
        self, topic: str, partitions: Sequence[int], count: int, *, offset: int = 0, is_committed: bool = False
    ) -> Mapping[int, list[Record]]:
        consumer = KafkaConsumer(
            bootstrap_servers=self._servers,
            group_id=None,
            isolation_level="read_committed" if is_committed else "read_uncommitted",
        )
        places = [TopicPartition(topic, partition) for partition in partitions]
        found: dict[int, list[Record]] = {partition: [] for partition in partitions}
        deadline = monotonic() + LIMIT_S
        try:
            consumer.assign(places)
            for place in places:
                consumer.seek(place, offset)
            while sum(map(len, found.values())) < count and monotonic() < deadline:
                for place, messages in consumer.poll(1000).items():
                    found[place.partition] += [
                        Record(each.key, each.value, each.timestamp, tuple(each.headers)) for each in messages
                    ]
        finally:
            consumer.close()
        return found

    def offset_at(self, topic: str, partition: int, timestamp_ms: int) -> int:
        consumer = KafkaConsumer(bootstrap_servers=self._servers, group_id=None)
        place = TopicPartition(topic, partition)
        try:
            found: int = consumer.offsets_for_times({place: timestamp_ms})[place].offset
        finally:
            consumer.close()
        return found

    def close(self) -> None:
        for producer in self._producers.values():
            producer.close()
        self._admin.close()
