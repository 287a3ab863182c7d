"""`kafka-delete-records`: deletes the records of partitions before given offsets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from barnabas.cli.cluster_access import BOOTSTRAP_SERVER, COMMAND_CONFIG, ToolError, connect_as_told, report_errors
from barnabas.cli.entry import start
from barnabas.cli.error_lines import error_line
from barnabas.cli.java_order import in_hash_order, partition_hash
from barnabas.cli.json_input import read_json
from barnabas.cli.options import ParsedOptions, Tool, text
from barnabas.client.admin.offsets import delete_records
from barnabas.client.cluster import Cluster
from barnabas.client.errors import ClientError
from barnabas.log.checkpoint import TopicPartition

OFFSET_JSON_FILE = text(
    "offset-json-file",
    'A file of offsets by partition: {"partitions": [{"topic": "foo", "partition": 1, "offset": 1}], "version": 1}; '
    "an offset of -1 stands for the end.",
    argument="file",
)
TOOL = Tool(
    "kafka-delete-records",
    "Deletes the records of partitions before given offsets.",
    (BOOTSTRAP_SERVER, OFFSET_JSON_FILE, COMMAND_CONFIG),
)


def main() -> None:
    start(run)


def run(arguments: Sequence[str], out: TextIO, err: TextIO) -> int:
    """Do what the command line says, and give the exit status."""

    def work(options: ParsedOptions) -> int:
        options.require(BOOTSTRAP_SERVER, OFFSET_JSON_FILE)
        return report_errors(lambda: _delete(options, out), out, err)

    return TOOL.run(arguments, work, out=out, err=err)


def _delete(options: ParsedOptions, out: TextIO) -> int:
    with connect_as_told(options) as cluster:
        offsets = _read_offsets(options.value(OFFSET_JSON_FILE))
        print("Executing records delete operation", file=out)
        _delete_and_tell(cluster, offsets, out)
    return 0


def _delete_and_tell(cluster: Cluster, offsets: dict[TopicPartition, int], out: TextIO) -> None:
    outcomes = delete_records(cluster, offsets)
    print("Records delete operation completed:", file=out)
    for partition, outcome in sorted(outcomes.items()):
        if isinstance(outcome, ClientError):
            print(f"partition: {partition}\terror: {error_line(outcome)}", file=out)
        else:
            print(f"partition: {partition}\tlow_watermark: {outcome}", file=out)


def _read_offsets(path: str) -> dict[TopicPartition, int]:
    file = read_json(path)
    file.check_version()
    entries = file.objects("partitions")
    if entries is None:
        raise ToolError("Missing partitions field")
    offsets: dict[TopicPartition, int] = {}
    repeated: list[TopicPartition] = []
    for entry in entries:
        partition = TopicPartition(entry.text("topic"), entry.integer("partition"))
        if partition in offsets:
            repeated.append(partition)
        offsets[partition] = entry.integer("offset")
    if repeated:
        names = ",".join(map(str, in_hash_order(dict.fromkeys(repeated), partition_hash)))
        raise ToolError(f"Offset json file contains duplicate topic partitions: {names}")
    return offsets
