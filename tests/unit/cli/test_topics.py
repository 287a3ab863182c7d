"""`kafka-topics`: what its command line allows, what it asks of a cluster, and what it prints of the answers."""

from __future__ import annotations

import pytest

from barnabas.cli.topics import run
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopicResult,
)
from barnabas.protocol.messages.create_topics import CreatableTopicResult, CreateTopicsRequest, CreateTopicsResponse
from barnabas.protocol.messages.delete_topics import DeletableTopicResult, DeleteTopicsRequest, DeleteTopicsResponse
from barnabas.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
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
    "a": Topic([Partition(1, [1, 2, 3], [1, 2], [3]), Partition(-1, [1, 2], [])]),
    "b": Topic([Partition(1, [1, 2], [1, 2])]),
    "__consumer_offsets": Topic([Partition(1, [1], [1])]),
}
MOVING = OngoingPartitionReassignment(partition_index=0, replicas=[1, 2, 3], adding_replicas=[3], removing_replicas=[2])


def created(request: CreateTopicsRequest) -> CreateTopicsResponse:
    codes = {"a": ErrorCode.TOPIC_ALREADY_EXISTS}
    results = [
        CreatableTopicResult(
            name=topic.name, error_code=codes.get(topic.name, ErrorCode.NONE), error_message="It is there."
        )
        for topic in request.topics
    ]
    return CreateTopicsResponse(throttle_time_ms=0, topics=results)


def configured(request: DescribeConfigsRequest) -> DescribeConfigsResponse:
    def setting(name: str, value: str, source: int) -> DescribeConfigsResourceResult:
        return DescribeConfigsResourceResult(
            name=name, value=value, read_only=False, config_source=source, is_sensitive=False, synonyms=[]
        )

    return DescribeConfigsResponse(
        throttle_time_ms=0,
        results=[
            DescribeConfigsResult(
                error_code=0,
                error_message=None,
                resource_type=each.resource_type,
                resource_name=each.resource_name,
                configs=[
                    setting("min.insync.replicas", "2", 5),
                    setting("segment.bytes", "10240", 1 if each.resource_name == "a" else 5),
                ],
            )
            for each in request.resources
        ],
    )


def node(*, moving: str = "a") -> TopicNode:
    moves = [OngoingTopicReassignment(name=moving, partitions=[MOVING])]
    answers: dict[type[Message], Script] = {
        CreateTopicsRequest: created,
        DeleteTopicsRequest: DeleteTopicsResponse(
            throttle_time_ms=0, responses=[DeletableTopicResult(name=name, error_code=0) for name in TOPICS]
        ),
        CreatePartitionsRequest: CreatePartitionsResponse(
            throttle_time_ms=0, results=[CreatePartitionsTopicResult(name=name, error_code=0) for name in TOPICS]
        ),
        DescribeConfigsRequest: configured,
        ListPartitionReassignmentsRequest: ListPartitionReassignmentsResponse(
            throttle_time_ms=0, error_code=0, error_message=None, topics=moves
        ),
    }
    return TopicNode(TOPICS, answers)


def ask(arguments: str) -> Said:
    with node() as broker:
        return call(run, f"--bootstrap-server {broker.address} {arguments}")


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        ("", ["__consumer_offsets", "a", "b"]),
        ("--exclude-internal", ["a", "b"]),
        ("--topic b|c", ["b"]),
        ("--topic c", [""]),
    ],
)
def test_topics_are_listed_by_name(arguments: str, names: list[str]) -> None:
    assert ask(f"--list {arguments}") == (0, "\n".join(names) + "\n", "")


def test_a_topic_is_created_as_it_was_ordered() -> None:
    with node() as broker:
        at = f"--bootstrap-server {broker.address} --create"
        assert call(run, f"{at} --topic new --config segment.bytes=10240 --config a~=~b") == (
            0,
            "Created topic new.\n",
            "",
        )
        said = call(run, f"{at} --topic new.er --replica-assignment 1:2,2:1")
        orders = [request.topics[0] for request in broker.asked(CreateTopicsRequest)]
    assert said.out.startswith("WARNING: Due to limitations in metric names, topics with a period")
    assert said.out.endswith("\nCreated topic new.er.\n")
    assert {config.name: config.value for config in orders[0].configs} == {"segment.bytes": "10240", "a": "b"}
    assert {each.partition_index: each.broker_ids for each in orders[1].assignments} == {0: [1, 2], 1: [2, 1]}


def test_a_topic_option_typed_once_too_often_does_no_harm() -> None:
    """As in `--topic --create --topic chat-test`."""
    with node() as broker:
        at = f"--bootstrap-server {broker.address}"
        said = call(run, f"{at} --topic --create --topic chat-test --partitions 3 --replication-factor 3")
        (request,) = broker.asked(CreateTopicsRequest)
        lone = call(run, f"{at} --topic --create --list")
    assert said == (0, "Created topic chat-test.\n", "")
    assert (request.topics[0].name, request.topics[0].num_partitions) == ("chat-test", 3)
    # Without another, it is the topic's name, as it is for Kafka's tool.
    assert lone == (0, "\n", "")


def test_a_topic_that_is_there_is_an_error_unless_it_was_foreseen() -> None:
    said = ask("--create --topic a")
    assert (said.status, said.out) == (1, "Error while executing topic command : It is there.\n")
    assert ask("--create --topic a --if-not-exists") == (0, "", "")


def test_partitions_are_added_with_the_replicas_that_are_new() -> None:
    with node() as broker:
        at = f"--bootstrap-server {broker.address} --alter --partitions 4"
        assert call(run, f"{at} --topic a --replica-assignment 1,2,3,4") == (0, "", "")
        assert call(run, f"{at} --topic a|b") == (0, "", "")
        first, second = broker.asked(CreatePartitionsRequest)
    assert [[each.broker_ids for each in topic.assignments] for topic in first.topics] == [[[3], [4]]]
    assert [(topic.name, topic.count, topic.assignments) for topic in second.topics] == [("a", 4, None), ("b", 4, None)]


def test_topics_are_deleted_by_expression() -> None:
    with node() as broker:
        assert call(run, f"--bootstrap-server {broker.address} --delete --topic [ab]") == (0, "", "")
        assert call(run, f"--bootstrap-server {broker.address} --delete --topic c --if-exists") == (0, "", "")
        (request,) = broker.asked(DeleteTopicsRequest)
    assert [topic.name for topic in request.topics] == ["a", "b"]


def test_a_topic_is_described_with_its_partitions_and_moves() -> None:
    said = ask("--describe --topic a")
    assert said.status == 0
    assert said.out == (
        "Topic: a\tTopicId: AAECAwQFBgcICQoLDA0ODw\tPartitionCount: 2\tReplicationFactor: 2\t"
        "Configs: segment.bytes=10240\n"
        "\tTopic: a\tPartition: 0\tLeader: 1\tReplicas: 1,2,3\tIsr: 1,2\tAdding Replicas: 3\tRemoving Replicas: 2\t"
        "Elr: 3\tLastKnownElr: \n"
        "\tTopic: a\tPartition: 1\tLeader: none\tReplicas: 1,2\tIsr: \tElr: \tLastKnownElr: \n"
    )


@pytest.mark.parametrize(
    ("report", "shown"),
    [
        ("--under-replicated-partitions", [("a", "1")]),
        ("--unavailable-partitions", [("a", "1")]),
        ("--under-min-isr-partitions", [("a", "1"), ("__consumer_offsets", "0")]),
        ("--at-min-isr-partitions", [("a", "0"), ("b", "0")]),
        ("--at-min-isr-partitions --unavailable-partitions", [("a", "0"), ("a", "1"), ("b", "0")]),
    ],
)
def test_a_report_shows_the_partitions_that_it_is_about(report: str, shown: list[tuple[str, str]]) -> None:
    """Partition 0 of topic a has all its replicas in sync but the one that is being added."""
    rows = [line.split("\t") for line in ask(f"--describe {report}").out.splitlines()]
    assert sorted((row[1].partition(": ")[2], row[2].partition(": ")[2]) for row in rows) == sorted(shown)


def test_topics_with_settings_of_their_own_are_shown_without_partitions() -> None:
    lines = ask("--describe --topics-with-overrides").out.splitlines()
    assert [line.partition("\t")[0] for line in lines] == ["Topic: a"]


def test_a_topic_is_described_by_its_id() -> None:
    said = ask(f"--describe --topic-id {TOPICS['a'].topic_id} --topic b --if-exists")
    notice, first, *_ = said.out.splitlines()
    assert notice.startswith("Only topic id will be used when both --topic and --topic-id are specified")
    assert first.startswith("Topic: ")
    assert "LastKnownElr: N/A" in said.out
    unknown = "MvDxzVmcRsaTz33bUuRU6A"
    assert ask(f"--describe --topic-id {unknown}").out.endswith(f": TopicId '{unknown}' does not exist as expected\n")
    assert ask("--describe --topic-id short").status == 1


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ("--list", "--bootstrap-server must be specified"),
        ("{at}", "Command must include exactly one action: --list, --describe, --create, --alter or --delete"),
        ("{at} --create", 'Missing required argument "[topic]"'),
        ("{at} --alter --topic a", 'Missing required argument "[partitions]"'),
        ("{at} --list --if-exists", 'Option "[if-exists]" can\'t be used with option "[list]"'),
        ("{at} --delete --topic a --config x=y", 'Option "[config]" can\'t be used with option "[delete]"'),
        (
            "{at} --create --topic a --replica-assignment 1 --partitions 1",
            'Option "[replica-assignment]" can\'t be used with option "[partitions]"',
        ),
        (
            "{at} --describe --topics-with-overrides --at-min-isr-partitions",
            'Option "[at-min-isr-partitions]" can\'t be used with option "[topics-with-overrides]"',
        ),
        ("{at} --bogus", "bogus is not a recognized option"),
        ("--bootstrap-server nowhere --list", "Failed to create new KafkaAdminClient"),
    ],
)
def test_a_command_line_that_does_not_hang_together_is_refused(arguments: str, complaint: str) -> None:
    said = call(run, arguments.format(at="--bootstrap-server 127.0.0.1:1"))
    assert (said.status, said.out, said.complaint) == (1, "", complaint)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ("--create --topic x --partitions 0", "The partitions must be greater than 0"),
        ("--create --topic x --replication-factor 0", "The replication factor must be between 1 and 32767 inclusive"),
        ("--create --topic x --replica-assignment 1:1", "Partition replica lists may not contain duplicate entries: 1"),
        ("--create --topic x --replica-assignment 1,1:2", "Partition 1 has different replication factor: [1, 2]"),
        ("--create --topic x --replica-assignment one", 'For input string: "one"'),
        ("--create --topic x --topic y", "Found multiple arguments for option topic, but you asked for only one"),
        ("--describe --topic c", "Topic 'c' does not exist as expected"),
        ("--describe --topic [", "[ is an invalid regex."),
    ],
)
def test_what_cannot_be_done_is_said_on_the_output(arguments: str, complaint: str) -> None:
    assert ask(arguments) == (1, f"Error while executing topic command : {complaint}\n", "")
