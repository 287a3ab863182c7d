"""`kafka-get-offsets`: shows where partitions start, end, or reach a time."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final, TextIO

from barnabas.cli.cluster_access import BOOTSTRAP_SERVER, COMMAND_CONFIG, ToolError, connect_as_told
from barnabas.cli.entry import start
from barnabas.cli.error_lines import error_line, error_lines
from barnabas.cli.options import ParsedOptions, Tool, UsageError, flag, parse_integer, text
from barnabas.cli.topic_filter import INTERNAL_TOPICS, BadFilterError, TopicFilter
from barnabas.client.addresses import parse_addresses
from barnabas.client.admin.offsets import OffsetTime, list_offsets
from barnabas.client.admin.topics import describe_topics, list_topics
from barnabas.client.cluster import Cluster
from barnabas.client.errors import ClientError
from barnabas.client.outcomes import raise_first
from barnabas.config.setting import INT_MAX, ConfigError
from barnabas.log.checkpoint import TopicPartition

TOPIC_PARTITIONS = text(
    "topic-partitions",
    "Patterns of partitions with commas between them. Each is a regular expression of topics, a colon, and a number or "
    "a range of numbers, of which the second does not count in; either side may be left out.",
    argument="topic1:1,topic2:0-3,topic3,topic4:5-,topic5:-3",
)
TOPIC = text("topic", "The topic, or a regular expression of topics.", argument="topic")
PARTITIONS = text("partitions", "The numbers of partitions, with commas between them.", argument="ids")
TIME = text(
    "time",
    "A timestamp in milliseconds, of which the first offset that is as young is shown, or latest (-1), earliest (-2), "
    "max-timestamp (-3), earliest-local (-4), latest-tiered (-5) or earliest-pending-upload (-6).",
    argument="timestamp",
    default="latest",
)
EXCLUDE_INTERNAL = flag("exclude-internal-topics", "Leave out the topics that Kafka keeps for itself.")
COMPLAINT: Final = "Error occurred: "
TOOL = Tool(
    "kafka-get-offsets",
    "Shows where partitions start, end, or reach a time.",
    (BOOTSTRAP_SERVER, TOPIC_PARTITIONS, TOPIC, PARTITIONS, TIME, COMMAND_CONFIG, EXCLUDE_INTERNAL),
    complaint=COMPLAINT,
)
_PATTERN: Final = re.compile(r"([^:,]*)(?::(?:([0-9]*)|(?:([0-9]*)-([0-9]*))))?")
_TIMES: Final = {time.name.lower().replace("_", "-"): time for time in OffsetTime}
_UNKNOWN_OFFSET: Final = -1


def main() -> None:
    start(run)


def run(arguments: Sequence[str], out: TextIO, err: TextIO) -> int:
    """Do what the command line says, and give the exit status."""

    def work(options: ParsedOptions) -> int:
        options.require(BOOTSTRAP_SERVER)
        _check_servers(options.value(BOOTSTRAP_SERVER))
        try:
            _show_offsets(options, out, err)
        except ClientError as error:
            complaint = error_lines(error)
        except (ToolError, BadFilterError, ConfigError, OSError) as error:
            complaint = str(error)
        else:
            return 0
        out.flush()
        print(f"{COMPLAINT}{complaint}", file=err)
        return 1

    return TOOL.run(arguments, work, out=out, err=err)


def _check_servers(servers: str) -> None:
    try:
        parse_addresses(servers.split(","), BOOTSTRAP_SERVER.name)
    except ConfigError:
        raise UsageError("Please provide valid host:port like host1:9091,host2:9092\n", shows_help=True) from None


def _show_offsets(options: ParsedOptions, out: TextIO, err: TextIO) -> None:
    if options.has(TOPIC_PARTITIONS) and options.has(TOPIC, PARTITIONS):
        raise ToolError("--topic-partitions cannot be used with --topic or --partitions")
    timestamp = _parse_time(options.value(TIME))
    rules = _parse_rules(options)
    with connect_as_told(options, {"client.id": "GetOffsetShell"}) as cluster:
        partitions = _find_partitions(cluster, rules, excludes_internal=options.has(EXCLUDE_INTERNAL))
        if not partitions:
            raise ToolError("Could not match any topic-partitions with the specified filters")
        offsets = list_offsets(cluster, partitions, timestamp)
    for partition in sorted(offsets, key=str):
        offset = offsets[partition]
        if isinstance(offset, ClientError):
            print(f"Skip getting offsets for topic-partition {partition} due to error: {error_line(offset)}", file=err)
        elif offset != _UNKNOWN_OFFSET:
            print(f"{partition.topic}:{partition.partition}:{offset}", file=out)


class _Rule:
    """Which topics, and which of their partitions, are meant."""

    def __init__(self, topics: str, has_partition: Callable[[int], bool]) -> None:
        self._topics = TopicFilter(topics)
        self._has_partition = has_partition

    def allows_topic(self, topic: str) -> bool:
        return self._topics.allows(topic)

    def allows(self, partition: TopicPartition) -> bool:
        return self.allows_topic(partition.topic) and self._has_partition(partition.partition)


def _parse_rules(options: ParsedOptions) -> list[_Rule]:
    patterns = options.find(TOPIC_PARTITIONS)
    if patterns is not None:
        return [_parse_rule(pattern) for pattern in patterns.split(",")]
    numbers = _parse_numbers(options.find(PARTITIONS) or "")
    topics = options.find(TOPIC)
    return [_Rule(".*" if topics is None else topics, lambda number: not numbers or number in numbers)]


def _parse_rule(pattern: str) -> _Rule:
    match = _PATTERN.fullmatch(pattern)
    if match is None:
        raise ToolError(f"Invalid rule specification: {pattern}")
    topics, number, first, end = match.groups()
    wanted = (
        range(int(number), int(number) + 1)
        if number
        else range(int(first) if first else 0, int(end) if end else INT_MAX)
    )
    return _Rule(topics or ".*", wanted.__contains__)


def _parse_numbers(argument: str) -> set[int]:
    try:
        return {parse_integer(word) for word in argument.split(",")} if argument else set()
    except ValueError:
        raise ToolError(
            f"--partitions expects a comma separated list of numeric partition ids, but received: {argument}"
        ) from None


def _parse_time(argument: str) -> int:
    if argument in _TIMES:
        return _TIMES[argument]
    try:
        return parse_integer(argument, bits=64)
    except ValueError:
        names = " / ".join(f"{time} or {name}" for name, time in _TIMES.items())
        raise ToolError(
            f"Malformed time argument {argument}. Please use {names}, or a specified long format timestamp"
        ) from None


def _find_partitions(cluster: Cluster, rules: Sequence[_Rule], *, excludes_internal: bool) -> list[TopicPartition]:
    topics = [
        topic.name
        for topic in list_topics(cluster)
        if not (excludes_internal and topic.name in INTERNAL_TOPICS)
        and any(rule.allows_topic(topic.name) for rule in rules)
    ]
    partitions = (
        TopicPartition(name, partition.index)
        for name, topic in raise_first(describe_topics(cluster, topics)).items()
        for partition in topic.partitions
    )
    return [partition for partition in partitions if any(rule.allows(partition) for rule in rules)]
