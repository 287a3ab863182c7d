"""Brokers as their clients may reach them: alive, and by the listener that the client itself has come through."""

from __future__ import annotations

from collections.abc import Container
from typing import NamedTuple

from barnabas.controller.brokers import is_online
from barnabas.metadata.image import MetadataImage
from barnabas.metadata.topics import Partition


class Node(NamedTuple):
    node_id: int
    host: str
    port: int
    rack: str | None


def alive_node(image: MetadataImage, broker_id: int, listener: str) -> Node | None:
    """Where a broker is reached; None where it is fenced, not registered, or has no listener of that name."""
    broker = image.cluster.brokers.get(broker_id)
    if broker is None or broker.is_fenced:
        return None
    endpoint = broker.endpoints.get(listener)
    return None if endpoint is None else Node(broker.id, endpoint.host, endpoint.port, broker.rack)


def alive_nodes(image: MetadataImage, listener: str) -> list[Node]:
    nodes = (alive_node(image, broker_id, listener) for broker_id in image.cluster.brokers)
    return [node for node in nodes if node is not None]


def offline_replicas(image: MetadataImage, partition: Partition, alive: Container[int]) -> list[int]:
    """The replicas of brokers that are not alive, or in directories that have failed."""
    brokers = image.cluster.brokers
    return [
        replica
        for replica in partition.replicas
        if replica not in alive or not is_online(brokers[replica], partition.directory(replica))
    ]
