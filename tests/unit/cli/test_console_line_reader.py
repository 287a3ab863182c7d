"""Lines become records as Kafka's line reader makes them."""

from __future__ import annotations

import pytest

from barnabas.cli.console.line_reader import LineReader, LineRecord, ReaderError

BOTH = {"parse.key": "true", "parse.headers": "true"}


def parse(line: str, **properties: str) -> LineRecord:
    return LineReader.of({name.replace("_", "."): value for name, value in properties.items()}).parse(line, 1)


@pytest.mark.parametrize(
    ("line", "properties", "record"),
    [
        ("a\tb", {}, (None, b"a\tb", [])),
        ("", {}, (None, b"", [])),
        ("k\tv\tw", {"parse.key": " TRUE "}, (b"k", b"v\tw", [])),
        ("k", {"parse.key": "yes"}, (None, b"k", [])),
        ("k::v", {"parse.key": "true", "key.separator": "::"}, (b"k", b"v", [])),
        ("v", {"parse.key": "true", "key.separator": ""}, (b"", b"v", [])),
        ("a:1,b:2\tk\tv", BOTH, (b"k", b"v", [("a", b"1"), ("b", b"2")])),
        ("a:1:2\tv", {"parse.headers": "true"}, (None, b"v", [("a", b"1:2")])),
        ("a:1,,b:2,,\tv", {"parse.headers": "true", "ignore.error": "true"}, None),
        ("N\tN\tN", {**BOTH, "null.marker": "N"}, (None, None, [])),
        ("a:N\tk\tv", {**BOTH, "null.marker": "N"}, (b"k", b"v", [("a", None)])),
        ("no separators", {**BOTH, "ignore.error": "true"}, (None, b"no separators", [])),
        ("lonely\tv", {**BOTH, "ignore.error": "true"}, (None, b"v", [("lonely", None)])),
        ("a:1 b:2   c:3\tv", {"parse.headers": "true", "headers.separator": " +"}, None),
    ],
)
def test_a_line_is_cut_at_its_separators(
    line: str, properties: dict[str, str], record: tuple[bytes | None, bytes | None, list[object]] | None
) -> None:
    made = LineReader.of(properties).parse(line, 1)
    if record is not None:
        assert made == record
    elif "ignore.error" in properties:
        assert made.headers == [("a", b"1"), ("", None), ("b", b"2")]
    else:
        assert made.headers == [("a", b"1"), ("b", b"2"), ("c", b"3")]


@pytest.mark.parametrize(
    ("line", "properties", "complaint"),
    [
        ("ab", {"parse.key": "true"}, "No key separator found on line number 7: 'ab'"),
        ("ab", {"parse.headers": "true"}, "No headers delimiter found on line number 7: 'ab'"),
        ("h:1\tab", BOTH, "No key separator found on line number 7: 'h:1\tab'"),
        ("h\tab", {"parse.headers": "true"}, "No header key separator found in pair 'h' on line number 7"),
        (
            "N:1\tab",
            {"parse.headers": "true", "null.marker": "N"},
            "Header keys should not be equal to the null marker 'N' as they can't be null",
        ),
    ],
)
def test_a_line_without_what_it_should_have_is_refused(line: str, properties: dict[str, str], complaint: str) -> None:
    with pytest.raises(ReaderError) as refused:
        LineReader.of(properties).parse(line, 7)
    assert str(refused.value) == f"org.apache.kafka.common.KafkaException: {complaint}"


@pytest.mark.parametrize(
    ("properties", "complaint"),
    [
        ({"headers.delimiter": ","}, "headers.delimiter and headers.separator may not be equal"),
        ({"headers.delimiter": ":"}, "headers.delimiter and headers.key.separator may not be equal"),
        ({"headers.separator": ":"}, "headers.separator and headers.key.separator may not be equal"),
        ({"null.marker": "x", "key.separator": "x"}, "null.marker and key.separator may not be equal"),
        ({"null.marker": ","}, "null.marker and headers.separator may not be equal"),
        ({"null.marker": ":"}, "null.marker and headers.key.separator may not be equal"),
        ({"headers.separator": "("}, "headers.separator is no regular expression"),
    ],
)
def test_separators_that_cannot_be_told_apart_are_refused(properties: dict[str, str], complaint: str) -> None:
    with pytest.raises(ReaderError, match=complaint):
        LineReader.of(properties)


def test_lines_are_numbered_from_one() -> None:
    reader = LineReader.of({"parse.key": "true"})
    records = reader.read(["a\tb\n", "c"])
    assert next(records).key == b"a"
    with pytest.raises(ReaderError, match="line number 2: 'c'"):
        next(records)
