"""Quorums whose voters are ours and Apache's: each can lead, each catches up from a snapshot, voters come and go."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from interop.mixed_cluster import FEATURES_TOOL, MixedCluster, running
from interop.referee import Tools

pytestmark = pytest.mark.referee


@pytest.fixture(scope="module", params=[("ooa", "oa"), ("oaa", "ao")], ids=["two of ours", "two of Apache's"])
def cluster(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, tools: Tools
) -> Iterator[MixedCluster]:
    """A quorum of both sides, and one of each that may join it: first the side that has two voters."""
    voters, joining = request.param
    settings = {"metadata.log.max.record.bytes.between.snapshots": "3000"}
    home = tmp_path_factory.mktemp(voters)
    with running(MixedCluster(home, tools, voters, brokers=1, joining=joining, settings=settings)) as cluster:
        yield cluster


@pytest.mark.parametrize("node_id", [1, 2, 3])
def test_every_voter_of_a_mixed_quorum_can_lead(cluster: MixedCluster, node_id: int) -> None:
    cluster.move_leadership(node_id)
    cluster.commit()
    assert cluster.leader_id() == node_id


def test_voters_come_and_go_and_catch_up_from_snapshots_of_the_other_side(cluster: MixedCluster) -> None:
    """First the side with two voters gives the snapshot that a voter of the other takes, then the other way round."""
    catch_up_from_a_newcomer(cluster, 4)
    catch_up_from_a_newcomer(cluster, 5)
    leader_id = cluster.leader_id()
    remove(cluster, leader_id)
    assert cluster.leader_id() != leader_id
    cluster.commit()


def catch_up_from_a_newcomer(cluster: MixedCluster, newcomer_id: int) -> None:
    """Have a voter of the other kind come back to a newcomer that leads and has nothing older than a snapshot.

    The newcomer begins with a snapshot that was taken after the voter went, is added, and takes over when the leader is
    killed. By the removal of the fourth it is the only one that can: nobody else has a complete log.
    """
    voter_ids = cluster.voter_ids()
    of_other_kind = [each for each in voter_ids if cluster.kinds[each] != cluster.kinds[newcomer_id]]
    # The leader only where it is the only one: to stop it costs an election.
    away_id = min(of_other_kind, key=cluster.leader_id().__eq__)
    cluster.controllers[away_id].stop()
    quorum = cluster.quorum_state()
    (leaving_id,) = voter_ids - {away_id, quorum.leader_id}
    cluster.commit(partitions=60)
    cluster.wait_for_snapshot(quorum.leader_id, after=quorum.high_watermark)

    cluster.controllers[newcomer_id].start()
    cluster.wait_until_caught_up(newcomer_id)
    assert cluster.log_start(newcomer_id) > quorum.high_watermark, "it was given a snapshot to begin with"
    added = cluster.quorum("add-controller", config=newcomer_id)
    assert f"Added controller {newcomer_id}" in added.out, (added, cluster.logs())
    remove(cluster, leaving_id)
    assert cluster.voter_ids() == {away_id, quorum.leader_id, newcomer_id}

    cluster.controllers[quorum.leader_id].kill()
    cluster.controllers[away_id].start()
    assert cluster.leader_id() == newcomer_id, cluster.logs()
    cluster.wait_until_caught_up(away_id)
    assert cluster.log_start(away_id) > quorum.high_watermark, "it was given a snapshot to go on from"
    cluster.commit()
    cluster.controllers[quorum.leader_id].start()
    cluster.wait_until_caught_up(quorum.leader_id)


def remove(cluster: MixedCluster, node_id: int) -> None:
    """Take the vote of a controller, by Apache's tool, and end it."""
    directory_id = cluster.directory_id(node_id)
    removed = cluster.quorum(
        "remove-controller", "--controller-id", str(node_id), "--controller-directory-id", directory_id
    )
    assert f"KRaft controller {node_id} with" in removed.out, (removed, cluster.logs())
    assert node_id not in cluster.voter_ids()
    cluster.controllers[node_id].stop()


def test_a_static_quorum_becomes_a_dynamic_one(tmp_path: Path, tools: Tools) -> None:
    with running(MixedCluster(tmp_path, tools, "oao", brokers=1, is_static=True)) as cluster:
        cluster.move_leadership(1)
        cluster.commit()
        # The voters tell a new leader what they support at their own time, up to a fetch timeout later.
        cluster.wait_until(lambda: is_upgraded(cluster), "the quorum is still static")
        described = cluster.quorum("describe", "--status").out
        for node_id in cluster.controllers:
            assert cluster.directory_id(node_id) in described
        cluster.move_leadership(2)
        cluster.commit()


def is_upgraded(cluster: MixedCluster) -> bool:
    upgraded = cluster.tools.run(
        FEATURES_TOOL, "--bootstrap-server", cluster.bootstrap_servers, "upgrade", "--feature", "kraft.version=1"
    )
    assert "kraft.version was upgraded to 1" in upgraded.out or "Not every voter supports" in upgraded.out, upgraded
    return upgraded.status == 0
