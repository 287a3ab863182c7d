"""A node's data directory changes hands: what Apache's node left is served by ours with all its data, and back again.

Topics, settings, records, producers' state, retention and compaction go on where the other side stopped, or was killed.
"""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple

import pytest
from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._config import AlterConfigOpType, ConfigEntry, ConfigResource, ConfigSource
from confluent_kafka.admin._resource import ResourceType
from confluent_kafka.cimpl import NewTopic

from barnabas.protocol.messages.describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    TopicRequest,
)
from interop.apache_broker import AUDIBLE, CLUSTER_ID, STARTED, ApacheBroker
from interop.apache_logs import BROKER_SETTINGS, TOPICS, ApacheLogs, Clients
from interop.our_broker import SERVING, OurBroker
from interop.quorum_questions import ask
from interop.referee import PROGRAMS, QUICK_START, java_command
from interop.watched_process import WatchedProcess

pytestmark = pytest.mark.referee

LIMIT_S = 60
PAUSE_S = 0.05
CODECS = ["none", "gzip", "snappy", "lz4", "zstd"]
HOUR_MS = 3_600_000
SEGMENT_MS = 60_000


class OursInstead(WatchedProcess):
    """Our node with the settings and the directory of one of Apache's."""

    def __init__(self, apache: ApacheBroker) -> None:
        super().__init__()
        self._apache = apache

    def start(self) -> None:
        properties = self._apache.directory / "server.properties"
        properties.write_text("".join(f"{name}={value}\n" for name, value in self._apache.settings.items()))
        self.launch([sys.executable, "-m", "barnabas.cli.server_start", str(properties)])
        self.wait_for_line(SERVING)


class ApacheInstead(WatchedProcess):
    """Apache's node with the settings and the directory of one of ours."""

    def __init__(self, ours: OurBroker) -> None:
        super().__init__()
        self._ours = ours

    def start(self) -> None:
        loud = [f"-Dorg.slf4j.simpleLogger.log.{name}=info" for name in AUDIBLE]
        node, settings, logs = PROGRAMS / "Node.java", self._ours.settings_file, self._ours.log_directory
        self.launch(java_command(node, settings, CLUSTER_ID, logs, options=[*QUICK_START, *loud]))
        self.wait_for_line(STARTED)


# What Apache's node left, with all that a log can hold

# A setting that Apache's brokers keep for their own tests is unknown to ours, which leaves it in the metadata.
PUBLIC_SETTINGS = {
    topic: {name: value for name, value in configs.items() if not name.startswith("internal.")}
    for topic, configs in TOPICS.items()
}


def test_our_node_serves_apaches_directory_and_apaches_node_has_it_back(
    apache_logs: ApacheLogs, tmp_path: Path
) -> None:
    apache = ApacheBroker(tmp_path / "node", BROKER_SETTINGS)
    shutil.copytree(apache_logs.directory, apache.log_directory)
    ours = OursInstead(apache)
    with closing(Clients(apache.bootstrap_servers)) as clients:
        with ours:
            for (topic, isolation), expected in apache_logs.records.items():
                # Records deleted shortly before a kill are back: their new start was not in the checkpoint yet.
                read = [record for record in clients.read(topic, isolation) if record.offset >= expected[0].offset]
                assert read == expected, (topic, isolation)
            assert settings_of(apache.bootstrap_servers, TOPICS) == PUBLIC_SETTINGS
            clients.do("write", 3)
            left = {(topic, isolation): clients.read(topic, isolation) for topic, isolation in apache_logs.records}
            ours.stop()
        written = [len(left[key]) - len(apache_logs.records[key]) for key in left if key[0] == "codec-zstd"]
        assert written == [400, 400]
        with apache:
            assert {key: clients.read(*key) for key in left} == left
            assert settings_of(apache.bootstrap_servers, TOPICS) == TOPICS


# What our node left


class Place(NamedTuple):
    """A record as a consumer found it."""

    offset: int
    timestamp: tuple[int, int]
    key: bytes | None
    value: bytes | None
    headers: object


class ActiveProducer(NamedTuple):
    producer_id: int
    epoch: int
    last_sequence: int


OUR_TOPICS = {
    "codecs": {"max.message.bytes": "2000000"},
    "aged": {"retention.ms": "-1"},
    "compacted": {"cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0.01", "segment.ms": str(SEGMENT_MS)},
}


class Swapped:
    """One node, and clients that stay while it changes hands."""

    def __init__(self, node: OurBroker) -> None:
        self._node = node
        self.servers = node.bootstrap_servers
        self.port = int(self.servers.rpartition(":")[2])
        self.admin = AdminClient({"bootstrap.servers": self.servers})
        self.producer = Producer({"bootstrap.servers": self.servers, "enable.idempotence": True})
        # Longer ago than everything takes, but not so long that producers would be forgotten.
        self.clock_ms = int(time.time() * 1000) - 12 * HOUR_MS

    def create(self, topic: str, configs: dict[str, str]) -> None:
        self.admin.create_topics([NewTopic(topic, 1, 1, config=configs)])[topic].result(LIMIT_S)

    def send(self, topic: str, values: list[str], *, key: str | None = None, codec: str | None = None) -> None:
        """Send values a segment's time after those before; with the producer that stays, unless others compress."""
        producer = self.producer
        if codec is not None:
            producer = Producer({"bootstrap.servers": self.servers, "compression.type": codec})
        failures = []
        self.clock_ms += SEGMENT_MS + 1
        for value in values:
            producer.produce(
                topic,
                value,
                key,
                partition=0,
                timestamp=self.clock_ms,
                headers=[("codec", codec or "")],
                on_delivery=lambda error, _: failures.append(error) if error else None,
            )
        assert producer.flush(LIMIT_S) == 0
        assert not failures

    def read(self, topic: str) -> list[Place]:
        consumer = Consumer({"bootstrap.servers": self.servers, "group.id": "none", "enable.auto.commit": False})
        try:
            low, high = _watermarks(consumer, TopicPartition(topic, 0))
            consumer.assign([TopicPartition(topic, 0, OFFSET_BEGINNING)])
            found: list[Place] = []
            while low < high and (not found or found[-1].offset < high - 1):
                for each in consumer.consume(high - low, 1):
                    place = (each.offset() or 0, each.timestamp(), each.key(), each.value(), each.headers())
                    found.append(Place(*place))
            return found
        finally:
            consumer.close()

    def active_producers(self, topic: str) -> list[ActiveProducer]:
        request = DescribeProducersRequest(topics=[TopicRequest(name=topic, partition_indexes=[0])])
        response: DescribeProducersResponse = ask(self.port, request)
        active = response.topics[0].partitions[0].active_producers
        return sorted(ActiveProducer(each.producer_id, each.producer_epoch, each.last_sequence) for each in active)

    def state(self) -> dict[str, object]:
        return {
            "settings": settings_of(self.servers, OUR_TOPICS),
            "records": {topic: self.read(topic) for topic in ("codecs", "aged")},
            # The cleaner goes on meanwhile, but never takes the newest.
            "newest": {place.key: place for place in self.read("compacted")},
            "producers": {topic: self.active_producers(topic) for topic in OUR_TOPICS},
        }

    def use(self, who: str) -> None:
        """What either side is asked to do."""
        for codec in CODECS:
            self.send("codecs", [f"{who} {codec} {number}" for number in range(20)], codec=codec)
        self.send("codecs", [f"{who} {number}" for number in range(20)])
        self.send("aged", [who] * 10)
        for generation in range(3):
            for number in range(10):
                self.send("compacted", [f"{who} generation {generation}"], key=f"key {number}")
        self.send("compacted", [f"{who} closes the segment"], key="last")
        wait_until(lambda: not self.is_on_disk("compacted", f"{who} generation 0".encode()))

    def is_on_disk(self, topic: str, value: bytes) -> bool:
        segments = list((self._node.log_directory / f"{topic}-0").glob("*.log"))
        return any(value in path.read_bytes() for path in segments if path.exists())

    def set_retention(self, milliseconds: int) -> None:
        change = ConfigEntry("retention.ms", str(milliseconds), incremental_operation=AlterConfigOpType.SET)
        resource = ConfigResource(ResourceType.TOPIC, "aged", incremental_configs=[change])
        self.admin.incremental_alter_configs([resource])[resource].result(LIMIT_S)


def _watermarks(consumer: Consumer, partition: TopicPartition) -> tuple[int, int]:
    """As soon as the partition is led: Apache's broker says that it has started before it leads."""
    found: list[tuple[int, int]] = []

    def is_led() -> bool:
        with suppress(KafkaException):
            found.append(consumer.get_watermark_offsets(partition, LIMIT_S))
        return bool(found)

    wait_until(is_led)
    return found[0]


@pytest.fixture
def ours(tmp_path: Path) -> Iterator[OurBroker]:
    settings = {
        "log.cleaner.backoff.ms": "100",
        "log.initial.task.delay.ms": "0",
        "log.retention.check.interval.ms": "100",
        # A killed broker is let back in by Apache's controller when its session has ended.
        "broker.session.timeout.ms": "3000",
        "broker.heartbeat.interval.ms": "500",
    }
    node = OurBroker(tmp_path, settings)
    yield node
    node.end()


@pytest.mark.parametrize("end", [WatchedProcess.stop, WatchedProcess.kill], ids=["stopped", "killed"])
def test_apaches_node_serves_our_directory_and_ours_has_it_back(
    ours: OurBroker, end: Callable[[WatchedProcess], None]
) -> None:
    ours.start()
    swapped = Swapped(ours)
    for topic, configs in OUR_TOPICS.items():
        swapped.create(topic, configs)
    swapped.use("ours")
    before = swapped.state()
    end(ours)
    with ApacheInstead(ours) as apache:
        assert swapped.state() == before
        swapped.use("Apache's")
        before = swapped.state()
        end(apache)
    ours.start()
    assert swapped.state() == before
    swapped.use("ours again")
    swapped.set_retention(1000)
    wait_until(lambda: swapped.read("aged") == [])
    own = {each.producer_id for each in swapped.active_producers("compacted")}
    assert len(own) == 1, "the producer that stayed was another one to one of the nodes"


# Asking either side


def settings_of(servers: str, topics: Iterable[str]) -> dict[str, dict[str, str]]:
    """The settings that topics have of their own."""
    admin = AdminClient({"bootstrap.servers": servers})
    resources = [ConfigResource(ResourceType.TOPIC, topic) for topic in topics]
    return {
        resource.name: {
            entry.name: entry.value
            for entry in described.result(LIMIT_S).values()
            if entry.source == ConfigSource.DYNAMIC_TOPIC_CONFIG.value
        }
        for resource, described in admin.describe_configs(resources).items()
    }


def wait_until(holds: Callable[[], bool]) -> None:
    deadline_s = time.monotonic() + LIMIT_S
    while not holds():
        assert time.monotonic() < deadline_s
        time.sleep(PAUSE_S)
