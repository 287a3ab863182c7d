"""Changes to a sorted map on their way: the map as it was, and what each changed key will stand for.

In a map of maps the inner maps are never empty: one that loses its last entry goes.
"""

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

    @classmethod
    def between(cls, base: SortedMap[K, V], image: SortedMap[K, V]) -> MapDelta[K, V]:
        delta = cls(base)
        delta.changes = base.changes_to(image)
        return delta

    def get(self, key: K) -> V | None:
        """What the key stands for once the changes are made."""
        return self.changes[key] if key in self.changes else self.base.get(key)

    def put(self, key: K, value: V) -> None:
        self.changes[key] = value

    def remove(self, key: K) -> None:
        self.changes[key] = None

    def apply(self) -> SortedMap[K, V]:
        return self.base.updated(self.changes)


class NestedMapDelta(Generic[K, V]):
    """Changes to a map of maps by name; `changes` has those to the inner map of every key that was touched."""

    __slots__ = ("base", "changes")

    def __init__(self, base: SortedMap[K, SortedMap[str, V]]) -> None:
        self.base = base
        self.changes: dict[K, MapDelta[str, V]] = {}

    @classmethod
    def between(
        cls, base: SortedMap[K, SortedMap[str, V]], image: SortedMap[K, SortedMap[str, V]]
    ) -> NestedMapDelta[K, V]:
        delta = cls(base)
        for key, inner in base.changes_to(image).items():
            delta.changes[key] = MapDelta.between(base.get(key) or SortedMap(), inner or SortedMap())
        return delta

    def put(self, key: K, name: str, value: V) -> None:
        self._inner(key).put(name, value)

    def remove(self, key: K, name: str) -> None:
        self._inner(key).remove(name)

    def remove_all(self, key: K) -> None:
        """Take out the inner map of a key, if it has one."""
        if key in self.changes or key in self.base:
            inner = self._inner(key)
            inner.changes = dict.fromkeys(inner.base)

    def apply(self) -> SortedMap[K, SortedMap[str, V]]:
        return self.base.updated({key: inner.apply() or None for key, inner in self.changes.items()})

    def _inner(self, key: K) -> MapDelta[str, V]:
        inner = self.changes.get(key)
        if inner is None:
            inner = self.changes[key] = MapDelta(self.base.get(key) or SortedMap())
        return inner
