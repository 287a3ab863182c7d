"""The console tools on a broker in this process: what is written is read again, and what fails is told of."""

from __future__ import annotations

import io
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Producer

from barnabas.cli import console_consumer, console_producer
from barnabas.cli.librdkafka.log_lines import client_logger
from barnabas.cli.options import ParsedOptions
from unit.cli.mock_cluster import mock_cluster

Output = tuple[int, str, str]


@pytest.fixture(scope="module")
def servers() -> Iterator[str]:
    with mock_cluster() as address:
        yield address


def fill(servers: str, topic: str, values: list[bytes], partition: int = 0) -> None:
    producer = Producer({"bootstrap.servers": servers, "log_level": "0"})
    for value in values:
        producer.produce(topic, value, partition=partition)
    producer.flush()


def produce(servers: str, *words: str, lines: bytes = b"") -> Output:
    out, err = io.StringIO(), io.StringIO()
    status = console_producer.run(["--bootstrap-server", servers, *words], io.BytesIO(lines), out, err)
    return status, out.getvalue(), err.getvalue()


def consume(servers: str, *words: str) -> Output:
    out, err, records = io.StringIO(), io.StringIO(), io.BytesIO()
    status = console_consumer.run(["--bootstrap-server", servers, *words], out, err, records)
    return status, out.getvalue() + records.getvalue().decode(), err.getvalue()


def test_lines_come_back_as_records(servers: str) -> None:
    keyed = ["--reader-property", "parse.key=true", "--reader-property", "key.separator=:"]
    assert produce(servers, "--topic", "back", *keyed, lines=b"a:1\nb:2\r\nc:3") == (0, "", "")
    shown = consume(
        servers, "--topic", "back", "--from-beginning", "--max-messages", "3", "--property", "print.key=true"
    )
    word = (
        "Option --property is deprecated and will be removed in a future version. Use --formatter-property instead.\n"
    )
    assert shown[0] == 0
    assert shown[1].startswith(word)
    assert sorted(shown[1].removeprefix(word).splitlines()) == ["a\t1", "b\t2", "c\t3"]
    assert shown[2] == "Processed a total of 3 messages\n"


def test_lines_before_a_bad_one_are_sent(servers: str) -> None:
    words = ["--topic", "half", "--reader-property", "parse.key=true"]
    status, _, err = produce(servers, *words, lines=b"k\tgood\nbad\nk\tlate\n")
    assert (status, err) == (
        1,
        "org.apache.kafka.common.KafkaException: No key separator found on line number 2: 'bad'\n",
    )
    # Of the same key, so that whatever else was sent would be read before it.
    assert produce(servers, *words, lines=b"k\tlast") == (0, "", "")
    assert consume(servers, "--topic", "half", "--from-beginning", "--max-messages", "2")[1] == "good\nlast\n"


def test_a_wait_without_records_ends_after_its_time(servers: str) -> None:
    status, out, err = consume(servers, "--topic", "silent", "--timeout-ms", "50")
    assert (status, out) == (0, "")
    log, cause, total = err.splitlines()
    assert "] ERROR Error processing message, terminating consumer process:  (org.apache.kafka.tools." in log
    assert cause == "org.apache.kafka.common.errors.TimeoutException"
    assert total == "Processed a total of 0 messages"


def test_one_partition_is_read_from_an_offset_on(servers: str) -> None:
    fill(servers, "one", [b"0", b"1", b"2", b"3"], partition=2)
    words = ["--topic", "one", "--partition", "2"]
    assert consume(servers, *words, "--offset", "2", "--max-messages", "2")[1] == "2\n3\n"
    assert consume(servers, *words, "--offset", "earliest", "--max-messages", "1")[1] == "0\n"
    assert consume(servers, *words, "--timeout-ms", "50")[1] == ""


def test_topics_are_chosen_by_a_pattern_of_their_whole_names(servers: str) -> None:
    for topic in ("fit-1", "fit-2", "misfit-1"):
        assert produce(servers, "--topic", topic, lines=topic.encode())[0] == 0
    _, out, _ = consume(servers, "--include", r"fit-\d", "--from-beginning", "--max-messages", "2")
    assert sorted(out.splitlines()) == ["fit-1", "fit-2"]


def test_a_signal_ends_a_consumer_in_order(servers: str) -> None:
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGTERM))
    timer.start()
    status, _, err = consume(servers, "--topic", "endless", "--enable-systest-events")
    timer.join()
    assert status == 128 + signal.SIGTERM
    assert err == "Processed a total of 0 messages\n"


def test_a_record_that_cannot_be_printed_ends_a_consumer_or_is_skipped(servers: str) -> None:
    fill(servers, "numbers", [b"\x00\x00\x00\x07", b"bad", b"\x00\x00\x00\x08"])
    words = ["--topic", "numbers", "--from-beginning", "--max-messages", "3"]
    words += ["--value-deserializer", "org.apache.kafka.common.serialization.IntegerDeserializer"]
    complaint = "SerializationException: Size of data received by IntegerDeserializer is not 4"
    status, out, err = consume(servers, *words)
    assert (status, out) == (1, "7\n")
    assert err.startswith("Processed a total of 2 messages\n")
    assert complaint in err
    status, out, err = consume(servers, *words, "--skip-message-on-error")
    assert (status, out) == (0, "7\n8\n")
    assert complaint in err


def test_a_cluster_that_cannot_be_reached_is_told_of_for_every_record() -> None:
    status, out, err = produce("127.0.0.1:1", "--topic", "t", "--max-block-ms", "50", lines=b"a\nbc\n")
    assert (status, out) == (0, "")
    assert (
        err.count("org.apache.kafka.common.errors.TimeoutException: Topic t not present in metadata after 50 ms.") == 2
    )
    assert "Error when sending message to topic t with key: null, value: 2 bytes with error: (" in err
    status, _, err = produce("127.0.0.1:1", "--topic", "t", "--max-block-ms", "50", "--sync", lines=b"a\nbc\n")
    assert status == 1
    assert err.count("java.util.concurrent.ExecutionException: org.apache.kafka.common.errors.TimeoutException: ") == 1


def test_an_error_that_goes_on_is_logged_once_in_a_while() -> None:
    err = io.StringIO()
    log = client_logger(err)
    for number in range(5):
        log.error("Connect to 127.0.0.1:9092 failed after %d ms", number)
    log.error("another")
    log.warning("not that bad")
    assert [line.split(" ", 2)[2] for line in err.getvalue().splitlines()] == [
        "ERROR Connect to 127.0.0.1:9092 failed after 0 ms (librdkafka)",
        "ERROR another (librdkafka)",
    ]


# What the options come to


def producer_options(*words: str) -> ParsedOptions:
    return console_producer.TOOL.parse(["--topic", "t", *words])


def test_an_option_wins_over_a_property_which_wins_over_the_options_default(tmp_path: Path) -> None:
    file = tmp_path / "producer.properties"
    file.write_text("linger.ms=1\nretries=8\nclient.id=me\nacks=0\n")
    options = producer_options("--command-config", str(file), "--command-property", "acks=1", "--timeout", "20")
    properties = console_producer.producer_properties(options, "h:1")
    assert (properties["linger.ms"], properties["acks"], properties["retries"]) == ("20", "1", "8")
    assert (properties["client.id"], properties["batch.size"], properties["bootstrap.servers"]) == (
        "me",
        "16384",
        "h:1",
    )
    assert properties["compression.type"] == "none"
    older = producer_options("--max-partition-memory-bytes", "5", "--batch-size", "6", "--compression-codec")
    properties = console_producer.producer_properties(older, "h:1")
    assert (properties["batch.size"], properties["compression.type"]) == ("5", "gzip")


def test_lines_are_read_by_a_file_of_properties_and_by_those_beside_it(tmp_path: Path) -> None:
    file = tmp_path / "reader.properties"
    file.write_text("parse.key=true\nkey.separator=x\n")
    options = producer_options("--reader-config", str(file), "--reader-property", "key.separator=y")
    assert console_producer.reader_properties(options) == {"parse.key": "true", "key.separator": "y"}


def consumer_request(*words: str) -> console_consumer.Request:
    options = console_consumer.TOOL.parse(["--bootstrap-server", "h:1", *words])
    return console_consumer.parse_request(options, io.StringIO())


def test_a_consumer_without_a_group_leaves_no_offsets_behind() -> None:
    request = consumer_request("--topic", "t")
    assert not request.has_group
    assert request.properties["enable.auto.commit"] == "false"
    assert request.properties["auto.offset.reset"] == "latest"
    named = consumer_request("--topic", "t", "--consumer-property", "group.id=g", "--from-beginning")
    assert named.has_group
    assert "enable.auto.commit" not in named.properties
    assert named.properties["auto.offset.reset"] == "earliest"


def test_negative_limits_are_none() -> None:
    request = consumer_request("--topic", "t", "--max-messages", "-1", "--timeout-ms", "-1")
    assert (request.count_max, request.timeout_ms) == (None, None)


def test_deserializers_are_properties_of_the_formatter() -> None:
    words = ["--key-deserializer", "K", "--formatter-property", "value.deserializer=V"]
    request = consumer_request("--topic", "t", *words, "--value-deserializer", "W")
    assert request.formatter_properties == {"key.deserializer": "K", "value.deserializer": "V"}
