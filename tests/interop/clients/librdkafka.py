"""librdkafka, by way of confluent-kafka."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from confluent_kafka import TIMESTAMP_NOT_AVAILABLE, Consumer, KafkaException, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from interop.clients.client import LIMIT_S, ClientError, Record


class Librdkafka:
    def __init__(self, bootstrap_servers: str) -> None:
        self._settings: dict[str, str | int | float | bool] = {"bootstrap.servers": bootstrap_servers}
        self._admin = AdminClient(self._settings)
        self._producers: dict[tuple[str, bool], Producer] = {}

    def create_topic(self, topic: str, partitions: int) -> None:
        try:
            self._admin.create_topics([NewTopic(topic, partitions, 1)])[topic].result(LIMIT_S)
        except KafkaException as error:
            raise ClientError(str(error)) from error

    def delete_topic(self, topic: str) -> None:
        self._admin.delete_topics([topic])[topic].result(LIMIT_S)

    def _producer(self, codec: str, *, is_idempotent: bool) -> Producer:
        kept = self._producers.get((codec, is_idempotent))
        if kept is None:
            settings = {
                "compression.type": codec,
                "enable.idempotence": is_idempotent,
                "message.max.bytes": 2_000_000,
                "message.timeout.ms": 10_000,
                "linger.ms": 20,
            }
            kept = self._producers[codec, is_idempotent] = Producer(self._settings | settings)
        return kept

    def write(
        self, topic: str, partition: int, records: Sequence[Record], *, codec: str = "none", is_idempotent: bool = False
    ) -> list[int]:
        producer = self._producer(codec, is_idempotent=is_idempotent)
        offsets: list[int] = []
        errors: list[str] = []

        def delivered(error: object, message: Message) -> None:
            if error is not None:
                errors.append(str(error))
            else:
                offset = message.offset()
                assert offset is not None
                offsets.append(offset)

        for record in records:
            producer.produce(
                topic,
                record.value,
                record.key,
                partition,
                timestamp=record.timestamp_ms,
                headers=list(record.headers),
                on_delivery=delivered,
            )
        assert producer.flush(LIMIT_S) == 0
        if errors:
            raise ClientError(errors[0])
        return offsets

    def _consumer(self, *, is_committed: bool = False) -> Consumer:
        isolation = "read_committed" if is_committed else "read_uncommitted"
        return Consumer(
            self._settings | {"group.id": "nobody", "enable.auto.commit": False, "isolation.level": isolation}
        )

    def read(
        self, topic: str, partitions: Sequence[int], count: int, *, offset: int = 0, is_committed: bool = False
    ) -> Mapping[int, list[Record]]:
        consumer = self._consumer(is_committed=is_committed)
        found: dict[int, list[Record]] = {partition: [] for partition in partitions}
        try:
            consumer.assign([TopicPartition(topic, partition, offset) for partition in partitions])
            for message in consumer.consume(count, LIMIT_S):
                partition = message.partition()
                assert message.error() is None, message.error()
                assert partition is not None
                found[partition].append(_record(message))
        finally:
            consumer.close()
        return found

    def offset_at(self, topic: str, partition: int, timestamp_ms: int) -> int:
        consumer = self._consumer()
        try:
            (found,) = consumer.offsets_for_times([TopicPartition(topic, partition, timestamp_ms)], LIMIT_S)
        finally:
            consumer.close()
        return found.offset

    def close(self) -> None:
        for producer in self._producers.values():
            producer.flush(LIMIT_S)


def _record(message: Message) -> Record:
    kind, timestamp_ms = message.timestamp()
    assert kind != TIMESTAMP_NOT_AVAILABLE
    headers = cast("list[tuple[str, bytes | None]]", message.headers() or [])
    return Record(message.key(), message.value(), timestamp_ms, tuple(headers))
