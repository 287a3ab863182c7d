"""Replicas of partitions as a request names them or as they are placed, and the partitions that come of them."""

from __future__ import annotations

from collections.abc import Sequence

from barnabas.controller.brokers import default_directory, is_active
from barnabas.controller.decision import Situation
from barnabas.controller.errors import InvalidReplicaAssignment, InvalidReplicationFactor
from barnabas.controller.placement import StripedPlacer, usable_brokers
from barnabas.metadata.image import MetadataImage
from barnabas.metadata.topics import Partition


def check_assignment(image: MetadataImage, replicas: Sequence[int], replication_factor: int | None = None) -> None:
    """Replicas that somebody chose: brokers that are registered, each once, as many as in the other partitions."""
    if not replicas:
        raise InvalidReplicaAssignment("a partition without replicas cannot be assigned")
    for broker_id in replicas:
        if broker_id not in image.cluster.brokers:
            raise InvalidReplicaAssignment(f"the assignment names broker {broker_id}, which is not registered")
    if len(set(replicas)) < len(replicas):
        raise InvalidReplicaAssignment(f"the assignment {list(replicas)} names a broker twice")
    if replication_factor is not None and len(replicas) != replication_factor:
        raise InvalidReplicaAssignment(
            f"the assignment {list(replicas)} has {len(replicas)} replicas, other partitions have {replication_factor}"
        )


def assigned_partition(image: MetadataImage, replicas: Sequence[int]) -> Partition:
    """A new partition on brokers that somebody chose."""
    partition = _new_partition(image, replicas)
    if partition is None:
        raise InvalidReplicaAssignment(f"brokers {list(replicas)} are all fenced or shutting down, so none could lead")
    return partition


def placed_partitions(situation: Situation, count: int, replication_factor: int) -> list[Partition]:
    """New partitions on brokers that the cluster chooses."""
    image = situation.image
    placer = StripedPlacer(usable_brokers(image), replication_factor, situation.rng)
    placed = [_new_partition(image, placer.place()) for _ in range(count)]
    partitions = [partition for partition in placed if partition is not None]
    if len(partitions) < count:
        raise InvalidReplicationFactor("every broker is fenced or shutting down, so none could lead")
    return partitions


def _new_partition(image: MetadataImage, replicas: Sequence[int]) -> Partition | None:
    """In sync are all that are alive, for there is nothing yet that they could lack. None if nobody could lead."""
    isr = tuple(replica for replica in replicas if is_active(image, replica))
    if not isr:
        return None
    return Partition(
        replicas=tuple(replicas),
        directories=tuple(default_directory(image, replica) for replica in replicas),
        isr=isr,
        leader=isr[0],
        leader_epoch=0,
        partition_epoch=0,
    )
