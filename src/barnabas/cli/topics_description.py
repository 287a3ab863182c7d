"""What `kafka-topics --describe` prints: a line for a topic and a line for each of its partitions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TextIO

from barnabas.cli.java_order import in_hash_order, string_hash
from barnabas.client.admin.cluster import describe_cluster
from barnabas.client.admin.configs import ConfigSource, describe_configs
from barnabas.client.admin.reassignments import Reassignment, list_partition_reassignments
from barnabas.client.admin.topics import PartitionDescription, TopicDescription
from barnabas.client.cluster import Cluster
from barnabas.client.errors import ClientError
from barnabas.client.outcomes import raise_first
from barnabas.log.checkpoint import TopicPartition
from barnabas.metadata.configs import ConfigResource, ConfigResourceType
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.describe_configs import DescribeConfigsResourceResult
from barnabas.protocol.uuid import ZERO_UUID

MIN_INSYNC_REPLICAS = "min.insync.replicas"


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which partitions are reported; without any of these, all are, under their topics."""

    under_replicated: bool = False
    unavailable: bool = False
    under_min_isr: bool = False
    at_min_isr: bool = False
    overridden_only: bool = False

    @property
    def is_report(self) -> bool:
        return self.under_replicated or self.unavailable or self.under_min_isr or self.at_min_isr


class TopicsDescription:
    """Topics with what their description needs besides: their settings, their moves and the brokers that live."""

    def __init__(self, cluster: Cluster, topics: Sequence[TopicDescription], wanted: Wanted) -> None:
        self._wanted = wanted
        by_name = {topic.name: topic for topic in topics}
        self._topics = [by_name[name] for name in in_hash_order(by_name, string_hash, capacity=len(by_name))]
        resources = [ConfigResource(ConfigResourceType.TOPIC, topic.name) for topic in topics]
        described = raise_first(describe_configs(cluster, resources))
        self._configs = {resource.name: configs for resource, configs in described.items()}
        self._live_brokers = {broker.broker_id for broker in describe_cluster(cluster).brokers}
        self._reassignments = _find_reassignments(cluster, topics)

    def print(self, out: TextIO) -> None:
        for topic in self._topics:
            configs = self._configs[topic.name]
            if not self._wanted.is_report and (not self._wanted.overridden_only or any(_overrides(configs))):
                print(self._topic_line(topic, configs), file=out)
            if self._wanted.overridden_only:
                continue
            for partition in topic.partitions:
                if self._is_wanted(topic.name, partition, configs):
                    print(self._partition_line(topic.name, partition), file=out)

    def _is_wanted(
        self, topic: str, partition: PartitionDescription, configs: Sequence[DescribeConfigsResourceResult]
    ) -> bool:
        if not self._wanted.is_report:
            return True
        wanted = self._wanted
        in_sync = len(partition.isr)
        missing = self._replication_factor(topic, partition) - in_sync
        return (
            (wanted.under_replicated and missing > 0)
            or (wanted.unavailable and partition.leader_id not in self._live_brokers)
            or (wanted.under_min_isr and (partition.leader_id is None or in_sync < _min_isr(configs)))
            or (wanted.at_min_isr and in_sync == _min_isr(configs))
        )

    def _topic_line(self, topic: TopicDescription, configs: Sequence[DescribeConfigsResourceResult]) -> str:
        fields = {"Topic": topic.name}
        if topic.topic_id != ZERO_UUID:
            fields["TopicId"] = str(topic.topic_id)
        fields["PartitionCount"] = str(len(topic.partitions))
        fields["ReplicationFactor"] = str(self._replication_factor(topic.name, topic.partitions[0]))
        fields["Configs"] = ",".join(_overrides(configs))
        return _line(fields)

    def _partition_line(self, topic: str, partition: PartitionDescription) -> str:
        fields = {
            "Topic": topic,
            "Partition": str(partition.index),
            "Leader": "none" if partition.leader_id is None else str(partition.leader_id),
            "Replicas": _ids(partition.replicas),
            "Isr": _ids(partition.isr),
        }
        reassignment = self._reassignments.get(TopicPartition(topic, partition.index))
        if reassignment is not None:
            fields["Adding Replicas"] = _ids(reassignment.adding)
            fields["Removing Replicas"] = _ids(reassignment.removing)
        fields["Elr"] = "N/A" if partition.elr is None else _ids(partition.elr)
        fields["LastKnownElr"] = "N/A" if partition.last_known_elr is None else _ids(partition.last_known_elr)
        return "\t" + _line(fields)

    def _replication_factor(self, topic: str, partition: PartitionDescription) -> int:
        """Without the replicas that a move adds. A move that has ended since it was listed does not count."""
        reassignment = self._reassignments.get(TopicPartition(topic, partition.index))
        if reassignment is None or not {*reassignment.adding, *reassignment.removing} & set(partition.replicas):
            return len(partition.replicas)
        return len(reassignment.replicas) - len(reassignment.adding)


def _find_reassignments(cluster: Cluster, topics: Sequence[TopicDescription]) -> dict[TopicPartition, Reassignment]:
    partitions = [TopicPartition(topic.name, each.index) for topic in topics for each in topic.partitions]
    try:
        return list_partition_reassignments(cluster, partitions)
    except ClientError as error:
        if error.code not in (ErrorCode.UNSUPPORTED_VERSION, ErrorCode.CLUSTER_AUTHORIZATION_FAILED):
            raise
        return {}


def _overrides(configs: Sequence[DescribeConfigsResourceResult]) -> Iterator[str]:
    """The settings that are not Kafka's default, each with its value."""
    by_name = {config.name: config for config in configs}
    for name in in_hash_order(by_name, string_hash):
        if by_name[name].config_source != ConfigSource.DEFAULT_CONFIG:
            yield f"{name}={by_name[name].value}"


def _min_isr(configs: Sequence[DescribeConfigsResourceResult]) -> int:
    (value,) = (config.value for config in configs if config.name == MIN_INSYNC_REPLICAS)
    return int(value or 0)


def _ids(brokers: Sequence[int]) -> str:
    return ",".join(map(str, brokers))


def _line(fields: dict[str, str]) -> str:
    return "\t".join(f"{name}: {value}" for name, value in fields.items())
