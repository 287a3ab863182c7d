"""Quorums whose voters are ours and Apache's: each can lead, each catches up from a snapshot, voters come and go."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from interop.mixed_cluster import QUORUM_TOOL, MixedCluster, running
from interop.referee import Tools

pytestmark = pytest.mark.referee

FEATURES_TOOL = "org.apache.kafka.tools.FeatureCommand"
METADATA = "logs/__cluster_metadata-0"
FIRST_SEGMENT = f"{METADATA}/00000000000000000000.log"
FIRST_SNAPSHOT = "00000000000000000000-0000000000.checkpoint"


@pytest.mark.parametrize("kinds", ["ooa", "oaa"])
def test_every_voter_of_a_mixed_quorum_can_lead(tmp_path: Path, tools: Tools, kinds: str) -> None:
    with running(MixedCluster(tmp_path, tools, kinds, brokers=1)) as cluster:
        for node_id in (1, 2, 3, 1):
            move_leadership(cluster, node_id)
            topic = f"under-{node_id}-{cluster.controllers[node_id].mark()}"
            created = cluster.topics("--create", "--topic", topic, "--partitions", "2")
            assert created.out == f"Created topic {topic}.\n", (created, cluster.logs())
        listed = cluster.topics("--list").out.split()
        assert len([name for name in listed if name.startswith("under-")]) == 4
        assert_tools_say_the_same(cluster)


def assert_tools_say_the_same(cluster: MixedCluster) -> None:
    """Whichever controller is asked first, Apache's tools print the same but for what moves, and our oldest level."""
    for tool, command in (
        (FEATURES_TOOL, ["describe"]),
        (QUORUM_TOOL, ["describe", "--status"]),
        (QUORUM_TOOL, ["describe", "--replication"]),
    ):
        said = set()
        for node_id in cluster.controllers:
            printed = cluster.tools.run(tool, "--bootstrap-controller", cluster.address(node_id), *command)
            assert printed.status == 0, printed
            said.add(re.sub(r"SupportedMinVersion: 3\S+ *|Epoch: \d+|\d{13}|\b\d{1,4}\b +", "", printed.out))
        assert len(said) == 1, said


def move_leadership(cluster: MixedCluster, node_id: int) -> None:
    """Have this node elected: while the third is down the quorum commits, then the leader is killed.

    So the third cannot win when it is back: it lacks what was committed.
    """
    leader_id = cluster.leader_id()
    if leader_id == node_id:
        return
    (third_id,) = set(cluster.controllers) - {leader_id, node_id}
    cluster.controllers[third_id].stop()
    topic = f"without-{third_id}-{cluster.controllers[node_id].mark()}"
    created = cluster.topics("--create", "--topic", topic)
    assert created.out == f"Created topic {topic}.\n", (created, cluster.logs())
    cluster.controllers[leader_id].kill()
    cluster.controllers[third_id].start()
    assert cluster.leader_id() == node_id, cluster.logs()
    cluster.controllers[leader_id].start()


@pytest.mark.parametrize(("first", "joining"), [("o", "a"), ("a", "o"), ("o", "o")])
def test_a_controller_joins_by_a_snapshot_and_takes_over(
    tmp_path: Path, tools: Tools, first: str, joining: str
) -> None:
    settings = {"metadata.log.max.record.bytes.between.snapshots": "3000"}
    cluster = MixedCluster(tmp_path, tools, first, brokers=1, joining=joining, settings=settings)
    old, new = cluster.controllers[1], cluster.controllers[2]
    try:
        old.start()
        (broker,) = cluster.brokers.values()
        broker.start()
        cluster.topics("--create", "--topic", "before", "--partitions", "60")
        cluster.wait_for_file(1, f"{METADATA}/*.checkpoint", but=FIRST_SNAPSHOT)
        new.start()
        cluster.wait_until_caught_up(2)
        added = cluster.quorum("add-controller", config=2)
        assert "Added controller 2" in added.out, (added, cluster.logs())
        assert not (tmp_path / "controller-2" / FIRST_SEGMENT).exists(), "it was given a snapshot to begin with"
        cluster.topics("--create", "--topic", "between", "--partitions", "3")

        removed = cluster.quorum(
            "remove-controller", "--controller-id", "1", "--controller-directory-id", cluster.directory_id(1)
        )
        assert "KRaft controller 1 with" in removed.out, (removed, cluster.logs())
        assert cluster.leader_id() == 2
        cluster.topics("--create", "--topic", "after", "--partitions", "3")
        assert cluster.topics("--list").out.split() == ["after", "before", "between"]
    finally:
        cluster.end()


def test_a_static_quorum_becomes_a_dynamic_one(tmp_path: Path, tools: Tools) -> None:
    with running(MixedCluster(tmp_path, tools, "oao", brokers=1, is_static=True)) as cluster:
        move_leadership(cluster, 1)
        cluster.topics("--create", "--topic", "before", "--partitions", "2")
        upgraded = cluster.tools.run(
            FEATURES_TOOL, "--bootstrap-server", cluster.bootstrap_servers, "upgrade", "--feature", "kraft.version=1"
        )
        assert "kraft.version was upgraded to 1" in upgraded.out, (upgraded, cluster.logs())
        described = cluster.quorum("describe", "--status").out
        for node_id in cluster.controllers:
            assert cluster.directory_id(node_id) in described
        move_leadership(cluster, 2)
        cluster.topics("--create", "--topic", "after", "--partitions", "2")
        listed = cluster.topics("--list").out.split()
        assert [name for name in listed if not name.startswith("without-")] == ["after", "before"]
