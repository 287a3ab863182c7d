"""Puts together what a broker's listeners answer: each family of APIs with what it needs of the broker."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from random import Random
from typing import Any

from barnabas.broker.api_versions import ApiVersions, Features
from barnabas.broker.dynamic_settings import DynamicSettings
from barnabas.broker.fetch_sessions import FetchSessions
from barnabas.broker.forwarding import Forwarding
from barnabas.broker.handlers.access import DescribeAccess
from barnabas.broker.handlers.alter_configs import AlterConfigs
from barnabas.broker.handlers.cluster import DescribeCluster
from barnabas.broker.handlers.config_resources import ListConfigResources
from barnabas.broker.handlers.coordinators import FindCoordinator
from barnabas.broker.handlers.describe_configs import DescribeConfigs
from barnabas.broker.handlers.fetch import Fetch
from barnabas.broker.handlers.groups import GroupCoordinator, Groups
from barnabas.broker.handlers.groups_consumer import ConsumerGroups
from barnabas.broker.handlers.groups_offsets import GroupOffsets
from barnabas.broker.handlers.leader_epochs import OffsetForLeaderEpoch
from barnabas.broker.handlers.list_offsets import ListOffsets
from barnabas.broker.handlers.log_dirs import DescribeLogDirs, Room
from barnabas.broker.handlers.metadata import Metadata
from barnabas.broker.handlers.produce import Produce
from barnabas.broker.handlers.producer_ids import InitProducerId
from barnabas.broker.handlers.records import PartitionRecords
from barnabas.broker.handlers.replica_log_dirs import AlterReplicaLogDirs
from barnabas.broker.handlers.sasl_state import SASL_STATE_ROUTES
from barnabas.broker.handlers.topic_partitions import DescribeTopicPartitions
from barnabas.broker.logger_configs import LoggerConfigs
from barnabas.broker.recoding import RunOffLoop
from barnabas.broker.replicas import Replicas
from barnabas.broker.routing import RoutingTable, build_table
from barnabas.broker.topic_configs import BrokerConfigs
from barnabas.broker.topic_creation import TopicCreation
from barnabas.config.node import NodeConfig
from barnabas.log.checkpoint import TopicPartition
from barnabas.log.directories import LogDirectories
from barnabas.metadata.features import GROUP_VERSION
from barnabas.protocol.schema import Message
from barnabas.runtime.logger_levels import logger_levels, set_logger_level
from barnabas.security.authorizer import UNRESTRICTED


@dataclass(frozen=True, kw_only=True)
class ServingParts:
    """What the handlers of a broker work with.

    `ask_controller` puts a request to the active controller, whose `controller_versions` are known while there is a
    connection to it; `spawn` runs what waits for its answers.
    """

    node: NodeConfig
    cluster_id: str
    settings: DynamicSettings
    directories: LogDirectories
    replicas: Replicas
    alter_log_dir: Callable[[TopicPartition, str], None]
    forwarding: Forwarding
    groups: GroupCoordinator
    rng: Random
    features: Callable[[], Features]
    broker_epoch: Callable[[], int]
    ask_controller: Callable[[Message, int], Awaitable[Any]]
    controller_versions: Callable[[], Any]
    spawn: Callable[[Coroutine[Any, Any, None]], object]
    run_off_loop: RunOffLoop


def broker_table(parts: ServingParts) -> RoutingTable:
    """The routes of a broker's listeners, ApiVersions among them."""
    node, replicas = parts.node, parts.replicas
    static = node.settings
    creates_topics = static.boolean("auto.create.topics.enable")
    configs = BrokerConfigs(node.node_id, static.given)
    creation = TopicCreation(parts.forwarding, parts.spawn, lambda: parts.settings.current)

    def has_consumer_groups() -> bool:
        is_served = "consumer" in static.words("group.coordinator.rebalance.protocols")
        return is_served and replicas.image.features.level(GROUP_VERSION) >= 1

    versions = ApiVersions(parts.features, parts.controller_versions)
    families = (
        versions,
        Produce(replicas, parts.run_off_loop),
        Fetch(
            replicas,
            FetchSessions(static.integer("max.incremental.fetch.session.cache.slots"), parts.rng),
            max_bytes=static.integer("fetch.max.bytes"),
        ),
        ListOffsets(replicas),
        OffsetForLeaderEpoch(replicas),
        Metadata(
            lambda: replicas.image,
            node_id=node.node_id,
            cluster_id=parts.cluster_id,
            create_topics=creation if creates_topics else None,
        ),
        DescribeTopicPartitions(lambda: replicas.image, static.integer("max.request.partition.size.limit")),
        DescribeCluster(lambda: replicas.image, node_id=node.node_id, cluster_id=parts.cluster_id),
        PartitionRecords(replicas),
        DescribeLogDirs(parts.directories, node.log_dirs, room_of, lambda: parts.settings.node.cordoned_log_dirs),
        AlterReplicaLogDirs(parts.alter_log_dir),
        DescribeConfigs(
            configs, image=lambda: replicas.image, access=lambda _call: UNRESTRICTED, loggers=logger_levels
        ),
        AlterConfigs(
            parts.forwarding,
            parts.spawn,
            configs,
            lambda: replicas.image,
            LoggerConfigs(node.node_id, logger_levels, set_logger_level),
        ),
        ListConfigResources(lambda: replicas.image),
        InitProducerId(parts.ask_controller, parts.spawn, broker_id=node.node_id, broker_epoch=parts.broker_epoch),
        FindCoordinator(lambda: replicas.image, lambda group_id: parts.groups.partition_for(group_id), creation),
        Groups(parts.groups),
        ConsumerGroups(parts.groups, has_consumer_groups),
        GroupOffsets(parts.groups, lambda: replicas.image),
        DescribeAccess(lambda: replicas.image),
        parts.forwarding,
    )
    table = build_table(
        *(family.routes for family in families),
        SASL_STATE_ROUTES,
        unstable_api_versions_enable=static.boolean("unstable.api.versions.enable"),
    )
    versions.advertise(table)
    return table


def room_of(path: str) -> Room:
    """How full the file system is that a directory is on."""
    status = os.statvfs(path)
    return Room(status.f_blocks * status.f_frsize, status.f_bavail * status.f_frsize)
