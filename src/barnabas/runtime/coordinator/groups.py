"""Puts the group coordinator together: shards of groups on the partitions of `__consumer_offsets`."""

from __future__ import annotations

from asyncio import AbstractEventLoop
from collections.abc import Callable
from random import Random
from typing import TypeVar

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

T = TypeVar("T")


def group_coordinator(
    replicas: Replicas,
    settings: Callable[[], ServerConfig],
    *,
    loop: AbstractEventLoop,
    clock: Clock,
    rng: Random,
) -> Coordinator:
    """`settings` are the broker's as they are now."""
    around = Surroundings(
        replicas=replicas,
        codec=RecordCodec(KEYS, VALUES),
        loop=loop,
        clock=clock,
        settings=_followed(settings, _shard_settings),
    )
    group_settings = _followed(settings, GroupSettings.of)
    return Coordinator(
        GROUPS_TOPIC,
        around,
        make_shard=lambda: GroupShard(group_settings, rng),
        partitions=lambda: settings().integer("offsets.topic.num.partitions"),
    )


def _shard_settings(settings: ServerConfig) -> ShardSettings:
    return ShardSettings(
        commit_timeout_ms=settings.integer("offsets.commit.timeout.ms"),
        load_buffer_bytes=settings.integer("offsets.load.buffer.size"),
        compression=Compression(settings.integer("offsets.topic.compression.codec")),
    )


def _followed(settings: Callable[[], ServerConfig], read: Callable[[ServerConfig], T]) -> Callable[[], T]:
    """What is read off the settings, again only when they have changed: every request asks for it."""
    known: tuple[ServerConfig, T] | None = None

    def current() -> T:
        nonlocal known
        now = settings()
        if known is None or known[0] is not now:
            known = now, read(now)
        return known[1]

    return current
