"""`kafka-producer-perf-test`: produces records as fast as it can or may, and prints rates and latencies."""

from __future__ import annotations

import argparse
import sys
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TextIO

from barnabas.cli.cluster_access import ToolError, read_properties, report_errors
from barnabas.cli.commands import CommandLineError, CommandParser, integer
from barnabas.cli.perf.java_numbers import floating, long_integer
from barnabas.cli.perf.payloads import chosen_from, random_letters, read_payloads, record_numbers

TOOL: Final = "kafka-producer-perf-test"
PURPOSE: Final = (
    "Measures a producer. It uses transactions where a transactional id is given, by --transactional-id or as a "
    "setting, or where --transaction-duration-ms is."
)
CLIENT_ID: Final = "perf-producer-client"
TRANSACTIONAL_ID: Final = "transactional.id"
TRANSACTION_DURATION_MS: Final = 3000
_PAYLOAD_CHOICE: Final = "Exactly one of --record-size, --payload-file and --payload-monotonic is needed."


@dataclass(frozen=True, kw_only=True)
class ProducerTest:
    """What is to be measured. `transaction_duration_ms` is None where there are no transactions."""

    topic: str
    record_count: int
    warmup_count: int
    rate_per_s: float
    payloads: Iterator[bytes]
    properties: dict[str, str]
    prints_metrics: bool
    reporting_interval_ms: int
    transaction_duration_ms: int | None


def main() -> None:
    sys.exit(run(sys.argv[1:], sys.stdout, sys.stderr))


def run(arguments: Sequence[str], out: TextIO, err: TextIO) -> int:
    """Do what the command line says, and give the exit status."""
    parser = _parser()
    if not arguments:
        parser.print_help(out)
        return 0

    def work() -> int:
        options = parser.read(arguments, out)
        if options is None:
            return 1
        test = parse_test(options, parser, out)
        out.flush()
        # Importing librdkafka takes longer than everything up to here.
        from barnabas.cli.perf.producing import measure_producer

        return measure_producer(test, out, err)

    return report_errors(work, out, err)


def _parser() -> CommandParser:
    parser = CommandParser(TOOL, description=PURPOSE)
    add = parser.add_argument
    add("--bootstrap-server", metavar="HOSTS", help="Brokers to start from; wins over the setting bootstrap.servers.")
    payload = parser.add_mutually_exclusive_group(required=True)
    add("--topic", required=True, metavar="TOPIC", help="The topic to produce to.")
    add("--num-records", required=True, type=long_integer, metavar="COUNT", help="How many records to produce.")
    payload.add_argument(
        "--record-size", type=integer, metavar="BYTES", help=f"The size of a record. {_PAYLOAD_CHOICE}"
    )
    payload.add_argument(
        "--payload-file",
        metavar="FILE",
        help=f"A text file in UTF-8 whose parts are sent in random order. {_PAYLOAD_CHOICE}",
    )
    payload.add_argument(
        "--payload-monotonic",
        action="store_true",
        default=None,
        help=f"Send numbers that go up by one. {_PAYLOAD_CHOICE}",
    )
    add("--payload-delimiter", default="\\n", metavar="DELIMITER", help="What stands between the parts of that file.")
    add("--throughput", required=True, type=floating, metavar="RATE", help="Records a second at most; -1: no limit.")
    add(
        "--producer-props",
        nargs="+",
        metavar="NAME=VALUE",
        help="The old name of --command-property.",
    )
    add("--command-property", nargs="+", metavar="NAME=VALUE", help="Settings of the producer; they win over files.")
    add("--producer.config", dest="producer_config", metavar="FILE", help="The old name of --command-config.")
    add("--command-config", metavar="FILE", help="A file of settings for the producer.")
    add("--print-metrics", action="store_true", help="Print metrics of the client at the end.")
    add("--transactional-id", metavar="ID", help="The transactional id; wins over the setting.")
    add(
        "--transaction-duration-ms",
        type=long_integer,
        metavar="MS",
        help=f"How long a transaction lasts before it is committed, {TRANSACTION_DURATION_MS} unless given.",
    )
    add(
        "--warmup-records",
        type=long_integer,
        default=0,
        metavar="COUNT",
        help="Leave out so many records at the start in a line of its own.",
    )
    add("--reporting-interval", type=long_integer, default=5000, metavar="MS", help="How often to print progress.")
    return parser


def parse_test(options: argparse.Namespace, parser: CommandParser, out: TextIO) -> ProducerTest:
    """CommandLineError where the options do not go together; who uses an older name for one is told so."""
    complaint = _find_complaint(options)
    if complaint is not None:
        raise CommandLineError(parser.format_usage(), TOOL, complaint)
    payloads = _payloads(options, out)
    for old in ("producer-props", "producer.config"):
        if getattr(options, old.replace("-", "_").replace(".", "_")) is not None:
            present = {"producer-props": "command-property", "producer.config": "command-config"}[old]
            print(
                f"Option --{old} has been deprecated and will be removed in a future version. Use --{present} instead.",
                file=out,
            )
    properties = _properties(options)
    duration_ms = options.transaction_duration_ms
    if duration_ms is not None or options.transactional_id is not None or TRANSACTIONAL_ID in properties:
        given = options.transactional_id or properties.get(TRANSACTIONAL_ID)
        properties[TRANSACTIONAL_ID] = given or f"performance-producer-{uuid.uuid4()}"
        duration_ms = TRANSACTION_DURATION_MS if duration_ms is None else duration_ms
    return ProducerTest(
        topic=options.topic,
        record_count=options.num_records,
        warmup_count=max(options.warmup_records, 0),
        rate_per_s=options.throughput,
        payloads=payloads,
        properties=properties,
        prints_metrics=options.print_metrics,
        reporting_interval_ms=options.reporting_interval,
        transaction_duration_ms=duration_ms,
    )


def _find_complaint(options: argparse.Namespace) -> str | None:
    """What is wrong with the options, in the order in which Kafka's tool looks at them."""
    properties, old_properties = options.command_property, options.producer_props
    config, old_config = options.command_config, options.producer_config
    if options.num_records <= 0:
        return "--num-records should be greater than zero."
    if options.warmup_records >= options.num_records:
        return (
            "The value for --warmup-records must be strictly fewer than the number of records in the test, "
            "--num-records."
        )
    if options.record_size is not None and options.record_size <= 0:
        return "--record-size should be greater than zero."
    if all(each is None for each in (options.bootstrap_server, properties, old_properties, config, old_config)):
        return (
            "At least one of --bootstrap-server, --command-property, --producer-props, --producer.config or "
            "--command-config must be specified."
        )
    if properties is not None and old_properties is not None:
        return "--command-property and --producer-props cannot be specified together."
    if config is not None and old_config is not None:
        return "--command-config and --producer.config cannot be specified together."
    if options.transaction_duration_ms is not None and options.transaction_duration_ms <= 0:
        return "--transaction-duration-ms should be greater than zero."
    if options.reporting_interval <= 0:
        return "--reporting-interval should be greater than zero."
    return None


def _payloads(options: argparse.Namespace, out: TextIO) -> Iterator[bytes]:
    if options.payload_file is not None:
        return chosen_from(read_payloads(Path(options.payload_file), options.payload_delimiter, out))
    return record_numbers() if options.payload_monotonic else random_letters(options.record_size)


def _properties(options: argparse.Namespace) -> dict[str, str]:
    """The settings of the producer, by the names that Java's has for them."""
    path = options.command_config or options.producer_config
    properties = {"client.id": CLIENT_ID} | (read_properties(path) if path is not None else {})
    for word in options.command_property or options.producer_props or []:
        name, _, value = word.partition("=")
        if not value or "=" in value:
            raise ToolError(f"java.lang.IllegalArgumentException: Invalid property: {word}")
        properties[name] = value
    if options.bootstrap_server is not None:
        properties["bootstrap.servers"] = options.bootstrap_server
    if "bootstrap.servers" not in properties:
        raise ToolError(
            'org.apache.kafka.common.config.ConfigException: Missing required configuration "bootstrap.servers" which '
            "has no default value."
        )
    return properties


if __name__ == "__main__":
    main()
