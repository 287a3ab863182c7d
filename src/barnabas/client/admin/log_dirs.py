"""Log directories of brokers: what they hold, and replicas that move from one to another of the same broker."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from barnabas.client.cluster import Cluster
from barnabas.client.errors import ClientError, check_code
from barnabas.client.leaders import group_by_topic
from barnabas.client.outcomes import Outcomes, find_error, gather
from barnabas.log.checkpoint import TopicPartition
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopic,
)
from barnabas.protocol.messages.describe_log_dirs import (
    DescribableLogDirTopic,
    DescribeLogDirsPartition,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
)


class Replica(NamedTuple):
    """A partition's copy on one broker."""

    topic: str
    partition: int
    broker_id: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}-{self.broker_id}"


@dataclass(frozen=True, slots=True)
class LogDir:
    """A directory that cannot be read has an error, and shows no replicas."""

    path: str
    error: ClientError | None
    replicas: Mapping[TopicPartition, DescribeLogDirsPartition]


class ReplicaLogDirs(NamedTuple):
    """Where a replica is, and where the copy grows that will replace it; None where there is none."""

    current: str | None
    future: str | None


def describe_log_dirs(
    cluster: Cluster, broker_id: int, partitions: Iterable[TopicPartition] | None = None
) -> list[LogDir]:
    """The directories of a broker with all replicas, or with those of these partitions."""
    topics = (
        None
        if partitions is None
        else [
            DescribableLogDirTopic(topic=topic, partitions=indexes)
            for topic, indexes in group_by_topic(partitions).items()
        ]
    )
    request = DescribeLogDirsRequest(topics=topics)

    def read(response: DescribeLogDirsResponse) -> list[LogDir]:
        check_code(response.error_code)
        if not response.results:
            # Before version 3 an empty response was all that was said of a lack of rights.
            raise ClientError(ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
        return [
            LogDir(
                path=each.log_dir,
                error=find_error(each.error_code),
                replicas={
                    TopicPartition(topic.name, partition.partition_index): partition
                    for topic in each.topics
                    for partition in topic.partitions
                },
            )
            for each in response.results
        ]

    return cluster.call(
        "describeLogDirs", lambda _: request, DescribeLogDirsResponse, read, to=broker_id, is_for_brokers=True
    )


def describe_replica_log_dirs(cluster: Cluster, replicas: Iterable[Replica]) -> dict[Replica, ReplicaLogDirs]:
    found = {}
    for broker_id, owned in _by_broker(replicas).items():
        partitions = [TopicPartition(replica.topic, replica.partition) for replica in owned]
        directories = describe_log_dirs(cluster, broker_id, partitions)
        for partition, replica in zip(partitions, owned, strict=True):
            by_role = {
                directory.replicas[partition].is_future_key: directory.path
                for directory in directories
                if directory.error is None and partition in directory.replicas
            }
            found[replica] = ReplicaLogDirs(current=by_role.get(False), future=by_role.get(True))
    return found


def alter_replica_log_dirs(cluster: Cluster, targets: Mapping[Replica, str]) -> Outcomes[Replica]:
    """Let replicas move to other directories of their brokers; a broker that fails, fails its own only."""
    outcomes: Outcomes[Replica] = {}
    for broker_id, owned in _by_broker(targets).items():
        try:
            outcomes |= _alter(cluster, broker_id, {replica: targets[replica] for replica in owned})
        except ClientError as error:
            outcomes |= dict.fromkeys(owned, error)
    return outcomes


def _alter(cluster: Cluster, broker_id: int, targets: Mapping[Replica, str]) -> Outcomes[Replica]:
    by_path: defaultdict[str, list[TopicPartition]] = defaultdict(list)
    for replica, path in targets.items():
        by_path[path].append(TopicPartition(replica.topic, replica.partition))
    request = AlterReplicaLogDirsRequest(
        dirs=[
            AlterReplicaLogDir(
                path=path,
                topics=[
                    AlterReplicaLogDirTopic(name=topic, partitions=indexes)
                    for topic, indexes in group_by_topic(partitions).items()
                ],
            )
            for path, partitions in by_path.items()
        ]
    )

    def read(response: AlterReplicaLogDirsResponse) -> Outcomes[Replica]:
        results = (
            (Replica(topic.topic_name, each.partition_index, broker_id), each.error_code, None)
            for topic in response.results
            for each in topic.partitions
        )
        return gather(targets, results)

    return cluster.call(
        "alterReplicaLogDirs", lambda _: request, AlterReplicaLogDirsResponse, read, to=broker_id, is_for_brokers=True
    )


def _by_broker(replicas: Iterable[Replica]) -> dict[int, list[Replica]]:
    grouped: defaultdict[int, list[Replica]] = defaultdict(list)
    for replica in replicas:
        grouped[replica.broker_id].append(replica)
    return dict(grouped)
