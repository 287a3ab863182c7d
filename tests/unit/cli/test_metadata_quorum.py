"""`kafka-metadata-quorum` shows a quorum as Kafka's tool does, and changes its voters."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest

from barnabas.cli.metadata_quorum import run
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.add_raft_voter import AddRaftVoterRequest, AddRaftVoterResponse, Listener
from barnabas.protocol.messages.describe_quorum import DescribeQuorumRequest, ReplicaState
from barnabas.protocol.messages.remove_raft_voter import RemoveRaftVoterRequest, RemoveRaftVoterResponse
from unit.client.described_quorum import DIRECTORY_ID, quorum
from unit.client.scripted_node import ScriptedNode

ADDED = AddRaftVoterResponse(throttle_time_ms=0, error_code=ErrorCode.NONE, error_message=None)
DUPLICATE = AddRaftVoterResponse(throttle_time_ms=0, error_code=ErrorCode.DUPLICATE_VOTER, error_message="it votes")
REMOVED = RemoveRaftVoterResponse(throttle_time_ms=0, error_code=ErrorCode.NONE, error_message=None)
CONTROLLER = {
    "process.roles": "controller",
    "node.id": "5",
    "controller.listener.names": "CONTROLLER,OTHER",
    "listeners": "CONTROLLER://:9093,OTHER://[::1]:9094",
    "advertised.listeners": "CONTROLLER://h.example:19093",
}


def call(*arguments: str | Path) -> tuple[int, str, str]:
    out, err = StringIO(), StringIO()
    return run([str(argument) for argument in arguments], out, err), out.getvalue(), err.getvalue()


def write_controller(home: Path, **changed: str | None) -> Path:
    """A controller's settings and its formatted directory; names have underscores for dots, None leaves one out."""
    (home / "meta.properties").write_text(f"version=1\ncluster.id=c\nnode.id=5\ndirectory.id={DIRECTORY_ID}\n")
    changes = {name.replace("_", "."): value for name, value in changed.items()}
    lines = {**CONTROLLER, "log.dirs": str(home), **changes}
    path = home / "server.properties"
    path.write_text("".join(f"{name}={value}\n" for name, value in lines.items() if value is not None))
    return path


def test_the_status_of_a_quorum() -> None:
    with ScriptedNode({DescribeQuorumRequest: quorum()}) as node:
        for option in ("--bootstrap-server", "--bootstrap-controller"):
            assert call(option, str(node.address), "describe", "--status") == (
                0,
                "ClusterId:              barnabasBarnabasBarnab\n"
                "LeaderId:               1\n"
                "LeaderEpoch:            4\n"
                "HighWatermark:          90\n"
                "MaxFollowerLag:         10\n"
                "MaxFollowerLagTimeMs:   30\n"
                'CurrentVoters:          [{"id": 1, "directoryId": "JEXY6aqzQY-32P5TStzaFg", "endpoints": '
                '["CONTROLLER://h:9093", "OTHER://[::1]:9094"]}, {"id": 2}]\n'
                'CurrentObservers:       [{"id": 3}]\n',
                "",
            )


@pytest.mark.parametrize(
    ("voters", "lag_ms"),
    [
        ([ReplicaState(replica_id=1, log_end_offset=5)], 0),
        ([ReplicaState(replica_id=1, log_end_offset=5), ReplicaState(replica_id=2, log_end_offset=4)], -1),
        (
            [
                ReplicaState(replica_id=2, log_end_offset=4, last_caught_up_timestamp=10),
                ReplicaState(replica_id=1, log_end_offset=5, last_caught_up_timestamp=30),
            ],
            20,
        ),
    ],
)
def test_the_lag_in_time_is_that_of_the_voter_with_the_shortest_log(voters: list[ReplicaState], lag_ms: int) -> None:
    with ScriptedNode({DescribeQuorumRequest: quorum(current_voters=voters)}) as node:
        _, out, _ = call("--bootstrap-server", str(node.address), "describe", "--status")
    assert f"MaxFollowerLagTimeMs:   {lag_ms}\n" in out


def test_the_replicas_of_a_quorum() -> None:
    with ScriptedNode({DescribeQuorumRequest: quorum()}) as node:
        status, out, err = call("--bootstrap-server", str(node.address), "describe", "--replication")
    assert (status, err) == (0, "")
    assert [[cell.strip() for cell in line.split("\t")] for line in out.splitlines()] == [
        [
            *("NodeId", "DirectoryId", "LogEndOffset", "Lag", "LastFetchTimestamp", "LastCaughtUpTimestamp", "Status"),
            "",
        ],
        ["1", "JEXY6aqzQY-32P5TStzaFg", "100", "0", "50", "50", "Leader", ""],
        ["2", "AAAAAAAAAAAAAAAAAAAAAA", "90", "10", "30", "20", "Follower", ""],
        ["3", "AAAAAAAAAAAAAAAAAAAAAA", "7", "93", "-1", "-1", "Observer", ""],
    ]
    assert len({line.index("\t", 10) for line in out.splitlines()}) == 1, "cells of a column are equally wide"


def test_times_can_be_shown_by_their_age() -> None:
    with ScriptedNode({DescribeQuorumRequest: quorum()}) as node:
        at = ("--bootstrap-server", str(node.address), "describe", "--replication", "--human-readable")
        _, out, _ = call(*at)
        rows = [line.split("\t") for line in out.splitlines()]
        assert rows[1][4].rstrip().endswith(" ms ago")
        assert rows[3][4].rstrip() == "-1"
        voters = [ReplicaState(replica_id=1, log_end_offset=5, last_fetch_timestamp=2**62)]
        node.script(DescribeQuorumRequest, quorum(current_voters=voters))
        status, _, err = call(*at)
    assert status == 1
    assert "possible drift in system clock.\nCurrent timestamp is " in err
    assert f"last fetch timestamp is {2**62}" in err


def test_a_leader_that_does_not_vote_is_pointed_out() -> None:
    with ScriptedNode({DescribeQuorumRequest: quorum(leader_id=9)}) as node:
        status, _, err = call("--bootstrap-server", str(node.address), "describe", "--status")
    assert status == 1
    assert "leader 9 is not among its voters" in err


def test_a_controller_is_added_as_its_own_files_describe_it(tmp_path: Path) -> None:
    settings = write_controller(tmp_path)
    with ScriptedNode({AddRaftVoterRequest: [ADDED, DUPLICATE]}) as node:
        at = ("--bootstrap-controller", str(node.address), "--command-config", settings, "add-controller")
        facts = (
            f"controller 5 with directory id {DIRECTORY_ID} and endpoints: "
            "CONTROLLER://h.example:19093, OTHER://[::1]:9094\n"
        )
        assert call(*at, "--dry-run") == (0, f"DRY RUN of adding {facts}", "")
        assert node.asked(AddRaftVoterRequest) == []
        assert call(*at) == (0, f"Added {facts}", "")
        duplicate = "org.apache.kafka.common.errors.DuplicateVoterException: it votes\n"
        assert call(*at) == (1, "", duplicate)
        request = node.asked(AddRaftVoterRequest)[0]
    assert (request.voter_id, request.voter_directory_id) == (5, DIRECTORY_ID)
    assert request.listeners == [
        Listener(name="CONTROLLER", host="h.example", port=19093),
        Listener(name="OTHER", host="::1", port=9094),
    ]


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({"node_id": None}, "node.id not found in configuration file."),
        ({"node_id": "x"}, "node.id is no number"),
        ({"node_id": "-1"}, "node.id was negative"),
        ({"process_roles": "broker"}, "process.roles did not contain 'controller'"),
        ({"log_dirs": None}, "Neither metadata.log.dir nor log.dirs were found."),
        ({"metadata_log_dir": "/no/such/directory"}, "Unable to read meta.properties from /no/such/directory"),
        ({"controller_listener_names": None}, "controller.listener.names was not found."),
        ({"controller_listener_names": "ELSE"}, "Cannot find information about controller listener name: ELSE"),
        ({"listeners": "nonsense"}, "'nonsense' in listeners"),
    ],
)
def test_a_file_that_describes_no_controller_is_refused(
    tmp_path: Path, changed: dict[str, str | None], complaint: str
) -> None:
    settings = write_controller(tmp_path, **changed)
    at = ("--bootstrap-server", "127.0.0.1:1", "--command-config", settings, "add-controller")
    status, out, err = call(*at)
    assert (status, out) == (1, "")
    assert complaint in err


def test_a_directory_without_an_id_is_refused(tmp_path: Path) -> None:
    settings = write_controller(tmp_path)
    (tmp_path / "meta.properties").write_text("version=1\ncluster.id=c\nnode.id=5\n")
    at = ("--bootstrap-server", "127.0.0.1:1", "--command-config", settings, "add-controller")
    assert call(*at) == (1, "", f"No directory id found in {tmp_path}\n")
    (tmp_path / "meta.properties").write_text("version=9\n")
    assert "unknown version 9" in call(*at)[2]


def test_a_controller_is_removed() -> None:
    with ScriptedNode({RemoveRaftVoterRequest: REMOVED}) as node:
        at = ("--bootstrap-server", str(node.address), "remove-controller", "-i", "5", "-d", str(DIRECTORY_ID))
        done = f" KRaft controller 5 with directory id {DIRECTORY_ID}\n"
        assert call(*at, "--dry-run") == (0, f"DRY RUN of removing {done}", "")
        assert node.asked(RemoveRaftVoterRequest) == []
        assert call(*at) == (0, f"Removed {done}", "")
        (request,) = node.asked(RemoveRaftVoterRequest)
    assert (request.voter_id, request.voter_directory_id) == (5, DIRECTORY_ID)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ("", "kafka-metadata-quorum: error: too few arguments"),
        ("describe --status", "one of the arguments --bootstrap-server --bootstrap-controller is required"),
        ("{at} describe", "One of --status or --replication must be specified"),
        ("{at} describe --status --replication", "Only one of --status or --replication should be specified"),
        ("{at} describe --status --human-readable", "only supported along with --replication"),
        ("{at} --command-config /no/file describe --status", "Properties file /no/file does not exists!"),
        ("{at} add-controller", "You must supply the configuration file of the controller"),
        ("{at} remove-controller -i 1", "argument --controller-directory-id/-d is required"),
        ("{at} remove-controller -i=-1 -d x", "Invalid negative --controller-id: -1"),
        ("{at} remove-controller -i 1 -d x", "Failed to parse --controller-directory-id: 'x'"),
        ("--bootstrap-server nowhere describe --status", "Failed to create new KafkaAdminClient\nInvalid url in"),
    ],
)
def test_what_cannot_be_done_is_refused(arguments: str, complaint: str) -> None:
    status, out, err = call(*arguments.format(at="--bootstrap-server 127.0.0.1:1").split())
    assert (status, out) == (1, "")
    assert complaint in err


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    broken = tmp_path / "broken.properties"
    broken.write_text("a=\\u12\n")
    at = ("--bootstrap-server", "127.0.0.1:1", "--command-config", broken, "describe", "--status")
    status, _, err = call(*at)
    assert status == 1
    assert f"{broken} cannot be read" in err


def test_the_help_page_is_printed() -> None:
    status, out, err = call("describe", "--help")
    assert (status, err) == (0, "")
    assert "--human-readable" in out
