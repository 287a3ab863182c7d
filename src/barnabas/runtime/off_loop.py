"""Work that would make the loop wait, such as fsync, in a few threads; its end is told on the loop."""

from __future__ import annotations

from asyncio import AbstractEventLoop, Future
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


class OffLoop:
    """Runs functions in threads. Only their results come back: the state of the node belongs to the loop."""

    def __init__(self, loop: AbstractEventLoop, threads: int = 2) -> None:
        self._loop = loop
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="off-loop")
        self._under_way = 0
        self._waiting: list[Future[None]] = []

    def run(self, work: Callable[[], T], done: Callable[[T], object], failed: Callable[[Exception], object]) -> None:
        """Call `work` in a thread, then on the loop either `done` with its result or `failed` with what it raised."""

        def work_and_tell() -> None:
            try:
                result = work()
            except Exception as error:
                self._loop.call_soon_threadsafe(self._tell, failed, error)
            else:
                self._loop.call_soon_threadsafe(self._tell, done, result)

        self._under_way += 1
        self._threads.submit(work_and_tell)

    def _tell(self, call: Callable[[T], object], outcome: T) -> None:
        try:
            call(outcome)
        finally:
            self._under_way -= 1
            if not self._under_way:
                waiting, self._waiting = self._waiting, []
                for each in waiting:
                    each.set_result(None)

    async def settle(self) -> None:
        """Wait until nothing is under way, nor what was begun when that was told."""
        while self._under_way:
            settled = self._loop.create_future()
            self._waiting.append(settled)
            await settled

    def close(self) -> None:
        """Wait for what is under way; call it before the loop is closed."""
        self._threads.shutdown(wait=True)
