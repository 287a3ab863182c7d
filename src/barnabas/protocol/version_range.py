"""The levels of a feature that a node can work with, as nodes tell each other."""

from __future__ import annotations

from typing import NamedTuple


class VersionRange(NamedTuple):
    lowest: int
    highest: int

    def __contains__(self, level: object) -> bool:
        return isinstance(level, int) and self.lowest <= level <= self.highest

    def __str__(self) -> str:
        return str(self.lowest) if self.lowest == self.highest else f"{self.lowest}-{self.highest}"
