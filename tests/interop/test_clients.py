"""Every client takes our broker for Kafka: what one writes, all read, in every codec and with every kind of record."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing
from itertools import count, product
from pathlib import Path
from threading import Event, Thread
from typing import NamedTuple

import pytest

from barnabas.records.batch import BatchHeader, iterate_batches
from interop.clients.aiokafka_client import Aiokafka
from interop.clients.client import CODECS, LIMIT_S, Client, ClientError, Record
from interop.clients.kafka_python import KafkaPython
from interop.clients.librdkafka import Librdkafka
from interop.clients.programs import franz_go, java_client, kafkajs
from interop.our_broker import OurBroker

pytestmark = [pytest.mark.referee, pytest.mark.clients]

MAKERS: Mapping[str, Callable[[str], Client]] = {
    "java": java_client,
    "librdkafka": Librdkafka,
    "kafka-python": KafkaPython,
    "aiokafka": Aiokafka,
    "kafkajs": kafkajs,
    "franz-go": franz_go,
}
TIME_MS = 1_700_000_000_000
# Names of headers are different, for kafkajs keeps them in an object.
SAMPLES = [
    Record(b"key", b"value", TIME_MS),
    Record(None, b"no key", TIME_MS + 10),
    Record(b"no value", None, TIME_MS + 20),
    Record(b"", b"", TIME_MS + 40),
    Record(b"k", b"headers", TIME_MS + 50, (("plain", b"text"), ("empty", b""), ("\u00e9", bytes(range(256))))),
    Record("\u00fc".encode(), b"again and again " * 1000, TIME_MS + 5),
]
MEGABYTE = Record(b"large", random.Random(1).randbytes(1_000_000), TIME_MS)
SETTINGS = {
    "auto.create.topics.enable": "false",
    "group.initial.rebalance.delay.ms": "0",
    "offsets.topic.num.partitions": "1",
}


class Written(NamedTuple):
    """One topic, and who wrote in which codec to which of its partitions."""

    topic: str
    partitions: Mapping[tuple[str, str], int]
    offsets: Mapping[tuple[str, str], list[int]]


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OurBroker]:
    with OurBroker(tmp_path_factory.mktemp("clients"), SETTINGS) as running:
        yield running


@pytest.fixture(scope="module")
def clients(broker: OurBroker) -> Iterator[Mapping[str, Client]]:
    with ExitStack() as stack:
        yield {name: stack.enter_context(closing(make(broker.bootstrap_servers))) for name, make in MAKERS.items()}


@pytest.fixture(params=MAKERS)
def client(request: pytest.FixtureRequest, clients: Mapping[str, Client]) -> Client:
    return clients[request.param]


@pytest.fixture
def topic(request: pytest.FixtureRequest, clients: Mapping[str, Client]) -> str:
    """A new topic of one partition for this test."""
    name = "".join(letter if letter.isalnum() else "-" for letter in request.node.name)
    clients["librdkafka"].create_topic(name, 1)
    return name


@pytest.fixture(scope="module")
def written(clients: Mapping[str, Client]) -> Written:
    partitions = dict(zip(product(MAKERS, CODECS), count(), strict=False))
    clients["librdkafka"].create_topic("codecs", len(partitions))
    offsets = {
        (writer, codec): clients[writer].write("codecs", partition, SAMPLES, codec=codec, is_idempotent=True)
        for (writer, codec), partition in partitions.items()
    }
    return Written("codecs", partitions, offsets)


def batches(log_directory: Path, topic: str, partition: int) -> list[BatchHeader]:
    log = (log_directory / f"{topic}-{partition}" / f"{0:020d}.log").read_bytes()
    return [header for _, header in iterate_batches(log)]


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("writer", MAKERS)
def test_a_client_writes_batches_of_its_codec_with_a_producer_id(
    broker: OurBroker, written: Written, writer: str, codec: str
) -> None:
    assert written.offsets[writer, codec] == list(range(len(SAMPLES)))
    found = batches(broker.log_directory, written.topic, written.partitions[writer, codec])
    # The last record is one that is worth compressing; some clients leave smaller ones alone.
    assert found[-1].compression.name.lower() == codec
    assert all(batch.has_producer_id for batch in found)


@pytest.mark.parametrize("is_committed", [False, True], ids=["uncommitted", "committed"])
def test_a_client_reads_what_every_client_wrote(written: Written, client: Client, is_committed: bool) -> None:
    partitions = list(written.partitions.values())
    found = client.read(written.topic, partitions, len(partitions) * len(SAMPLES), is_committed=is_committed)
    for writer, partition in written.partitions.items():
        assert found[partition] == SAMPLES, writer


def test_a_client_reads_from_an_offset(written: Written, client: Client) -> None:
    partitions = list(written.partitions.values())[:3]
    found = client.read(written.topic, partitions, 3 * (len(SAMPLES) - 4), offset=4)
    assert found == dict.fromkeys(partitions, SAMPLES[4:])


def test_a_client_finds_offsets_by_time(written: Written, client: Client) -> None:
    for partition in list(written.partitions.values())[:: len(CODECS)]:
        assert client.offset_at(written.topic, partition, TIME_MS + 21) == 3
        assert client.offset_at(written.topic, partition, TIME_MS) == 0


@pytest.mark.parametrize("codec", ["none", "zstd"])
def test_a_record_of_a_megabyte_goes_through(topic: str, client: Client, codec: str) -> None:
    for offset in range(2):
        assert client.write(topic, 0, [MEGABYTE], codec=codec) == [offset]
    assert client.read(topic, [0], 2) == {0: [MEGABYTE, MEGABYTE]}


def test_a_client_makes_and_deletes_topics(request: pytest.FixtureRequest, broker: OurBroker, client: Client) -> None:
    name = f"made-{request.node.callspec.params['client']}"
    client.create_topic(name, 3)
    assert client.write(name, 2, SAMPLES) == list(range(len(SAMPLES)))
    assert (broker.log_directory / f"{name}-2").exists()
    client.delete_topic(name)
    client.create_topic(name, 1)
    assert not (broker.log_directory / f"{name}-2").exists()


def test_a_client_writes_on_while_its_topic_is_deleted_and_made_again(
    broker: OurBroker, topic: str, client: Client
) -> None:
    """Refusals in between are fine; what the last topic of the name acknowledged is there, once and in order."""
    acknowledged: list[int] = []
    numbers = count()
    is_over = Event()
    has_written = Event()

    def write() -> None:
        while not is_over.is_set():
            number = next(numbers)
            record = Record(b"%d" % number, b"x", TIME_MS)
            try:
                client.write(topic, 0, [record])
            except ClientError:
                continue
            acknowledged.append(number)
            has_written.set()

    writer = Thread(target=write)
    writer.start()
    try:
        with closing(Librdkafka(broker.bootstrap_servers)) as admin:
            for _ in range(3):
                assert has_written.wait(LIMIT_S)
                admin.delete_topic(topic)
                admin.create_topic(topic, 1)
                has_written.clear()
            first = len(acknowledged)
            assert has_written.wait(LIMIT_S)
    finally:
        is_over.set()
        writer.join()
    assert acknowledged[first:]
    with closing(Librdkafka(broker.bootstrap_servers)) as reader:
        expected = [b"%d" % number for number in acknowledged[first:]]
        found = [record.key for record in reader.read(topic, [0], len(expected))[0]]
    assert found[-len(expected) :] == expected
