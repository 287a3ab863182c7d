"""What holds of every image that a controller's records lead to; tests and simulations ask after each replay."""

from __future__ import annotations

from barnabas.controller.brokers import is_reserved_directory
from barnabas.metadata.image import MetadataImage
from barnabas.metadata.topics import LeaderRecoveryState, Partition
from barnabas.protocol.uuid import Uuid


def validate(image: MetadataImage) -> None:
    """Raise AssertionError, with the partition or broker, where an invariant is broken."""
    fenced = {broker.id for broker in image.cluster.brokers.contents() if broker.is_fenced}
    has_elr = image.features.is_elr_enabled
    assert len(image.topics.ids) == len(image.topics.by_id), "a topic has one name and one id"
    for topic in image.topics.by_id.contents():
        assert image.topics.ids.get(topic.name) == topic.id, f"{topic.name} is found under its name"
        assert list(topic.partitions) == list(range(len(topic.partitions))), f"{topic.name} has a gap in its partitions"
        assert topic.partitions, f"{topic.name} has no partition"
        for index, partition in topic.partitions.entries():
            try:
                _validate_partition(partition, fenced, has_elr=has_elr)
            except AssertionError as error:
                raise AssertionError(f"{topic.name}-{index}: {error}: {partition}") from None
    _validate_directories(image)


def _validate_partition(partition: Partition, fenced: set[int], *, has_elr: bool) -> None:
    replicas, isr, elr = set(partition.replicas), set(partition.isr), set(partition.eligible_leader_replicas)
    assert partition.replicas, "a partition has replicas"
    for name in ("replicas", "isr", "eligible_leader_replicas", "adding_replicas", "removing_replicas"):
        members = getattr(partition, name)
        assert len(set(members)) == len(members), f"{name} names nobody twice"
    assert isr <= replicas, "the ISR are replicas"
    assert elr <= replicas, "eligible leaders are replicas"
    assert not isr & elr, "ISR and ELR are disjoint"
    if partition.has_leader:
        assert partition.leader in isr, "a leader is in the ISR"
    if has_elr:
        assert not isr & fenced, "with ELR no fenced broker is in an ISR"
        assert not (partition.has_leader and partition.last_known_elr), "with a leader no other is remembered"
    else:
        assert isr, "without ELR an ISR is never empty"
        assert not elr, "without ELR nobody is eligible"
        assert len(isr) == 1 or not isr & fenced, "without ELR a fenced broker is in an ISR only as its last member"
    assert set(partition.adding_replicas) <= replicas, "replicas that are added are replicas"
    assert set(partition.removing_replicas) <= replicas, "replicas that are removed are still replicas"
    assert not set(partition.adding_replicas) & set(partition.removing_replicas)
    if partition.leader_recovery_state is LeaderRecoveryState.RECOVERING:
        assert len(isr) <= 1, "nobody is in sync with a leader that recovers"


def _validate_directories(image: MetadataImage) -> None:
    owners: dict[Uuid, int] = {}
    for broker in image.cluster.brokers.contents():
        for directory in broker.directories:
            assert not is_reserved_directory(directory), f"broker {broker.id} has a reserved directory id"
            owner = owners.setdefault(directory, broker.id)
            assert owner == broker.id, f"brokers {owner} and {broker.id} both have directory {directory}"
