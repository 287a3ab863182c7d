"""The time, as the outside gives it: never read inside a decision, always handed in."""

from __future__ import annotations

from typing import Protocol


class Clock(Protocol):
    def now_ms(self) -> int:
        """Milliseconds since the epoch, as record timestamps count them."""
        ...

    def elapsed_ms(self) -> int:
        """Milliseconds from an arbitrary start; never goes back, for measuring durations."""
        ...
