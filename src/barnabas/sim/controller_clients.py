"""Who asks the simulated controllers: brokers that come, stay silent and go, and a tool that changes things at random.

Both know the metadata as of the committed log, and ask over the network, so what they ask for is often out of date when
it arrives, arrives twice, or where nobody is active.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import TYPE_CHECKING

from barnabas.metadata.features import ELIGIBLE_LEADER_REPLICAS_VERSION, KRAFT_VERSION, SUPPORTED_FEATURES
from barnabas.metadata.image import MetadataImage
from barnabas.metadata.topics import Partition, Topic
from barnabas.metadata.versions import METADATA_VERSION
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages import alter_partition as alteration
from barnabas.protocol.messages import assign_replicas_to_dirs as placement
from barnabas.protocol.messages.allocate_producer_ids import AllocateProducerIdsRequest
from barnabas.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from barnabas.protocol.messages.broker_heartbeat import BrokerHeartbeatRequest, BrokerHeartbeatResponse
from barnabas.protocol.messages.broker_registration import (
    BrokerRegistrationRequest,
    BrokerRegistrationResponse,
    Feature,
    Listener,
)
from barnabas.protocol.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from barnabas.protocol.messages.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from barnabas.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from barnabas.protocol.messages.elect_leaders import ElectLeadersRequest, TopicPartitions
from barnabas.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from barnabas.protocol.messages.unregister_broker import UnregisterBrokerRequest
from barnabas.protocol.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest
from barnabas.protocol.schema import Message
from barnabas.protocol.uuid import Uuid

if TYPE_CHECKING:
    from barnabas.sim.controller_world import ControllerWorld

# Where the tool is, on the network.
TOOL = -1
TOPIC_NAMES = [f"topic-{number}" for number in range(8)]
TOPIC_RESOURCE, BROKER_RESOURCE = 2, 4
SET, DELETE = 0, 1
UPGRADE, SAFE_DOWNGRADE = 1, 2


class Broker:
    """A broker as controllers see it. `is_well`: it stays up and wants nothing but to be part of the cluster."""

    def __init__(self, world: ControllerWorld, broker_id: int) -> None:
        self.world = world
        self.broker_id = broker_id
        self.is_well = False
        self.silent_until_ms = 0
        self._rng = Random(f"{world.seed}/broker/{broker_id}")
        self._directories = [Uuid(self._rng.randbytes(16)) for _ in range(self._rng.choice([1, 2]))]
        self._incarnation_id = Uuid(self._rng.randbytes(16))
        self._epoch: int | None = None
        self._wants_shutdown = False

    def tick(self) -> None:
        """What a broker does a few times in a session."""
        if not self.is_well:
            self._misbehave()
        if self.world.now_ms < self.silent_until_ms:
            return
        if self._epoch is None:
            self.world.ask(self.broker_id, self._registration(), self._registered)
            return
        self.world.ask(self.broker_id, self._heartbeat(self._epoch), self._heard)
        for request in (self._changed_isr(self._epoch), self._placement(self._epoch), self._producer_ids(self._epoch)):
            if request is not None:
                self.world.ask(self.broker_id, request, lambda _: None)

    def _misbehave(self) -> None:
        chance, rng = self._rng.random(), self._rng
        if chance < 0.03:
            # Sometimes longer than a session, sometimes not.
            self.silent_until_ms = self.world.now_ms + rng.choice([1_000, 5_000])
        elif chance < 0.06:
            self._restart()
        elif chance < 0.08:
            self._wants_shutdown = True

    def _restart(self) -> None:
        self._incarnation_id = Uuid(self._rng.randbytes(16))
        self._epoch = None
        self._wants_shutdown = False

    def _registration(self) -> BrokerRegistrationRequest:
        return BrokerRegistrationRequest(
            broker_id=self.broker_id,
            cluster_id=self.world.cluster_id,
            incarnation_id=self._incarnation_id,
            listeners=[Listener(name="PLAINTEXT", host=f"broker{self.broker_id}", port=9092, security_protocol=0)],
            features=[
                Feature(name=name, min_supported_version=levels.lowest, max_supported_version=levels.highest)
                for name, levels in SUPPORTED_FEATURES.items()
            ],
            rack=f"rack-{self.broker_id % 2}",
            log_dirs=self._directories,
        )

    def _registered(self, response: Message) -> None:
        assert isinstance(response, BrokerRegistrationResponse)
        if response.error_code == ErrorCode.NONE:
            self._epoch = response.broker_epoch

    def _heartbeat(self, epoch: int) -> BrokerHeartbeatRequest:
        offline = self._directories[:1] if not self.is_well and self._rng.random() < 0.01 else []
        return BrokerHeartbeatRequest(
            broker_id=self.broker_id,
            broker_epoch=epoch,
            current_metadata_offset=self.world.checks.committed_end - 1,
            want_fence=not self.is_well and self._rng.random() < 0.02,
            want_shut_down=self._wants_shutdown,
            offline_log_dirs=offline if len(self._directories) > 1 else [],
        )

    def _heard(self, response: Message) -> None:
        assert isinstance(response, BrokerHeartbeatResponse)
        if response.should_shut_down or response.error_code == ErrorCode.STALE_BROKER_EPOCH:
            self._restart()
        elif response.error_code == ErrorCode.BROKER_ID_NOT_REGISTERED:
            self._epoch = None

    def _producer_ids(self, epoch: int) -> Message | None:
        if self._rng.random() < 0.9:
            return None
        return AllocateProducerIdsRequest(broker_id=self.broker_id, broker_epoch=epoch)

    def _placement(self, epoch: int) -> Message | None:
        """In which of its directories this broker has a replica."""
        held = [
            (topic.id, index)
            for topic in self.world.checks.image.topics.by_id.contents()
            for index, partition in topic.partitions.entries()
            if self.broker_id in partition.replicas
        ]
        if not held or self._rng.random() < 0.7:
            return None
        topic_id, index = self._rng.choice(held)
        topic = placement.RequestTopicData(
            topic_id=topic_id, partitions=[placement.RequestPartitionData(partition_index=index)]
        )
        directory = placement.RequestDirectoryData(id=self._rng.choice(self._directories), topics=[topic])
        return placement.AssignReplicasToDirsRequest(
            broker_id=self.broker_id, broker_epoch=epoch, directories=[directory]
        )

    def _changed_isr(self, epoch: int) -> Message | None:
        """A change of the ISR of something that this broker leads, as far as it knows."""
        image = self.world.checks.image
        led = [
            (topic, index, partition)
            for topic in image.topics.by_id.contents()
            for index, partition in topic.partitions.entries()
            if partition.leader == self.broker_id
        ]
        if not led:
            return None
        topic, index, partition = self._rng.choice(led)
        epochs = {broker.id: broker.epoch for broker in image.cluster.brokers.contents()}
        isr = [
            replica for replica in partition.replicas if replica == self.broker_id or self.is_well or self._is_in_sync()
        ]
        return alteration.AlterPartitionRequest(
            broker_id=self.broker_id,
            broker_epoch=epoch,
            topics=[
                alteration.RequestTopicData(
                    topic_id=topic.id,
                    partitions=[
                        alteration.RequestPartitionData(
                            partition_index=index,
                            leader_epoch=partition.leader_epoch,
                            new_isr_with_epochs=[
                                alteration.BrokerState(broker_id=replica, broker_epoch=epochs.get(replica, -1))
                                for replica in isr
                            ],
                            partition_epoch=partition.partition_epoch,
                        )
                    ],
                )
            ],
        )

    def _is_in_sync(self) -> bool:
        return self._rng.random() < 0.8


class Tool:
    """An administrator without a plan."""

    def __init__(self, world: ControllerWorld, broker_ids: list[int]) -> None:
        self._world = world
        self._broker_ids = broker_ids
        self._rng = Random(f"{world.seed}/tool")

    def ask_for_something(self) -> None:
        wishes: list[Callable[[MetadataImage], Message | None]] = [
            self._create,
            self._create,
            self._create,
            self._delete,
            self._grow,
            self._configure_topic,
            self._configure_cluster,
            self._elect,
            self._reassign,
            self._reassign,
            self._raise_feature,
            self._unregister,
        ]
        request = self._rng.choice(wishes)(self._world.checks.image)
        if request is not None:
            self._world.ask(TOOL, request, lambda _: None)

    def _create(self, _image: MetadataImage) -> Message:
        rng = self._rng
        configs = [CreatableTopicConfig(name="min.insync.replicas", value="2")] if rng.random() < 0.5 else []
        if rng.random() < 0.3:
            configs.append(CreatableTopicConfig(name="unclean.leader.election.enable", value="true"))
        return create_topic(rng.choice(TOPIC_NAMES), rng.randrange(3) + 1, rng.randrange(3) + 1, configs)

    def _topic(self, image: MetadataImage) -> Topic | None:
        topics = list(image.topics.by_id.contents())
        return self._rng.choice(topics) if topics else None

    def _partition(self, topic: Topic) -> tuple[int, Partition]:
        return self._rng.choice(list(topic.partitions.entries()))

    def _delete(self, image: MetadataImage) -> Message | None:
        topic = self._topic(image)
        return topic and DeleteTopicsRequest(topics=[DeleteTopicState(topic_id=topic.id)], timeout_ms=1_000)

    def _grow(self, image: MetadataImage) -> Message | None:
        topic = self._topic(image)
        if topic is None:
            return None
        count = len(topic.partitions) + self._rng.randrange(2)
        return CreatePartitionsRequest(
            topics=[CreatePartitionsTopic(name=topic.name, count=count, assignments=None)],
            timeout_ms=1_000,
            validate_only=False,
        )

    def _configure_topic(self, image: MetadataImage) -> Message | None:
        topic = self._topic(image)
        name, value = self._rng.choice(
            [("min.insync.replicas", "1"), ("min.insync.replicas", "3"), ("unclean.leader.election.enable", "true")]
        )
        return topic and self._configs(TOPIC_RESOURCE, topic.name, name, value)

    def _configure_cluster(self, _image: MetadataImage) -> Message:
        return self._configs(BROKER_RESOURCE, "", "min.insync.replicas", str(self._rng.randrange(3) + 1))

    def _configs(self, resource_type: int, resource_name: str, name: str, value: str) -> Message:
        operation = SET if self._rng.random() < 0.7 else DELETE
        change = AlterableConfig(name=name, config_operation=operation, value=value if operation == SET else None)
        return IncrementalAlterConfigsRequest(
            resources=[
                AlterConfigsResource(resource_type=resource_type, resource_name=resource_name, configs=[change])
            ],
            validate_only=False,
        )

    def _elect(self, image: MetadataImage) -> Message | None:
        topic = self._topic(image)
        return topic and ElectLeadersRequest(
            election_type=self._rng.randrange(2),
            topic_partitions=[TopicPartitions(topic=topic.name, partitions=list(topic.partitions))],
        )

    def _reassign(self, image: MetadataImage) -> Message | None:
        topic = self._topic(image)
        if topic is None:
            return None
        index, partition = self._partition(topic)
        replicas = None
        if self._rng.random() < 0.8:
            replicas = self._rng.sample(self._broker_ids, min(len(partition.replicas), len(self._broker_ids)))
        return AlterPartitionReassignmentsRequest(
            topics=[
                ReassignableTopic(
                    name=topic.name, partitions=[ReassignablePartition(partition_index=index, replicas=replicas)]
                )
            ]
        )

    def _raise_feature(self, image: MetadataImage) -> Message | None:
        version = image.features.metadata_version
        if version is None:
            return None
        feature, level = self._rng.choice(
            [
                (METADATA_VERSION, version + self._rng.randrange(2)),
                (ELIGIBLE_LEADER_REPLICAS_VERSION, self._rng.randrange(2)),
                (KRAFT_VERSION, 1),
            ]
        )
        update = FeatureUpdateKey(
            feature=feature, max_version_level=level, upgrade_type=self._rng.choice([UPGRADE, UPGRADE, SAFE_DOWNGRADE])
        )
        return UpdateFeaturesRequest(feature_updates=[update])

    def _unregister(self, image: MetadataImage) -> Message | None:
        """Only a broker that is fenced: one that is up would be back at once."""
        fenced = [broker.id for broker in image.cluster.brokers.contents() if broker.is_fenced]
        return UnregisterBrokerRequest(broker_id=self._rng.choice(fenced)) if fenced else None


def create_topic(
    name: str, num_partitions: int, replication_factor: int, configs: list[CreatableTopicConfig] | None = None
) -> CreateTopicsRequest:
    topic = CreatableTopic(
        name=name,
        num_partitions=num_partitions,
        replication_factor=replication_factor,
        assignments=[],
        configs=configs or [],
    )
    return CreateTopicsRequest(topics=[topic])
