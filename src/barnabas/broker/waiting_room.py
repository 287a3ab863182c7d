"""Where requests wait that cannot be answered yet: for more bytes, for replicas, for a member to join.

A waiter is parked under the keys whose change may make it ready, and completes exactly once: when a wake finds it
ready, or when its deadline has come; or never, if it is cancelled first. Completions may park and wake in turn.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from heapq import heapify, heappop, heappush
from typing import Final

# Entries of completed waiters that the queue of deadlines may hold before it is worth cleaning.
_STALE_MIN: Final = 64


class Waiter:
    """One that waits. `complete` is told whether the deadline came first."""

    __slots__ = ("_complete", "deadline_ms", "is_done", "is_ready", "keys")

    def __init__(
        self,
        keys: tuple[Hashable, ...],
        is_ready: Callable[[], bool],
        deadline_ms: int,
        complete: Callable[[bool], None],
    ) -> None:
        self.keys = keys
        self.is_ready = is_ready
        self.deadline_ms = deadline_ms
        self.is_done = False
        self._complete = complete

    def finish(self, *, is_expired: bool) -> None:
        assert not self.is_done, "a waiter completes once"
        self.is_done = True
        self._complete(is_expired)


class WaitingRoom:
    """`arm` is told when a deadline comes up that is earlier than all others, so that `expire` is called then."""

    def __init__(self, arm: Callable[[int], None]) -> None:
        self._arm = arm
        self._by_key: dict[Hashable, dict[Waiter, None]] = {}
        # The serial number keeps waiters of one deadline in their order.
        self._deadlines: list[tuple[int, int, Waiter]] = []
        self._serial = 0
        self._waiting = 0

    def __len__(self) -> int:
        return self._waiting

    @property
    def next_deadline_ms(self) -> int | None:
        """The earliest deadline of those that wait."""
        deadlines = self._deadlines
        while deadlines and deadlines[0][2].is_done:
            heappop(deadlines)
        return deadlines[0][0] if deadlines else None

    def park(
        self,
        keys: Iterable[Hashable],
        is_ready: Callable[[], bool],
        deadline_ms: int,
        complete: Callable[[bool], None],
    ) -> Waiter:
        """Wait until a wake under one of `keys` finds `is_ready` true, or the deadline comes; at once if it is ready.

        `complete` is called with whether the deadline came first.
        """
        waiter = Waiter(tuple(keys), is_ready, deadline_ms, complete)
        if is_ready():
            waiter.finish(is_expired=False)
            return waiter
        earliest = self.next_deadline_ms
        for key in waiter.keys:
            self._by_key.setdefault(key, {})[waiter] = None
        self._serial += 1
        heappush(self._deadlines, (deadline_ms, self._serial, waiter))
        self._waiting += 1
        if earliest is None or deadline_ms < earliest:
            self._arm(deadline_ms)
        return waiter

    def cancel(self, waiter: Waiter) -> None:
        """Let one go that waits no more; it does not complete."""
        if not waiter.is_done:
            waiter.is_done = True
            self._leave(waiter)

    def wake(self, key: Hashable) -> int:
        """Complete those under `key` that have become ready; how many they were."""
        waiters = self._by_key.get(key)
        if not waiters:
            return 0
        completed = 0
        for waiter in tuple(waiters):
            # An earlier one's completion may have completed this one.
            if not waiter.is_done and waiter.is_ready():
                self._leave(waiter)
                waiter.finish(is_expired=False)
                completed += 1
        return completed

    def expire(self, now_ms: int) -> int:
        """Complete those whose deadline has come, earliest first; how many they were."""
        expired = 0
        while (deadline_ms := self.next_deadline_ms) is not None and deadline_ms <= now_ms:
            _, _, waiter = heappop(self._deadlines)
            self._leave(waiter)
            waiter.finish(is_expired=True)
            expired += 1
        if deadline_ms is not None:
            self._arm(deadline_ms)
        return expired

    def _leave(self, waiter: Waiter) -> None:
        for key in waiter.keys:
            waiters = self._by_key.get(key)
            if waiters is not None and waiters.pop(waiter, waiter) is None and not waiters:
                del self._by_key[key]
        self._waiting -= 1
        # Far deadlines of requests that were answered soon would otherwise pile up for as long.
        if len(self._deadlines) > _STALE_MIN + 2 * self._waiting:
            self._deadlines = [entry for entry in self._deadlines if not entry[2].is_done and entry[2] is not waiter]
            heapify(self._deadlines)
