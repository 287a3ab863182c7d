"""`kafka-log-dirs`: shows what the log directories of brokers hold."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, TextIO

from barnabas.cli.cluster_access import (
    BOOTSTRAP_SERVER,
    COMMAND_CONFIG,
    ToolError,
    connect_as_told,
    parse_number,
    report_errors,
)
from barnabas.cli.entry import start
from barnabas.cli.error_lines import exception_name
from barnabas.cli.java_order import in_hash_order, partition_hash, string_hash
from barnabas.cli.options import ParsedOptions, Tool, flag, text
from barnabas.client.admin.cluster import describe_cluster
from barnabas.client.admin.log_dirs import LogDir, describe_log_dirs

DESCRIBE = flag("describe", "Show the log directories.")
TOPIC_LIST = text("topic-list", "Only these topics, with commas between them.", argument="topics", default="")
BROKER_LIST = text("broker-list", "Only these brokers, with commas between their ids.", argument="ids", default="")
TOOL = Tool(
    "kafka-log-dirs",
    "Shows what the log directories of brokers hold.",
    (BOOTSTRAP_SERVER, COMMAND_CONFIG, DESCRIBE, TOPIC_LIST, BROKER_LIST),
)


def main() -> None:
    start(run)


def run(arguments: Sequence[str], out: TextIO, err: TextIO) -> int:
    """Do what the command line says, and give the exit status."""

    def work(options: ParsedOptions) -> int:
        options.require(BOOTSTRAP_SERVER, DESCRIBE)
        return report_errors(lambda: _describe(options, out), out, err)

    return TOOL.run(arguments, work, out=out, err=err)


def _describe(options: ParsedOptions, out: TextIO) -> int:
    with connect_as_told(options, {"client.id": "log-dirs-tool"}) as cluster:
        topics = set(_split(options.value(TOPIC_LIST)))
        asked = {parse_number(word) for word in _split(options.value(BROKER_LIST))}
        present = {broker.broker_id for broker in describe_cluster(cluster).brokers}
        if asked - present:
            raise ToolError(
                f"ERROR: The given brokers do not exist from --broker-list: {_ids(asked - present)}. "
                f"Current existent brokers: {_ids(present)}"
            )
        brokers = asked or present
        print("Querying brokers for log directories information", file=out)
        directories = {broker_id: describe_log_dirs(cluster, broker_id) for broker_id in sorted(brokers)}
        print(f"Received log directory information from brokers {_ids(brokers)}", file=out)
        shown = [
            {"broker": broker_id, "logDirs": _shown_directories(found, topics)}
            for broker_id, found in directories.items()
        ]
        answer = {"brokers": shown, "version": 1}
        print(json.dumps(answer, separators=(",", ":"), ensure_ascii=False), file=out)
    return 0


def _shown_directories(directories: Sequence[LogDir], topics: set[str]) -> list[dict[str, Any]]:
    by_path = {directory.path: directory for directory in directories}
    ordered = in_hash_order(by_path, string_hash, capacity=len(by_path))
    return [_shown_directory(by_path[path], topics) for path in ordered]


def _shown_directory(directory: LogDir, topics: set[str]) -> dict[str, Any]:
    """With all its replicas, or with the replicas of some topics."""
    replicas = directory.replicas
    return {
        "partitions": [
            {
                "partition": str(partition),
                "size": replicas[partition].partition_size,
                "offsetLag": replicas[partition].offset_lag,
                "isFuture": replicas[partition].is_future_key,
            }
            for partition in in_hash_order(replicas, partition_hash)
            if not topics or partition.topic in topics
        ],
        "error": None if directory.error is None else exception_name(directory.error.code),
        "logDir": directory.path,
    }


def _split(words: str) -> list[str]:
    return [word for word in words.split(",") if word]


def _ids(brokers: set[int]) -> str:
    return ",".join(map(str, sorted(brokers)))
