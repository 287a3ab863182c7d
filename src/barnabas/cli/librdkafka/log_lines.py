"""What Kafka's tools log on their error stream: `[time] LEVEL what happened (who says so)`, and librdkafka's own lines.

An error of librdkafka's is shown by the name of the exception in Kafka's Java client, which scripts look for.
"""

from __future__ import annotations

import logging
import re
from typing import Final, TextIO

from confluent_kafka import KafkaError

from barnabas.cli.error_lines import exception_name
from barnabas.protocol.errors import ErrorCode

_NUMBERS: Final = re.compile(r"[0-9]+")
_REPEAT_S: Final = 10
_KAFKA_EXCEPTION: Final = "org.apache.kafka.common.KafkaException"
_OWN_NAMES: Final = {
    KafkaError._MSG_TIMED_OUT: exception_name(ErrorCode.REQUEST_TIMED_OUT),
    KafkaError._TIMED_OUT: exception_name(ErrorCode.REQUEST_TIMED_OUT),
    KafkaError._UNKNOWN_TOPIC: exception_name(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
    KafkaError._UNKNOWN_PARTITION: exception_name(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
    KafkaError._AUTHENTICATION: exception_name(ErrorCode.SASL_AUTHENTICATION_FAILED),
    KafkaError._INVALID_ARG: "org.apache.kafka.common.config.ConfigException",
    KafkaError._AUTO_OFFSET_RESET: "org.apache.kafka.clients.consumer.NoOffsetForPartitionException",
}


def error_line(error: KafkaError) -> str:
    """The line by which Kafka's Java client would name an error."""
    code = error.code()
    name = exception_name(ErrorCode(code)) if code in ErrorCode._value2member_map_ else None
    return f"{name or _OWN_NAMES.get(code, _KAFKA_EXCEPTION)}: {error.str()}"


def tool_logger(name: str, err: TextIO) -> logging.Logger:
    """A logger whose lines go to `err`, in the form that Kafka's tools have set up for theirs."""
    logger = logging.Logger(name, logging.WARNING)
    handler = logging.StreamHandler(err)
    handler.setFormatter(_KafkaFormatter("[%(asctime)s] %(levelname)s %(message)s (%(name)s)"))
    logger.addHandler(handler)
    return logger


def client_logger(err: TextIO) -> logging.Logger:
    """What librdkafka itself has to say: its errors, each once in a while however often it meets it."""
    logger = tool_logger("librdkafka", err)
    logger.setLevel(logging.ERROR)
    logger.addFilter(_Rarely())
    return logger


class _Rarely(logging.Filter):
    """Lets a line through that has not been seen for a while; lines that differ only in numbers are the same."""

    def __init__(self) -> None:
        super().__init__()
        self._seen_at_s: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        text = _NUMBERS.sub("", record.getMessage())
        is_new = record.created - self._seen_at_s.get(text, 0) >= _REPEAT_S
        if is_new:
            self._seen_at_s[text] = record.created
        return is_new


class _KafkaFormatter(logging.Formatter):
    """Under the line stands the `cause`, where the caller gave one as an extra."""

    def format(self, record: logging.LogRecord) -> str:
        if record.levelno == logging.WARNING:
            record.levelname = "WARN"
        line = super().format(record)
        cause = getattr(record, "cause", None)
        return line if cause is None else f"{line}\n{cause}"
