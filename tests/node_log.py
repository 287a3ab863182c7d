"""The log lines of a node that runs in the test's own process."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator
from contextlib import contextmanager

from barnabas.runtime.logging import start_logging


@contextmanager
def node_log() -> Iterator[io.StringIO]:
    """Have everything from INFO on written here, and leave logging as it was."""
    logger = logging.getLogger("barnabas")
    level, propagate = logger.level, logger.propagate
    written = io.StringIO()
    handler = start_logging(logging.INFO, written)
    try:
        yield written
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
        logger.propagate = propagate
