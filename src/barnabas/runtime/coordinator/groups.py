"""Puts the group coordinator together: shards of groups on the partitions of `__consumer_offsets`."""

from __future__ import annotations

from asyncio import AbstractEventLoop
from collections.abc import Callable
from random import Random

from barnabas.broker.handlers.coordinators import GROUPS_TOPIC
from barnabas.broker.replicas import Replicas
from barnabas.config.server_config import ServerConfig
from barnabas.coordinator.group.settings import GroupSettings
from barnabas.coordinator.group.shard import GroupShard
from barnabas.coordinator.record_codec import RecordCodec
from barnabas.ports.clock import Clock
from barnabas.protocol.group_records import KEYS, VALUES
from barnabas.records.compression import Compression
from barnabas.runtime.coordinator.coordinator import Coordinator
from barnabas.runtime.coordinator.hosted_shard import ShardSettings, Surroundings


def group_coordinator(
    replicas: Replicas,
    settings: Callable[[], ServerConfig],
    *,
    loop: AbstractEventLoop,
    clock: Clock,
    rng: Random,
) -> Coordinator:
    """`settings` are the broker's as they are now."""

    def shard_settings() -> ShardSettings:
        current = settings()
        return ShardSettings(
            commit_timeout_ms=current.integer("offsets.commit.timeout.ms"),
            load_buffer_bytes=current.integer("offsets.load.buffer.size"),
            compression=Compression(current.integer("offsets.topic.compression.codec")),
        )

    around = Surroundings(
        replicas=replicas, codec=RecordCodec(KEYS, VALUES), loop=loop, clock=clock, settings=shard_settings
    )
    return Coordinator(
        GROUPS_TOPIC,
        around,
        make_shard=lambda: GroupShard(lambda: GroupSettings.of(settings()), rng),
        partitions=lambda: settings().integer("offsets.topic.num.partitions"),
    )
