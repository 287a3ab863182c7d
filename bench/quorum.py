"""Controllers beside Apache's: failing over, creating a large topic, starting on a large log, and their memory.

Quorums of three with Kafka's default time-outs, one kind after the other in the same run. A start is that of the whole
process, from its command to the first record it has committed, so the start on an empty log stands beside it.
"""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import NamedTuple

from bench.controllers import Controllers, Kind, format_controllers, running
from bench.measure import Row

TITLE = "quorum: three controllers, and one that starts on a large log"

FAILOVERS = 5
WARM_UP_TOPICS = 5
TOPICS = 15
PARTITIONS = 1_000
LOADED_TOPICS = 100
LAST_TOPIC = f"t{LOADED_TOPICS}"
KINDS: tuple[Kind, Kind] = ("ours", "Apache Kafka")
STARTS = 3


@dataclass(frozen=True, slots=True)
class Figures:
    """What was measured of one kind: seconds, and MiB."""

    failover_s: float
    topic_s: float
    memory_mib: float


class Start(NamedTuple):
    """A process from its command to its first commit, and what it takes then."""

    seconds: float
    memory_mib: float


def run() -> list[Row]:
    ours, apache = (_measure_three(kind) for kind in KINDS)
    with tempfile.TemporaryDirectory(prefix="barnabas-bench-") as folder:
        home = Path(folder)
        ports = format_controllers(home, 1)
        ours_empty, apache_empty = (_start(home, kind, ports) for kind in KINDS)
        _fill(home, ports)
        ours_loaded, apache_loaded = (_start(home, kind, ports, LAST_TOPIC) for kind in KINDS)
    loaded = f"{LOADED_TOPICS * PARTITIONS:,} partitions"
    return [
        _row("kill -9 of the active controller to the next commit", ours.failover_s, apache.failover_s),
        _row(f"create a topic of {PARTITIONS:,} partitions", ours.topic_s, apache.topic_s),
        _row("start on an empty log to the first commit", ours_empty.seconds, apache_empty.seconds),
        _row(f"start on {loaded} to the first commit", ours_loaded.seconds, apache_loaded.seconds),
        _row("memory of an idle controller", ours.memory_mib, apache.memory_mib, "MiB"),
        _row(f"memory after a start on {loaded}", ours_loaded.memory_mib, apache_loaded.memory_mib, "MiB"),
    ]


def _row(work: str, ours: float, apache: float, unit: str = "s") -> Row:
    return Row(work, "Apache Kafka", apache, ours, unit, apache / ours)


def _measure_three(kind: Kind) -> Figures:
    with tempfile.TemporaryDirectory(prefix="barnabas-bench-") as folder:
        home = Path(folder)
        with running(home, kind, format_controllers(home, 3)) as controllers:
            controllers.register_brokers()
            controllers.wait_until_level()
            memory_mib = median(node.resident_mib() for node in controllers.nodes.values())
            topics_s = [_create_topic_s(controllers, f"t{each}") for each in range(WARM_UP_TOPICS + TOPICS)]
            failovers_s = [_fail_over_s(controllers, 10_000 + each) for each in range(FAILOVERS)]
    return Figures(median(failovers_s), median(topics_s[WARM_UP_TOPICS:]), memory_mib)


def _create_topic_s(controllers: Controllers, name: str) -> float:
    began = perf_counter()
    controllers.create_topic(name, PARTITIONS)
    return perf_counter() - began


def _fail_over_s(controllers: Controllers, value: int) -> float:
    leader = controllers.nodes[controllers.wait_until_level()]
    began = perf_counter()
    leader.kill()
    controllers.commit(value)
    seconds = perf_counter() - began
    leader.start()
    return seconds


def _fill(home: Path, ports: list[int]) -> None:
    """Let Apache's controller write the log that both load: it has no snapshot yet, so all of it is replayed."""
    with running(home, "Apache Kafka", ports) as controllers:
        controllers.register_brokers()
        for each in range(1, LOADED_TOPICS + 1):
            controllers.create_topic(f"t{each}", PARTITIONS)
        controllers.nodes[1].stop()


def _start(home: Path, kind: Kind, ports: list[int], loaded_topic: str | None = None) -> Start:
    """The medians of a few starts, each on the files as they are, which are put back afterwards."""
    kept = home / "kept"
    logs = home / "controller-1" / "logs"
    starts = []
    for each in range(STARTS):
        shutil.copytree(logs, kept)
        began = perf_counter()
        with running(home, kind, ports) as controllers:
            controllers.commit(20_000 + each)
            starts.append(Start(perf_counter() - began, controllers.nodes[1].resident_mib()))
            if loaded_topic is not None:
                assert controllers.has_topic(loaded_topic), "the log was not loaded to its end"
        shutil.rmtree(logs)
        kept.rename(logs)
    return Start(median(start.seconds for start in starts), median(start.memory_mib for start in starts))
