"""What tools do when they are interrupted: they end in order, with the status that a shell expects of them."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

STOPPING: Final = (signal.SIGINT, signal.SIGTERM)


class InterruptedBySignal(Exception):  # noqa: N818 (says what happened)
    """Raised where a tool waits for something that a signal should end."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.status = exit_status(number)


def exit_status(number: int) -> int:
    """Of a process that a signal has ended."""
    return 128 + number


@contextmanager
def heeding_signals(heed: Callable[[int], None]) -> Iterator[None]:
    """Call `heed` with the number of a signal to stop; afterwards signals mean again what they meant before."""

    def handle(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 (as signal wants it)
        heed(number)

    before = {each: signal.signal(each, handle) for each in STOPPING}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def interrupt(number: int) -> None:
    """For `heeding_signals`: leave whatever is being waited for."""
    raise InterruptedBySignal(number)
