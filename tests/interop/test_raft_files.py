"""The quorum's own records and its quorum-state, judged by Apache Kafka: its dump names them, its store reads them."""

from __future__ import annotations

from pathlib import Path

import pytest

from barnabas.protocol.uuid import Uuid
from barnabas.protocol.version_range import VersionRange
from barnabas.raft import control
from barnabas.raft.history import QuorumChange, QuorumHistory
from barnabas.raft.log_view import OffsetAndEpoch
from barnabas.raft.quorum_state import QuorumState
from barnabas.raft.replica import Endpoint, ReplicaKey
from barnabas.raft.voters import Voter, VoterSet
from interop.referee import PROGRAMS, Tools, run_java

pytestmark = pytest.mark.referee

DIRECTORY = Uuid(bytes(range(16)))
VOTERS = VoterSet.of(
    Voter(ReplicaKey(node_id, DIRECTORY), {"CONTROLLER": Endpoint("localhost", 9090 + node_id)}, VersionRange(0, 1))
    for node_id in (1, 2)
)


def dump(tools: Tools, path: Path) -> str:
    shown = tools.dump_log("--cluster-metadata-decoder", "--files", path)
    assert shown.status == 0, shown.err
    return shown.out


def test_the_records_of_an_epochs_beginning_are_read_as_what_they_are(tools: Tools, tmp_path: Path) -> None:
    records = [control.leader_change(1, [1, 2], [1]), control.kraft_version(1), control.voters(VOTERS)]
    path = tmp_path / "00000000000000000000.log"
    path.write_bytes(control.build(records, base_offset=0, epoch=3, timestamp_ms=7))
    shown = dump(tools, path)
    assert "isControl: true" in shown
    assert 'LeaderChange: {"version":0,"leaderId":1,"voters":[{"voterId":1},{"voterId":2}]' in shown
    assert 'KRaftVersion {"version":0,"kRaftVersion":1}' in shown
    assert f'"voterId":2,"voterDirectoryId":"{DIRECTORY}"' in shown
    assert '"endpoints":[{"name":"CONTROLLER","host":"localhost","port":9092}]' in shown


def test_a_snapshots_frame_is_read_as_what_it_is(tools: Tools, tmp_path: Path) -> None:
    history = QuorumHistory()
    history.apply(QuorumChange(1, kraft_version=1))
    history.apply(QuorumChange(2, voters=VOTERS))
    head = control.snapshot_head(history, OffsetAndEpoch(7, 3), timestamp_ms=12)
    path = tmp_path / "00000000000000000007-0000000003.checkpoint"
    path.write_bytes(
        control.build(head, base_offset=0, epoch=3, timestamp_ms=0)
        + control.build([control.snapshot_footer()], base_offset=len(head), epoch=3, timestamp_ms=0)
    )
    shown = dump(tools, path)
    assert 'SnapshotHeader {"version":0,"lastContainedLogTimestamp":12}' in shown
    assert "KRaftVoters" in shown
    assert 'SnapshotFooter {"version":0}' in shown


def test_quorum_state_is_read_and_written_alike(tmp_path: Path) -> None:
    states = {
        "dynamic": QuorumState(7, leader_id=2, voted_key=ReplicaKey(3, DIRECTORY)),
        "dynamic-unknown": QuorumState(8),
        "static": QuorumState(4, voted_key=ReplicaKey(1), voter_ids=(1, 2), version=0),
    }
    for name, state in states.items():
        (tmp_path / name).write_text(state.to_json())
    shown = run_java(PROGRAMS / "QuorumFile.java", *(tmp_path / name for name in states)).stdout.splitlines()
    none = Uuid(bytes(16))
    assert shown == [f"7 2 3 {DIRECTORY}", f"8 -1 -1 {none}", f"4 -1 1 {none}"]
    for name, state in states.items():
        again = (tmp_path / f"{name}.again").read_text()
        assert again == state.to_json()
        assert QuorumState.from_json(again) == state
