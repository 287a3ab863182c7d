"""All shards of one coordinator on this broker: one for each partition of its topic that is led here, and no other.

The same for every kind of coordinator: what a shard decides is its own affair.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Final

from barnabas.coordinator.events import MetadataChanged, RequestContext
from barnabas.coordinator.partitions import partition_for
from barnabas.coordinator.shard import Shard
from barnabas.metadata.delta import MetadataDelta
from barnabas.metadata.image import MetadataImage
from barnabas.protocol.errors import ApiError, ErrorCode
from barnabas.protocol.schema import Message
from barnabas.replication.leader import Leader
from barnabas.runtime.coordinator.hosted_shard import HostedShard, Surroundings

LOG: Final = logging.getLogger(__name__)


class Coordinator:
    """`partitions` is how many the topic will have, where it is not there yet."""

    def __init__(
        self,
        topic: str,
        around: Surroundings,
        *,
        make_shard: Callable[[], Shard],
        partitions: Callable[[], int],
    ) -> None:
        self.topic = topic
        self._around = around
        self._make_shard = make_shard
        self._partitions = partitions
        self._shards: dict[int, HostedShard] = {}
        self._is_closed = False
        # Refusals are the same whether or not there is a shard.
        self._refuse = make_shard().refuse

    # Asking

    def partition_for(self, key: str) -> int:
        topic = self._around.replicas.image.topics.by_name(self.topic)
        return partition_for(key, self._partitions() if topic is None else len(topic.partitions))

    def ask(self, partition: int, request: Message, context: RequestContext, answer: Callable[[Message], None]) -> None:
        """Have a request answered by the shard of a partition; `answer` is called once, now or later."""
        if self._is_closed:
            answer(self._refuse(request, ErrorCode.COORDINATOR_NOT_AVAILABLE))
            return
        hosted = self._shards.get(partition)
        if hosted is None or not self._around.replicas.is_current(hosted.leader):
            answer(self._refuse(request, ErrorCode.NOT_COORDINATOR))
            return
        hosted.ask(request, context, answer)

    @property
    def hosted_partitions(self) -> list[int]:
        return list(self._shards)

    # Following the metadata

    def apply(self, delta: MetadataDelta, image: MetadataImage) -> None:
        """Take in a step of the metadata that the replicas have taken in already."""
        if self._is_closed:
            return
        led = dict(self._led(image))
        for partition in [*self._shards]:
            if led.get(partition) is not self._shards[partition].leader:
                self._shards.pop(partition).close(ErrorCode.NOT_COORDINATOR)
                LOG.info("coordinator unloaded", extra={"topic": self.topic, "partition": partition})
        for hosted in self._shards.values():
            if hosted.is_active:
                hosted.step(MetadataChanged(delta, image))
        for partition, leader in led.items():
            if partition not in self._shards:
                self._shards[partition] = HostedShard(self._make_shard(), leader, self._around)

    def _led(self, image: MetadataImage) -> Iterator[tuple[int, Leader]]:
        topic = image.topics.by_name(self.topic)
        for partition in () if topic is None else topic.partitions:
            try:
                yield partition, self._around.replicas.find_leader(self.topic, partition)
            except ApiError:
                continue

    def close(self) -> None:
        """Refuse whatever waits and comes."""
        self._is_closed = True
        for hosted in self._shards.values():
            hosted.close(ErrorCode.COORDINATOR_NOT_AVAILABLE)
        self._shards.clear()
