"""`kafka-log-dirs`: the directories of brokers as JSON."""

from __future__ import annotations

import json

import pytest

from barnabas.cli import log_dirs
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.describe_log_dirs import (
    DescribeLogDirsPartition,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)
from unit.cli.tool_runs import call
from unit.client.scripted_node import ScriptedNode

DIRECTORIES = DescribeLogDirsResponse(
    throttle_time_ms=0,
    results=[
        DescribeLogDirsResult(
            error_code=0,
            log_dir="/one",
            topics=[
                DescribeLogDirsTopic(
                    name=name,
                    partitions=[
                        DescribeLogDirsPartition(
                            partition_index=0, partition_size=7, offset_lag=1, is_future_key=name == "b"
                        )
                    ],
                )
                for name in ("a", "b")
            ],
        ),
        DescribeLogDirsResult(error_code=ErrorCode.KAFKA_STORAGE_ERROR, log_dir="/two", topics=[]),
    ],
)


def test_log_directories_are_shown_as_json() -> None:
    with ScriptedNode({DescribeLogDirsRequest: DIRECTORIES}) as node:
        said = call(log_dirs.run, f"--bootstrap-server {node.address} --describe")
        some = call(log_dirs.run, f"--bootstrap-server {node.address} --describe --topic-list b,c --broker-list 1,")
    assert (said.status, said.err) == (0, "")
    first, second, shown = said.out.splitlines()
    assert first == "Querying brokers for log directories information"
    assert second == "Received log directory information from brokers 1"
    replicas = [
        {"partition": "a-0", "size": 7, "offsetLag": 1, "isFuture": False},
        {"partition": "b-0", "size": 7, "offsetLag": 1, "isFuture": True},
    ]
    offline = "org.apache.kafka.common.errors.KafkaStorageException"
    assert json.loads(shown) == {
        "version": 1,
        "brokers": [
            {
                "broker": 1,
                "logDirs": [
                    {"logDir": "/one", "error": None, "partitions": replicas},
                    {"logDir": "/two", "error": offline, "partitions": []},
                ],
            }
        ],
    }
    (broker,) = json.loads(some.out.splitlines()[-1])["brokers"]
    assert broker["logDirs"][0]["partitions"] == replicas[1:]


@pytest.mark.parametrize(
    ("brokers", "complaint"),
    [
        ("9,1,8", "ERROR: The given brokers do not exist from --broker-list: 8,9. Current existent brokers: 1"),
        ("one", 'For input string: "one"'),
    ],
)
def test_brokers_that_are_not_there_have_no_directories(brokers: str, complaint: str) -> None:
    with ScriptedNode() as node:
        said = call(log_dirs.run, f"--bootstrap-server {node.address} --describe --broker-list {brokers}")
    assert said == (1, "", f"{complaint}\n")


def test_a_broker_must_be_named() -> None:
    said = call(log_dirs.run, "--command-config none")
    assert (said.status, said.complaint) == (1, 'Missing required argument "[bootstrap-server]"')
