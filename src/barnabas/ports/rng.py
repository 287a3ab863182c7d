"""Chance, as the outside gives it, so that a seed replays a run."""

from __future__ import annotations

from typing import Protocol


class Rng(Protocol):
    def randrange(self, stop: int, /) -> int:
        """A whole number from 0 up to, not including, `stop`."""
        ...

    def random(self) -> float:
        """A number from 0.0 up to, not including, 1.0."""
        ...
