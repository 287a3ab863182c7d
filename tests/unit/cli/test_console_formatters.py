"""Records are printed as Kafka's formatters print them."""

from __future__ import annotations

import io
import json
import struct

import pytest
from confluent_kafka import TIMESTAMP_CREATE_TIME, TIMESTAMP_LOG_APPEND_TIME, TIMESTAMP_NOT_AVAILABLE, Message

from barnabas.cli.console.deserializers import DESERIALIZERS, DeserializationError
from barnabas.cli.console.formatters import DEFAULT_FORMATTER, Formatter, make_formatter
from barnabas.cli.librdkafka.log_lines import tool_logger

SERIALIZATION = "org.apache.kafka.common.serialization."
TOOLS = "org.apache.kafka.tools.consumer."


def formatter(name: str = DEFAULT_FORMATTER, err: io.StringIO | None = None, **properties: str) -> Formatter:
    given = {each.replace("_", "."): value for each, value in properties.items()}
    made = make_formatter(name, given, tool_logger("test", err or io.StringIO()))
    assert made is not None
    return made


def record(
    value: bytes | None = b"v", key: bytes | None = b"k", headers: list[tuple[str, str | bytes | None]] | None = None
) -> Message:
    return Message(
        topic="t",
        partition=3,
        offset=42,
        key=key,
        value=value,
        headers=headers,
        timestamp=(TIMESTAMP_CREATE_TIME, 1234),
    )


def test_the_value_alone_is_printed_unless_more_is_asked_for() -> None:
    assert formatter()(record(b"\xff")) == b"\xff\n"


def test_parts_stand_in_kafkas_order() -> None:
    made = formatter(
        print_key="true",
        print_headers="true",
        print_epoch="true",
        print_delivery="true",
        print_offset="true",
        print_partition="true",
        print_timestamp="true",
    )
    shown = made(record(headers=[("a", b"1"), ("b", None)])).split(b"\t")
    assert shown[:4] == [b"CreateTime:1234", b"Partition:3", b"Offset:42", b"Delivery:NOT_PRESENT"]
    assert shown[4:] == [b"Epoch:NOT_PRESENT", b"a:1,b:null", b"k", b"v\n"]


def test_separators_and_the_word_for_null_can_be_chosen() -> None:
    made = formatter(print_key="true", key_separator="->", line_separator=";", null_literal="NIL", print_headers="true")
    assert made(record(None, None)) == b"NO_HEADERS->NIL->NIL;"


def test_without_any_part_nothing_is_printed() -> None:
    assert formatter(print_value="false")(record()) == b""
    assert formatter(print_value="false", print_key="true")(record()) == b"k\n"


@pytest.mark.parametrize(
    ("kind", "shown"),
    [
        (TIMESTAMP_CREATE_TIME, b"CreateTime:7\n"),
        (TIMESTAMP_LOG_APPEND_TIME, b"LogAppendTime:7\n"),
        (TIMESTAMP_NOT_AVAILABLE, b"NO_TIMESTAMP\n"),
    ],
)
def test_a_timestamp_says_whose_it_is(kind: int, shown: bytes) -> None:
    made = formatter(print_timestamp="true", print_value="false")
    assert made(Message(timestamp=(kind, 7))) == shown


@pytest.mark.parametrize(
    ("name", "data", "shown"),
    [
        ("Integer", struct.pack(">i", -7), b"-7"),
        ("Long", struct.pack(">q", 2**40), b"1099511627776"),
        ("Short", struct.pack(">h", 258), b"258"),
        ("Double", struct.pack(">d", 0.0), b"0.0"),
        ("Double", struct.pack(">d", -0.0), b"-0.0"),
        ("Double", struct.pack(">d", 0.1), b"0.1"),
        ("Double", struct.pack(">d", 0.001), b"0.001"),
        ("Double", struct.pack(">d", 0.00099), b"9.9E-4"),
        ("Double", struct.pack(">d", 9999999.0), b"9999999.0"),
        ("Double", struct.pack(">d", 1e7), b"1.0E7"),
        ("Double", struct.pack(">d", 1.7976931348623157e308), b"1.7976931348623157E308"),
        ("Double", struct.pack(">d", float("-inf")), b"-Infinity"),
        ("Double", struct.pack(">d", float("nan")), b"NaN"),
        ("Float", struct.pack(">f", 0.1), b"0.1"),
        ("Float", struct.pack(">f", 16777216.0), b"1.6777216E7"),
        ("Boolean", b"\x01", b"true"),
        ("UUID", b"123E4567-e89b-12d3-a456-426614174000", b"123e4567-e89b-12d3-a456-426614174000"),
        ("Bytes", b"a\\\x00~\x7f", b"a\\x5C\\x00~\\x7F"),
        ("ByteArray", b"\xff", b"\xff"),
        ("String", b"a\xff", b"a\xef\xbf\xbd"),
    ],
)
def test_values_are_read_as_javas_deserializers_read_them(name: str, data: bytes, shown: bytes) -> None:
    deserializer = f"{SERIALIZATION}{name}Deserializer"
    assert DESERIALIZERS[deserializer](data) == shown
    assert formatter(value_deserializer=deserializer)(record(data)) == shown + b"\n"


@pytest.mark.parametrize(
    ("name", "data", "complaint"),
    [
        ("Integer", b"123", "Size of data received by IntegerDeserializer is not 4"),
        ("Boolean", b"12", "Size of data received by BooleanDeserializer is not 1"),
        ("Boolean", b"\xff", "Unexpected byte received by BooleanDeserializer: -1"),
        ("UUID", b"no", "Error parsing data into UUID"),
    ],
)
def test_what_a_deserializer_cannot_read_is_refused_in_its_words(name: str, data: bytes, complaint: str) -> None:
    with pytest.raises(DeserializationError, match=complaint):
        DESERIALIZERS[f"{SERIALIZATION}{name}Deserializer"](data)


def test_null_is_null_to_every_deserializer() -> None:
    assert formatter(value_deserializer=f"{SERIALIZATION}LongDeserializer")(record(None)) == b"null\n"


def test_a_deserializer_that_there_is_not_is_told_of_and_passed_over() -> None:
    err = io.StringIO()
    assert formatter(err=err, key_deserializer="no.Such", print_key="true")(record()) == b"k\tv\n"
    assert "ERROR Unable to instantiate a deserializer from no.Such (test)\n" in err.getvalue()
    assert err.getvalue().endswith("java.lang.ClassNotFoundException: no.Such\n")


def test_formatters_go_by_the_names_of_javas() -> None:
    assert formatter(f"{TOOLS}NoOpMessageFormatter")(record()) == b""
    assert formatter(f"{TOOLS}LoggingMessageFormatter", print_key="true")(record()) == b"k\tv\n"
    assert make_formatter("no.Such", {}, tool_logger("test", io.StringIO())) is None


def test_committed_offsets_are_shown_field_by_field() -> None:
    made = formatter(f"{TOOLS}OffsetsMessageFormatter")
    key = struct.pack(">hh1sh1si", 1, 1, b"g", 1, b"t", 0)
    value = struct.pack(">hqihq", 3, 5, -1, 0, 99)
    assert json.loads(made(record(value, key))) == {
        "key": {"type": 1, "data": {"group": "g", "topic": "t", "partition": 0}},
        "value": {"version": 3, "data": {"offset": 5, "leaderEpoch": -1, "metadata": "", "commitTimestamp": 99}},
    }
    assert json.loads(made(record(None, key)))["value"] is None
    assert made(record(value, None)) == b""
    assert made(record(value, struct.pack(">hh1s", 2, 1, b"g"))) == b""
    assert made(record(value, struct.pack(">h", 999))) == b""
    with pytest.raises(DeserializationError, match="Could not read record at offset 42 due to: "):
        made(record(value, key[:-1]))
