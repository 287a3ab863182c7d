"""Runs the consumer test: takes records from librdkafka, counts them, and prints the columns of Kafka's tool."""

from __future__ import annotations

import time
from datetime import datetime
from typing import TYPE_CHECKING, Final, TextIO

from confluent_kafka import KafkaException, Message

from barnabas.cli.cluster_access import ToolError
from barnabas.cli.librdkafka.clients import open_consumer
from barnabas.cli.librdkafka.log_lines import error_line
from barnabas.cli.librdkafka.record_source import RecordSource, Topics
from barnabas.cli.perf.java_dates import format_date
from barnabas.cli.perf.java_numbers import decimal, ratio
from barnabas.cli.perf.metrics import MetricsCollector
from barnabas.cli.perf.statistics import BYTES_PER_MB
from barnabas.cli.signals import InterruptedBySignal, heeding_signals, interrupt

if TYPE_CHECKING:
    from barnabas.cli.consumer_perf import ConsumerTest

BATCH_MAX: Final = 10_000
_POLL_S: Final = 0.1


def measure_consumer(test: ConsumerTest, out: TextIO, err: TextIO) -> int:
    """Run the test and print its lines; the exit status. ToolError where the cluster cannot be used for it."""
    metrics = MetricsCollector()
    opened = open_consumer(
        test.properties,
        err,
        has_group=test.has_group,
        callbacks=metrics.callbacks if test.prints_metrics else {},
    )
    progress = ConsumerProgress(test, _now_ms(), out)
    try:
        source = RecordSource(
            opened.consumer,
            Topics.of(test.topic, test.pattern),
            start_offset=opened.start_offset,
            search_interval_s=opened.search_interval_s,
            assigned=lambda: progress.assigned(_now_ms()),
            revoked=lambda: progress.revoked(_now_ms()),
        )
        try:
            with heeding_signals(interrupt):
                consume(test, source, progress, out)
                if test.prints_metrics:
                    metrics.print_latest(opened.consumer.poll, out)
        finally:
            source.close()
    except KafkaException as error:
        raise ToolError(error_line(error.args[0])) from error
    except InterruptedBySignal as interrupted:
        return interrupted.status
    return 0


def consume(test: ConsumerTest, source: RecordSource, progress: ConsumerProgress, out: TextIO) -> None:
    """Take records until there were enough or none came in time, and print the total."""
    last_s = time.monotonic()
    while progress.count < test.record_count and time.monotonic() - last_s <= test.timeout_ms / 1000:
        messages = source.receive(BATCH_MAX, _POLL_S)
        if messages:
            last_s = time.monotonic()
            progress.received(messages, _now_ms())
    if progress.count < test.record_count:
        print(
            f"WARNING: Exiting before consuming the expected number of records: timeout ({test.timeout_ms} ms) "
            "exceeded. You can use the --timeout option to increase the timeout.",
            file=out,
        )
    if not test.is_detailed:
        progress.print_total(_now_ms())


class ConsumerProgress:
    """Counts records and bytes of keys and values, and how long the consumer had nothing to read from."""

    def __init__(self, test: ConsumerTest, now_ms: float, out: TextIO) -> None:
        self.count = 0
        self._test = test
        self._out = out
        self._bytes = 0
        self._start_ms = now_ms
        self._is_assigned = False
        self._join_start_ms = now_ms
        self._join_ms = 0.0
        self._start_window(now_ms)

    def _start_window(self, now_ms: float) -> None:
        self._window_start_ms = now_ms
        self._window_join_ms = 0.0
        self._counted = (self.count, self._bytes)

    def assigned(self, now_ms: float) -> None:
        if not self._is_assigned:
            self._is_assigned = True
            self._join_ms += now_ms - self._join_start_ms
            self._window_join_ms += now_ms - self._join_start_ms

    def revoked(self, now_ms: float) -> None:
        self._is_assigned = False
        self._join_start_ms = now_ms

    def received(self, messages: list[Message], now_ms: float) -> None:
        self.count += len(messages)
        for message in messages:
            key, value = message.key(), message.value()
            self._bytes += (0 if key is None else len(key)) + (0 if value is None else len(value))
        if now_ms - self._window_start_ms >= self._test.reporting_interval_ms:
            if self._test.is_detailed:
                self._print_window(now_ms)
            self._start_window(now_ms)

    def _print_window(self, now_ms: float) -> None:
        count_before, bytes_before = self._counted
        count, megabytes = self.count - count_before, (self._bytes - bytes_before) / BYTES_PER_MB
        elapsed_ms = now_ms - self._window_start_ms
        fetch_ms = int(elapsed_ms - self._window_join_ms)
        fetch_rates = (1000 * megabytes / fetch_ms, 1000 * count / fetch_ms) if fetch_ms > 0 else (0.0, 0.0)
        self._print(
            self._date(now_ms),
            0,  # The number of the thread, of which there is one.
            decimal(self._bytes / BYTES_PER_MB, 4),
            decimal(ratio(1000 * megabytes, elapsed_ms), 4),
            self.count,
            decimal(ratio(1000 * count, elapsed_ms), 4),
            int(self._window_join_ms),
            fetch_ms,
            *(decimal(rate, 4) for rate in fetch_rates),
        )

    def print_total(self, now_ms: float) -> None:
        megabytes, elapsed_ms = self._bytes / BYTES_PER_MB, now_ms - self._start_ms
        fetch_ms = int(elapsed_ms) - int(self._join_ms)
        self._print(
            self._date(self._start_ms),
            self._date(now_ms),
            decimal(megabytes, 4),
            decimal(ratio(1000 * megabytes, elapsed_ms), 4),
            self.count,
            decimal(ratio(1000 * self.count, elapsed_ms), 4),
            int(self._join_ms),
            fetch_ms,
            decimal(ratio(1000 * megabytes, fetch_ms), 4),
            decimal(ratio(1000 * self.count, fetch_ms), 4),
        )

    def _print(self, *columns: object) -> None:
        print(*columns, sep=", ", file=self._out, flush=True)

    def _date(self, time_ms: float) -> str:
        return format_date(datetime.fromtimestamp(time_ms / 1000), self._test.date_format)


def _now_ms() -> float:
    return time.time() * 1000
