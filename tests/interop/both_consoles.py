"""Both sides' console and performance tools: how a test runs each, and what of their errors is compared."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from io import BytesIO, StringIO
from pathlib import Path

from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from barnabas.cli import console_consumer, console_producer
from interop.referee import ToolOutput, java_command

PRODUCER = "org.apache.kafka.tools.ConsoleProducer"
CONSUMER = "org.apache.kafka.tools.consumer.ConsoleConsumer"
PRODUCER_PERF = "org.apache.kafka.tools.ProducerPerformance"
CONSUMER_PERF = "org.apache.kafka.tools.ConsumerPerformance"

# What Java's logger and its stack traces add, and advice that is Apache's own.
NOISE = re.compile(
    r"(?:^\[.*\] (?:INFO|WARN|ERROR) .*|^\s+at .*|^\s+\.\.\. \d+ more|^Caused by: .*|^The consumer rebalance .*)\n"
    r"|^joptsimple\.\w+: ",
    re.MULTILINE,
)


class Broker:
    """Where the tools are tried, and where its log is."""

    def __init__(self, bootstrap_servers: str, log_directory: Path) -> None:
        self.bootstrap_servers = bootstrap_servers
        self.log_directory = log_directory

    def create(self, topic: str, partitions: int = 1, config: dict[str, str] | None = None) -> str:
        admin = AdminClient({"bootstrap.servers": self.bootstrap_servers})
        admin.create_topics([NewTopic(topic, partitions, 1, config=config or {})])[topic].result(30)
        return topic

    def records(self, topic: str, count: int) -> list[tuple[int, bytes | None, bytes | None, object]]:
        """Partition, key, value and headers of the first records of a topic, in the order of their partitions."""
        consumer = Consumer(
            {"bootstrap.servers": self.bootstrap_servers, "group.id": "judge", "enable.auto.commit": "false"}
        )
        try:
            partitions = consumer.list_topics(topic).topics[topic].partitions
            consumer.assign([TopicPartition(topic, each, OFFSET_BEGINNING) for each in partitions])
            found = consumer.consume(count, 30)
        finally:
            consumer.close()
        assert len(found) == count
        return sorted(
            ((message.partition() or 0, message.key(), message.value(), message.headers()) for message in found),
            key=lambda record: record[0],
        )


def our_producer(*words: str, stdin: str = "") -> ToolOutput:
    out, err = StringIO(), StringIO()
    status = console_producer.run(words, BytesIO(stdin.encode()), out, err)
    return ToolOutput(status, out.getvalue(), err.getvalue())


def apaches_producer(*words: str, stdin: str = "") -> ToolOutput:
    done = subprocess.run(
        java_command(PRODUCER, *words), input=stdin, capture_output=True, encoding="utf-8", timeout=60
    )
    return ToolOutput(done.returncode, done.stdout, done.stderr)


def our_consumer(*words: str) -> ToolOutput:
    out, err, records = StringIO(), StringIO(), BytesIO()
    status = console_consumer.run(words, out, err, records)
    return ToolOutput(status, out.getvalue() + records.getvalue().decode("utf-8", "replace"), err.getvalue())


def our_perf(run: Callable[..., int], *words: str) -> ToolOutput:
    out, err = StringIO(), StringIO()
    return ToolOutput(run(words, out, err), out.getvalue(), err.getvalue())


def said(err: str) -> str:
    return NOISE.sub("", err)
