"""Elections of partition leaders that an administrator asks for."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum

from barnabas.client.cluster import Cluster, Target
from barnabas.client.errors import check_code
from barnabas.client.leaders import group_by_topic
from barnabas.client.outcomes import Outcomes, gather
from barnabas.log.checkpoint import TopicPartition
from barnabas.protocol.messages.elect_leaders import ElectLeadersRequest, ElectLeadersResponse, TopicPartitions


class ElectionType(IntEnum):
    """Who may be elected, by the numbers of ElectLeaders."""

    PREFERRED = 0
    UNCLEAN = 1


def elect_leaders(
    cluster: Cluster, election_type: ElectionType, partitions: Iterable[TopicPartition] | None
) -> Outcomes[TopicPartition]:
    """What came of each partition; where none is named, of those of all partitions that had an election."""
    wanted = None if partitions is None else list(partitions)
    topics = (
        None
        if wanted is None
        else [TopicPartitions(topic=topic, partitions=indexes) for topic, indexes in group_by_topic(wanted).items()]
    )

    def build(timeout_ms: int) -> ElectLeadersRequest:
        return ElectLeadersRequest(election_type=election_type, topic_partitions=topics, timeout_ms=timeout_ms)

    def read(response: ElectLeadersResponse) -> Outcomes[TopicPartition]:
        check_code(response.error_code)
        results = (
            (TopicPartition(topic.topic, each.partition_id), each.error_code, each.error_message)
            for topic in response.replica_election_results
            for each in topic.partition_result
        )
        return gather(wanted or (), results)

    return cluster.call("electLeaders", build, ElectLeadersResponse, read, to=Target.CONTROLLER, is_for_brokers=True)
