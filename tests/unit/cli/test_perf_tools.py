"""The performance tests on a broker in this process: their lines, and how their options become a test."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator

import pytest

from barnabas.cli import consumer_perf, producer_perf
from barnabas.cli.perf.consuming import ConsumerProgress
from unit.cli.mock_cluster import mock_cluster


@pytest.fixture(scope="module")
def servers() -> Iterator[str]:
    with mock_cluster() as address:
        yield address


def produce(*words: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    return producer_perf.run(words, out, err), out.getvalue(), err.getvalue()


def consume(*words: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    return consumer_perf.run(words, out, err), out.getvalue(), err.getvalue()


def test_what_was_produced_can_be_consumed(servers: str) -> None:
    words = ["--bootstrap-server", servers, "--topic", "load"]
    status, out, err = produce(*words, "--num-records", "300", "--record-size", "1024", "--throughput", "-1")
    assert (status, err) == (0, "")
    assert re.fullmatch(r"300 records sent, [\d.]+ records/sec \([\d.]+ MB/sec\), .* ms 99\.9th\.\n", out)
    status, out, err = consume(*words, "--num-records", "300", "--date-format", "SSS")
    assert (status, err) == (0, "")
    header, figures = out.splitlines()
    assert header.startswith(
        "start.time, end.time, data.consumed.in.MB, MB.sec, data.consumed.in.nMsg, nMsg.sec, rebal"
    )
    columns = figures.split(", ")
    assert len(columns) == len(header.split(", "))
    assert (columns[2], columns[4]) == ("0.2930", "300")


def test_warmup_and_metrics_are_printed_apart(servers: str) -> None:
    words = ["--topic", "warm", "--num-records", "50", "--payload-monotonic", "--throughput", "100000"]
    properties = ["--command-property", f"bootstrap.servers={servers}", "foo=bar"]
    status, out, err = produce(*words, "--warmup-records", "20", *properties, "--print-metrics")
    assert status == 0
    warmup, total, steady, blank, header, *metrics = out.splitlines()
    assert warmup == "Warmup first 20 records. Steady state results will print after the complete test summary."
    assert total.startswith("50 records sent, ")
    assert steady.startswith("30 steady state records sent, ")
    assert (blank, header.split()) == ("", ["Metric", "Name", "Value"])
    assert any(line.startswith("producer-metrics:record-send-total:") for line in metrics)
    assert "WARN The configuration 'foo' was supplied but isn't a known config." in err


def test_too_few_records_end_the_consumer_test_after_its_time(servers: str) -> None:
    words = ["--bootstrap-server", servers, "--topic", "none", "--num-records", "5", "--timeout", "50"]
    status, out, _ = consume(*words, "--hide-header")
    assert status == 0
    assert out.startswith("WARNING: Exiting before consuming the expected number of records: timeout (50 ms) exceeded.")


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--command-property", "a"], "java.lang.IllegalArgumentException: Invalid property: a"),
        (["--command-property", "a=b=c"], "java.lang.IllegalArgumentException: Invalid property: a=b=c"),
        (["--command-property", "a=b"], 'Missing required configuration "bootstrap.servers"'),
    ],
)
def test_a_bad_property_is_refused(words: list[str], complaint: str) -> None:
    status, _, err = produce("--topic", "t", "--num-records", "1", "--record-size", "1", "--throughput", "-1", *words)
    assert status == 1
    assert complaint in err


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--reporting-interval", "0"], "Reporting interval must be greater than 0."),
        (["--date-format", "b"], "Illegal pattern character 'b'"),
    ],
)
def test_a_bad_option_of_the_consumer_test_is_refused(words: list[str], complaint: str) -> None:
    status, _, err = consume("--bootstrap-server", "h:1", "--topic", "t", "--num-records", "1", *words)
    assert (status, err) == (1, f"{complaint}\n")


def test_time_without_partitions_is_not_counted_as_fetching() -> None:
    words = ["--bootstrap-server", "h:1", "--topic", "t", "--num-records", "1", "--show-detailed-stats"]
    out = io.StringIO()
    options = consumer_perf.TOOL.parse([*words, "--reporting-interval", "1000", "--date-format", "s"])
    progress = ConsumerProgress(consumer_perf.parse_test(options, out), 0, out)
    progress.assigned(400)
    progress.assigned(450)  # More partitions, while there were some.
    progress.revoked(500)
    progress.assigned(700)
    progress.received([], 1000)
    assert out.getvalue() == "1, 0, 0.0000, 0.0000, 0, 0.0000, 600, 400, 0.0000, 0.0000\n"
