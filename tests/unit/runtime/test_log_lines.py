"""Log lines: one an event, with its circumstances."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator

import pytest

from barnabas.runtime.logging import start_logging


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    logger = logging.getLogger("barnabas")
    level, propagate = logger.level, logger.propagate
    written = io.StringIO()
    handler = start_logging(logging.INFO, written)
    yield written
    logger.removeHandler(handler)
    logger.setLevel(level)
    logger.propagate = propagate


LOG = logging.getLogger("barnabas.test")


def test_an_event_is_one_line_with_its_circumstances(stream: io.StringIO) -> None:
    LOG.warning("connection closed", extra={"reason": "idle for too long", "host": "::1", "empty": ""})
    LOG.debug("not worth a line")
    (line,) = stream.getvalue().splitlines()
    stamp, rest = line.split(" ", 1)
    assert stamp.endswith("Z")
    assert rest == 'WARNING connection closed reason="idle for too long" host=::1 empty="" logger=barnabas.test'


def test_what_others_sent_cannot_break_a_line(stream: io.StringIO) -> None:
    LOG.info("said\nmore", extra={"client_id": 'a"\n2026 ERROR forged=yes'})
    (line,) = stream.getvalue().splitlines()
    assert 'client_id="a\\"\\n2026 ERROR forged=yes"' in line


def test_an_exception_stands_in_its_line(stream: io.StringIO) -> None:
    try:
        raise ValueError("why")
    except ValueError:
        LOG.exception("request failed")
    (line,) = stream.getvalue().splitlines()
    assert "ERROR request failed" in line
    assert "ValueError: why" in line
