"""Drives the log cleaner: one step after the other as long as there is something to clean, then a rest.

After each step requests have at least as much time as the step took. What a step wants flushed is flushed in another
thread.
"""

from __future__ import annotations

import logging
from asyncio import AbstractEventLoop, Handle
from collections.abc import Callable
from typing import Final

from barnabas.log.cleaner.clean import CleaningStep
from barnabas.log.cleaner.log_cleaner import Cleaning, LogCleaner
from barnabas.ports.clock import Clock
from barnabas.runtime.off_loop import OffLoop

LOG: Final = logging.getLogger(__name__)


class CleanerDriver:
    """`between` is called when no log is being cleaned, before the cleaner looks for the next one."""

    def __init__(
        self,
        cleaner: LogCleaner,
        backoff_ms: Callable[[], int],
        *,
        between: Callable[[], object],
        loop: AbstractEventLoop,
        clock: Clock,
        off_loop: OffLoop,
    ) -> None:
        self._cleaner = cleaner
        self._backoff_ms = backoff_ms
        self._between = between
        self._loop = loop
        self._clock = clock
        self._off_loop = off_loop
        self._handle: Handle | None = None
        self._is_closed = False

    def start(self, delay_ms: int) -> None:
        self._later(delay_ms, self._begin)

    def close(self) -> None:
        """Take no further step; an unfinished cleaning is removed at the next start."""
        self._is_closed = True
        if self._handle is not None:
            self._handle.cancel()

    def _later(self, delay_ms: float, call: Callable[[], object]) -> None:
        if not self._is_closed:
            self._handle = self._loop.call_later(delay_ms / 1000, call)

    def _begin(self) -> None:
        self._between()
        cleaning = self._cleaner.begin(self._clock.now_ms())
        if cleaning is None:
            self._later(self._backoff_ms(), self._begin)
        else:
            self._step(cleaning)

    def _step(self, cleaning: Cleaning) -> None:
        begun_ms = self._clock.elapsed_ms()
        step = self._cleaner.step()
        if step is None:
            self._report(cleaning)
            self._later(0, self._begin)
            return
        took_ms = self._clock.elapsed_ms() - begun_ms
        rest_ms = max(took_ms, self._cleaner.rest_ms(step, self._clock.now_ms()))
        if not step.to_flush:
            self._later(rest_ms, lambda: self._step(cleaning))
            return
        self._off_loop.run(
            lambda: _flush(step),
            lambda _: self._later(rest_ms, lambda: self._step(cleaning)),
            lambda error: self._flush_failed(cleaning, error),
        )

    def _flush_failed(self, cleaning: Cleaning, error: Exception) -> None:
        if not isinstance(error, OSError):
            raise error
        self._cleaner.flush_failed(cleaning, error)
        self._later(0, self._begin)

    def _report(self, cleaning: Cleaning) -> None:
        if cleaning.result is not None:
            stats = cleaning.result.stats
            LOG.info(
                "log cleaned",
                extra={
                    "partition": str(cleaning.partition),
                    "end_offset": cleaning.result.end_offset,
                    "read_bytes": stats.mapped_bytes,
                    "written_bytes": stats.written_bytes,
                },
            )
        elif cleaning.partition in self._cleaner.uncleanable:
            reason = self._cleaner.uncleanable[cleaning.partition]
            LOG.warning("log cannot be cleaned", extra={"partition": str(cleaning.partition), "reason": reason})


def _flush(step: CleaningStep) -> None:
    for file in step.to_flush:
        file.flush()
