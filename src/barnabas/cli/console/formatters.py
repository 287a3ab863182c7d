"""Records as the console consumer prints them, by the names of Kafka's Java formatters.

A formatter writes whole records as bytes, so that what is not text stays as it is.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Final

from confluent_kafka import TIMESTAMP_CREATE_TIME, TIMESTAMP_LOG_APPEND_TIME, Message

from barnabas.cli.console.deserializers import DESERIALIZERS, Deserializer
from barnabas.cli.console.line_reader import is_true

# Gives the bytes that are printed for a record; DeserializationError where the record is not what it should be.
Formatter = Callable[[Message], bytes]

_PACKAGE: Final = "org.apache.kafka.tools.consumer."
DEFAULT_FORMATTER: Final = _PACKAGE + "DefaultMessageFormatter"
_TIMESTAMP_TYPES: Final = {TIMESTAMP_CREATE_TIME: "CreateTime", TIMESTAMP_LOG_APPEND_TIME: "LogAppendTime"}


class DefaultFormatter:
    """The parts of a record that were asked for, apart by a separator; only the value unless told otherwise."""

    def __init__(self, properties: Mapping[str, str], log: logging.Logger) -> None:
        def separator(name: str, otherwise: str) -> bytes:
            return properties.get(name, otherwise).encode()

        self._key_separator = separator("key.separator", "\t")
        self._line_separator = separator("line.separator", "\n")
        self._headers_separator = separator("headers.separator", ",")
        self._null_literal = separator("null.literal", "null")
        key, value, headers = (_deserializer(properties, part, log) for part in ("key", "value", "headers"))
        self._shown_key, self._shown_value, self._shown_header = map(self._showing, (key, value, headers))
        parts: dict[str, tuple[Formatter, bool]] = {
            "print.timestamp": (_timestamp, False),
            "print.partition": (lambda message: b"Partition:%d" % (message.partition() or 0), False),
            "print.offset": (lambda message: b"Offset:%d" % (message.offset() or 0), False),
            # Apache's console consumer keeps neither from its formatter's record.
            "print.delivery": (lambda _: b"Delivery:NOT_PRESENT", False),
            "print.epoch": (lambda _: b"Epoch:NOT_PRESENT", False),
            "print.headers": (self._headers, False),
            "print.key": (lambda message: self._shown_key(message.key()), False),
            "print.value": (lambda message: self._shown_value(message.value()), True),
        }
        self._parts = [
            shown
            for name, (shown, is_default) in parts.items()
            if (is_true(properties[name]) if name in properties else is_default)
        ]

    def __call__(self, message: Message) -> bytes:
        if not self._parts:
            return b""
        return self._key_separator.join([part(message) for part in self._parts]) + self._line_separator

    def _showing(self, deserialize: Deserializer | None) -> Callable[[bytes | None], bytes]:
        def show(data: bytes | None) -> bytes:
            if data is None:
                return self._null_literal
            return data if deserialize is None else deserialize(data)

        return show

    def _headers(self, message: Message) -> bytes:
        headers = message.headers()
        if not headers:
            return b"NO_HEADERS"
        assert isinstance(headers, list)  # What was received is, though what is sent may be a dictionary.
        return self._headers_separator.join(
            name.encode() + b":" + self._shown_header(_header_bytes(value)) for name, value in headers
        )


def _timestamp(message: Message) -> bytes:
    kind, time_ms = message.timestamp()
    return f"{_TIMESTAMP_TYPES[kind]}:{time_ms}".encode() if kind in _TIMESTAMP_TYPES else b"NO_TIMESTAMP"


def _header_bytes(value: str | bytes | None) -> bytes | None:
    return value.encode() if isinstance(value, str) else value


def _deserializer(properties: Mapping[str, str], part: str, log: logging.Logger) -> Deserializer | None:
    name = properties.get(f"{part}.deserializer")
    if name is not None and name not in DESERIALIZERS:
        cause = f"java.lang.ClassNotFoundException: {name}"
        log.error("Unable to instantiate a deserializer from %s", name, extra={"cause": cause})
        return None
    return None if name is None else DESERIALIZERS[name]


class LoggingFormatter:
    """Prints as the default formatter does, and logs the record besides."""

    def __init__(self, properties: Mapping[str, str], log: logging.Logger) -> None:
        self._default = DefaultFormatter(properties, log)
        self._log = log

    def __call__(self, message: Message) -> bytes:
        kind, time_ms = message.timestamp()
        stamp = f"{_TIMESTAMP_TYPES[kind]}:{time_ms}, " if kind in _TIMESTAMP_TYPES else ""
        key, value = message.key(), message.value()
        key_text = "null " if key is None else f"{key.decode('utf-8', 'replace')}, "
        value_text = "null" if value is None else value.decode("utf-8", "replace")
        self._log.info("%skey:%svalue:%s", stamp, key_text, value_text)
        return self._default(message)


def make_formatter(name: str, properties: Mapping[str, str], log: logging.Logger) -> Formatter | None:
    """The formatter of that Java class, or None where there is no such."""
    if name == DEFAULT_FORMATTER:
        return DefaultFormatter(properties, log)
    if name == _PACKAGE + "LoggingMessageFormatter":
        return LoggingFormatter(properties, log)
    if name == _PACKAGE + "NoOpMessageFormatter":
        return lambda _: b""
    # Their messages take longer to load than the rest of the tool.
    from barnabas.cli.console.coordinator_formatters import COORDINATOR_FORMATTERS

    make = COORDINATOR_FORMATTERS.get(name)
    return None if make is None else make()
