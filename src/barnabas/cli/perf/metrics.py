"""Metrics of a client at the end of a test, in the table of Kafka's tools and by the names of Kafka's Java clients.

librdkafka counts other things than Java's clients do; here are those that both have.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TextIO

_INTERVAL_MS: Final = 100
_WAIT_S: Final = 5.0


class MetricsCollector:
    """Keeps what librdkafka told last."""

    def __init__(self) -> None:
        self._latest: str | None = None

    @property
    def callbacks(self) -> dict[str, Any]:
        """The settings by which a client tells."""
        return {"statistics.interval.ms": str(_INTERVAL_MS), "stats_cb": self._collect}

    def _collect(self, statistics: str) -> None:
        self._latest = statistics

    def print_latest(self, poll: Callable[[float], object], out: TextIO) -> None:
        """Wait for figures that were taken from now on, and print them."""
        self._latest = None
        until_s = time.monotonic() + _WAIT_S
        while self._latest is None and time.monotonic() < until_s:
            poll(_INTERVAL_MS / 1000)
        if self._latest is not None:
            print_metrics(metrics_of(json.loads(self._latest)), out)


def metrics_of(statistics: Mapping[str, Any]) -> dict[str, float]:
    """By Java's name of a metric, its value; times are in milliseconds."""
    kind, tags = statistics["type"], f"{{client-id={statistics['client_id']}}}"
    values = {
        "incoming-byte-total": statistics["rx_bytes"],
        "outgoing-byte-total": statistics["tx_bytes"],
        "request-total": statistics["tx"],
        "response-total": statistics["rx"],
        "connection-count": sum(broker["state"] == "UP" for broker in statistics["brokers"].values()),
        "request-latency-avg": _mean(broker["rtt"] for broker in statistics["brokers"].values()) / 1000,
    }
    if kind == "producer":
        topics = statistics["topics"].values()
        values |= {
            "record-send-total": statistics["txmsgs"],
            "batch-size-avg": _mean(topic["batchsize"] for topic in topics),
            "records-per-request-avg": _mean(topic["batchcnt"] for topic in topics),
        }
    named = {f"{kind}-metrics:{name}:{tags}": float(value) for name, value in values.items()}
    if kind == "consumer":
        group = "consumer-fetch-manager-metrics"
        named[f"{group}:records-consumed-total:{tags}"] = float(statistics["rxmsgs"])
        named[f"{group}:bytes-consumed-total:{tags}"] = float(statistics["rxmsg_bytes"])
    return named


def _mean(windows: Iterable[Mapping[str, float]]) -> float:
    """Of averages, each with how often it was measured."""
    measured = [(window["avg"], window["cnt"]) for window in windows]
    count = sum(times for _, times in measured)
    return sum(average * times for average, times in measured) / count if count else 0.0


def print_metrics(metrics: Mapping[str, float], out: TextIO) -> None:
    width = max(map(len, metrics))
    print(f"\n{'Metric Name':{width}}   Value", file=out)
    for name in sorted(metrics):
        print(f"{name:{width}} : {metrics[name]:.3f}", file=out)
