"""`kafka-reassign-partitions`: plans, throttles, moves between brokers and between directories, on scripted brokers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from barnabas.cli.reassign_partitions import run
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartitionResponse,
    ReassignableTopicResponse,
)
from barnabas.protocol.messages.alter_replica_log_dirs import (
    AlterReplicaLogDirPartitionResult,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopicResult,
)
from barnabas.protocol.messages.describe_log_dirs import (
    DescribeLogDirsPartition,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)
from barnabas.protocol.messages.incremental_alter_configs import (
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from barnabas.protocol.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
    OngoingPartitionReassignment,
    OngoingTopicReassignment,
)
from barnabas.protocol.schema import Message
from unit.cli.tool_runs import Said, call
from unit.client.scripted_node import Script
from unit.client.topic_node import Partition, Topic, TopicNode

TOPICS = {
    "a": Topic([Partition(1, [1, 2], [1, 2]), Partition(2, [2, 1], [2, 1])]),
    "b": Topic([Partition(1, [1], [1])]),
}


def moving(*names: str) -> ListPartitionReassignmentsResponse:
    partitions = [
        OngoingPartitionReassignment(partition_index=0, replicas=[1, 2, 3], adding_replicas=[3], removing_replicas=[1]),
        OngoingPartitionReassignment(partition_index=1, replicas=[2, 1], adding_replicas=[], removing_replicas=[1]),
    ]
    topics = [OngoingTopicReassignment(name=name, partitions=partitions) for name in names]
    return ListPartitionReassignmentsResponse(throttle_time_ms=0, error_code=0, error_message=None, topics=topics)


def altered(request: IncrementalAlterConfigsRequest) -> IncrementalAlterConfigsResponse:
    return IncrementalAlterConfigsResponse(
        throttle_time_ms=0,
        responses=[
            AlterConfigsResourceResponse(
                error_code=0, error_message=None, resource_type=each.resource_type, resource_name=each.resource_name
            )
            for each in request.resources
        ],
    )


def reassigned(request: AlterPartitionReassignmentsRequest) -> AlterPartitionReassignmentsResponse:
    """Topic b stays where it is."""
    return AlterPartitionReassignmentsResponse(
        throttle_time_ms=0,
        error_code=0,
        error_message=None,
        responses=[
            ReassignableTopicResponse(
                name=topic.name,
                partitions=[
                    ReassignablePartitionResponse(
                        partition_index=each.partition_index,
                        error_code=ErrorCode.POLICY_VIOLATION if topic.name == "b" else ErrorCode.NONE,
                        error_message="It stays." if topic.name == "b" else None,
                    )
                    for each in topic.partitions
                ],
            )
            for topic in request.topics
        ],
    )


def directory(path: str, *, is_future: bool = False) -> DescribeLogDirsResult:
    partition = DescribeLogDirsPartition(partition_index=0, partition_size=5, offset_lag=0, is_future_key=is_future)
    return DescribeLogDirsResult(
        error_code=0, log_dir=path, topics=[DescribeLogDirsTopic(name="a", partitions=[partition])]
    )


def directories(*results: DescribeLogDirsResult) -> DescribeLogDirsResponse:
    return DescribeLogDirsResponse(
        throttle_time_ms=0, results=[*results, DescribeLogDirsResult(error_code=0, log_dir="/empty", topics=[])]
    )


def moved(code: ErrorCode) -> AlterReplicaLogDirsResponse:
    result = AlterReplicaLogDirPartitionResult(partition_index=0, error_code=code)
    return AlterReplicaLogDirsResponse(
        throttle_time_ms=0, results=[AlterReplicaLogDirTopicResult(topic_name="a", partitions=[result])]
    )


class Cluster:
    """Three brokers, of which each answers alike."""

    def __init__(
        self,
        moves: ListPartitionReassignmentsResponse | None = None,
        shown: DescribeLogDirsResponse | None = None,
        starts: list[AlterReplicaLogDirsResponse] | None = None,
    ) -> None:
        answers: dict[type[Message], Script] = {
            ListPartitionReassignmentsRequest: moves or moving(),
            IncrementalAlterConfigsRequest: altered,
            AlterPartitionReassignmentsRequest: reassigned,
            DescribeLogDirsRequest: shown or directories(directory("/one")),
            AlterReplicaLogDirsRequest: starts or [moved(ErrorCode.NONE)],
        }
        self.nodes = [TopicNode(TOPICS, answers, node_id=node_id) for node_id in (1, 2, 3)]

    def settings(self) -> dict[tuple[int, str], dict[str, str | None]]:
        """What was set, by the type and the name of the resource."""
        return {
            (resource.resource_type, resource.resource_name): {each.name: each.value for each in resource.configs}
            for node in self.nodes
            for request in node.asked(IncrementalAlterConfigsRequest)
            for resource in request.resources
        }

    def asked(self, request: type[Message]) -> list[Message]:
        return [each for node in self.nodes for each in node.asked(request)]

    def run(self, arguments: str) -> Said:
        with self.nodes[0] as first, self.nodes[1], self.nodes[2]:
            for node in self.nodes:
                node.peers = list(self.nodes)
            return call(run, arguments.format(server=f"--bootstrap-server {first.address}"))


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    partitions = [
        {"topic": "a", "partition": 1, "replicas": [2, 3]},
        {"topic": "a", "partition": 0, "replicas": [1, 3], "log_dirs": ["/two", "any"]},
    ]
    path = tmp_path / "plan.json"
    path.write_text(json.dumps({"version": 1, "partitions": partitions}))
    return path


def write(path: Path, *partitions: dict[str, object]) -> Path:
    path.write_text(json.dumps({"partitions": partitions}))
    return path


def test_moves_under_way_are_listed() -> None:
    assert Cluster().run("{server} --list") == (0, "No partition reassignments found.\n", "")
    assert Cluster(moving("b", "a")).run("{server} --list").out == (
        "Current partition reassignments:\n"
        "a-0: replicas: 1,2,3. adding: 3. removing: 1.\n"
        "a-1: replicas: 2,1. removing: 1.\n"
        "b-0: replicas: 1,2,3. adding: 3. removing: 1.\n"
        "b-1: replicas: 2,1. removing: 1.\n"
    )


def test_a_plan_spreads_topics_over_brokers(tmp_path: Path) -> None:
    topics = tmp_path / "topics.json"
    topics.write_text('{"topics": [{"topic": "a"}]}')
    said = Cluster().run("{server} --generate --broker-list 2,3 --topics-to-move-json-file " + str(topics))
    assert (said.status, said.err) == (0, "")
    head, current, empty, proposal, proposed = said.out.splitlines()
    assert (head, empty) == ("Current partition replica assignment", "")
    assert proposal == "Proposed partition reassignment configuration"
    assert current == (
        '{"version":1,"partitions":[{"topic":"a","partition":0,"replicas":[1,2],"log_dirs":["/one","/one"]},'
        '{"topic":"a","partition":1,"replicas":[2,1],"log_dirs":["any","any"]}]}'
    )
    partitions = json.loads(proposed)["partitions"]
    assert [sorted(each["replicas"]) for each in partitions] == [[2, 3], [2, 3]]
    assert {tuple(each["log_dirs"]) for each in partitions} == {("any", "any")}


def test_a_plan_is_carried_out(plan: Path) -> None:
    cluster = Cluster(starts=[moved(ErrorCode.REPLICA_NOT_AVAILABLE), moved(ErrorCode.NONE)])
    said = cluster.run(f"{{server}} --execute --reassignment-json-file {plan}")
    assert (said.status, said.err) == (0, "")
    assert said.out == (
        "Current partition replica assignment\n\n"
        '{"version":1,"partitions":[{"topic":"a","partition":0,"replicas":[1,2],"log_dirs":["/one","/one"]},'
        '{"topic":"a","partition":1,"replicas":[2,1],"log_dirs":["any","any"]}]}\n\n'
        "Save this to use as the --reassignment-json-file option during rollback\n"
        "Successfully started partition reassignments for a-0,a-1\n"
        "Successfully started moving log directory to /two for replica a-0 with broker 1 \n"
    )
    (request,) = cluster.asked(AlterPartitionReassignmentsRequest)
    assert isinstance(request, AlterPartitionReassignmentsRequest)
    assert request.allow_replication_factor_change
    assert {each.partition_index: each.replicas for each in request.topics[0].partitions} == {0: [1, 3], 1: [2, 3]}
    assert cluster.settings() == {}


def test_a_plan_may_be_throttled(plan: Path) -> None:
    cluster = Cluster()
    said = cluster.run(
        f"{{server}} --execute --throttle 1000 --replica-alter-log-dirs-throttle 2000 --reassignment-json-file {plan} "
        "--disallow-replication-factor-change"
    )
    assert said.status == 0
    assert said.out.splitlines()[5:8] == [
        "Warning: You must run --verify periodically, until the reassignment completes, to ensure the throttle is "
        "removed.",
        "The inter-broker throttle limit was set to 1000 B/s",
        "The replica-alter-dir throttle limit was set to 2000 B/s",
    ]
    found = cluster.settings()
    assert found[2, "a"] == {
        "leader.replication.throttled.replicas": "0:1,0:2,1:1,1:2",
        "follower.replication.throttled.replicas": "0:3,1:3",
    }
    rates = {"leader.replication.throttled.rate": "1000", "follower.replication.throttled.rate": "1000"}
    assert found[4, "2"] == found[4, "3"] == rates
    # What came last for broker 1 is the limit for its directories.
    assert found[4, "1"] == {"replica.alter.log.dirs.io.max.bytes.per.second": "2000"}
    (request,) = cluster.asked(AlterPartitionReassignmentsRequest)
    assert isinstance(request, AlterPartitionReassignmentsRequest)
    assert not request.allow_replication_factor_change


def test_another_plan_needs_to_be_additional_and_throttles_what_moves_already(plan: Path) -> None:
    said = Cluster(moving("a")).run(f"{{server}} --execute --reassignment-json-file {plan}")
    assert said.status == 1
    assert said.out.startswith("Cannot execute because there is an existing partition assignment.  Use --additional")
    cluster = Cluster(moving("b"))
    said = cluster.run(f"{{server}} --execute --additional --throttle 5 --reassignment-json-file {plan}")
    assert said.status == 0
    assert cluster.settings()[2, "b"] == {
        "leader.replication.throttled.replicas": "0:1,0:2,1:1,1:2",
        "follower.replication.throttled.replicas": "0:3",
    }


@pytest.mark.parametrize(
    ("moves", "shown", "line", "clears"),
    [
        ([], directories(directory("/two")), "Reassignment of replica a-0-1 completed successfully.", True),
        (["a"], directories(directory("/two")), "Reassignment of replica a-0-1 completed successfully.", False),
        (
            [],
            directories(directory("/one")),
            "Partition a-0 on broker 1 is not being moved from log dir /one to /two.",
            True,
        ),
        (
            [],
            directories(directory("/one"), directory("/two", is_future=True)),
            "Reassignment of replica a-0-1 is still in progress.",
            False,
        ),
        (
            [],
            directories(directory("/one"), directory("/three", is_future=True)),
            "Partition a-0 on broker 1 is being moved to log dir /three instead of /two.",
            False,
        ),
        (
            [],
            directories(),
            "Partition a-0 is not found in any live log dir on broker 1. There is likely an offline log directory on "
            "the broker.",
            False,
        ),
    ],
)
def test_throttles_are_cleared_once_nothing_moves(
    plan: Path, moves: list[str], shown: DescribeLogDirsResponse, line: str, clears: bool
) -> None:
    cluster = Cluster(moving(*moves), shown)
    said = cluster.run(f"{{server}} --verify --reassignment-json-file {plan}")
    assert (said.status, said.err) == (0, "")
    head, first, second, move, *rest = said.out.splitlines()
    assert head == "Status of partition reassignment:"
    assert [first, second] == (
        [
            "Reassignment of partition a-0 is still in progress.",
            "Reassignment of partition a-1 is still in progress.",
        ]
        if moves
        else [
            "There is no active reassignment of partition a-0, but replica set is 1,2 rather than 1,3.",
            "There is no active reassignment of partition a-1, but replica set is 2,1 rather than 2,3.",
        ]
    )
    assert move == line
    cleared = ["Clearing broker-level throttles on brokers 1,2,3", "Clearing topic-level throttles on topic a"]
    assert rest == (cleared if clears else [])
    assert set(cluster.settings()) == ({(2, "a"), (4, "1"), (4, "2"), (4, "3")} if clears else set())
    assert not any(any(settings.values()) for settings in cluster.settings().values())


def test_a_plan_that_is_done_is_said_to_be(tmp_path: Path) -> None:
    path = write(
        tmp_path / "done.json",
        {"topic": "b", "partition": 0, "replicas": [1]},
        {"topic": "b", "partition": 9, "replicas": [1]},
        {"topic": "no", "partition": 0, "replicas": [1]},
    )
    said = Cluster().run(f"{{server}} --verify --preserve-throttles --reassignment-json-file {path}")
    assert said.out == (
        "Status of partition reassignment:\n"
        "Reassignment of partition b-0 is completed.\n"
        "There is no active reassignment of partition b-9, but replica set is  rather than 1.\n"
        "There is no active reassignment of partition no-0, but replica set is  rather than 1.\n"
        "\n"
    )


def test_moves_are_cancelled(plan: Path) -> None:
    shown = directories(directory("/one"), directory("/two", is_future=True))
    cluster = Cluster(moving("a"), shown)
    said = cluster.run(f"{{server}} --cancel --reassignment-json-file {plan}")
    assert said.out == (
        "Successfully cancelled partition reassignments for: a-0,a-1\n"
        "Successfully started moving log directory to /one for replica a-0 with broker 1 \n"
        "Clearing broker-level throttles on brokers 1,2,3\n"
        "Clearing topic-level throttles on topic a\n"
    )
    (request,) = cluster.asked(AlterPartitionReassignmentsRequest)
    assert isinstance(request, AlterPartitionReassignmentsRequest)
    assert {each.replicas for each in request.topics[0].partitions} == {None}


def test_what_does_not_move_is_not_cancelled(plan: Path) -> None:
    said = Cluster().run(f"{{server}} --cancel --preserve-throttles --reassignment-json-file {plan}")
    assert said == (
        0,
        "None of the specified partition reassignments are active.\nNone of the specified partition moves are active.",
        "",
    )


def test_partitions_that_are_refused_are_told_by_name(tmp_path: Path) -> None:
    path = write(tmp_path / "b.json", {"topic": "b", "partition": 0, "replicas": [2]})
    said = Cluster().run(f"{{server}} --execute --reassignment-json-file {path}")
    assert said.status == 1
    assert said.out.endswith("\nError reassigning partition(s):\nb-0: It stays.\n")


@pytest.mark.parametrize(
    ("starts", "complaint"),
    [
        (ErrorCode.REPLICA_NOT_AVAILABLE, "Timed out before log directory move could be started for: a-0-1\n"),
        (ErrorCode.LOG_DIR_NOT_FOUND, "Error: Failed to alter dir for a-0-1\norg.apache.kafka.common.errors.LogDirNot"),
    ],
)
def test_a_move_between_directories_that_does_not_begin_is_an_error(
    plan: Path, starts: ErrorCode, complaint: str
) -> None:
    said = Cluster(starts=[moved(starts)]).run(f"{{server}} --execute --timeout 0 --reassignment-json-file {plan}")
    assert said.status == 1
    assert complaint in said.out


@pytest.mark.parametrize(
    ("partitions", "complaint"),
    [
        ([], "Partition reassignment list cannot be empty"),
        ([("a", 0, [])], "Partition replica list cannot be empty"),
        ([("a", 0, [1]), ("a", 0, [2])], "Partition reassignment contains duplicate topic partitions: a-0"),
        (
            [("a", 0, [1, 1, 2, 2]), ("a", 1, [3, 3])],
            "Partition replica lists may not contain duplicate entries: a-0 contains multiple entries for 1,2. a-1 "
            "contains multiple entries for 3",
        ),
        ([("a", 0, [8])], "Unknown broker id 8"),
        ([("no", 0, [1])], "org.apache.kafka.common.errors.UnknownTopicOrPartitionException: Topic no not found."),
        (
            [("a", 7, [1])],
            "org.apache.kafka.common.errors.UnknownTopicOrPartitionException: Unable to find partition: a-7",
        ),
    ],
)
def test_a_plan_that_makes_no_sense_is_refused(
    tmp_path: Path, partitions: list[tuple[str, int, list[int]]], complaint: str
) -> None:
    entries = [{"topic": topic, "partition": index, "replicas": replicas} for topic, index, replicas in partitions]
    path = write(tmp_path / "plan.json", *entries)
    cluster = Cluster()
    assert cluster.run(f"{{server}} --execute --reassignment-json-file {path}") == (1, f"Error: {complaint}\n", "")
    assert cluster.asked(AlterPartitionReassignmentsRequest) == []


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ("{at}", "Command must include exactly one action: --generate, --execute, --verify, --cancel, --list"),
        ("--list", "Please specify either --bootstrap-server or --bootstrap-controller"),
        (
            "{at} --bootstrap-controller c:1 --list",
            "Please don't specify both --bootstrap-server and --bootstrap-controller",
        ),
        ("{at} --verify", 'Missing required argument "[reassignment-json-file]"'),
        ("{at} --list --additional", 'Option "[additional]" can\'t be used with action "[list]"'),
        (
            "--bootstrap-controller c:1 --verify --reassignment-json-file x",
            'Option "[bootstrap-controller]" can\'t be used with action "[verify]"',
        ),
    ],
)
def test_a_command_line_that_does_not_hang_together_is_refused(arguments: str, complaint: str) -> None:
    said = call(run, arguments.format(at="--bootstrap-server 127.0.0.1:1"))
    assert (said.status, said.out, said.complaint) == (1, "", complaint)
