"""`kafka-get-offsets`: which partitions its options mean, and what it prints of their offsets."""

from __future__ import annotations

import pytest

from barnabas.cli.get_offsets import run
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from unit.cli.tool_runs import Said, call
from unit.client.topic_node import Partition, Topic, TopicNode

TOPICS = {"a": Topic([Partition()] * 11), "b": Topic([Partition()] * 2), "__transaction_state": Topic()}


def listed(request: ListOffsetsRequest) -> ListOffsetsResponse:
    """Partition 1 of b holds nothing as young, and partition 5 of a cannot be asked."""

    def offset(topic: str, index: int) -> ListOffsetsPartitionResponse:
        code = ErrorCode.TOPIC_AUTHORIZATION_FAILED if (topic, index) == ("a", 5) else ErrorCode.NONE
        found = -1 if (topic, index) == ("b", 1) else 100 + index
        return ListOffsetsPartitionResponse(partition_index=index, error_code=code, offset=found)

    return ListOffsetsResponse(
        topics=[
            ListOffsetsTopicResponse(
                name=topic.name, partitions=[offset(topic.name, each.partition_index) for each in topic.partitions]
            )
            for topic in request.topics
        ]
    )


def ask(arguments: str) -> Said:
    with TopicNode(TOPICS, {ListOffsetsRequest: listed}) as node:
        return call(run, f"--bootstrap-server {node.address} {arguments}")


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        ("--topic b", ["b:0"]),
        ("--topic a --partitions 1,10,2", ["a:1", "a:10", "a:2"]),
        ("--topic a|b --partitions 0", ["a:0", "b:0"]),
        ("--topic-partitions a:3", ["a:3"]),
        ("--topic-partitions a:3-5,b", ["a:3", "a:4", "b:0"]),
        ("--topic-partitions a:9-", ["a:10", "a:9"]),
        ("--topic-partitions a:-2", ["a:0", "a:1"]),
        ("--topic-partitions :0", ["__transaction_state:0", "a:0", "b:0"]),
        ("--topic-partitions :0 --exclude-internal-topics", ["a:0", "b:0"]),
    ],
)
def test_partitions_are_chosen_and_shown_by_name(arguments: str, shown: list[str]) -> None:
    said = ask(arguments)
    assert (said.status, said.err) == (0, "")
    assert [line.rpartition(":")[0] for line in said.out.splitlines()] == shown


def test_a_partition_that_cannot_be_asked_is_skipped_aloud() -> None:
    said = ask("--topic a --partitions 4,5")
    assert (said.status, said.out) == (0, "a:4:104\n")
    assert said.err.startswith(
        "Skip getting offsets for topic-partition a-5 due to error: "
        "org.apache.kafka.common.errors.TopicAuthorizationException: "
    )


@pytest.mark.parametrize(
    ("time", "timestamp"),
    [
        ("latest", -1),
        ("earliest", -2),
        ("max-timestamp", -3),
        ("earliest-local", -4),
        ("latest-tiered", -5),
        ("earliest-pending-upload", -6),
        ("-2", -2),
        ("1700000000000", 1_700_000_000_000),
    ],
)
def test_a_time_may_be_named(time: str, timestamp: int) -> None:
    with TopicNode(TOPICS, {ListOffsetsRequest: listed}) as node:
        call(run, f"--bootstrap-server {node.address} --topic b --time {time}")
        (request,) = node.asked(ListOffsetsRequest)
    assert {each.timestamp for topic in request.topics for each in topic.partitions} == {timestamp}


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ("--topic no", "Error occurred: Could not match any topic-partitions with the specified filters"),
        ("--topic a --topic-partitions b", "Error occurred: --topic-partitions cannot be used with --topic or --parti"),
        ("--time soon", "Error occurred: Malformed time argument soon. Please use -1 or latest / -2 or earliest / "),
        ("--partitions x", "Error occurred: --partitions expects a comma separated list of numeric partition ids, bu"),
        ("--topic-partitions a:x", "Error occurred: Invalid rule specification: a:x"),
        ("--topic [", "Error occurred: [ is an invalid regex."),
        ("--bogus", "Error occurred: bogus is not a recognized option"),
        ("--command-config /no/such/file", "Error occurred: [Errno 2] No such file or directory"),
    ],
)
def test_what_cannot_be_done_is_refused(arguments: str, complaint: str) -> None:
    said = ask(arguments)
    assert (said.status, said.out) == (1, "")
    assert said.complaint.startswith(complaint)


def test_servers_must_be_named_and_have_ports() -> None:
    assert call(run, "--topic a").complaint == 'Missing required argument "[bootstrap-server]"'
    said = call(run, "--bootstrap-server nowhere")
    assert said.complaint == "Please provide valid host:port like host1:9091,host2:9092"
