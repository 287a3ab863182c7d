"""`kafka-consumer-perf-test`: consumes records as fast as they come, and prints how fast that was."""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, TextIO

from barnabas.cli.cluster_access import ToolError, read_properties
from barnabas.cli.options import Option, ParsedOptions, Tool, flag, integer, long_integer, text
from barnabas.cli.perf.java_dates import DatePatternError, format_date
from barnabas.cli.tool_properties import check_one_of, parse_pairs
from barnabas.config.setting import ConfigError

CLIENT_ID: Final = "perf-consumer-client"
HEADER: Final = (
    "data.consumed.in.MB, MB.sec, data.consumed.in.nMsg, nMsg.sec, rebalance.time.ms, fetch.time.ms, fetch.MB.sec, "
    "fetch.nMsg.sec"
)

BOOTSTRAP_SERVER = text("bootstrap-server", "REQUIRED: Brokers to start from.", argument="servers")
TOPIC = text("topic", "The topic to consume.", argument="topic")
INCLUDE = text("include", "A regular expression: consume the topics whose whole names fit it.", argument="pattern")
GROUP = text("group", "The group to consume in; without one, every partition is consumed.", argument="group")
FETCH_SIZE = integer("fetch-size", "The most to fetch of a partition.", argument="bytes", default=1024 * 1024)
COMMAND_PROPERTY = text("command-property", "A setting of the consumer; it wins over files.", argument="name=value")
FROM_LATEST = flag("from-latest", "Start with records that come from now on, where the group has no offset.")
SOCKET_BUFFER_SIZE = integer("socket-buffer-size", "The socket's buffer.", argument="bytes", default=2 * 1024 * 1024)
CONSUMER_CONFIG = text("consumer.config", "The old name of --command-config.", argument="file")
COMMAND_CONFIG = text("command-config", "A file of settings for the consumer.", argument="file")
PRINT_METRICS = flag("print-metrics", "Print metrics of the client at the end.")
SHOW_DETAILED_STATS = flag("show-detailed-stats", "Print a line in each reporting interval.")
TIMEOUT = Option(
    "timeout",
    "The longest to wait for the next record, in ms.",
    "ms",
    long_integer("", "", argument="").convert,
    10_000,
    has_optional_value=True,
)
MESSAGES = long_integer("messages", "The old name of --num-records.", argument="count")
NUM_RECORDS = long_integer("num-records", "REQUIRED: How many records to consume.", argument="count")
REPORTING_INTERVAL = long_integer("reporting-interval", "How often to print progress.", argument="ms", default=5000)
DATE_FORMAT = text(
    "date-format",
    "How times are printed, in the letters of Java's SimpleDateFormat.",
    argument="format",
    default="yyyy-MM-dd HH:mm:ss:SSS",
)
HIDE_HEADER = flag("hide-header", "Do not print the names of the columns.")

TOOL = Tool(
    "kafka-consumer-perf-test",
    "Measures a consumer.",
    (
        BOOTSTRAP_SERVER,
        TOPIC,
        INCLUDE,
        GROUP,
        FETCH_SIZE,
        COMMAND_PROPERTY,
        FROM_LATEST,
        SOCKET_BUFFER_SIZE,
        CONSUMER_CONFIG,
        COMMAND_CONFIG,
        PRINT_METRICS,
        SHOW_DETAILED_STATS,
        TIMEOUT,
        MESSAGES,
        NUM_RECORDS,
        REPORTING_INTERVAL,
        DATE_FORMAT,
        HIDE_HEADER,
    ),
)


@dataclass(frozen=True, kw_only=True)
class ConsumerTest:
    """What is to be measured."""

    topic: str | None
    pattern: str | None
    properties: dict[str, str]
    has_group: bool
    record_count: int
    timeout_ms: int
    reporting_interval_ms: int
    is_detailed: bool
    prints_metrics: bool
    date_format: str


def main() -> None:
    sys.exit(run(sys.argv[1:], sys.stdout, sys.stderr))


def run(arguments: Sequence[str], out: TextIO, err: TextIO) -> int:
    """Do what the command line says, and give the exit status."""

    def work(options: ParsedOptions) -> int:
        try:
            test = parse_test(options, out)
            if not options.has(HIDE_HEADER):
                print("time, threadId" if test.is_detailed else "start.time, end.time", HEADER, sep=", ", file=out)
            out.flush()
            # Importing librdkafka takes longer than everything up to here.
            from barnabas.cli.perf.consuming import measure_consumer

            return measure_consumer(test, out, err)
        except (ToolError, ConfigError, OSError) as error:
            print(error, file=err)
            return 1

    return TOOL.run(arguments, work, out=out, err=err)


def parse_test(options: ParsedOptions, out: TextIO) -> ConsumerTest:
    """UsageError where the options do not go together; who uses an older name for one is told so."""
    options.require(BOOTSTRAP_SERVER)
    check_one_of(options, TOPIC, INCLUDE)
    check_one_of(options, MESSAGES, NUM_RECORDS)
    options.forbid(CONSUMER_CONFIG, COMMAND_CONFIG)
    for old, present in ((MESSAGES, NUM_RECORDS), (CONSUMER_CONFIG, COMMAND_CONFIG)):
        if options.has(old):
            print(f"Warning: --{old.name} is deprecated. Use --{present.name} instead.", file=out)
    options = options.renamed([(MESSAGES, NUM_RECORDS), (CONSUMER_CONFIG, COMMAND_CONFIG)])
    interval_ms = options.value(REPORTING_INTERVAL)
    if interval_ms <= 0:
        raise ToolError("Reporting interval must be greater than 0.")
    try:
        re.compile(options.find(INCLUDE) or "")
        format_date(datetime.now(), options.value(DATE_FORMAT))
    except (re.error, DatePatternError) as error:
        raise ToolError(str(error)) from None
    return ConsumerTest(
        topic=options.find(TOPIC),
        pattern=options.find(INCLUDE),
        properties=_properties(options),
        has_group=options.has(GROUP),
        record_count=options.value(NUM_RECORDS),
        timeout_ms=options.value(TIMEOUT),
        reporting_interval_ms=interval_ms,
        is_detailed=options.has(SHOW_DETAILED_STATS),
        prints_metrics=options.has(PRINT_METRICS),
        date_format=options.value(DATE_FORMAT),
    )


def _properties(options: ParsedOptions) -> dict[str, str]:
    """The settings of the consumer, by the names that Java's has for them."""
    properties = {"client.id": CLIENT_ID}
    if options.has(COMMAND_CONFIG):
        properties |= read_properties(options.value(COMMAND_CONFIG))
    properties |= parse_pairs(options.values(COMMAND_PROPERTY))
    return properties | {
        "bootstrap.servers": options.value(BOOTSTRAP_SERVER),
        "group.id": options.find(GROUP) or f"perf-consumer-{random.randrange(100_000)}",
        "receive.buffer.bytes": str(options.value(SOCKET_BUFFER_SIZE)),
        "max.partition.fetch.bytes": str(options.value(FETCH_SIZE)),
        "auto.offset.reset": "latest" if options.has(FROM_LATEST) else "earliest",
        "check.crcs": "false",
    }


if __name__ == "__main__":
    main()
