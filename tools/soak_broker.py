"""Kills a broker again and again while producers send to it, then holds its logs against what was sent.

PYTHONPATH=tests python -m tools.soak_broker --kills 100

A broker is killed while it serves, and now and then while it starts. Every record has to be there once, in order, at
the offset that was acknowledged, and the files have to be sound.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random

import click
from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from barnabas.log.log_config import LogConfig
from barnabas.log.partition_log import PartitionLog
from barnabas.runtime.disk import PosixDisk
from interop.our_broker import OurBroker
from log_checks import check_log

TOPIC = "soaked"
CODECS = ("none", "lz4", "zstd")  # A partition and a producer for each.
# Small, so that segments are rolled all the time.
TOPIC_SETTINGS = {"segment.bytes": "50000", "index.interval.bytes": "500"}
BROKER_SETTINGS = {
    "log.flush.interval.messages": "1",
    "log.initial.task.delay.ms": "0",
    "log.flush.offset.checkpoint.interval.ms": "200",
}
UNACKNOWLEDGED_MAX = 500
PATIENCE_S = 60.0
SERVING_S_MAX = 0.4
STARTING_S_MAX = 0.6
KILLED_WHILE_STARTING = 0.25


@dataclass
class Load:
    """An idempotent producer that sends numbers to its partition, and the offsets that it was given for them."""

    partition: int
    producer: Producer
    sent: int = 0
    offsets: dict[int, int] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)

    @classmethod
    def on(cls, servers: str, partition: int) -> Load:
        settings: dict[str, str | int | float | bool] = {
            "bootstrap.servers": servers,
            "enable.idempotence": True,
            "compression.type": CODECS[partition],
            "message.timeout.ms": 0,
            "linger.ms": 1,
            "reconnect.backoff.ms": 10,
            "reconnect.backoff.max.ms": 50,
            "retry.backoff.ms": 20,
            "log_level": 0,
        }
        return cls(partition, Producer(settings))

    def send(self) -> None:
        """Send some, unless many are under way already, and take in what was answered."""
        while self.sent - len(self.offsets) < UNACKNOWLEDGED_MAX and not self.failures:
            number = self.sent
            self.sent += 1
            self.producer.produce(
                TOPIC,
                f"{number} {'.' * (number % 97)}",
                partition=self.partition,
                on_delivery=partial(self._delivered, number),
            )
        self.producer.poll(0.005)

    def _delivered(self, number: int, error: KafkaError | None, message: Message) -> None:
        self.offsets[number] = -1 if error is not None else message.offset() or 0
        if error is not None:
            self.failures.append(f"{number} of partition {self.partition}: {error.name()}, {error.str()}")


@dataclass(frozen=True)
class Report:
    sent: int
    start_seconds: list[float]


def soak(folder: Path, *, kills: int, seed: int, progress: Callable[[int], None] = lambda _: None) -> Report:
    """Kill a new broker so many times; AssertionError where a record or a file is not what it should be."""
    chance = Random(seed)
    broker = OurBroker(folder, BROKER_SETTINGS)
    start_seconds = []
    try:
        broker.start()
        topic = NewTopic(TOPIC, len(CODECS), 1, config=TOPIC_SETTINGS)
        admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
        admin.create_topics([topic])[TOPIC].result(PATIENCE_S)
        loads = [Load.on(broker.bootstrap_servers, partition) for partition in range(len(CODECS))]
        with Sending(loads) as sending:
            for killed in range(1, kills + 1):
                sending.wait_for_more()
                time.sleep(chance.uniform(0, SERVING_S_MAX))
                broker.kill()
                if chance.random() < KILLED_WHILE_STARTING:
                    broker.begin()
                    time.sleep(chance.uniform(0, STARTING_S_MAX))
                    broker.kill()
                began_s = time.monotonic()
                broker.start()
                start_seconds.append(time.monotonic() - began_s)
                progress(killed)
        _check_records(broker.bootstrap_servers, loads)
        broker.stop()
    finally:
        broker.end()
    for load in loads:
        _check_files(broker.log_directory / f"{TOPIC}-{load.partition}")
    return Report(sum(load.sent for load in loads), start_seconds)


class Sending:
    """Keeps all producers busy from a thread of their own, until all that was sent has been answered."""

    def __init__(self, loads: list[Load]) -> None:
        self._loads = loads
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        while not self._is_over.is_set():
            for load in self._loads:
                try:
                    load.send()
                except KafkaException as error:
                    # What the broker answered leaves the producer unable to go on.
                    load.failures.append(f"partition {load.partition}: {error.args[0].str()}")
                    return

    def wait_for_more(self) -> None:
        """Return when every partition has taken more than it had."""
        before = [len(load.offsets) for load in self._loads]
        deadline_s = time.monotonic() + PATIENCE_S
        while any(len(load.offsets) <= count for load, count in zip(self._loads, before, strict=True)):
            failures = [failure for load in self._loads for failure in load.failures]
            assert not failures, failures[:5]
            assert time.monotonic() < deadline_s, "a partition takes no more records"
            time.sleep(0.01)

    def __enter__(self) -> Sending:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()
        for load in self._loads:
            load.producer.flush(PATIENCE_S)


def _check_records(servers: str, loads: list[Load]) -> None:
    for load in loads:
        assert not load.failures, load.failures[:5]
        assert len(load.offsets) == load.sent, "records were neither acknowledged nor refused"
        found = _read(servers, load.partition)
        numbers = [number for _, number in found]
        assert numbers == list(range(load.sent)), f"partition {load.partition}: {_first_difference(numbers)}"
        misplaced = [(number, offset) for offset, number in found if load.offsets[number] not in (offset, -1)]
        assert not misplaced, f"partition {load.partition}: acknowledged elsewhere: {misplaced[:5]}"


def _first_difference(numbers: list[int]) -> str:
    for place, number in enumerate(numbers):
        if place != number:
            return f"record {number} is where {place} should be"
    return f"only {len(numbers)} records are left"


def _read(servers: str, partition: int) -> list[tuple[int, int]]:
    """Every record's offset and number."""
    consumer = Consumer({"bootstrap.servers": servers, "group.id": "soak", "enable.auto.commit": False})
    try:
        _, end = consumer.get_watermark_offsets(TopicPartition(TOPIC, partition), PATIENCE_S)
        consumer.assign([TopicPartition(TOPIC, partition, 0)])
        found: list[tuple[int, int]] = []
        while not found or found[-1][0] < end - 1:
            message = consumer.poll(PATIENCE_S)
            assert message is not None, f"partition {partition} ends at {end}, but nothing comes after {found[-1:]}"
            found.append((message.offset() or 0, int((message.value() or b"").split()[0])))
        return found
    finally:
        consumer.close()


def _check_files(directory: Path) -> None:
    now_ms = int(time.time() * 1000)
    log = PartitionLog(PosixDisk(), str(directory), LogConfig(), rng=Random(), now_ms=now_ms)
    check_log(log)
    assert len(log.segments) > 1
    log.close(now_ms)


@click.command()
@click.option("--kills", default=100, show_default=True, help="How many times the broker is killed while it serves.")
@click.option("--seed", default=0, show_default=True)
def main(kills: int, seed: int) -> None:
    """Kill a broker under load; exit status 1 where it lost, doubled or tore something."""

    def progress(killed: int) -> None:
        print(f"\r{killed} of {kills} kills", end="", flush=True)

    with tempfile.TemporaryDirectory(prefix="barnabas-soak-") as folder:
        try:
            report = soak(Path(folder), kills=kills, seed=seed, progress=progress)
        except AssertionError as error:
            sys.exit(f"\nseed {seed}: {error}")
    middle, longest = statistics.median(report.start_seconds), max(report.start_seconds)
    print(f"\r{kills} kills, {report.sent} records: all there once, in order. Serving again after {middle:.2f} s")
    print(f"in the middle and {longest:.2f} s at most.")


if __name__ == "__main__":
    main()
