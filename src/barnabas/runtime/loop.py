"""The event loop of a node: uvloop where it is installed, asyncio's own elsewhere; and what a failure in it means.

An exception that reaches the loop is a bug of ours, found too late to know what it left half done. The node says so and
stops, and starts again from its log.
"""

from __future__ import annotations

import asyncio
import importlib
import logging
import signal
from collections.abc import Callable
from typing import Any, Final

LOG: Final = logging.getLogger(__name__)


def new_event_loop() -> asyncio.AbstractEventLoop:
    try:
        faster = importlib.import_module("uvloop")
    except ImportError:
        return asyncio.new_event_loop()
    loop: asyncio.AbstractEventLoop = faster.new_event_loop()
    return loop


def stop_on_failure(loop: asyncio.AbstractEventLoop, stop: Callable[[], None]) -> None:
    """Have `stop` called, once it is logged, for what no handler has caught."""

    def on_failure(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        LOG.critical("a bug stops this node", exc_info=context.get("exception"), extra={"event": context["message"]})
        stop()

    loop.set_exception_handler(on_failure)


def stop_on_signals(loop: asyncio.AbstractEventLoop, stop: Callable[[], None]) -> None:
    """Have `stop` called when somebody asks this process to end."""

    def on_signal(asked: signal.Signals) -> None:
        LOG.info("asked to stop", extra={"signal": asked.name})
        stop()

    for asked in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(asked, on_signal, asked)
