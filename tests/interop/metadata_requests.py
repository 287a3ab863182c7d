"""Requests about a cluster's metadata in short, as brokers and administrators put them to a controller.

A `Side` is a cluster of one controller, ours or Apache's, whose brokers exist only as requests. It knows the ids and
epochs that its controller has given, which requests name again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from barnabas.metadata.features import SUPPORTED_FEATURES
from barnabas.protocol.json_form import to_json
from barnabas.protocol.messages import alter_client_quotas as quotas
from barnabas.protocol.messages import alter_partition as isr
from barnabas.protocol.messages import alter_partition_reassignments as reassignments
from barnabas.protocol.messages import alter_user_scram_credentials as scram
from barnabas.protocol.messages import assign_replicas_to_dirs as directories
from barnabas.protocol.messages import broker_heartbeat as heartbeat
from barnabas.protocol.messages import broker_registration as registration
from barnabas.protocol.messages import create_partitions as partitions
from barnabas.protocol.messages import create_topics as topics
from barnabas.protocol.messages import delete_topics as deletion
from barnabas.protocol.messages import elect_leaders as elections
from barnabas.protocol.messages import incremental_alter_configs as configs
from barnabas.protocol.messages import list_partition_reassignments as listing
from barnabas.protocol.messages import update_features as features
from barnabas.protocol.schema import Message
from barnabas.protocol.uuid import ZERO_UUID, Uuid
from interop.apache_broker import CLUSTER_ID
from interop.mixed_cluster import MixedCluster

STRANGE_ID = Uuid(b"strange" + bytes(9))


class Side:
    """A controller, and what it calls things."""

    def __init__(self, cluster: MixedCluster, brokers: Sequence[int]) -> None:
        self._cluster = cluster
        self._controller_id = cluster.leader_id()
        self.epochs: dict[int, int] = {}
        self.topic_ids: dict[str, Uuid] = {}
        for broker_id in brokers:
            self._add_broker(broker_id)

    def _add_broker(self, broker_id: int) -> None:
        self.epochs[broker_id] = self.answer(register(broker_id))["brokerEpoch"]
        self._cluster.wait_until(
            lambda: not self.answer(beat(self, broker_id))["isFenced"], f"broker {broker_id} is still fenced"
        )

    def answer(self, request: Message) -> dict[str, Any]:
        answer = self._cluster.ask(self._controller_id, request)
        assert answer is not None, (f"{type(request).__name__} is not answered", self._cluster.logs())
        if isinstance(answer, topics.CreateTopicsResponse):
            self.topic_ids |= {topic.name: topic.topic_id for topic in answer.topics if not topic.error_code}
        return to_json(answer, type(answer).valid_versions[-1])


def directory_of(broker_id: int) -> Uuid:
    return Uuid(broker_id.to_bytes(16, "big"))


def register(broker_id: int, **changes: Any) -> Message:
    values: dict[str, Any] = {
        "broker_id": broker_id,
        "cluster_id": CLUSTER_ID,
        "incarnation_id": Uuid(b"incarnation" + broker_id.to_bytes(5, "big")),
        "listeners": [registration.Listener(name="BROKER", host="127.0.0.1", port=broker_id, security_protocol=0)],
        "features": [
            registration.Feature(name=name, min_supported_version=low, max_supported_version=high)
            for name, (low, high) in SUPPORTED_FEATURES.items()
        ],
        "rack": None,
        "log_dirs": [directory_of(broker_id)],
    }
    return registration.BrokerRegistrationRequest(**values | changes)


def beat(side: Side, broker: int, **changes: Any) -> Message:
    values: dict[str, Any] = {
        "broker_id": broker,
        "broker_epoch": side.epochs[broker],
        "current_metadata_offset": side.epochs[broker],
        "want_fence": False,
        "want_shut_down": False,
    }
    return heartbeat.BrokerHeartbeatRequest(**values | changes)


def create(
    name: str,
    count: int = 1,
    factor: int = 1,
    *,
    assigned: Sequence[Sequence[int]] = (),
    indexes: Sequence[int] = (),
    settings: dict[str, str | None] | None = None,
    again: bool = False,
) -> Message:
    topic = topics.CreatableTopic(
        name=name,
        num_partitions=count,
        replication_factor=factor,
        assignments=[
            topics.CreatableReplicaAssignment(partition_index=index, broker_ids=list(brokers))
            for index, brokers in zip(indexes or range(len(assigned)), assigned, strict=True)
        ],
        configs=[topics.CreatableTopicConfig(name=name, value=value) for name, value in (settings or {}).items()],
    )
    return topics.CreateTopicsRequest(topics=[topic] * (1 + again))


def assigned(name: str, *brokers: Sequence[int], **more: Any) -> Message:
    return create(name, -1, -1, assigned=brokers, **more)


def grow(name: str, count: int, *brokers: Sequence[int]) -> Message:
    chosen = [partitions.CreatePartitionsAssignment(broker_ids=list(each)) for each in brokers]
    topic = partitions.CreatePartitionsTopic(name=name, count=count, assignments=chosen or None)
    return partitions.CreatePartitionsRequest(topics=[topic], timeout_ms=5_000, validate_only=False)


def move(name: str, index: int, brokers: Sequence[int] | None, **more: Any) -> Message:
    partition = reassignments.ReassignablePartition(
        partition_index=index, replicas=None if brokers is None else list(brokers)
    )
    topic = reassignments.ReassignableTopic(name=name, partitions=[partition])
    return reassignments.AlterPartitionReassignmentsRequest(topics=[topic], **more)


def list_moves(*asked: tuple[str, int]) -> Message:
    named = [listing.ListPartitionReassignmentsTopics(name=name, partition_indexes=[index]) for name, index in asked]
    return listing.ListPartitionReassignmentsRequest(topics=named or None)


def elect(kind: int, *asked: tuple[str, int]) -> Message:
    named = [elections.TopicPartitions(topic=name, partitions=[index]) for name, index in asked]
    return elections.ElectLeadersRequest(election_type=kind, topic_partitions=named or None, timeout_ms=5_000)


def alter(kind: int, name: str, *changes: tuple[str, int, str | None]) -> Message:
    altered = [configs.AlterableConfig(name=key, config_operation=how, value=value) for key, how, value in changes]
    resource = configs.AlterConfigsResource(resource_type=kind, resource_name=name, configs=altered)
    return configs.IncrementalAlterConfigsRequest(resources=[resource], validate_only=False)


def report(
    side: Side,
    topic: str,
    members: Sequence[int],
    *,
    leader: int = 101,
    leader_epoch: int = 0,
    epoch: int = 0,
    **more: Any,
) -> Message:
    partition = isr.RequestPartitionData(
        partition_index=more.pop("index", 0),
        leader_epoch=leader_epoch,
        partition_epoch=epoch,
        new_isr_with_epochs=[
            isr.BrokerState(broker_id=each, broker_epoch=side.epochs.get(each, -1)) for each in members
        ],
        **more,
    )
    topic_id = side.topic_ids.get(topic, STRANGE_ID)
    return isr.AlterPartitionRequest(
        broker_id=leader,
        broker_epoch=side.epochs[leader],
        topics=[isr.RequestTopicData(topic_id=topic_id, partitions=[partition])],
    )


def assign(side: Side, broker_id: int, directory: Uuid, topic: str, index: int) -> Message:
    at = directories.RequestTopicData(
        topic_id=side.topic_ids.get(topic, STRANGE_ID),
        partitions=[directories.RequestPartitionData(partition_index=index)],
    )
    return directories.AssignReplicasToDirsRequest(
        broker_id=broker_id,
        broker_epoch=side.epochs[broker_id],
        directories=[directories.RequestDirectoryData(id=directory, topics=[at])],
    )


def finalize(name: str, level: int, kind: int = 1, *, validate_only: bool = True) -> Message:
    update = features.FeatureUpdateKey(feature=name, max_version_level=level, upgrade_type=kind)
    return features.UpdateFeaturesRequest(feature_updates=[update], validate_only=validate_only)


def limit(entity: Sequence[tuple[str, str | None]], key: str, value: float, *, remove: bool = False) -> Message:
    entry = quotas.RequestEntryData(
        entity=[quotas.RequestEntityData(entity_type=kind, entity_name=name) for kind, name in entity],
        ops=[quotas.OpData(key=key, value=value, remove=remove)],
    )
    return quotas.AlterClientQuotasRequest(entries=[entry], validate_only=False)


def credential(name: str, mechanism: int, iterations: int) -> Message:
    upsertion = scram.ScramCredentialUpsertion(
        name=name, mechanism=mechanism, iterations=iterations, salt=b"salt", salted_password=b"p" * 32
    )
    return scram.AlterUserScramCredentialsRequest(deletions=[], upsertions=[upsertion])


def forget(name: str, mechanism: int) -> Message:
    return scram.AlterUserScramCredentialsRequest(
        deletions=[scram.ScramCredentialDeletion(name=name, mechanism=mechanism)], upsertions=[]
    )


def delete(name: str | None, topic_id: Uuid = ZERO_UUID) -> Message:
    state = deletion.DeleteTopicState(name=name, topic_id=topic_id)
    return deletion.DeleteTopicsRequest(topics=[state], timeout_ms=5_000)
