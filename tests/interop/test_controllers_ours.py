"""Apache's brokers, tools and clients under our controllers, while controllers and brokers are killed."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from interop.mixed_cluster import MixedCluster, running
from interop.referee import PROGRAMS, JvmProcess, Tools

pytestmark = pytest.mark.referee

CONFIGS_TOOL = "kafka.admin.ConfigCommand"
ELECTION_TOOL = "org.apache.kafka.tools.LeaderElectionCommand"
REASSIGN_TOOL = "org.apache.kafka.tools.reassign.ReassignPartitionsCommand"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory, tools: Tools) -> Iterator[MixedCluster]:
    with running(MixedCluster(tmp_path_factory.mktemp("ours"), tools, "ooo", brokers=3)) as cluster:
        yield cluster


@pytest.fixture
def workload(cluster: MixedCluster) -> Iterator[JvmProcess]:
    with JvmProcess(PROGRAMS / "Workload.java", cluster.bootstrap_servers) as jvm:
        yield jvm


def ask(workload: JvmProcess, *command: str | int) -> object:
    return json.loads(workload.ask(json.dumps(command)))


def test_topics_are_made_described_altered_and_deleted(cluster: MixedCluster) -> None:
    created = cluster.topics("--create", "--topic", "orders", "--partitions", "4", "--replication-factor", "3")
    assert created.out == "Created topic orders.\n", created
    cluster.topics("--alter", "--topic", "orders", "--partitions", "6")
    changed = cluster.tools.run(
        CONFIGS_TOOL,
        *("--bootstrap-server", cluster.bootstrap_servers, "--alter", "--entity-type", "topics"),
        *("--entity-name", "orders", "--add-config", "retention.ms=3600000"),
    )
    assert changed.status == 0, changed
    described = cluster.topics("--describe", "--topic", "orders").out
    assert "PartitionCount: 6\tReplicationFactor: 3" in described
    assert "retention.ms=3600000" in described
    cluster.topics("--delete", "--topic", "orders")
    assert "orders" not in cluster.topics("--list").out.split()


def test_nothing_acknowledged_is_lost_while_nodes_are_killed(cluster: MixedCluster, workload: JvmProcess) -> None:
    created = cluster.topics(
        *("--create", "--topic", "kept", "--partitions", "3", "--replication-factor", "3"),
        *("--config", "min.insync.replicas=2"),
    )
    assert created.out == "Created topic kept.\n", created
    ask(workload, "start", "kept")
    ask(workload, "await", 200)

    first = cluster.leader_id()
    cluster.controllers[first].kill()
    second = cluster.leader_id()
    assert second != first
    ask(workload, "await", 200)

    broker_id, broker = next(iter(cluster.brokers.items()))
    broker.kill()
    ask(workload, "await", 200)
    cluster.controllers[first].start()
    cluster.controllers[second].kill()
    assert cluster.leader_id() != second
    broker.start()
    ask(workload, "await", 200)
    cluster.controllers[second].start()

    described = cluster.topics("--describe", "--topic", "kept").out
    assert f"{broker_id}" in described
    ask(workload, "stop")
    assert ask(workload, "missing", "kept") == []
