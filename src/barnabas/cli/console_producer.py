"""`kafka-console-producer`: makes a record of each line of its input.

A line that cannot be parsed ends the tool with status 1, after the lines before it were sent. What the cluster does not
take is logged and does not change the status, as with Apache's tool, unless each record is waited for (`--sync`).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, BinaryIO, Final, TextIO

from barnabas.cli.cluster_access import ToolError, read_properties
from barnabas.cli.console.line_reader import LineReader
from barnabas.cli.options import Option, ParsedOptions, Tool, UsageError, flag, integer, long_integer, text
from barnabas.cli.tool_properties import check_bootstrap, parse_pairs
from barnabas.config.setting import ConfigError

LINE_READER: Final = "org.apache.kafka.tools.LineMessageReader"
CLIENT_ID: Final = "console-producer"
BATCH_SIZE_SETTING: Final = "batch.size"

TOPIC = text("topic", "REQUIRED: The topic to produce to.", argument="topic")
BOOTSTRAP_SERVER = text(
    "bootstrap-server", "REQUIRED: Brokers to start from, HOST1:PORT1,HOST2:PORT2.", argument="servers"
)
SYNC = flag("sync", "Wait for each record to be taken before the next line is read.")
COMPRESSION_CODEC = Option(
    "compression-codec",
    "How batches are compressed: none, gzip, snappy, lz4 or zstd; gzip where no codec is named.",
    "codec",
    str,
    has_optional_value=True,
)
READER_CLASS = text("line-reader", "The class that reads lines.", argument="class", default=LINE_READER)
PROPERTY = text("property", "The old name of --reader-property.", argument="name=value")
READER_PROPERTY = text(
    "reader-property",
    "How lines are read, with these defaults: parse.key=false, key.separator=\\t, parse.headers=false, "
    "headers.delimiter=\\t, headers.separator=, headers.key.separator=: ignore.error=false, and null.marker, which "
    "is what stands for null.",
    argument="name=value",
)
READER_CONFIG = text("reader-config", "A file of such properties.", argument="file")
PRODUCER_PROPERTY = text("producer-property", "The old name of --command-property.", argument="name=value")
COMMAND_PROPERTY = text("command-property", "A setting of the producer.", argument="name=value")
PRODUCER_CONFIG = text("producer.config", "The old name of --command-config.", argument="file")
COMMAND_CONFIG = text("command-config", "A file of settings for the producer.", argument="file")
BATCH_SIZE = integer("batch-size", "Setting batch.size of the producer.", argument="bytes", default=16 * 1024)
BATCH_SIZE_OLD = integer("max-partition-memory-bytes", "The old name of --batch-size.", argument="bytes")

# Options that are settings of the producer; they win over the same settings elsewhere, which win over their defaults.
SETTINGS: Final[dict[str, Option[Any]]] = {
    "linger.ms": long_integer("timeout", "How long a record waits for a fuller batch.", argument="ms", default=1000),
    "acks": text("request-required-acks", "Which acknowledgements to wait for.", argument="acks", default="-1"),
    "request.timeout.ms": integer("request-timeout-ms", "How long to wait for an answer.", argument="ms", default=1500),
    "retries": integer("message-send-max-retries", "How often to try again.", argument="count", default=3),
    "retry.backoff.ms": long_integer("retry-backoff-ms", "How long to wait before that.", argument="ms", default=100),
    "send.buffer.bytes": integer("socket-buffer-size", "The socket's buffer.", argument="bytes", default=100 * 1024),
    "buffer.memory": long_integer(
        "max-memory-bytes", "Memory for what waits to be sent.", argument="bytes", default=32 * 1024 * 1024
    ),
    BATCH_SIZE_SETTING: BATCH_SIZE,
    "metadata.max.age.ms": long_integer(
        "metadata-expiry-ms", "How often to ask for the metadata anew.", argument="ms", default=5 * 60 * 1000
    ),
    "max.block.ms": long_integer(
        "max-block-ms", "How long a record may wait for the topic and for memory.", argument="ms", default=60 * 1000
    ),
}

# The older name of an option, and the one that took its place.
RENAMED: Final = (
    (PRODUCER_CONFIG, COMMAND_CONFIG),
    (PRODUCER_PROPERTY, COMMAND_PROPERTY),
    (PROPERTY, READER_PROPERTY),
)

TOOL = Tool(
    "kafka-console-producer",
    "Reads lines from the standard input and produces each as a record.",
    (
        TOPIC,
        BOOTSTRAP_SERVER,
        SYNC,
        COMPRESSION_CODEC,
        READER_CLASS,
        PROPERTY,
        READER_PROPERTY,
        READER_CONFIG,
        PRODUCER_PROPERTY,
        COMMAND_PROPERTY,
        PRODUCER_CONFIG,
        COMMAND_CONFIG,
        BATCH_SIZE_OLD,
        *SETTINGS.values(),
    ),
)


def main() -> None:
    sys.exit(run(sys.argv[1:], sys.stdin.buffer, sys.stdout, sys.stderr))


def run(arguments: Sequence[str], stdin: BinaryIO, out: TextIO, err: TextIO) -> int:
    """Do what the command line says, and give the exit status."""
    return TOOL.run(arguments, lambda options: _produce(options, stdin, out, err), out=out, err=err)


def _produce(options: ParsedOptions, stdin: BinaryIO, out: TextIO, err: TextIO) -> int:
    options = _renamed(options, out)
    hosts = check_bootstrap(options.find(BOOTSTRAP_SERVER))
    try:
        if options.value(READER_CLASS) != LINE_READER:
            raise ToolError(f"java.lang.ClassNotFoundException: {options.value(READER_CLASS)}")
        reader = LineReader.of(reader_properties(options))
        properties = producer_properties(options, hosts)
        # Importing librdkafka takes longer than everything up to here.
        from barnabas.cli.console.sending import LineProducer

        producer = LineProducer(options.value(TOPIC), properties, err, waits_for_each=options.has(SYNC))
        return producer.send_all(reader, stdin, prompt=out if _is_interactive(stdin, out) else None)
    except (ToolError, ConfigError, OSError) as error:
        print(error, file=err)
        return 1


def _renamed(options: ParsedOptions, out: TextIO) -> ParsedOptions:
    """The options by their present names; who uses an older one is told so."""
    options.require(TOPIC)
    for old, present in RENAMED:
        if options.has(old) and options.has(present):
            raise UsageError(
                f"Options --{present.name} and --{old.name} cannot be specified together.", shows_help=True
            )
    for old, present in (RENAMED[1], RENAMED[0], RENAMED[2]):
        if options.has(old):
            print(
                f"Warning: --{old.name} is deprecated and will be removed in a future version. "
                f"Use --{present.name} instead.",
                file=out,
            )
    if options.has(BATCH_SIZE_OLD):
        print(
            f"Warning: --{BATCH_SIZE_OLD.name} is deprecated and will be removed in Apache Kafka 5.0. "
            f"Use --{BATCH_SIZE.name} instead.",
            file=out,
        )
    out.flush()
    return options.renamed(RENAMED)


def reader_properties(options: ParsedOptions) -> dict[str, str]:
    properties = read_properties(options.value(READER_CONFIG)) if options.has(READER_CONFIG) else {}
    return properties | parse_pairs(options.values(READER_PROPERTY))


def producer_properties(options: ParsedOptions, hosts: str) -> dict[str, str]:
    """The settings of the producer, by the names that Java's has for them."""
    properties = read_properties(options.value(COMMAND_CONFIG)) if options.has(COMMAND_CONFIG) else {}
    properties = {"client.id": CLIENT_ID} | properties | parse_pairs(options.values(COMMAND_PROPERTY))
    for name, option in SETTINGS.items():
        if options.has(option) or name not in properties:
            properties[name] = str(options.value(option))
    if options.has(BATCH_SIZE_OLD):
        properties[BATCH_SIZE_SETTING] = str(options.value(BATCH_SIZE_OLD))
    properties["bootstrap.servers"] = hosts
    properties["compression.type"] = _compression(options)
    return properties


def _compression(options: ParsedOptions) -> str:
    if not options.has(COMPRESSION_CODEC):
        return "none"
    codecs = options.values(COMPRESSION_CODEC)
    return codecs[0] if codecs and codecs[0] else "gzip"


def _is_interactive(stdin: BinaryIO, out: TextIO) -> bool:
    return stdin.isatty() and out.isatty()


if __name__ == "__main__":
    main()
