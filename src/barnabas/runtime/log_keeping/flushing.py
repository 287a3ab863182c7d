"""Makes logs durable in another thread, and tells those who wait for it.

A log is flushed by one thread at a time. Who asks while that goes on is served by the next flush, together with all
others who asked meanwhile.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final

from barnabas.log.flush import Flush
from barnabas.log.partition_log import PartitionLog
from barnabas.ports.clock import Clock
from barnabas.runtime.off_loop import OffLoop

LOG: Final = logging.getLogger(__name__)

# Told that the log is durable as far as was asked, or why nobody knows.
Flushed = Callable[[OSError | None], object]


class Flusher:
    """`failed` is told of a log whose flush has failed, before those who waited for it are."""

    def __init__(self, *, off_loop: OffLoop, clock: Clock, failed: Callable[[PartitionLog, OSError], object]) -> None:
        self._off_loop = off_loop
        self._clock = clock
        self._failed = failed
        # What each log that is being flushed is to be flushed up to afterwards, and for whom.
        self._next: dict[PartitionLog, tuple[int, list[Flushed]]] = {}

    def flush(self, log: PartitionLog, offset: int, then: Flushed | None = None) -> None:
        """Make everything below `offset` durable."""
        waiting = [] if then is None else [then]
        if log in self._next:
            asked_offset, others = self._next[log]
            self._next[log] = max(asked_offset, offset), others + waiting
        else:
            self._begin(log, offset, waiting)

    def _begin(self, log: PartitionLog, offset: int, waiting: list[Flushed]) -> None:
        flush = log.prepare_flush(offset)
        if flush is None:
            self._tell(waiting, None)
            return
        self._next[log] = 0, []
        self._off_loop.run(
            flush.run,
            lambda _: self._end(log, flush, waiting, None),
            lambda error: self._end(log, flush, waiting, error),
        )

    def _end(self, log: PartitionLog, flush: Flush, waiting: list[Flushed], error: Exception | None) -> None:
        offset, next_waiting = self._next.pop(log)
        if error is None:
            log.mark_flushed(flush, self._clock.now_ms())
            self._tell(waiting, None)
            if offset:
                self._begin(log, offset, next_waiting)
            return
        if not isinstance(error, OSError):
            raise error
        self._failed(log, error)
        self._tell(waiting + next_waiting, error)

    def _tell(self, waiting: list[Flushed], error: OSError | None) -> None:
        for then in waiting:
            then(error)
