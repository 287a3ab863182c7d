"""aiokafka, on an event loop that runs while it is asked something."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition  # type: ignore[import-untyped]
from aiokafka.admin import AIOKafkaAdminClient, NewTopic  # type: ignore[import-untyped]
from aiokafka.errors import KafkaError  # type: ignore[import-untyped]

from interop.clients.client import LIMIT_S, ClientError, Record


class Aiokafka:
    def __init__(self, bootstrap_servers: str) -> None:
        self._servers = bootstrap_servers
        self._runner = asyncio.Runner()
        self._producers: dict[tuple[str, bool], AIOKafkaProducer] = {}

    def create_topic(self, topic: str, partitions: int) -> None:
        self._runner.run(self._change(create=NewTopic(topic, partitions, 1)))

    def delete_topic(self, topic: str) -> None:
        self._runner.run(self._change(delete=topic))

    async def _change(self, *, create: NewTopic | None = None, delete: str | None = None) -> None:
        admin = AIOKafkaAdminClient(bootstrap_servers=self._servers)
        await admin.start()
        try:
            if create is not None:
                done = await admin.create_topics([create])
                assert [error for _, error, _ in done.topic_errors] == [0], done
            if delete is not None:
                done = await admin.delete_topics([delete])
                assert [error for _, error in done.topic_error_codes] == [0], done
        finally:
            await admin.close()

    async def _producer(self, codec: str, *, is_idempotent: bool) -> AIOKafkaProducer:
        kept = self._producers.get((codec, is_idempotent))
        if kept is None:
            kept = self._producers[codec, is_idempotent] = AIOKafkaProducer(
                bootstrap_servers=self._servers,
                acks="all",
                compression_type=None if codec == "none" else codec,
                enable_idempotence=is_idempotent,
                linger_ms=20,
            )
            await kept.start()
        return kept

    def write(
        self, topic: str, partition: int, records: Sequence[Record], *, codec: str = "none", is_idempotent: bool = False
    ) -> list[int]:
        async def send() -> list[int]:
            producer = await self._producer(codec, is_idempotent=is_idempotent)
            sent = [
                await producer.send(
                    topic,
                    record.value,
                    record.key,
                    partition,
                    timestamp_ms=record.timestamp_ms,
                    headers=list(record.headers),
                )
                for record in records
            ]
            return [(await each).offset for each in sent]

        try:
            return self._runner.run(asyncio.wait_for(send(), LIMIT_S))
        except KafkaError as error:
            raise ClientError(repr(error)) from error

    def read(
        self, topic: str, partitions: Sequence[int], count: int, *, offset: int = 0, is_committed: bool = False
    ) -> Mapping[int, list[Record]]:
        found: dict[int, list[Record]] = {partition: [] for partition in partitions}

        async def fetch() -> None:
            isolation = "read_committed" if is_committed else "read_uncommitted"
            consumer = AIOKafkaConsumer(bootstrap_servers=self._servers, group_id=None, isolation_level=isolation)
            await consumer.start()
            try:
                places = [TopicPartition(topic, partition) for partition in partitions]
                consumer.assign(places)
                for place in places:
                    consumer.seek(place, offset)
                for _ in range(count):
                    each = await consumer.getone()
                    found[each.partition].append(Record(each.key, each.value, each.timestamp, tuple(each.headers)))
            finally:
                await consumer.stop()

        self._runner.run(asyncio.wait_for(fetch(), LIMIT_S))
        return found

    def offset_at(self, topic: str, partition: int, timestamp_ms: int) -> int:
        async def ask() -> int:
            consumer = AIOKafkaConsumer(bootstrap_servers=self._servers, group_id=None)
            await consumer.start()
            try:
                place = TopicPartition(topic, partition)
                found: int = (await consumer.offsets_for_times({place: timestamp_ms}))[place].offset
                return found
            finally:
                await consumer.stop()

        return self._runner.run(ask())

    def close(self) -> None:
        for producer in self._producers.values():
            self._runner.run(producer.stop())
        self._runner.close()
