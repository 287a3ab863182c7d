"""Counts what was acknowledged, and prints rates and latencies in the lines of Kafka's producer test.

Of very many records the latencies are sampled, so that memory does not grow with their number. Times are given, never
looked up.
"""

from __future__ import annotations

from array import array
from typing import Final, TextIO

from barnabas.cli.perf.java_numbers import decimal, ratio

SAMPLES_MAX: Final = 500_000
PERCENTILES: Final = (0.5, 0.95, 0.99, 0.999)
BYTES_PER_MB: Final = 1024 * 1024


class ProducerStatistics:
    """The figures of one run, and within it of the window since the last line."""

    def __init__(
        self,
        record_count: int,
        reporting_interval_ms: int,
        now_ms: float,
        out: TextIO,
        *,
        is_steady_state: bool = False,
    ) -> None:
        self.count = 0
        self.is_silent = False
        self._out = out
        self._start_ms = now_ms
        self._reporting_interval_ms = reporting_interval_ms
        self._is_steady_state = is_steady_state
        self._sampling = record_count // min(record_count, SAMPLES_MAX)
        self._latencies_ms = array("l")
        self._bytes = 0
        self._latency_total_ms = 0
        self._latency_max_ms = 0
        self._start_window(now_ms)

    def _start_window(self, now_ms: float) -> None:
        self._window_start_ms = now_ms
        self._window_count = 0
        self._window_bytes = 0
        self._window_latency_total_ms = 0
        self._window_latency_max_ms = 0

    def record(self, latency_ms: int, size_bytes: int, now_ms: float) -> None:
        """A record of that size was acknowledged."""
        if self.count % self._sampling == 0:
            self._latencies_ms.append(latency_ms)
        self.count += 1
        self._bytes += size_bytes
        self._latency_total_ms += latency_ms
        self._latency_max_ms = max(self._latency_max_ms, latency_ms)
        self._window_count += 1
        self._window_bytes += size_bytes
        self._window_latency_total_ms += latency_ms
        self._window_latency_max_ms = max(self._window_latency_max_ms, latency_ms)
        if now_ms - self._window_start_ms >= self._reporting_interval_ms:
            self._report_window(now_ms)

    def _report_window(self, now_ms: float) -> None:
        if self._is_steady_state and self.count == self._window_count:
            print("In steady state.", file=self._out)
        if not self.is_silent:
            rate, megabytes = self._rates(self._window_count, self._window_bytes, now_ms - self._window_start_ms)
            average = ratio(self._window_latency_total_ms, self._window_count)
            print(
                f"{self._window_count} records sent, {decimal(rate, 1)} records/sec ({decimal(megabytes, 2)} MB/sec), "
                f"{decimal(average, 1)} ms avg latency, {decimal(self._window_latency_max_ms, 1)} ms max latency.",
                file=self._out,
                flush=True,
            )
        self._start_window(now_ms)

    def print_total(self, now_ms: float) -> None:
        rate, megabytes = self._rates(self.count, self._bytes, now_ms - self._start_ms)
        average = ratio(self._latency_total_ms, self.count)
        half, most, nearly_all, all_but_few = self._percentiles()
        print(
            f"{self.count}{' steady state' if self._is_steady_state else ''} records sent, "
            f"{decimal(rate, 6)} records/sec ({decimal(megabytes, 2)} MB/sec), {decimal(average, 2)} ms avg latency, "
            f"{decimal(self._latency_max_ms, 2)} ms max latency, {half} ms 50th, {most} ms 95th, {nearly_all} ms 99th, "
            f"{all_but_few} ms 99.9th.",
            file=self._out,
            flush=True,
        )

    def _rates(self, count: int, size_bytes: int, elapsed_ms: float) -> tuple[float, float]:
        """Records and megabytes a second."""
        return ratio(1000 * count, elapsed_ms), ratio(1000 * size_bytes, elapsed_ms) / BYTES_PER_MB

    def _percentiles(self) -> list[int]:
        ordered = sorted(self._latencies_ms)
        return [ordered[int(share * len(ordered))] if ordered else 0 for share in PERCENTILES]
