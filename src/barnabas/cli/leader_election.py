"""`kafka-leader-election`: lets partitions elect their preferred leader, or any replica that lives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from barnabas.cli.cluster_access import BOOTSTRAP_SERVER, COMMAND_CONFIG, ToolError, connect_as_told, report_errors
from barnabas.cli.entry import start
from barnabas.cli.error_lines import error_line
from barnabas.cli.java_order import in_hash_order, partition_hash
from barnabas.cli.json_input import read_json
from barnabas.cli.options import Option, ParsedOptions, Tool, flag, integer, text
from barnabas.client.admin.elections import ElectionType, elect_leaders
from barnabas.client.cluster import Cluster
from barnabas.client.errors import ClientError
from barnabas.client.outcomes import Outcomes
from barnabas.client.settings import DEFAULT_API_TIMEOUT_MS, REQUEST_TIMEOUT_MS
from barnabas.log.checkpoint import TopicPartition
from barnabas.protocol.errors import ErrorCode


def _election_type(word: str) -> ElectionType:
    try:
        return ElectionType[word.upper()]
    except KeyError:
        raise ValueError(word) from None


ADMIN_CONFIG = text("admin.config", "The old name of --command-config.", argument="file")
PATH_TO_JSON_FILE = text(
    "path-to-json-file",
    'A file of partitions: {"partitions": [{"topic": "foo", "partition": 1}]}.',
    argument="file",
)
TOPIC = text("topic", "The topic of one partition.", argument="topic")
PARTITION = integer("partition", "The number of that partition.", argument="number")
ALL = flag("all-topic-partitions", "All partitions that an election of this type is for.")
ELECTION_TYPE: Option[ElectionType] = Option(
    "election-type",
    "preferred, for partitions led by another than their preferred replica, or unclean, for partitions without a "
    "leader, which may lose records then.",
    "type",
    _election_type,
)
TOOL = Tool(
    "kafka-leader-election",
    "Lets partitions elect their leaders anew.",
    (BOOTSTRAP_SERVER, ADMIN_CONFIG, COMMAND_CONFIG, PATH_TO_JSON_FILE, TOPIC, PARTITION, ALL, ELECTION_TYPE),
)
TIMEOUTS = {DEFAULT_API_TIMEOUT_MS: "30000", REQUEST_TIMEOUT_MS: "15000"}


def main() -> None:
    start(run)


def run(arguments: Sequence[str], out: TextIO, err: TextIO) -> int:
    """Do what the command line says, and give the exit status."""

    def work(options: ParsedOptions) -> int:
        return report_errors(lambda: _elect(options, out), out, err)

    return TOOL.run(arguments, work, out=out, err=err)


def _elect(options: ParsedOptions, out: TextIO) -> int:
    _check(options)
    election_type = options.value(ELECTION_TYPE)
    partitions = _find_partitions(options)
    config = COMMAND_CONFIG
    if options.has(ADMIN_CONFIG):
        print(
            "Option --admin.config has been deprecated and will be removed in a future version. "
            "Use --command-config instead.",
            file=out,
        )
        config = ADMIN_CONFIG
    with connect_as_told(options, TIMEOUTS, config=config) as cluster:
        _tell(_ask(cluster, election_type, partitions, out), election_type, out)
    return 0


def _check(options: ParsedOptions) -> None:
    missing = [option.name for option in (BOOTSTRAP_SERVER, ELECTION_TYPE) if not options.has(option)]
    if missing:
        raise ToolError(f"Missing required option(s): {', '.join(missing)}")
    options.forbid(ADMIN_CONFIG, COMMAND_CONFIG)
    choices = (TOPIC, ALL, PATH_TO_JSON_FILE)
    if sum(options.has(choice) for choice in choices) != 1:
        raise ToolError(
            "One and only one of the following options is required: " + ", ".join(choice.name for choice in choices)
        )
    if options.has(TOPIC) and not options.has(PARTITION):
        raise ToolError(f"Missing required option(s): {PARTITION.name}")
    if options.has(PARTITION) and not options.has(TOPIC):
        raise ToolError(f"Option {PARTITION.name} is only allowed if {TOPIC.name} is used")


def _find_partitions(options: ParsedOptions) -> list[TopicPartition] | None:
    """The partitions that are named, or None for all."""
    if options.has(TOPIC):
        return [TopicPartition(options.value(TOPIC), options.value(PARTITION))]
    if options.has(ALL):
        return None
    entries = read_json(options.value(PATH_TO_JSON_FILE)).objects("partitions")
    if entries is None:
        raise ToolError('Replica election data is missing "partitions" field')
    partitions = [TopicPartition(entry.text("topic"), entry.integer("partition")) for entry in entries]
    repeated = {partition for partition in partitions if partitions.count(partition) > 1}
    if repeated:
        names = ", ".join(map(str, in_hash_order(repeated, partition_hash)))
        raise ToolError(f"Replica election data contains duplicate partitions: [{names}]")
    return partitions


def _ask(
    cluster: Cluster, election_type: ElectionType, partitions: list[TopicPartition] | None, out: TextIO
) -> Outcomes[TopicPartition]:
    explained = {
        ErrorCode.REQUEST_TIMED_OUT: "Timeout waiting for election results",
        ErrorCode.CLUSTER_AUTHORIZATION_FAILED: "Not authorized to perform leader election",
    }
    try:
        return elect_leaders(cluster, election_type, partitions)
    except ClientError as error:
        if error.code not in explained:
            raise
        print(explained[error.code], file=out)
        raise ToolError(explained[error.code]) from error


def _tell(outcomes: Outcomes[TopicPartition], election_type: ElectionType, out: TextIO) -> None:
    elected, unneeded, failed = [], [], {}
    for partition in in_hash_order(outcomes, partition_hash):
        error = outcomes[partition]
        if error is None:
            elected.append(partition)
        elif error.code == ErrorCode.ELECTION_NOT_NEEDED:
            unneeded.append(partition)
        else:
            failed[partition] = error
    if elected:
        names = ", ".join(map(str, elected))
        print(f"Successfully completed leader election ({election_type.name}) for partitions {names}", file=out)
    if unneeded:
        print(f"Valid replica already elected for partitions {', '.join(map(str, unneeded))}", file=out)
    for partition, error in failed.items():
        print(
            f"Error completing leader election ({election_type.name}) for partition: {partition}: {error_line(error)}",
            file=out,
        )
    if failed:
        raise ToolError(f"{len(failed)} replica(s) could not be elected")
