"""Consumes and prints records until there were enough, none came for a while, nobody reads, or a signal ends it."""

from __future__ import annotations

import logging
import os
import time
from typing import TYPE_CHECKING, BinaryIO, Final, TextIO

from confluent_kafka import KafkaException, Message

from barnabas.cli.console.deserializers import DeserializationError
from barnabas.cli.console.formatters import Formatter, make_formatter
from barnabas.cli.librdkafka.clients import open_consumer
from barnabas.cli.librdkafka.log_lines import error_line, tool_logger
from barnabas.cli.librdkafka.record_source import START_OFFSETS, RecordSource, Topics
from barnabas.cli.options import UsageError
from barnabas.cli.signals import exit_status, heeding_signals

if TYPE_CHECKING:
    from barnabas.cli.console_consumer import Request

BATCH_MAX: Final = 500
_TOOL: Final = "org.apache.kafka.tools.consumer.ConsoleConsumer"
_TIMEOUT: Final = "org.apache.kafka.common.errors.TimeoutException"
_SERIALIZATION: Final = "org.apache.kafka.common.errors.SerializationException"


def print_records(request: Request, err: TextIO, records: BinaryIO) -> int:
    """Do what was asked for, and give the exit status; ToolError or UsageError where it cannot be done."""
    log = tool_logger(_TOOL, err)
    formatter = make_formatter(request.formatter, request.formatter_properties, log)
    if formatter is None:
        raise UsageError(request.formatter, shows_help=True)
    printer = RecordPrinter(request, formatter, log, records)
    source = _open(request, err)
    failure: DeserializationError | None = None
    try:
        with heeding_signals(printer.stop):
            printer.run(source)
    except DeserializationError as error:
        failure = error
    except BrokenPipeError:
        print("Unable to write to standard out, closing consumer.", file=err)
        # Nothing is left that could be flushed into the closed pipe when the process ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), records.fileno())
    finally:
        source.close()
        print(f"Processed a total of {printer.count} messages", file=err)
    if failure is not None:
        log.error("Unknown error when running consumer: ", extra={"cause": f"{_SERIALIZATION}: {failure}"})
        return 1
    if request.tells_shutdown:
        records.write(b"shutdown_complete\n")
        records.flush()
    return 0 if printer.signal is None else exit_status(printer.signal)


class RecordPrinter:
    """Prints records and counts them; `signal` is the one that ended it."""

    def __init__(self, request: Request, formatter: Formatter, log: logging.Logger, records: BinaryIO) -> None:
        self.count = 0
        self.signal: int | None = None
        self._request = request
        self._formatter = formatter
        self._log = log
        self._records = records

    def stop(self, number: int) -> None:
        """Let the records at hand be the last."""
        self.signal = number

    def run(self, source: RecordSource) -> None:
        """Print until it is over. That the cluster gives no records, or none in time, is logged, as in Java."""
        timeout_s = float("inf") if self._request.timeout_ms is None else self._request.timeout_ms / 1000
        last_s = time.monotonic()
        while self.signal is None and (wanted := self._wanted()) > 0:
            left_s = last_s + timeout_s - time.monotonic()
            try:
                messages = source.receive(wanted, left_s)
            except KafkaException as error:
                self._give_up(error_line(error.args[0]))
                return
            if messages:
                self._print_all(messages)
                last_s = time.monotonic()
            elif left_s <= 0:
                self._give_up(_TIMEOUT)
                return

    def _wanted(self) -> int:
        return BATCH_MAX if self._request.count_max is None else min(BATCH_MAX, self._request.count_max - self.count)

    def _give_up(self, cause: str) -> None:
        self._log.error("Error processing message, terminating consumer process: ", extra={"cause": cause})

    def _print_all(self, messages: list[Message]) -> None:
        shown = bytearray()
        try:
            for message in messages:
                self.count += 1
                self._add(message, shown)
        finally:
            self._records.write(shown)
            self._records.flush()

    def _add(self, message: Message, shown: bytearray) -> None:
        try:
            shown += self._formatter(message)
        except DeserializationError as error:
            if not self._request.skips_errors:
                raise
            cause = f"{_SERIALIZATION}: {error}"
            self._log.error("Error processing message, skipping this message: ", extra={"cause": cause})


def _open(request: Request, err: TextIO) -> RecordSource:
    opened = open_consumer(request.properties, err, has_group=request.has_group, callbacks={})
    if request.topic is not None and request.partition is not None:
        start = request.start if isinstance(request.start, int) else START_OFFSETS[request.start]
        return RecordSource.of_partition(opened.consumer, request.topic, request.partition, start)
    return RecordSource(
        opened.consumer,
        Topics.of(request.topic, request.pattern),
        start_offset=opened.start_offset,
        search_interval_s=opened.search_interval_s,
    )
