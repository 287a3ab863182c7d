"""Elections on request, for balance, and where only an unclean one helps."""

from __future__ import annotations

import pytest

from barnabas.metadata.topics import LeaderRecoveryState
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.elect_leaders import ElectLeadersRequest, ElectLeadersResponse, TopicPartitions
from unit.controller.controlled_cluster import ControlledCluster
from unit.controller.requests import alter_isr, create_topic, set_configs

PREFERRED, UNCLEAN = 0, 1


@pytest.fixture
def cluster() -> ControlledCluster:
    made = ControlledCluster()
    made.start_brokers(1, 2)
    create_topic(made, "t", [[1, 2], [2, 1]])
    return made


def elect(
    cluster: ControlledCluster, election: int, partitions: dict[str, list[int]] | None
) -> list[tuple[str, int, int]]:
    asked = None if partitions is None else [TopicPartitions(topic=t, partitions=p) for t, p in partitions.items()]
    request = ElectLeadersRequest(election_type=election, topic_partitions=asked)
    response = cluster.ask(request, ElectLeadersResponse)
    assert response.error_code == 0
    return [
        (result.topic, each.partition_id, each.error_code)
        for result in response.replica_election_results
        for each in result.partition_result
    ]


def restart(cluster: ControlledCluster, broker_id: int) -> None:
    """Let a broker lose its leaderships and come back in sync."""
    cluster.fence(broker_id)
    assert not cluster.heartbeat(broker_id).is_fenced
    for index in range(2):
        alter_isr(cluster, "t", [1, 2], index=index)


def test_the_preferred_replica_leads_again_on_request(cluster: ControlledCluster) -> None:
    restart(cluster, 1)
    assert [cluster.partition("t", index).leader for index in range(2)] == [2, 2]
    assert elect(cluster, PREFERRED, {"t": [0, 1]}) == [("t", 0, 0), ("t", 1, ErrorCode.ELECTION_NOT_NEEDED)]
    assert [cluster.partition("t", index).leader for index in range(2)] == [1, 2]


def test_without_names_only_what_needs_an_election_is_told(cluster: ControlledCluster) -> None:
    restart(cluster, 1)
    assert elect(cluster, PREFERRED, None) == [("t", 0, 0)]
    assert elect(cluster, PREFERRED, None) == []


def test_a_preferred_replica_that_is_not_in_sync_cannot_lead(cluster: ControlledCluster) -> None:
    cluster.fence(1)
    assert elect(cluster, PREFERRED, {"t": [0]}) == [("t", 0, ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE)]


def test_what_is_not_there_spares_its_neighbours(cluster: ControlledCluster) -> None:
    restart(cluster, 1)
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert elect(cluster, PREFERRED, {"x": [0], "t": [5, 0]}) == [("x", 0, unknown), ("t", 5, unknown), ("t", 0, 0)]


def test_an_unclean_election_is_for_partitions_without_a_leader(cluster: ControlledCluster) -> None:
    assert elect(cluster, UNCLEAN, {"t": [0]}) == [("t", 0, ErrorCode.ELECTION_NOT_NEEDED)]
    cluster.fence(2)
    cluster.fence(1)
    assert elect(cluster, UNCLEAN, {"t": [0]}) == [("t", 0, ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE)]
    cluster.heartbeat(2)
    assert cluster.partition("t").leader == -1
    assert elect(cluster, UNCLEAN, {"t": [0]}) == [("t", 0, 0)]
    partition = cluster.partition("t")
    assert (partition.leader, partition.isr) == (2, (2,))
    assert partition.leader_recovery_state is LeaderRecoveryState.RECOVERING


def test_another_type_of_election_is_refused(cluster: ControlledCluster) -> None:
    request = ElectLeadersRequest(election_type=2, topic_partitions=None)
    assert cluster.ask(request, ElectLeadersResponse).error_code == ErrorCode.INVALID_REQUEST


def test_leaders_are_balanced_at_the_interval_and_not_before() -> None:
    cluster = ControlledCluster(leader_imbalance_check_interval_ms=5_000, broker_session_timeout_ms=1_000_000)
    cluster.start_brokers(1, 2)
    create_topic(cluster, "t", [[1, 2], [2, 1]])
    restart(cluster, 1)
    cluster.advance(4_999)
    assert cluster.partition("t").leader == 2
    cluster.advance(1)
    assert cluster.partition("t").leader == 1


def test_balancing_can_be_switched_off() -> None:
    cluster = ControlledCluster(leader_imbalance_check_interval_ms=None, broker_session_timeout_ms=10_000_000)
    cluster.start_brokers(1, 2)
    create_topic(cluster, "t", [[1, 2], [2, 1]])
    restart(cluster, 1)
    cluster.advance(1_000_000)
    assert cluster.partition("t").leader == 2


def test_a_topic_that_comes_to_allow_it_is_recovered_uncleanly() -> None:
    cluster = ControlledCluster(broker_session_timeout_ms=10_000_000)
    cluster.start_brokers(1, 2)
    create_topic(cluster, "t", [[1, 2], [2, 1]])
    cluster.fence(2)
    cluster.fence(1)
    cluster.heartbeat(2)
    assert cluster.partition("t").leader == -1
    cluster.advance(300_000)
    assert cluster.partition("t").leader == -1
    assert set_configs(cluster, 2, "t", {"unclean.leader.election.enable": "true"}) == 0
    cluster.advance(300_000)
    assert cluster.partition("t").leader == 2
