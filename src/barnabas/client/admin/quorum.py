"""The metadata quorum: who votes, who observes, how far each has read, and changes of its voters (KIP-853)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from barnabas.client.cluster import ANY_RETRIABLE, Cluster
from barnabas.client.errors import ClientError, check_code
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.add_raft_voter import AddRaftVoterRequest, AddRaftVoterResponse, Listener
from barnabas.protocol.messages.describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumResponse,
    ReplicaState,
    RequestPartitionData,
    RequestTopicData,
)
from barnabas.protocol.messages.remove_raft_voter import RemoveRaftVoterRequest, RemoveRaftVoterResponse
from barnabas.protocol.uuid import Uuid

_METADATA_TOPIC: Final = "__cluster_metadata"
_METADATA_PARTITION: Final = 0


class VoterEndpoint(NamedTuple):
    """Where a voter listens, by the name of the listener."""

    listener: str
    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.listener}://{host}:{self.port}"


@dataclass(frozen=True, slots=True)
class QuorumInfo:
    leader_id: int
    leader_epoch: int
    high_watermark: int
    voters: Sequence[ReplicaState]
    observers: Sequence[ReplicaState]
    endpoints: Mapping[int, Sequence[VoterEndpoint]]  # By node id; an older quorum does not tell.


def describe_quorum(cluster: Cluster) -> QuorumInfo:
    partition = RequestPartitionData(partition_index=_METADATA_PARTITION)
    request = DescribeQuorumRequest(topics=[RequestTopicData(topic_name=_METADATA_TOPIC, partitions=[partition])])
    return cluster.call(
        "describeMetadataQuorum", lambda _: request, DescribeQuorumResponse, _read_quorum, retried=ANY_RETRIABLE
    )


def add_raft_voter(cluster: Cluster, voter_id: int, directory_id: Uuid, endpoints: Iterable[VoterEndpoint]) -> None:
    listeners = [Listener(name=each.listener, host=each.host, port=each.port) for each in endpoints]

    def build(timeout_ms: int) -> AddRaftVoterRequest:
        return AddRaftVoterRequest(
            cluster_id=None,
            timeout_ms=timeout_ms,
            voter_id=voter_id,
            voter_directory_id=directory_id,
            listeners=listeners,
        )

    def read(response: AddRaftVoterResponse) -> None:
        check_code(response.error_code, response.error_message)

    cluster.call("addRaftVoter", build, AddRaftVoterResponse, read)


def remove_raft_voter(cluster: Cluster, voter_id: int, directory_id: Uuid) -> None:
    request = RemoveRaftVoterRequest(cluster_id=None, voter_id=voter_id, voter_directory_id=directory_id)

    def read(response: RemoveRaftVoterResponse) -> None:
        check_code(response.error_code, response.error_message)

    cluster.call("removeRaftVoter", lambda _: request, RemoveRaftVoterResponse, read)


def _read_quorum(response: DescribeQuorumResponse) -> QuorumInfo:
    check_code(response.error_code, response.error_message)
    found = {(topic.topic_name, part.partition_index): part for topic in response.topics for part in topic.partitions}
    partition = found.get((_METADATA_TOPIC, _METADATA_PARTITION))
    if partition is None:
        named = ", ".join(f"{topic}-{index}" for topic, index in found) or "nothing"
        raise ClientError(
            ErrorCode.UNKNOWN_SERVER_ERROR,
            f"{_METADATA_TOPIC}-{_METADATA_PARTITION} was asked for, and the answer is about {named}",
        )
    check_code(partition.error_code, partition.error_message)
    return QuorumInfo(
        leader_id=partition.leader_id,
        leader_epoch=partition.leader_epoch,
        high_watermark=partition.high_watermark,
        voters=partition.current_voters,
        observers=partition.observers,
        endpoints={
            node.node_id: [VoterEndpoint(each.name, each.host, each.port) for each in node.listeners]
            for node in response.nodes
        },
    )
