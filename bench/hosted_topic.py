"""A topic on the handlers of a real broker, with its metadata written by hand: no cluster, no socket, no start."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, Final

from barnabas.broker.dispatch import Dispatcher
from barnabas.broker.fetch_sessions import FetchSessions
from barnabas.broker.handlers.fetch import Fetch
from barnabas.broker.handlers.produce import Produce
from barnabas.broker.replicas import Replicas
from barnabas.broker.routing import RoutingTable, build_table
from barnabas.broker.topic_configs import BrokerConfigs, TopicConfigs
from barnabas.broker.waiting_room import WaitingRoom
from barnabas.log.directories import LogDirectories
from barnabas.log.partition_log import PartitionLog
from barnabas.metadata.delta import MetadataDelta
from barnabas.metadata.image import EMPTY_IMAGE, Provenance
from barnabas.protocol.metadata_records.partition import PartitionRecord
from barnabas.protocol.metadata_records.topic import TopicRecord
from barnabas.protocol.uuid import Uuid
from barnabas.runtime.disk import PosixDisk

NODE: Final = 1
TOPIC: Final = "bench"
TOPIC_ID: Final = Uuid(b"bench-topic-id-1")


class HostedTopic:
    """`table` routes Produce and Fetch to the topic's partitions, which are led here and have no other replica."""

    def __init__(self, directory: str, partitions: int, now_ms: int) -> None:
        rng = random.Random(1)
        configs = TopicConfigs(BrokerConfigs(NODE, {"log.segment.bytes": str(256 * 1024 * 1024)}))
        directories = LogDirectories(PosixDisk(), [directory], rng=rng)
        directories.load(configs.log_config_of, now_ms=now_ms)
        self.replicas = Replicas(NODE, directories, configs, WaitingRoom(_never), _failed, _never_flush)
        self.table: RoutingTable = build_table(
            Produce(self.replicas, _run_at_once).routes, Fetch(self.replicas, FetchSessions(0, rng)).routes
        )
        self.dispatcher = Dispatcher(self.table)
        delta = MetadataDelta(EMPTY_IMAGE)
        delta.replay(TopicRecord(name=TOPIC, topic_id=TOPIC_ID))
        for index in range(partitions):
            delta.replay(
                PartitionRecord(
                    partition_id=index,
                    topic_id=TOPIC_ID,
                    replicas=[NODE],
                    isr=[NODE],
                    removing_replicas=[],
                    adding_replicas=[],
                    leader=NODE,
                    leader_epoch=0,
                    partition_epoch=0,
                )
            )
        self.replicas.apply(delta, delta.apply(Provenance()), now_ms)


def _never(_deadline_ms: int) -> None:
    """Nobody waits here."""


def _never_flush(log: PartitionLog, _then: Callable[[OSError | None], object]) -> None:
    raise AssertionError(f"{log.directory} has no flush.messages")


def _failed(path: str, error: OSError) -> None:
    raise AssertionError(f"{path}: {error}")


def _run_at_once(work: Callable[[], Any], done: Callable[[Any], object], _failed: object) -> None:
    done(work())
