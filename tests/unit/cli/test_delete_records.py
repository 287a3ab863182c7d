"""`kafka-delete-records`: offsets from a file, and what became of each partition."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from barnabas.cli import delete_records
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.delete_records import (
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)
from unit.cli.tool_runs import call
from unit.client.topic_node import Partition, Topic, TopicNode


def write(tmp_path: Path, content: object) -> Path:
    path = tmp_path / "input.json"
    path.write_text(json.dumps(content))
    return path


def deleted(request: DeleteRecordsRequest) -> DeleteRecordsResponse:
    """What is beyond ten cannot be deleted."""
    return DeleteRecordsResponse(
        throttle_time_ms=0,
        topics=[
            DeleteRecordsTopicResult(
                name=topic.name,
                partitions=[
                    DeleteRecordsPartitionResult(
                        partition_index=each.partition_index,
                        low_watermark=each.offset,
                        error_code=ErrorCode.OFFSET_OUT_OF_RANGE if each.offset > 10 else ErrorCode.NONE,
                    )
                    for each in topic.partitions
                ],
            )
            for topic in request.topics
        ],
    )


def test_where_partitions_start_now_is_told(tmp_path: Path) -> None:
    entries = [{"topic": "a", "partition": index, "offset": 9 + index} for index in (2, 1, 0)]
    path = write(tmp_path, {"version": 1, "partitions": entries})
    with TopicNode({"a": Topic([Partition()] * 3)}, {DeleteRecordsRequest: deleted}) as node:
        said = call(delete_records.run, f"--bootstrap-server {node.address} --offset-json-file {path}")
    assert (said.status, said.err) == (0, "")
    *lines, last = said.out.splitlines()
    assert lines == [
        "Executing records delete operation",
        "Records delete operation completed:",
        "partition: a-0\tlow_watermark: 9",
        "partition: a-1\tlow_watermark: 10",
    ]
    assert last.startswith("partition: a-2\terror: org.apache.kafka.common.errors.OffsetOutOfRangeException: ")


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ({}, "Missing partitions field"),
        ({"version": 2}, "Not supported version field value 2"),
        ({"partitions": [{"topic": "a", "partition": 0}]}, "No such field exists: `offset`"),
        (
            {"partitions": [{"topic": "a", "partition": 0, "offset": 1}] * 3},
            "Offset json file contains duplicate topic partitions: a-0",
        ),
    ],
)
def test_offsets_that_make_no_sense_are_refused(tmp_path: Path, content: object, complaint: str) -> None:
    path = write(tmp_path, content)
    said = call(delete_records.run, f"--bootstrap-server 127.0.0.1:1 --offset-json-file {path}")
    assert said == (1, "", f"{complaint}\n")


def test_a_broker_must_be_named() -> None:
    said = call(delete_records.run, "--command-config none")
    assert (said.status, said.complaint) == (1, 'Missing required argument "[bootstrap-server]"')
