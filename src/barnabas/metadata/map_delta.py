"""Changes to a sorted map on their way: the map as it was, and what each changed key will stand for."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from barnabas.metadata.sorted_map import SortedMap

K = TypeVar("K", bound=Any)
V = TypeVar("V")


class MapDelta(Generic[K, V]):
    """`changes` has the new value of every key that was put, and None for every key that was taken out."""

    __slots__ = ("base", "changes")

    def __init__(self, base: SortedMap[K, V]) -> None:
        self.base = base
        self.changes: dict[K, V | None] = {}

    def get(self, key: K) -> V | None:
        """What the key stands for once the changes are made."""
        return self.changes[key] if key in self.changes else self.base.get(key)

    def put(self, key: K, value: V) -> None:
        self.changes[key] = value

    def remove(self, key: K) -> None:
        self.changes[key] = None

    def remove_unmentioned(self) -> None:
        """Take out every key that has not been changed: a snapshot says all there is."""
        for key in self.base:
            self.changes.setdefault(key, None)

    def apply(self) -> SortedMap[K, V]:
        return self.base.updated(self.changes)
