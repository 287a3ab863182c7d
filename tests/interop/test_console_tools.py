"""Apache Kafka judges our console and performance tools: both sides' do, print and refuse the same."""

from __future__ import annotations

import re
import signal
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from io import StringIO
from pathlib import Path

import pytest
from confluent_kafka import Producer

from barnabas.cli import consumer_perf, dump_log, producer_perf
from barnabas.cli.librdkafka.settings import consumer_settings, producer_settings
from barnabas.config.setting import ConfigError
from interop.apache_broker import ApacheBroker
from interop.both_consoles import (
    CONSUMER,
    CONSUMER_PERF,
    PRODUCER,
    PRODUCER_PERF,
    Broker,
    apaches_producer,
    our_consumer,
    our_perf,
    our_producer,
    said,
)
from interop.our_broker import OurBroker
from interop.referee import PROGRAMS, ToolOutput, Tools, run_java

pytestmark = pytest.mark.referee

SERIALIZATION = "org.apache.kafka.common.serialization."
NUMBER = re.compile(r"\d+(?:\.\d+)?")


@pytest.fixture(scope="module")
def apache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """Also where Apache's consumers need a group."""
    with ApacheBroker(tmp_path_factory.mktemp("apache")) as running:
        yield Broker(running.bootstrap_servers, running.log_directory)


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    with OurBroker(tmp_path_factory.mktemp("ours")) as running:
        yield Broker(running.bootstrap_servers, running.log_directory)


@pytest.fixture(scope="module", params=["apache", "ours"])
def broker(request: pytest.FixtureRequest) -> Broker:
    found: Broker = request.getfixturevalue(request.param)
    return found


# The console producer

ALL_PARTS = ["--property", "parse.key=true", "--property", "parse.headers=true"]


@pytest.mark.parametrize(
    ("arguments", "lines"),
    [
        pytest.param([], "one\n\ntwo words\r\nthree\rfour", id="lines"),
        pytest.param(
            ["--property", "key.separator=:", "--property", "parse.key=true"], "a:1\nb:2:3\n:4\nc:\n", id="keys"
        ),
        pytest.param(
            [*ALL_PARTS, "--property", "null.marker=NULL"],
            "a:1,b:NULL\tk\tv\nNULL\tNULL\tNULL\nx:\tk\t\n",
            id="headers",
        ),
        pytest.param(
            [
                *(
                    f"--reader-property={each}"
                    for each in ("parse.key=true", "parse.headers=true", "ignore.error=true")
                ),
                "--reader-property=headers.delimiter=|",
                "--reader-property=headers.separator=;",
                "--reader-property=headers.key.separator=->",
                "--sync",
            ],
            "a->1;b->2;;|k\tv\nno parts at all\nlonely;a->1|no key\n",
            id="separators",
        ),
        pytest.param(["--request-required-acks", "0", "--batch-size", "100"], "가\n나\U0001f600\n", id="unicode"),
    ],
)
def test_both_producers_make_the_same_records(
    broker: Broker, request: pytest.FixtureRequest, arguments: list[str], lines: str
) -> None:
    case = request.node.callspec.id
    count = len(lines.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n").split("\n"))
    outputs, records = [], []
    for side, produce in (("ours", our_producer), ("apaches", apaches_producer)):
        topic = broker.create(f"{side}-{case}", partitions=3)
        words = ["--bootstrap-server", broker.bootstrap_servers, "--topic", topic, *arguments]
        outputs.append(produce(*words, stdin=lines))
        records.append(broker.records(topic, count))
    ours, apaches = outputs
    assert (
        (ours.status, ours.out, said(ours.err)) == (apaches.status, apaches.out, said(apaches.err)) == (0, ours.out, "")
    )
    if "parse.key=true" in " ".join(arguments):
        keyed = [[record for record in each if record[1] is not None] for each in records]
        assert keyed[0] == keyed[1]
    # A record without a key goes to any partition.
    assert sorted(repr(record[1:]) for record in records[0]) == sorted(repr(record[1:]) for record in records[1])


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd", ""])
def test_records_are_compressed_as_asked_for(broker: Broker, codec: str) -> None:
    topic = broker.create(f"compressed-{codec or 'bare'}")
    option = ["--compression-codec", codec] if codec else ["--compression-codec"]
    words = ["--bootstrap-server", broker.bootstrap_servers, "--topic", topic, *option]
    assert our_producer(*words, stdin="the same line\n" * 100) == (0, "", "")
    out = StringIO()
    segment = broker.log_directory / f"{topic}-0" / "00000000000000000000.log"
    assert dump_log.run(["--files", str(segment)], out, StringIO()) == 0
    assert f"compresscodec: {codec or 'gzip'} " in out.getvalue()


@pytest.mark.parametrize(
    ("arguments", "lines"),
    [
        ("", ""),
        ("--help", ""),
        ("--topic t", ""),
        ("--bootstrap-server {b}", ""),
        ("--bootstrap-server nowhere --topic t", ""),
        ("--bootstrap-server {b} --topic t --topic u", ""),
        ("--bootstrap-server {b} --topic t --bogus", ""),
        ("--bootstrap-server {b} --topic t --timeout x", ""),
        ("--bootstrap-server {b} --topic t --property a=b --reader-property a=b", ""),
        ("--bootstrap-server {b} --topic t --producer-property a=b --command-property a=b", ""),
        ("--bootstrap-server {b} --topic t --producer.config x --command-config y", ""),
        ("--bootstrap-server {b} --topic t --property parse.key=true", "no key\n"),
        ("--bootstrap-server {b} --topic t --reader-property parse.headers=true", "a\tb\n"),
        ("--bootstrap-server {b} --topic t --reader-property null.marker=,", ""),
        ("--bootstrap-server {b} --topic t --reader-property headers.separator=:", ""),
        ("--bootstrap-server {b} --topic t --line-reader no.such.Reader", ""),
    ],
)
def test_both_producers_refuse_the_same(tools: Tools, apache: Broker, arguments: str, lines: str) -> None:
    words = arguments.format(b=apache.bootstrap_servers).split()
    ours = our_producer(*words, stdin=lines)
    # Without lines it ends before it reads the input, which it has to itself only in a JVM of its own.
    apaches = apaches_producer(*words, stdin=lines) if lines else tools.run(PRODUCER, *words)
    assert (ours.status, ours.out) == (apaches.status, apaches.out)
    assert ours.status == 1
    if "--help" not in words and words:
        assert said(ours.err).partition("\n")[0] == said(apaches.err).partition("\n")[0]


def test_both_producers_log_what_is_not_taken_and_go_on(broker: Broker) -> None:
    topic = broker.create("small", config={"max.message.bytes": "100"})
    words = ["--bootstrap-server", broker.bootstrap_servers, "--topic", topic]
    line = "x" * 1000 + "\n"
    ours, apaches = our_producer(*words, stdin=line), apaches_producer(*words, stdin=line)
    assert (ours.status, ours.out) == (apaches.status, apaches.out) == (0, "")
    for output in (ours, apaches):
        assert (
            f"Error when sending message to topic {topic} with key: null, value: 1000 bytes with error:" in output.err
        )
        assert "org.apache.kafka.common.errors.RecordTooLargeException: " in output.err
    sync = [our_producer(*words, "--sync", stdin=line), apaches_producer(*words, "--sync", stdin=line)]
    name = "java.util.concurrent.ExecutionException: org.apache.kafka.common.errors.RecordTooLargeException: "
    assert [(each.status, each.err.startswith(name)) for each in sync] == [(1, True)] * 2


# The console consumer


@pytest.fixture(scope="module")
def filled(apache: Broker) -> str:
    """A topic of one partition whose records have every part, or lack it."""
    topic = apache.create("filled")
    producer = Producer({"bootstrap.servers": apache.bootstrap_servers})
    producer.produce(topic, b"plain")
    producer.produce(topic, "가나".encode(), "열쇠".encode(), headers=[("a", b"1"), ("b", None), ("a", b"2")])
    producer.produce(topic, None, b"key of nothing")
    producer.produce(topic, b"", b"", headers=[("empty", b"")])
    producer.produce(topic, b"\x00\xff\\ not text", b"\xfe", timestamp=1_234_567_890_123)
    producer.flush()
    return topic


@pytest.fixture(scope="module")
def numbers(apache: Broker) -> dict[str, str]:
    """Topics of values that Java's deserializers read, by the names of their types."""
    values = {
        "Integer": [struct.pack(">i", each) for each in (0, -1, 2**31 - 1)],
        "Long": [struct.pack(">q", each) for each in (7, -(2**63))],
        "Short": [struct.pack(">h", each) for each in (-5,)],
        "Double": [struct.pack(">d", each) for each in (0.0, -0.1, 1e7, 1.5e-5, 123456.75, 1e300, float("nan"), 100.0)],
        "Float": [struct.pack(">f", each) for each in (0.1, -3.25, 1e10, 16777216.0, float("-inf"), 0.001)],
        "Boolean": [b"\x00", b"\x01"],
        "UUID": [b"123e4567-e89b-12d3-a456-426614174000"],
        "Bytes": [bytes(range(256))],
        "String": ["가".encode(), b"bad \xff utf"],
    }
    producer = Producer({"bootstrap.servers": apache.bootstrap_servers})
    for name, each in values.items():
        apache.create(f"numbers-{name}")
        for value in each:
            producer.produce(f"numbers-{name}", value)
    producer.flush()
    return {name: f"numbers-{name}" for name in values}


def compare_consumers(tools: Tools, broker: Broker, *words: str) -> ToolOutput:
    arguments = ["--bootstrap-server", broker.bootstrap_servers, *words]
    if "--timeout-ms" not in words:
        arguments += ["--timeout-ms", "20000"]  # Of a record that does not come the test fails, and does not hang.
    ours, apaches = our_consumer(*arguments), tools.run(CONSUMER, *arguments)
    assert (ours.status, ours.out) == (apaches.status, apaches.out)
    assert said(ours.err) == said(apaches.err)
    return ours


@pytest.mark.parametrize(
    "properties",
    [
        "",
        "print.key=true",
        "print.key=true print.value=false",
        "print.value=false",
        "print.value=false print.offset=true",
        "print.timestamp=true print.partition=true print.offset=true print.headers=true print.key=true",
        "print.epoch=TRUE print.delivery=true",
        "print.headers=true headers.separator=; key.separator=| null.literal=NIL",
        "print.key=true key.separator= line.separator=##",
        f"print.headers=true headers.deserializer={SERIALIZATION}StringDeserializer",
        "value.deserializer=no.such.Deserializer",
    ],
)
def test_both_consumers_print_the_same_parts(tools: Tools, apache: Broker, filled: str, properties: str) -> None:
    words = [word for each in properties.split() for word in ("--formatter-property", each)]
    output = compare_consumers(tools, apache, "--topic", filled, "--from-beginning", "--max-messages", "5", *words)
    assert output.status == 0
    assert output.err.endswith("Processed a total of 5 messages\n")


@pytest.mark.parametrize("kind", ["Integer", "Long", "Short", "Double", "Float", "Boolean", "UUID", "Bytes", "String"])
def test_both_consumers_deserialize_alike(tools: Tools, apache: Broker, numbers: dict[str, str], kind: str) -> None:
    deserializer = f"{SERIALIZATION}{kind}Deserializer"
    words = ["--topic", numbers[kind], "--from-beginning", "--max-messages", "1", "--value-deserializer", deserializer]
    compare_consumers(tools, apache, *words)


@pytest.mark.parametrize("start", ["0", "1", "earliest", "3"])
def test_both_consumers_read_a_partition_from_a_start(tools: Tools, broker: Broker, start: str) -> None:
    topic = broker.create(f"from-{start}")
    at = ["--bootstrap-server", broker.bootstrap_servers, "--topic", topic]
    assert our_producer(*at, stdin="a\nb\nc\nd\n").status == 0
    words = ["--topic", topic, "--partition", "0", "--offset", start, "--max-messages", "1"]
    assert compare_consumers(tools, broker, *words).out == {"1": "b\n", "3": "d\n"}.get(start, "a\n")


@pytest.mark.parametrize(
    "arguments",
    [
        "--topic filled --partition 0 --offset 2 --max-messages 2",
        "--topic filled --partition 0 --offset earliest --max-messages 1",
        "--topic filled --partition 0 --from-beginning --max-messages 1",
        "--topic filled --from-beginning --max-messages 0",
        "--topic filled --from-beginning --timeout-ms 1500",
        "--topic filled --partition 0 --offset latest --timeout-ms 300",
        "--topic filled --consumer-property auto.offset.reset=earliest --max-messages 1",
        "--topic filled --from-beginning --max-messages 1 --property print.key=true",
        "--topic filled --from-beginning --max-messages 2 --isolation-level read_committed",
        "--include fil+ed --from-beginning --max-messages 5",
        "--topic filled --group first --from-beginning --max-messages 2",
        "--topic filled --from-beginning --max-messages 5 "
        "--formatter org.apache.kafka.tools.consumer.NoOpMessageFormatter",
        "--topic filled --from-beginning --max-messages 2 --skip-message-on-error "
        f"--value-deserializer {SERIALIZATION}UUIDDeserializer",
        f"--topic filled --from-beginning --max-messages 1 --value-deserializer {SERIALIZATION}UUIDDeserializer",
    ],
)
@pytest.mark.usefixtures("filled")
def test_both_consumers_read_the_same(tools: Tools, apache: Broker, arguments: str) -> None:
    if "--group" in arguments:
        # Each side has a group of its own, or the second would go on where the first has ended.
        words = ["--bootstrap-server", apache.bootstrap_servers, *arguments.split()]
        ours = our_consumer(*words)
        assert ours[:2] == tools.run(CONSUMER, *[word.replace("first", "second") for word in words])[:2]
        assert our_consumer(*words).out == tools.run(CONSUMER, *words[:-4], "second", *words[-3:]).out != ours.out
        return
    compare_consumers(tools, apache, *arguments.split())


def test_both_consumers_decode_committed_offsets(tools: Tools, apache: Broker, filled: str) -> None:
    words = ["--bootstrap-server", apache.bootstrap_servers, "--topic", filled, "--group", "committing"]
    assert our_consumer(*words, "--from-beginning", "--max-messages", "1").status == 0
    for name in ("OffsetsMessageFormatter", "GroupMetadataMessageFormatter"):
        formatter = ["--formatter", f"org.apache.kafka.tools.consumer.{name}"]
        place = ["--topic", "__consumer_offsets", "--partition", "0", "--offset", "0", "--max-messages", "2"]
        assert compare_consumers(tools, apache, *place, *formatter).status == 0


@pytest.mark.parametrize(
    "arguments",
    [
        "",
        "--bogus",
        "--topic t",
        "--bootstrap-server {b}",
        "--bootstrap-server {b} --topic t --include t",
        "--bootstrap-server {b} --topic t --offset 1",
        "--bootstrap-server {b} --include t --partition 1",
        "--bootstrap-server {b} --topic t --partition x",
        "--bootstrap-server {b} --topic t --partition 0 --offset -3",
        "--bootstrap-server {b} --topic t --partition 0 --offset soon",
        "--bootstrap-server {b} --topic t --partition 0 --offset 1 --from-beginning",
        "--bootstrap-server {b} --topic t --partition 0 --group g",
        "--bootstrap-server {b} --topic t --group g --consumer-property group.id=g2",
        "--bootstrap-server {b} --topic t --consumer-property a=b --command-property a=b",
        "--bootstrap-server {b} --topic t --consumer.config a --command-config b",
        "--bootstrap-server {b} --topic t --property a=b --formatter-property a=b",
        "--bootstrap-server {b} --topic t --from-beginning --consumer-property auto.offset.reset=latest",
        "--bootstrap-server {b} --topic t --formatter no.such.Formatter",
    ],
)
def test_both_consumers_refuse_the_same(tools: Tools, apache: Broker, arguments: str) -> None:
    words = arguments.format(b=apache.bootstrap_servers).split()
    ours, apaches = our_consumer(*words), tools.run(CONSUMER, *words)
    assert (ours.status, ours.out) == (apaches.status, apaches.out)
    assert ours.status == 1
    if words:
        first, second = (said(each.err).partition("\n")[0] for each in (ours, apaches))
        # In which order a Java set of groups is shown is chance.
        assert sorted(re.split("[ ,]+", first)) == sorted(re.split("[ ,]+", second))


# As they are used


def command(tool: str, *words: str) -> list[str]:
    return [sys.executable, "-m", f"barnabas.cli.{tool}", *words]


def test_files_and_pipes_are_produced_and_consumed_as_in_a_shell(broker: Broker, tmp_path: Path) -> None:
    topic = broker.create("shell")
    lines = "".join(f"{number}:value {number}\n" for number in range(2000))
    (tmp_path / "message.log").write_text(lines)
    at = ["--bootstrap-server", broker.bootstrap_servers, "--topic", topic]
    with (tmp_path / "message.log").open() as file:
        keyed = ["--property", "key.separator=:", "--property", "parse.key=true"]
        subprocess.run(command("console_producer", *at, *keyed), stdin=file, check=True)
    printed = ["--from-beginning", "--property", "print.key=true", "--property", "key.separator=:"]
    reading = subprocess.Popen(
        command("console_consumer", *at, *printed), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert reading.stdout is not None
    assert reading.stderr is not None
    with reading.stdout as out, reading.stderr as err:
        next(out)  # The word about --property.
        assert "".join(next(out) for _ in range(2000)) == lines
        reading.send_signal(signal.SIGINT)
        assert reading.wait(30) == 128 + signal.SIGINT
        assert err.read() == "Processed a total of 2000 messages\n"


def test_a_consumer_ends_when_nobody_reads_what_it_prints(broker: Broker) -> None:
    at = ["--bootstrap-server", broker.bootstrap_servers, "--topic", broker.create("unread"), "--from-beginning"]
    assert our_producer(*at[:-1], stdin="first\n").status == 0
    reading = subprocess.Popen(command("console_consumer", *at), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert reading.stdout is not None
    assert reading.stderr is not None
    with reading.stderr as err:
        reading.stdout.readline()
        reading.stdout.close()
        assert our_producer(*at[:-1], stdin="more\n").status == 0
        assert reading.wait(30) == 0
        assert b"Unable to write to standard out, closing consumer.\nProcessed a total of " in err.read()


# The performance tests


@pytest.mark.parametrize(
    "arguments",
    [
        "--num-records 500 --record-size 100 --throughput -1 --bootstrap-server {b}",
        "--num-records 200 --payload-monotonic --throughput 2000 --producer-props bootstrap.servers={b} linger.ms=1",
        "--num-records 300 --payload-file {file} --payload-delimiter , --throughput -1 --command-config {config}",
        "--num-records 50 --record-size 9 --throughput -1 --warmup-records 10 --command-property bootstrap.servers={b}",
    ],
)
def test_both_producer_tests_print_the_same_lines(tools: Tools, broker: Broker, tmp_path: Path, arguments: str) -> None:
    (tmp_path / "payloads").write_text("a,bb,,ccc,")
    (tmp_path / "config").write_text(f"bootstrap.servers={broker.bootstrap_servers}\n")
    places = {"b": broker.bootstrap_servers, "file": tmp_path / "payloads", "config": tmp_path / "config"}
    words = ["--topic", "perf", *arguments.format(**places).split()]
    ours, apaches = our_perf(producer_perf.run, *words), tools.run(PRODUCER_PERF, *words)
    assert (ours.status, said(ours.err)) == (apaches.status, said(apaches.err)) == (0, "")
    assert NUMBER.sub("N", ours.out) == NUMBER.sub("N", apaches.out)
    counts = [re.findall(r"(\d+) (?:steady state )?records sent", each.out) for each in (ours, apaches)]
    assert counts[0] == counts[1]


def test_both_producer_tests_use_transactions(tools: Tools, apache: Broker) -> None:
    words = "--topic perf --num-records 100 --record-size 10 --throughput -1 --transactional-id t --bootstrap-server"
    ours = our_perf(producer_perf.run, *words.split(), apache.bootstrap_servers)
    apaches = tools.run(PRODUCER_PERF, *words.split(), apache.bootstrap_servers)
    assert NUMBER.sub("N", ours.out) == NUMBER.sub("N", apaches.out)
    markers = StringIO()
    segment = apache.log_directory / "perf-0" / "00000000000000000000.log"
    assert dump_log.run(["--print-data-log", "--files", str(segment)], markers, StringIO()) == 0
    # Of the two runs ours was the first; Apache's begins when it has ended, and its own end may not be written yet.
    assert re.findall(r"endTxnMarker: (\w+)", markers.getvalue())[0] == "COMMIT"


@pytest.mark.parametrize(
    "arguments",
    [
        "",
        "--topic t",
        "--topic t --num-records 1 --throughput -1",
        "--topic t --num-records x --throughput -1 --record-size 1",
        "--topic t --num-records 1 --throughput x --record-size 1",
        "--topic t --num-records 0 --throughput -1 --record-size 1",
        "--topic t --num-records 1 --throughput -1 --record-size 1",
        "--topic t --num-records 1 --throughput -1 --record-size 0 --bootstrap-server a:1",
        "--topic t --num-records 1 --throughput -1 --record-size 1 --payload-file x",
        "--topic t --num-records 1 --throughput -1 --record-size 1 --warmup-records 1 --bootstrap-server a:1",
        "--topic t --num-records 1 --throughput -1 --record-size 1 --producer-props a=b --command-property a=b",
        "--topic t --num-records 1 --throughput -1 --record-size 1 --bootstrap-server a:1 --reporting-interval 0",
        "--topic t --num-records 1 --throughput -1 --record-size 1 --bootstrap-server a:1 --transaction-duration-ms 0",
    ],
)
def test_both_producer_tests_refuse_the_same(tools: Tools, arguments: str) -> None:
    words = arguments.split()
    ours, apaches = our_perf(producer_perf.run, *words), tools.run(PRODUCER_PERF, *words)
    assert ours.status == apaches.status
    complaints = [re.sub(r"\s", "", re.split(r": +error:", each.err)[-1]) for each in (ours, apaches)]
    assert complaints[0] == complaints[1]


@pytest.mark.parametrize(
    "arguments",
    [
        "--topic filled --num-records 5",
        "--topic filled --messages 5 --hide-header --group {side}",
        "--include fil.ed --num-records 5 --date-format HH:mm",
        "--topic filled --num-records 5 --show-detailed-stats",
        "--topic filled --num-records 1000 --timeout 500",
    ],
)
@pytest.mark.usefixtures("filled")
def test_both_consumer_tests_print_the_same_lines(tools: Tools, apache: Broker, arguments: str) -> None:
    at = ["--bootstrap-server", apache.bootstrap_servers]
    ours = our_perf(consumer_perf.run, *at, *arguments.format(side="ours").split())
    apaches = tools.run(CONSUMER_PERF, *at, *arguments.format(side="apaches").split())
    assert (ours.status, said(ours.err)) == (apaches.status, said(apaches.err)) == (0, "")
    assert NUMBER.sub("N", ours.out) == NUMBER.sub("N", apaches.out)


@pytest.mark.parametrize(
    "arguments",
    [
        "--topic t",
        "--bootstrap-server a:1 --num-records 1",
        "--bootstrap-server a:1 --topic t",
        "--bootstrap-server a:1 --topic t --num-records 1 --messages 1",
        "--bootstrap-server a:1 --topic t --num-records 1 --consumer.config a --command-config b",
        "--bootstrap-server a:1 --topic t --num-records 1 --bogus",
    ],
)
def test_both_consumer_tests_refuse_the_same(tools: Tools, arguments: str) -> None:
    words = arguments.split()
    ours, apaches = our_perf(consumer_perf.run, *words), tools.run(CONSUMER_PERF, *words)
    assert (ours.status, ours.out) == (apaches.status, apaches.out)
    assert said(ours.err).partition("\n")[0] == said(apaches.err).partition("\n")[0]


def test_every_setting_of_javas_clients_is_known() -> None:
    rows = [line.split("\t") for line in run_java(PROGRAMS / "Facts.java", "client-settings").stdout.splitlines()]
    for kind, translate in (("producer", producer_settings), ("consumer", consumer_settings)):
        names = [name for which, name in rows if which == kind]
        assert len(names) > 50
        for name in names:
            with suppress(ConfigError):  # A value that it knows to be wrong.
                assert "known config" not in str(translate({name: "1"}).warnings)
