"""Apache's brokers, tools and clients under our controllers, all under load while controllers and brokers are killed.

A producer and a consumer of Apache's run from the first test to the last. Each test waits for both to go on after what
it did; the last compares all that was acknowledged with all that was read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from interop.both_dumps import BothDumps
from interop.mixed_cluster import MixedCluster, running
from interop.referee import PROGRAMS, JvmProcess, Tools
from interop.workload import Load

pytestmark = pytest.mark.referee

CONFIGS_TOOL = "kafka.admin.ConfigCommand"
ELECTION_TOOL = "org.apache.kafka.tools.LeaderElectionCommand"
REASSIGN_TOOL = "org.apache.kafka.tools.reassign.ReassignPartitionsCommand"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory, tools: Tools) -> Iterator[MixedCluster]:
    cluster = MixedCluster(
        tmp_path_factory.mktemp("ours"),
        tools,
        "ooo",
        brokers=3,
        settings={"metadata.log.max.record.bytes.between.snapshots": "4000"},
        # A replica that has far to go does so in many steps, so that a throttle can hold it between two.
        broker_settings={"replica.fetch.max.bytes": "4096"},
    )
    with running(cluster):
        yield cluster


@pytest.fixture(scope="module")
def workload(cluster: MixedCluster) -> Iterator[JvmProcess]:
    with JvmProcess(PROGRAMS / "Workload.java", cluster.bootstrap_servers) as jvm:
        yield jvm


@pytest.fixture(scope="module")
def lasting_load(cluster: MixedCluster, workload: JvmProcess) -> Load:
    """On a topic that every broker has, and on one that moves; neither may lose anything."""
    first, second, third = cluster.brokers
    everywhere = [[first, second, third], [second, third, first], [third, first, second]]
    create_assigned(cluster, "kept", everywhere, "min.insync.replicas=2")
    create_assigned(cluster, "moved", [[first, second]], "min.insync.replicas=2")
    load = Load.start(workload, "lasting", "kept", "moved")
    load.goes_on()
    return load


@pytest.fixture
def load(lasting_load: Load) -> Iterator[Load]:
    """The load, which must go on after the test, without a loss until then."""
    yield lasting_load
    lasting_load.goes_on()
    assert lasting_load.differences() == []


def partition(cluster: MixedCluster, topic: str, index: int = 0) -> dict[str, str]:
    """What Apache's tool says of one partition."""
    described = cluster.topics("--describe", "--topic", topic).out
    (line,) = (each for each in described.splitlines() if f"\tPartition: {index}\t" in each)
    return dict(re.findall(r"(\w+): ?(\S*)", line))


def create_assigned(cluster: MixedCluster, topic: str, replicas: list[list[int]], *settings: str) -> None:
    configs = [word for setting in settings for word in ("--config", setting)]
    assignment = ",".join(":".join(map(str, each)) for each in replicas)
    cluster.create_topic(topic, "--replica-assignment", assignment, *configs)


def wait_for_isr(cluster: MixedCluster, topic: str, brokers: set[int]) -> None:
    wanted = set(map(str, brokers))
    cluster.wait_until(
        lambda: set(partition(cluster, topic)["Isr"].split(",")) == wanted, f"the ISR of {topic} is not {brokers}"
    )


def elect(cluster: MixedCluster, kind: str, topic: str) -> None:
    elected = cluster.tools.run(
        ELECTION_TOOL,
        *("--bootstrap-server", cluster.bootstrap_servers, "--election-type", kind),
        *("--topic", topic, "--partition", "0"),
    )
    assert "Successfully completed leader election" in elected.out, elected


@pytest.mark.usefixtures("load")
def test_topics_are_made_described_altered_and_deleted(cluster: MixedCluster) -> None:
    cluster.create_topic("orders", "--partitions", "4", "--replication-factor", "3")
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


def test_controllers_and_brokers_are_killed_and_come_back(cluster: MixedCluster, load: Load) -> None:
    first = cluster.leader_id()
    cluster.controllers[first].kill()
    second = cluster.leader_id()
    assert second != first
    load.goes_on()

    broker_id, broker = next(iter(cluster.brokers.items()))
    broker.kill()
    wait_for_isr(cluster, "kept", set(cluster.brokers) - {broker_id})
    load.goes_on("kept")
    cluster.controllers[first].start()
    cluster.controllers[second].kill()
    assert cluster.leader_id() != second
    load.goes_on("kept")
    broker.start()
    wait_for_isr(cluster, "kept", set(cluster.brokers))
    cluster.controllers[second].start()


def test_a_reassignment_moves_a_partition(cluster: MixedCluster, load: Load, tmp_path: Path) -> None:
    """Throttled until the active controller was killed in the midst of it."""
    _, second, third = cluster.brokers
    plan = tmp_path / "plan.json"
    moved = {"topic": "moved", "partition": 0, "replicas": [third, second]}
    plan.write_text(json.dumps({"version": 1, "partitions": [moved]}))
    flags = ("--bootstrap-server", cluster.bootstrap_servers, "--reassignment-json-file", plan)
    started = cluster.tools.run(REASSIGN_TOOL, *flags, "--execute", "--throttle", "1")
    assert "Successfully started partition reassignment" in started.out, started
    active = cluster.leader_id()
    cluster.controllers[active].kill()
    load.goes_on()
    listed = cluster.tools.run(REASSIGN_TOOL, "--bootstrap-server", cluster.bootstrap_servers, "--list")
    assert "moved-0: replicas:" in listed.out, listed
    cluster.tools.run(REASSIGN_TOOL, *flags, "--execute", "--additional", "--throttle", "100000000")
    cluster.wait_until(
        lambda: "is completed" in cluster.tools.run(REASSIGN_TOOL, *flags, "--verify").out,
        "the reassignment has not completed",
    )
    cluster.controllers[active].start()
    assert partition(cluster, "moved")["Replicas"] == f"{third},{second}"
    wait_for_isr(cluster, "moved", {second, third})


def test_the_preferred_leader_is_elected_on_request(cluster: MixedCluster, load: Load) -> None:
    first = next(iter(cluster.brokers))
    cluster.brokers[first].stop()
    assert partition(cluster, "kept")["Leader"] != str(first)
    load.goes_on("kept")
    cluster.brokers[first].start()
    wait_for_isr(cluster, "kept", set(cluster.brokers))
    elect(cluster, "preferred", "kept")
    assert partition(cluster, "kept")["Leader"] == str(first)


@pytest.mark.usefixtures("load")
def test_an_unclean_leader_is_elected_on_request(cluster: MixedCluster, workload: JvmProcess) -> None:
    """The one that is left has fallen out of the ISR, and of the eligible replicas by an unclean stop of the others."""
    first, second, _ = cluster.brokers
    create_assigned(cluster, "unclean", [[first, second]])
    lossy = Load.start(workload, "lossy", "unclean")
    lossy.goes_on()
    cluster.brokers[second].kill()
    wait_for_isr(cluster, "unclean", {first})
    lossy.goes_on()
    cluster.brokers[first].kill()
    cluster.brokers[second].start()
    cluster.wait_until(lambda: partition(cluster, "unclean")["Leader"] == "none", "the partition still has a leader")
    elect(cluster, "unclean", "unclean")
    assert partition(cluster, "unclean")["Leader"] == str(second)
    lossy.goes_on()
    assert lossy.differences() != [], "the leader was elected without what the other alone had"
    cluster.brokers[first].start()
    wait_for_isr(cluster, "unclean", {first, second})


def test_everything_acknowledged_was_read_as_it_was_acknowledged(lasting_load: Load) -> None:
    assert lasting_load.stop() == []


def test_our_metadata_log_and_snapshots_are_apaches_to_read(cluster: MixedCluster, both_dumps: BothDumps) -> None:
    leader_id = cluster.leader_id()
    node_id = next(each for each in cluster.controllers if each != leader_id)
    snapshot = cluster.wait_for_snapshot(node_id)
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
