"""`kafka-console-consumer`: prints the records of a topic, of one partition, or of all topics that fit a pattern."""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import BinaryIO, Final, NoReturn, TextIO

from barnabas.cli.cluster_access import ToolError, read_properties
from barnabas.cli.options import ParsedOptions, Tool, UsageError, flag, integer, long_integer, text
from barnabas.cli.tool_properties import check_one_of, parse_pairs
from barnabas.config.setting import ConfigError

CLIENT_ID: Final = "console-consumer"
DEFAULT_FORMATTER: Final = "org.apache.kafka.tools.consumer.DefaultMessageFormatter"
AUTO_OFFSET_RESET: Final = "auto.offset.reset"
GROUP_ID: Final = "group.id"

TOPIC = text("topic", "The topic to consume.", argument="topic")
INCLUDE = text("include", "A regular expression: consume the topics whose whole names fit it.", argument="pattern")
PARTITION = integer(
    "partition", "The only partition to consume, from its end unless --offset says otherwise.", argument="partition"
)
OFFSET = text(
    "offset", "Where to start in the partition: earliest, latest or an offset.", argument="offset", default="latest"
)
CONSUMER_PROPERTY = text("consumer-property", "The old name of --command-property.", argument="name=value")
COMMAND_PROPERTY = text("command-property", "A setting of the consumer.", argument="name=value")
CONSUMER_CONFIG = text("consumer.config", "The old name of --command-config.", argument="file")
COMMAND_CONFIG = text("command-config", "A file of settings for the consumer.", argument="file")
FORMATTER = text("formatter", "The class that prints records.", argument="class", default=DEFAULT_FORMATTER)
PROPERTY = text("property", "The old name of --formatter-property.", argument="name=value")
FORMATTER_PROPERTY = text(
    "formatter-property",
    "How records are printed: print.timestamp, print.partition, print.offset, print.epoch, print.delivery, "
    "print.headers, print.key, print.value (true or false), key.separator, line.separator, headers.separator, "
    "null.literal, key.deserializer, value.deserializer, headers.deserializer.",
    argument="name=value",
)
FORMATTER_CONFIG = text("formatter-config", "A file of such properties.", argument="file")
FROM_BEGINNING = flag(
    "from-beginning", "Start with the first record that is there, where the group has no offset to go on from."
)
MAX_MESSAGES = integer("max-messages", "End after so many records.", argument="count")
TIMEOUT_MS = long_integer("timeout-ms", "End when no record has come for so long.", argument="ms")
SKIP_MESSAGE_ON_ERROR = flag("skip-message-on-error", "Go on behind a record that cannot be printed.")
BOOTSTRAP_SERVER = text("bootstrap-server", "REQUIRED: Brokers to start from.", argument="servers")
KEY_DESERIALIZER = text("key-deserializer", "The class that reads keys.", argument="class")
VALUE_DESERIALIZER = text("value-deserializer", "The class that reads values.", argument="class")
SYSTEST_EVENTS = flag("enable-systest-events", "Say when the consumer has shut down.")
ISOLATION_LEVEL = text(
    "isolation-level",
    "read_committed leaves out what was not committed; read_uncommitted does not.",
    argument="level",
    default="read_uncommitted",
)
GROUP = text("group", "The group to consume in.", argument="group")

TOOL = Tool(
    "kafka-console-consumer",
    "Prints the records of topics.",
    (
        TOPIC,
        INCLUDE,
        PARTITION,
        OFFSET,
        CONSUMER_PROPERTY,
        COMMAND_PROPERTY,
        CONSUMER_CONFIG,
        COMMAND_CONFIG,
        FORMATTER,
        PROPERTY,
        FORMATTER_PROPERTY,
        FORMATTER_CONFIG,
        FROM_BEGINNING,
        MAX_MESSAGES,
        TIMEOUT_MS,
        SKIP_MESSAGE_ON_ERROR,
        BOOTSTRAP_SERVER,
        KEY_DESERIALIZER,
        VALUE_DESERIALIZER,
        SYSTEST_EVENTS,
        ISOLATION_LEVEL,
        GROUP,
    ),
)


@dataclass(frozen=True, kw_only=True)
class Request:
    """What the command line asks for. The start is a name or an offset; without a limit, count or time is None."""

    topic: str | None
    pattern: str | None
    partition: int | None
    start: str | int
    properties: dict[str, str]
    has_group: bool
    formatter: str
    formatter_properties: dict[str, str]
    count_max: int | None
    timeout_ms: int | None
    skips_errors: bool
    tells_shutdown: bool


def main() -> None:
    sys.exit(run(sys.argv[1:], sys.stdout, sys.stderr, sys.stdout.buffer))


def run(arguments: Sequence[str], out: TextIO, err: TextIO, records: BinaryIO) -> int:
    """Do what the command line says, and give the exit status. Records go to `records`, the bytes beneath `out`."""

    def work(options: ParsedOptions) -> int:
        try:
            request = parse_request(options, out)
            out.flush()
            # Importing librdkafka takes longer than everything up to here.
            from barnabas.cli.console.printing import print_records

            return print_records(request, err, records)
        except (ToolError, ConfigError, OSError) as error:
            print(error, file=err)
            return 1

    return TOOL.run(arguments, work, out=out, err=err)


def parse_request(options: ParsedOptions, out: TextIO) -> Request:
    """UsageError where the options do not go together; who uses an older name for one is told so."""
    _check(options)
    for old, present in ((CONSUMER_PROPERTY, COMMAND_PROPERTY), (CONSUMER_CONFIG, COMMAND_CONFIG)):
        if options.has(old) and options.has(present):
            _refuse(f"Options --{old.name} and --{present.name} cannot be specified together.")
    for old, present in ((CONSUMER_PROPERTY, COMMAND_PROPERTY), (CONSUMER_CONFIG, COMMAND_CONFIG)):
        if options.has(old):
            _tell_renamed(old.name, present.name, out)
    options = options.renamed([(CONSUMER_PROPERTY, COMMAND_PROPERTY), (CONSUMER_CONFIG, COMMAND_CONFIG)])
    properties, has_group = _consumer_properties(options)
    start = _start(options)
    timeout_ms = options.find(TIMEOUT_MS)
    if options.has(PROPERTY):
        if options.has(FORMATTER_PROPERTY):
            _refuse("Options --property and --formatter-property cannot be specified together.")
        _tell_renamed(PROPERTY.name, FORMATTER_PROPERTY.name, out)
    return Request(
        topic=options.find(TOPIC),
        pattern=_pattern(options.find(INCLUDE)),
        partition=options.find(PARTITION),
        start=start,
        properties=properties,
        has_group=has_group,
        formatter=options.value(FORMATTER),
        formatter_properties=_formatter_properties(options.renamed([(PROPERTY, FORMATTER_PROPERTY)])),
        count_max=_unless_negative(options.find(MAX_MESSAGES)),
        timeout_ms=_unless_negative(timeout_ms),
        skips_errors=options.has(SKIP_MESSAGE_ON_ERROR),
        tells_shutdown=options.has(SYSTEST_EVENTS),
    )


def _check(options: ParsedOptions) -> None:
    check_one_of(options, TOPIC, INCLUDE)
    if options.has(PARTITION):
        if not options.has(TOPIC):
            _refuse("The topic is required when partition is specified.")
        if options.has(FROM_BEGINNING) and options.has(OFFSET):
            _refuse("Options from-beginning and offset cannot be specified together.")
    elif options.has(OFFSET):
        _refuse("The partition is required when offset is specified.")
    options.require(BOOTSTRAP_SERVER)


def _consumer_properties(options: ParsedOptions) -> tuple[dict[str, str], bool]:
    """The settings of the consumer, by the names that Java's has for them, and whether they name a group."""
    from_file = read_properties(options.value(COMMAND_CONFIG)) if options.has(COMMAND_CONFIG) else {}
    pairs = parse_pairs(options.values(COMMAND_PROPERTY))
    groups = {*options.values(GROUP), *(given[GROUP_ID] for given in (from_file, pairs) if GROUP_ID in given)}
    if len(groups) > 1:
        _refuse(
            "The group ids provided in different places (directly using '--group', via '--consumer-property', or via "
            f"'--consumer.config') do not match. Detected group ids: {', '.join(map(repr, groups))}"
        )
    if groups and options.has(PARTITION):
        _refuse("Options group and partition cannot be specified together.")
    properties = {"client.id": CLIENT_ID} | from_file | pairs
    reset = properties.get(AUTO_OFFSET_RESET)
    if reset is None:
        properties[AUTO_OFFSET_RESET] = "earliest" if options.has(FROM_BEGINNING) else "latest"
    elif options.has(FROM_BEGINNING) and reset != "earliest":
        raise ToolError(
            f"Can't simultaneously specify --from-beginning and 'auto.offset.reset={reset}', please remove one option"
        )
    if options.has(ISOLATION_LEVEL) or "isolation.level" not in properties:
        properties["isolation.level"] = options.value(ISOLATION_LEVEL)
    if not groups:
        properties.setdefault("enable.auto.commit", "false")
    properties["bootstrap.servers"] = options.value(BOOTSTRAP_SERVER)
    properties[GROUP_ID] = next(iter(groups), f"console-consumer-{random.randrange(100_000)}")
    return properties, bool(groups)


def _start(options: ParsedOptions) -> str | int:
    if not options.has(OFFSET):
        return "earliest" if options.has(FROM_BEGINNING) else "latest"
    word = options.value(OFFSET)
    if word.lower() in ("earliest", "latest"):
        return word.lower()
    if not re.fullmatch(r"\+?[0-9]+", word) or int(word) >= 2**63:
        _refuse(
            f"The provided offset value '{word}' is incorrect. Valid values are 'earliest', 'latest', or a "
            "non-negative long."
        )
    return int(word)


def _pattern(expression: str | None) -> str | None:
    if expression is not None:
        try:
            re.compile(expression)
        except re.error as error:
            raise ToolError(f"--include is no regular expression: {error}") from None
    return expression


def _formatter_properties(options: ParsedOptions) -> dict[str, str]:
    properties = read_properties(options.value(FORMATTER_CONFIG)) if options.has(FORMATTER_CONFIG) else {}
    for option, name in ((KEY_DESERIALIZER, "key.deserializer"), (VALUE_DESERIALIZER, "value.deserializer")):
        if options.find(option):
            properties[name] = options.value(option)
    return properties | parse_pairs(options.values(FORMATTER_PROPERTY))


def _unless_negative(limit: int | None) -> int | None:
    return None if limit is None or limit < 0 else limit


def _tell_renamed(old: str, present: str, out: TextIO) -> None:
    print(f"Option --{old} is deprecated and will be removed in a future version. Use --{present} instead.", file=out)


def _refuse(complaint: str) -> NoReturn:
    raise UsageError(complaint, shows_help=True)


if __name__ == "__main__":
    main()
