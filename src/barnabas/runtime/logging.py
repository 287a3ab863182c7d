"""Log lines: one an event, what happened first, then its circumstances as key=value pairs.

Code logs through the standard library and puts the circumstances into `extra`, so nothing below needs to know of this.
A line stays a line: text with spaces, quotes or control characters is quoted.
"""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from typing import IO, Any, Final

# What every record has; whatever else it has was given by `extra`.
_STANDARD: Final = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


class KeyValueFormatter(logging.Formatter):
    """`2026-01-31T12:00:00.000Z WARNING connection closed reason="idle for too long" logger=barnabas.runtime`."""

    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC)
        stamp = f"{at:%Y-%m-%dT%H:%M:%S}.{at.microsecond // 1000:03d}Z"
        fields = {name: value for name, value in vars(record).items() if name not in _STANDARD}
        fields["logger"] = record.name
        pairs = " ".join(f"{name}={_shown(value)}" for name, value in fields.items())
        line = f"{stamp} {record.levelname} {_one_line(record.getMessage())} {pairs}"
        if record.exc_info:
            line += f" error={_shown(self.formatException(record.exc_info))}"
        return line


def start_logging(level: int = logging.INFO, stream: IO[str] | None = None) -> logging.Handler:
    """Send this package's log lines to a stream, the error stream by default."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(KeyValueFormatter())
    logger = logging.getLogger("barnabas")
    logger.addHandler(handler)
    logger.setLevel(level)
    logger.propagate = False
    return handler


def _shown(value: Any) -> str:
    text = str(value)
    is_plain = text.isprintable() and text and not any(mark in text for mark in ' "=')
    return text if is_plain else json.dumps(text, ensure_ascii=False)


def _one_line(text: str) -> str:
    return text if text.isprintable() else json.dumps(text, ensure_ascii=False)
