"""Sends lines as records as Kafka's Java producer would: what fails is logged, and what waits has a limit.

A thread of its own hears what became of the records, so that somebody who is typing learns of an error at once.
"""

from __future__ import annotations

import io
import threading
import time
from collections.abc import Iterator, Mapping
from typing import BinaryIO, Final, TextIO

from confluent_kafka import KafkaError, KafkaException, Message

from barnabas.cli.cluster_access import ToolError
from barnabas.cli.console.line_reader import LineReader, LineRecord
from barnabas.cli.librdkafka.clients import open_producer
from barnabas.cli.librdkafka.log_lines import error_line, tool_logger
from barnabas.cli.signals import InterruptedBySignal, heeding_signals, interrupt

_TIMEOUT: Final = "org.apache.kafka.common.errors.TimeoutException"
# A topic that was just created, or will be by having been asked for.
_COMING: Final = (KafkaError.LEADER_NOT_AVAILABLE, KafkaError.UNKNOWN_TOPIC_OR_PART)
_POLL_S: Final = 0.02
_RETRY_S: Final = 0.05


class LineProducer:
    def __init__(self, topic: str, properties: Mapping[str, str], err: TextIO, *, waits_for_each: bool) -> None:
        """ToolError where the properties are not such that a producer can be made of them."""
        self._topic = topic
        self._max_block_ms = int(properties["max.block.ms"])
        self._waits_for_each = waits_for_each
        self._knows_topic = False
        self._log = tool_logger("org.apache.kafka.clients.producer.internals.ErrorLoggingCallback", err)
        self._refusal: KafkaError | None = None
        reports = {"delivery.report.only.error": True, "on_delivery": self._delivered}
        self._producer = open_producer(properties, err, reports)

    def send_all(self, reader: LineReader, stdin: BinaryIO, prompt: TextIO | None) -> int:
        """Send every line, whatever becomes of it, and give the exit status. ToolError where one cannot be sent."""
        lines = io.TextIOWrapper(stdin, "utf-8", "replace")
        hearing = threading.Event()
        listener = threading.Thread(target=self._hear, args=(hearing,), daemon=True)
        listener.start()
        try:
            with heeding_signals(interrupt):
                for record in reader.read(_prompted(lines, prompt)):
                    self._send(record)
            return 0
        except InterruptedBySignal as interrupted:
            return interrupted.status
        finally:
            lines.detach()
            self._producer.flush()
            hearing.set()
            listener.join()

    def _send(self, record: LineRecord) -> None:
        until_s = time.monotonic() + self._max_block_ms / 1000
        complaint = None if self._knows_topic else self._await_topic(until_s)
        if complaint is None:
            complaint = self._hand_over(record, until_s)
        if complaint is None and self._waits_for_each:
            self._producer.flush()
            complaint = None if self._refusal is None else error_line(self._refusal)
        if complaint is not None:
            self._refuse(record.key, record.value, complaint)

    def _await_topic(self, until_s: float) -> str | None:
        """Wait until the topic has partitions to send to; what is wrong where it does not get any."""
        while (left_s := until_s - time.monotonic()) > 0:
            try:
                topic = self._producer.list_topics(self._topic, timeout=min(left_s, 1)).topics[self._topic]
            except KafkaException as error:
                if error.args[0].code() not in (KafkaError._TRANSPORT, KafkaError._TIMED_OUT):
                    return error_line(error.args[0])
                continue
            if topic.error is None and topic.partitions:
                self._knows_topic = True
                return None
            if topic.error is not None and topic.error.code() not in _COMING:
                return error_line(topic.error)
            time.sleep(min(_RETRY_S, left_s))
        return f"{_TIMEOUT}: Topic {self._topic} not present in metadata after {self._max_block_ms} ms."

    def _hand_over(self, record: LineRecord, until_s: float) -> str | None:
        """Give the record to librdkafka; what is wrong where it does not take it."""
        while True:
            try:
                self._producer.produce(self._topic, record.value, record.key, headers=record.headers)
                return None
            except BufferError:
                if time.monotonic() > until_s:
                    return (
                        "org.apache.kafka.clients.producer.BufferExhaustedException: Failed to allocate memory within "
                        f"the configured max blocking time {self._max_block_ms} ms."
                    )
                self._producer.poll(_RETRY_S)
            except KafkaException as error:
                return error_line(error.args[0])

    def _delivered(self, error: KafkaError | None, message: Message) -> None:
        if error is None:
            return
        self._refusal = error
        if not self._waits_for_each:
            self._refuse(message.key(), message.value(), error_line(error))

    def _refuse(self, key: bytes | None, value: bytes | None, complaint: str) -> None:
        if self._waits_for_each:
            raise ToolError(f"java.util.concurrent.ExecutionException: {complaint}")
        self._log.error(
            "Error when sending message to topic %s with key: %s, value: %s with error:",
            self._topic,
            _size(key),
            _size(value),
            extra={"cause": complaint},
        )

    def _hear(self, is_over: threading.Event) -> None:
        while not is_over.is_set():
            self._producer.poll(_POLL_S)


def _prompted(lines: TextIO, prompt: TextIO | None) -> Iterator[str]:
    while True:
        if prompt is not None:
            prompt.write(">")
            prompt.flush()
        line = lines.readline()
        if not line:
            return
        yield line


def _size(part: bytes | None) -> str:
    return "null" if part is None else f"{len(part)} bytes"
