"""The figures of the performance tests: rates, percentiles, windows, payloads, rates that are kept, times, metrics."""

from __future__ import annotations

import io
import random
from datetime import datetime
from itertools import islice
from pathlib import Path

import pytest

from barnabas.cli.cluster_access import ToolError
from barnabas.cli.perf.java_dates import DatePatternError, format_date
from barnabas.cli.perf.java_numbers import decimal, ratio
from barnabas.cli.perf.metrics import metrics_of, print_metrics
from barnabas.cli.perf.payloads import chosen_from, random_letters, read_payloads, record_numbers
from barnabas.cli.perf.statistics import SAMPLES_MAX, ProducerStatistics
from barnabas.cli.perf.throttle import SLEEP_MIN_S, Throttle


def test_the_total_has_rates_and_percentiles() -> None:
    out = io.StringIO()
    statistics = ProducerStatistics(1000, 5000, 0, out)
    latencies = list(range(1000))
    random.Random(1).shuffle(latencies)
    for latency_ms in latencies:
        statistics.record(latency_ms, 1024, 1)
    statistics.print_total(2000)
    assert out.getvalue() == (
        "1000 records sent, 500.000000 records/sec (0.49 MB/sec), 499.50 ms avg latency, 999.00 ms max latency, "
        "500 ms 50th, 950 ms 95th, 990 ms 99th, 999 ms 99.9th.\n"
    )


def test_a_window_is_printed_when_its_time_is_over_and_begins_anew() -> None:
    out = io.StringIO()
    statistics = ProducerStatistics(10, 100, 0, out)
    statistics.record(10, 100, 50)
    assert out.getvalue() == ""
    statistics.record(30, 100, 100)
    statistics.record(5, 100, 250)
    assert out.getvalue().splitlines() == [
        "2 records sent, 20.0 records/sec (0.00 MB/sec), 20.0 ms avg latency, 30.0 ms max latency.",
        "1 records sent, 6.7 records/sec (0.00 MB/sec), 5.0 ms avg latency, 5.0 ms max latency.",
    ]


def test_the_steady_state_is_announced_with_its_first_window() -> None:
    out = io.StringIO()
    steady = ProducerStatistics(10, 100, 0, out, is_steady_state=True)
    for now_ms in (100, 200):
        steady.record(1, 1, now_ms)
    steady.print_total(1000)
    lines = out.getvalue().splitlines()
    assert [line.split(",")[0] for line in lines] == [
        "In steady state.",
        "1 records sent",
        "1 records sent",
        "2 steady state records sent",
    ]


def test_silent_statistics_print_no_windows() -> None:
    out = io.StringIO()
    statistics = ProducerStatistics(10, 100, 0, out)
    statistics.is_silent = True
    statistics.record(1, 1, 500)
    assert out.getvalue() == ""


def test_latencies_of_very_many_records_are_sampled() -> None:
    statistics = ProducerStatistics(4 * SAMPLES_MAX, 5000, 0, io.StringIO())
    for number in range(40):
        statistics.record(number, 1, 0)
    assert list(statistics._latencies_ms) == list(range(0, 40, 4))


def test_nothing_sent_has_no_average() -> None:
    out = io.StringIO()
    ProducerStatistics(10, 100, 0, out).print_total(1000)
    assert out.getvalue().startswith("0 records sent, 0.000000 records/sec (0.00 MB/sec), NaN ms avg latency, 0.00 ms")


@pytest.mark.parametrize(
    ("value", "shown"), [(1.25, "1.2500"), (ratio(1, 0), "Infinity"), (ratio(-1, 0), "-Infinity"), (ratio(0, 0), "NaN")]
)
def test_numbers_that_are_none_are_named_as_in_java(value: float, shown: str) -> None:
    assert decimal(value, 4) == shown


def test_payloads_are_letters_of_the_size_asked_for() -> None:
    first, second = islice(random_letters(1000), 2)
    assert len(first) == len(second) == 1000
    assert first != second
    assert set(first) == set(range(ord("A"), ord("Z") + 1))
    assert next(random_letters(1000)) == first
    assert list(islice(record_numbers(), 3)) == [b"0", b"1", b"2"]


def test_payloads_are_chosen_from_the_parts_of_a_file(tmp_path: Path) -> None:
    out = io.StringIO()
    file = tmp_path / "payloads"
    file.write_text("\na\n\n가\n")
    payloads = read_payloads(file, r"\n", out)
    assert payloads == [b"a", b"", "가".encode()]
    assert out.getvalue() == f"Reading payloads from: {file}\nNumber of records read: 3\n"
    assert set(islice(chosen_from(payloads), 100)) == set(payloads)


@pytest.mark.parametrize("text", [None, ""])
def test_a_file_without_payloads_is_refused(tmp_path: Path, text: str | None) -> None:
    if text is not None:
        (tmp_path / "payloads").write_text(text)
    with pytest.raises(ToolError, match="File does not exist or empty file provided"):
        read_payloads(tmp_path / "payloads", r"\n", io.StringIO())


def test_a_rate_is_kept_by_pauses_that_are_worth_it() -> None:
    throttle = Throttle(1000, 10)
    assert throttle.pause_s(100, 10.1) == 0
    assert throttle.pause_s(101, 10.1) == 0  # A millisecond early is less than a sleep takes.
    assert throttle.pause_s(200, 10.1) == pytest.approx(0.1)
    assert throttle.pause_s(150, 10.1) > SLEEP_MIN_S
    assert Throttle(-1, 0).pause_s(10**9, 0) == 0
    assert Throttle(0, 0).pause_s(1, 10**9) == float("inf")


@pytest.mark.parametrize(
    ("pattern", "shown"),
    [
        ("yyyy-MM-dd HH:mm:ss:SSS", "2026-02-03 00:05:06:007"),
        ("yy/M/d H:m:s.S", "26/2/3 0:5:6.7"),
        ("h:mm a, k, K", "12:05 AM, 24, 0"),
        ("EEE EEEE MMM MMMM", "Tue Tuesday Feb February"),
        ("D u", "34 2"),
        ("yyyy'T'HH 'o''clock' ''", "2026T00 o'clock '"),
    ],
)
def test_times_are_formatted_as_by_javas_simple_date_format(pattern: str, shown: str) -> None:
    assert format_date(datetime(2026, 2, 3, 0, 5, 6, 7890), pattern) == shown


@pytest.mark.parametrize(
    ("pattern", "complaint"), [("yyyy b", "Illegal pattern character 'b'"), ("yyyy 'x", "Unterminated quote")]
)
def test_a_pattern_that_means_nothing_is_refused(pattern: str, complaint: str) -> None:
    with pytest.raises(DatePatternError, match=complaint):
        format_date(datetime(2026, 2, 3), pattern)


STATISTICS = {
    "client_id": "c",
    "rx": 3,
    "rx_bytes": 300,
    "tx": 4,
    "tx_bytes": 400,
    "txmsgs": 10,
    "rxmsgs": 20,
    "rxmsg_bytes": 2000,
    "brokers": {
        "a": {"state": "UP", "rtt": {"avg": 1000, "cnt": 1}},
        "b": {"state": "DOWN", "rtt": {"avg": 4000, "cnt": 2}},
    },
    "topics": {"t": {"batchsize": {"avg": 500, "cnt": 2}, "batchcnt": {"avg": 5, "cnt": 2}}},
}


def test_metrics_have_javas_names() -> None:
    producer = metrics_of({**STATISTICS, "type": "producer"})
    assert producer["producer-metrics:record-send-total:{client-id=c}"] == 10
    assert producer["producer-metrics:request-latency-avg:{client-id=c}"] == 3
    assert producer["producer-metrics:batch-size-avg:{client-id=c}"] == 500
    assert producer["producer-metrics:connection-count:{client-id=c}"] == 1
    consumer = metrics_of({**STATISTICS, "type": "consumer"})
    assert consumer["consumer-fetch-manager-metrics:records-consumed-total:{client-id=c}"] == 20


def test_metrics_are_a_table_in_the_order_of_their_names() -> None:
    out = io.StringIO()
    print_metrics({"longer-name": 1.0, "a": 2.5}, out)
    assert out.getvalue() == "\nMetric Name   Value\na           : 2.500\nlonger-name : 1.000\n"
