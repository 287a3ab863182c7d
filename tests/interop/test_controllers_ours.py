"""Apache's brokers, tools and clients under our controllers, while controllers and brokers are killed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from interop.both_dumps import BothDumps
from interop.mixed_cluster import MixedCluster, running
from interop.referee import PROGRAMS, JvmProcess, Tools

pytestmark = pytest.mark.referee

CONFIGS_TOOL = "kafka.admin.ConfigCommand"
ELECTION_TOOL = "org.apache.kafka.tools.LeaderElectionCommand"
METADATA = "logs/__cluster_metadata-0"
FIRST_SNAPSHOT = "00000000000000000000-0000000000.checkpoint"
REASSIGN_TOOL = "org.apache.kafka.tools.reassign.ReassignPartitionsCommand"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory, tools: Tools) -> Iterator[MixedCluster]:
    settings = {"metadata.log.max.record.bytes.between.snapshots": "4000"}
    with running(MixedCluster(tmp_path_factory.mktemp("ours"), tools, "ooo", brokers=3, settings=settings)) as cluster:
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


def partition(cluster: MixedCluster, topic: str, index: int = 0) -> dict[str, str]:
    """What Apache's tool says of one partition."""
    described = cluster.topics("--describe", "--topic", topic).out
    (line,) = (each for each in described.splitlines() if f"\tPartition: {index}\t" in each)
    return dict(re.findall(r"(\w+): ?(\S*)", line))


def create_assigned(cluster: MixedCluster, topic: str, replicas: list[int], *settings: str) -> None:
    configs = [word for setting in settings for word in ("--config", setting)]
    assignment = ":".join(map(str, replicas))
    created = cluster.topics("--create", "--topic", topic, "--replica-assignment", assignment, *configs)
    assert created.out == f"Created topic {topic}.\n", created


def elect(cluster: MixedCluster, kind: str, topic: str) -> None:
    elected = cluster.tools.run(
        ELECTION_TOOL,
        *("--bootstrap-server", cluster.bootstrap_servers, "--election-type", kind),
        *("--topic", topic, "--partition", "0"),
    )
    assert "Successfully completed leader election" in elected.out, elected


def test_a_reassignment_moves_a_partition(cluster: MixedCluster, tmp_path: Path) -> None:
    first, second, third = cluster.brokers
    create_assigned(cluster, "moved", [first, second])
    plan = tmp_path / "plan.json"
    moved = {"topic": "moved", "partition": 0, "replicas": [third, second]}
    plan.write_text(json.dumps({"version": 1, "partitions": [moved]}))
    flags = ("--bootstrap-server", cluster.bootstrap_servers, "--reassignment-json-file", plan)
    started = cluster.tools.run(REASSIGN_TOOL, *flags, "--execute")
    assert "Successfully started partition reassignment" in started.out, started
    cluster.wait_until(
        lambda: "is completed" in cluster.tools.run(REASSIGN_TOOL, *flags, "--verify", "--preserve-throttles").out,
        "the reassignment has not completed",
    )
    assert partition(cluster, "moved")["Replicas"] == f"{third},{second}"
    assert set(partition(cluster, "moved")["Isr"].split(",")) == {str(second), str(third)}


def test_the_preferred_leader_is_elected_on_request(cluster: MixedCluster) -> None:
    first, second, _ = cluster.brokers
    create_assigned(cluster, "preferred", [first, second])
    assert partition(cluster, "preferred")["Leader"] == str(first)
    cluster.brokers[first].stop()
    assert partition(cluster, "preferred")["Leader"] == str(second)
    cluster.brokers[first].start()
    cluster.wait_until(
        lambda: str(first) in partition(cluster, "preferred")["Isr"].split(","), "the broker is not in the ISR again"
    )
    elect(cluster, "preferred", "preferred")
    assert partition(cluster, "preferred")["Leader"] == str(first)


def test_an_unclean_leader_is_elected_on_request(cluster: MixedCluster) -> None:
    """The one that is left has fallen out of the ISR, and of the eligible replicas by an unclean stop of the others."""
    first, second, _ = cluster.brokers
    create_assigned(cluster, "unclean", [first, second])
    cluster.brokers[second].kill()
    cluster.wait_until(
        lambda: partition(cluster, "unclean")["Isr"] == str(first), "the killed broker is still in the ISR"
    )
    cluster.brokers[first].kill()
    cluster.brokers[second].start()
    cluster.wait_until(lambda: partition(cluster, "unclean")["Leader"] == "none", "the partition still has a leader")
    elect(cluster, "unclean", "unclean")
    assert partition(cluster, "unclean")["Leader"] == str(second)
    cluster.brokers[first].start()


def test_our_metadata_log_and_snapshots_are_apaches_to_read(cluster: MixedCluster, both_dumps: BothDumps) -> None:
    leader_id = cluster.leader_id()
    node_id = next(each for each in cluster.controllers if each != leader_id)
    snapshot = cluster.wait_for_file(node_id, METADATA + "/*.checkpoint", but=FIRST_SNAPSHOT)
    # A node that has stopped writes nothing between the two dumps.
    cluster.controllers[node_id].stop()
    logs = sorted(snapshot.parent.glob("*.log"))
    try:
        dumped = both_dumps.assert_alike([[snapshot], logs], ["--cluster-metadata-decoder"])
    finally:
        cluster.controllers[node_id].start()
    assert all(each.status == 0 and not each.err for each in dumped), dumped
    assert '"type":"REGISTER_BROKER_RECORD"' in dumped[0].out
    assert "SnapshotFooter" in dumped[0].out
