"""Runs the producer test: hands records to librdkafka and counts what it says has become of them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final, TextIO

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from barnabas.cli.cluster_access import ToolError
from barnabas.cli.librdkafka.clients import open_producer
from barnabas.cli.librdkafka.log_lines import error_line
from barnabas.cli.perf.metrics import MetricsCollector
from barnabas.cli.perf.statistics import ProducerStatistics
from barnabas.cli.perf.throttle import Throttle
from barnabas.cli.signals import InterruptedBySignal, heeding_signals, interrupt

if TYPE_CHECKING:
    from barnabas.cli.producer_perf import ProducerTest

# Reports are picked up once in so many records, and while there is no room for more.
RECORDS_BETWEEN_POLLS: Final = 64
_FULL_POLL_S: Final = 0.01


def measure_producer(test: ProducerTest, out: TextIO, err: TextIO) -> int:
    """Run the test and print its lines; the exit status. ToolError where the cluster cannot be used for it."""
    metrics = MetricsCollector()
    producer = open_producer(test.properties, err, metrics.callbacks if test.prints_metrics else {})
    try:
        with heeding_signals(interrupt):
            run = _Run(test, producer, out, err)
            run.send_all()
            run.print_totals()
            if test.prints_metrics:
                metrics.print_latest(producer.poll, out)
    except KafkaException as error:
        raise ToolError(error_line(error.args[0])) from error
    except InterruptedBySignal as interrupted:
        return interrupted.status
    return 0


class _Run:
    def __init__(self, test: ProducerTest, producer: Producer, out: TextIO, err: TextIO) -> None:
        self._test = test
        self._producer = producer
        self._out = out
        self._err = err
        self._steady: ProducerStatistics | None = None
        if test.transaction_duration_ms is not None:
            producer.init_transactions()
        if test.warmup_count > 0:
            print(
                f"Warmup first {test.warmup_count} records. Steady state results will print after the complete test "
                "summary.",
                file=out,
                flush=True,
            )
        self._all = ProducerStatistics(test.record_count, test.reporting_interval_ms, _now_ms(), out)

    def send_all(self) -> None:
        test, producer, payloads = self._test, self._producer, self._test.payloads
        throttle = Throttle(test.rate_per_s, time.monotonic())
        transaction_until_s = None
        report = self._delivered
        for number in range(test.record_count):
            if test.transaction_duration_ms is not None and transaction_until_s is None:
                producer.begin_transaction()
                transaction_until_s = time.monotonic() + test.transaction_duration_ms / 1000
            if number == test.warmup_count > 0:
                report = self._start_steady_state()
            self._send(next(payloads), report)
            if transaction_until_s is not None and time.monotonic() >= transaction_until_s:
                producer.commit_transaction()
                transaction_until_s = None
            if number % RECORDS_BETWEEN_POLLS == 0:
                producer.poll(0)
            if test.rate_per_s >= 0:
                self._keep_rate(throttle, number + 1)
        if transaction_until_s is not None:
            producer.commit_transaction()
        producer.flush()

    def _send(self, payload: bytes, report: Any) -> None:
        while True:
            try:
                self._producer.produce(self._test.topic, payload, on_delivery=report)
                return
            except BufferError:
                self._producer.poll(_FULL_POLL_S)

    def _keep_rate(self, throttle: Throttle, done: int) -> None:
        while (pause_s := throttle.pause_s(done, time.monotonic())) > 0:
            # Reports that come in the meantime are picked up at once, so a poll may end early.
            self._producer.poll(min(pause_s, 1))

    def _start_steady_state(self) -> Any:
        test = self._test
        self._all.is_silent = True
        self._steady = ProducerStatistics(
            test.record_count - test.warmup_count,
            test.reporting_interval_ms,
            _now_ms(),
            self._out,
            is_steady_state=True,
        )
        return self._delivered_steadily

    def _delivered(self, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            print(error_line(error), file=self._err)
            return
        self._all.record(int((message.latency() or 0) * 1000), len(message), _now_ms())

    def _delivered_steadily(self, error: KafkaError | None, message: Message) -> None:
        self._delivered(error, message)
        if error is None and self._steady is not None:
            self._steady.record(int((message.latency() or 0) * 1000), len(message), _now_ms())

    def print_totals(self) -> None:
        now_ms = _now_ms()
        self._all.print_total(now_ms)
        if self._steady is not None:
            self._steady.print_total(now_ms)


def _now_ms() -> float:
    return time.monotonic() * 1000
