"""A broker beside Apache's: producing, consuming, the time from one to the other, memory, and its start.

One node each, one after the other in the same run, under the same client; the JVM is warm when it is measured. Where a
Produce request's time goes is what `produce` prints. At the end stands how ours bears up under partitions and
connections, beside itself with one of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median

from bench import broker_scale
from bench.broker_nodes import BrokerNode, Latency, new_node
from bench.controllers import Kind
from bench.measure import Row

TITLE = "broker: one node beside Apache Kafka's, under librdkafka"

KINDS: tuple[Kind, Kind] = ("ours", "Apache Kafka")
PARTITIONS = 6
WARM_UPS = 2
ROUNDS = 3
PER_SECOND = 1_000
SENT = 5_000
STARTS = 3
KIB_BATCH, MB_BATCH = 16 * 1024, 1_000_000


@dataclass(frozen=True, slots=True)
class Work:
    """Records to be produced: their size, that of their batches, and how many."""

    name: str
    record_bytes: int
    batch_bytes: int
    count: int
    is_idempotent: bool = False
    wanted: float | None = None


WORKS = (
    Work("1 KiB records in 16 KiB batches", 1024, KIB_BATCH, 300_000, wanted=3),
    Work("the same, idempotent", 1024, KIB_BATCH, 300_000, is_idempotent=True, wanted=3),
    Work("1 KiB records in 1 MB batches", 1024, MB_BATCH, 300_000, wanted=2),
    Work("100 B records in 16 KiB batches", 100, KIB_BATCH, 1_500_000),
    Work("100 B records in 1 MB batches", 100, MB_BATCH, 2_000_000),
)


@dataclass(frozen=True, slots=True)
class ProducedFigures:
    mb_per_s: float
    cpu_us: float


@dataclass(frozen=True, slots=True)
class ConsumedFigures:
    mb_per_s: float
    cpu_us_per_mb: float


@dataclass(frozen=True, slots=True)
class Figures:
    """What was measured of one kind."""

    produced: list[ProducedFigures]
    consumed: list[ConsumedFigures]
    latency: Latency
    idle_mib: float
    loaded_mib: float
    start_s: float


def run() -> list[Row]:
    ours, apache = (_measure(kind) for kind in KINDS)
    rows = []
    for index, work in enumerate(WORKS):
        mine, theirs = ours.produced[index], apache.produced[index]
        rows.append(_faster(f"produce {work.name}", mine.mb_per_s, theirs.mb_per_s, work.wanted))
        cpu_wanted = 4 if work.batch_bytes == KIB_BATCH and work.record_bytes == 1024 else None
        rows.append(_less("  CPU for a request", mine.cpu_us, theirs.cpu_us, "µs", cpu_wanted))
    for size, mine_read, theirs_read in zip((1024, 100), ours.consumed, apache.consumed, strict=True):
        rows.append(_faster(f"consume records of {size} B", mine_read.mb_per_s, theirs_read.mb_per_s, 1.2))
        rows.append(_less("  CPU for a MB", mine_read.cpu_us_per_mb, theirs_read.cpu_us_per_mb, "µs"))
    at = f"produce to consume at {PER_SECOND:,}/s"
    rows += [
        _less(f"{at}, p50", ours.latency.p50_us, apache.latency.p50_us, "µs", 1),
        _less(f"{at}, p99", ours.latency.p99_us, apache.latency.p99_us, "µs", 1),
        _less("memory at idle", ours.idle_mib, apache.idle_mib, "MiB", 10),
        _less("memory after the load", ours.loaded_mib, apache.loaded_mib, "MiB", 10),
        _less("start, to the first answer", ours.start_s, apache.start_s, "s", 5),
    ]
    return rows + broker_scale.run()


def _faster(work: str, ours: float, apache: float, wanted: float | None = None) -> Row:
    return Row(work, "Apache Kafka", apache, ours, "MB/s", ours / apache, wanted)


def _less(work: str, ours: float, apache: float, unit: str, wanted: float | None = None) -> Row:
    return Row(work, "Apache Kafka", apache, ours, unit, apache / ours, wanted)


def _measure(kind: Kind) -> Figures:
    starts_s = []
    for _ in range(STARTS - 1):
        with new_node(kind) as node:
            starts_s.append(node.start_s())
    with new_node(kind) as node:
        starts_s.append(node.start_s())
        idle_mib = node.resident_mib()
        produced = [_produce(node, work, f"produced-{index}") for index, work in enumerate(WORKS)]
        consumed = [_consume(node, WORKS[index], f"produced-{index}") for index in (2, len(WORKS) - 1)]
        node.create_topic("latency", 1)
        node.latency("latency", PER_SECOND, SENT)
        latency = node.latency("latency", PER_SECOND, SENT)
        return Figures(produced, consumed, latency, idle_mib, node.resident_mib(), median(starts_s))


def _produce(node: BrokerNode, work: Work, topic: str) -> ProducedFigures:
    node.create_topic(topic, PARTITIONS)
    rounds = [
        node.produce(
            topic, PARTITIONS, work.record_bytes, work.batch_bytes, work.count, is_idempotent=work.is_idempotent
        )
        for _ in range(WARM_UPS + ROUNDS)
    ][WARM_UPS:]
    size_mb = work.count * work.record_bytes / 1e6
    return ProducedFigures(
        median(size_mb / each.cost.seconds for each in rounds), median(each.cpu_us_per_request for each in rounds)
    )


def _consume(node: BrokerNode, work: Work, topic: str) -> ConsumedFigures:
    """Read what some of the rounds have produced: long enough that the beginning does not count."""
    count = work.count * ROUNDS
    rounds = [node.consume(topic, PARTITIONS, count) for _ in range(WARM_UPS + ROUNDS)][WARM_UPS:]
    size_mb = count * work.record_bytes / 1e6
    return ConsumedFigures(
        median(size_mb / each.seconds for each in rounds), median(each.cpu_s / size_mb * 1e6 for each in rounds)
    )
