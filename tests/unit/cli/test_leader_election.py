"""`kafka-leader-election`: which partitions it means, and what came of their elections."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from barnabas.cli import leader_election
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.elect_leaders import (
    ElectLeadersRequest,
    ElectLeadersResponse,
    PartitionResult,
    ReplicaElectionResult,
)
from unit.cli.tool_runs import Said, call
from unit.client.scripted_node import ScriptedNode


def write(tmp_path: Path, content: object) -> Path:
    path = tmp_path / "input.json"
    path.write_text(json.dumps(content))
    return path


def elected(request: ElectLeadersRequest) -> ElectLeadersResponse:
    codes = {0: ErrorCode.NONE, 1: ErrorCode.ELECTION_NOT_NEEDED, 2: ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE}
    wanted = codes if request.topic_partitions is None else request.topic_partitions[0].partitions
    results = [PartitionResult(partition_id=each, error_code=codes[each], error_message="So.") for each in wanted]
    return ElectLeadersResponse(
        throttle_time_ms=0, replica_election_results=[ReplicaElectionResult(topic="a", partition_result=results)]
    )


def elect(arguments: str) -> Said:
    with ScriptedNode({ElectLeadersRequest: elected}) as node:
        return call(leader_election.run, f"--bootstrap-server {node.address} {arguments}")


def test_elections_are_told_by_their_outcome() -> None:
    done = "Successfully completed leader election (PREFERRED) for partitions a-0\n"
    unneeded = "Valid replica already elected for partitions a-1\n"
    failed = (
        "Error completing leader election (PREFERRED) for partition: a-2: "
        "org.apache.kafka.common.errors.EligibleLeadersNotAvailableException: So.\n"
    )
    assert elect("--election-type preferred --topic a --partition 0") == (0, done, "")
    assert elect("--election-type Preferred --topic a --partition 1") == (0, unneeded, "")
    assert elect("--election-type preferred --all-topic-partitions") == (
        1,
        done + unneeded + failed,
        "1 replica(s) could not be elected\n",
    )


def test_elections_may_be_listed_in_a_file(tmp_path: Path) -> None:
    path = write(tmp_path, {"partitions": [{"topic": "a", "partition": 1}, {"topic": "a", "partition": 0}]})
    assert elect(f"--election-type unclean --path-to-json-file {path}").out.count("\n") == 2
    path = write(tmp_path, {"partitions": [{"topic": "a", "partition": 1}] * 2})
    assert elect(f"--election-type unclean --path-to-json-file {path}").err == (
        "Replica election data contains duplicate partitions: [a-1]\n"
    )


def test_the_old_option_for_settings_still_works(tmp_path: Path) -> None:
    settings = tmp_path / "client.properties"
    settings.write_text("client.id=x\n")
    said = elect(f"--admin.config {settings} --election-type preferred --topic a --partition 0")
    assert said.status == 0
    assert said.out.startswith("Option --admin.config has been deprecated")


def test_an_election_that_takes_too_long_is_told_on_both_streams(tmp_path: Path) -> None:
    settings = tmp_path / "client.properties"
    settings.write_text("default.api.timeout.ms=1\nrequest.timeout.ms=1\n")
    at = f"--bootstrap-server 127.0.0.1:1 --command-config {settings}"
    said = call(leader_election.run, f"{at} --election-type preferred --all-topic-partitions")
    line = "Timeout waiting for election results\n"
    assert said == (1, line, line)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ("--all-topic-partitions", "Missing required option(s): bootstrap-server, election-type"),
        ("{at} --election-type best --all-topic-partitions", "Cannot parse argument 'best' of option election-type"),
        ("{at} --election-type unclean", "One and only one of the following options is required: topic, all-topic-pa"),
        ("{at} --election-type unclean --topic a", "Missing required option(s): partition"),
        ("{at} --election-type unclean --all-topic-partitions --partition 1", "Option partition is only allowed if to"),
        (
            "{at} --election-type unclean --admin.config a --command-config b",
            'Option "[admin.config]" can\'t be used wi',
        ),
    ],
)
def test_an_election_without_its_options_is_refused(arguments: str, complaint: str) -> None:
    said = call(leader_election.run, arguments.format(at="--bootstrap-server 127.0.0.1:1"))
    assert (said.status, said.out) == (1, "")
    assert said.complaint.startswith(complaint)
