"""An image of the metadata as plain dictionaries of JSON types, to be held against models and Apache Kafka's own."""

from __future__ import annotations

from typing import Any

from barnabas.metadata.cluster import BrokerRegistration, ControllerRegistration, Endpoint
from barnabas.metadata.configs import QuotaEntity
from barnabas.metadata.image import MetadataImage
from barnabas.metadata.sorted_map import SortedMap
from barnabas.metadata.topics import Partition
from barnabas.protocol.version_range import VersionRange


def describe(image: MetadataImage) -> dict[str, Any]:
    features: dict[str, int] = dict(image.features.levels)
    if image.features.metadata_version is not None:
        features["metadata.version"] = int(image.features.metadata_version)
    return {
        "features": features,
        "brokers": {str(broker_id): _broker(broker) for broker_id, broker in image.cluster.brokers.items()},
        "controllers": {str(node_id): _controller(node) for node_id, node in image.cluster.controllers.items()},
        "topics": {
            str(topic.id): {
                "name": topic.name,
                "partitions": {str(index): _partition(partition) for index, partition in topic.partitions.items()},
            }
            for topic in image.topics.by_id.values()
        },
        "topic_ids": {name: str(topic_id) for name, topic_id in image.topics.ids.items()},
        "configs": {f"{int(of.type)}:{of.name}": dict(settings) for of, settings in image.configs.items()},
        "quotas": {_entity(entity): dict(values) for entity, values in image.client_quotas.items()},
        "next_producer_id": image.next_producer_id,
        "acls": {str(entry_id): list(entry) for entry_id, entry in image.acls.items()},
        "scram": {
            f"{user.mechanism}:{user.name}": [
                credential.salt.hex(),
                credential.stored_key.hex(),
                credential.server_key.hex(),
                credential.iterations,
            ]
            for user, credential in image.scram.items()
        },
        "tokens": {
            token_id: [
                token.owner,
                token.requester,
                list(token.renewers),
                token.issue_timestamp,
                token.max_timestamp,
                token.expiration_timestamp,
            ]
            for token_id, token in image.delegation_tokens.items()
        },
    }


def _broker(broker: BrokerRegistration) -> dict[str, Any]:
    cordoned = broker.cordoned_directories
    return {
        "epoch": broker.epoch,
        "incarnation": str(broker.incarnation_id),
        "endpoints": _endpoints(broker.endpoints),
        "features": _features(broker.supported_features),
        "rack": broker.rack,
        "fenced": broker.is_fenced,
        "shutdown": broker.is_in_controlled_shutdown,
        "directories": list(map(str, broker.directories)),
        "cordoned": None if cordoned is None else list(map(str, cordoned)),
    }


def _controller(node: ControllerRegistration) -> dict[str, Any]:
    return {
        "incarnation": str(node.incarnation_id),
        "migration": node.is_zk_migration_ready,
        "endpoints": _endpoints(node.endpoints),
        "features": _features(node.supported_features),
    }


def _endpoints(endpoints: SortedMap[str, Endpoint]) -> dict[str, Any]:
    return {name: [at.host, at.port, int(at.security_protocol)] for name, at in endpoints.items()}


def _features(features: SortedMap[str, VersionRange]) -> dict[str, Any]:
    return {name: list(levels) for name, levels in features.items()}


def _partition(partition: Partition) -> dict[str, Any]:
    return {
        "replicas": list(partition.replicas),
        "directories": list(map(str, partition.directories)),
        "isr": list(partition.isr),
        "removing": list(partition.removing_replicas),
        "adding": list(partition.adding_replicas),
        "elr": list(partition.eligible_leader_replicas),
        "last_known_elr": list(partition.last_known_elr),
        "leader": partition.leader,
        "recovery": int(partition.leader_recovery_state),
        "leader_epoch": partition.leader_epoch,
        "partition_epoch": partition.partition_epoch,
    }


def _entity(entity: QuotaEntity) -> str:
    """A default is written without a colon behind its type."""
    return ",".join(part.type if part.is_default else f"{part.type}:{part.name}" for part in entity)
