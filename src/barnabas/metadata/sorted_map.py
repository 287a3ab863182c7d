"""A map that never changes: an update gives another map, which shares nearly all of its nodes with the first.

It is a B+ tree. Entries are kept in the order of their keys, so that iteration depends on nothing but the content,
neither on history nor on how a process hashes strings; that is what lets a simulation replay bit for bit. All leaves
are at one depth, no node has more than NODE_MAX members, and none is empty.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, Final, Generic, TypeVar, overload

# Keys of one map are ordered among themselves: names, numbers, ids, or tuples of those.
K = TypeVar("K", bound=Any)
V = TypeVar("V")
D = TypeVar("D")

# An update copies one node a level. Copying is cheap, but each member copied is a reference counted somewhere in
# memory: wider nodes touch more of it, narrower ones make the tree deeper.
NODE_MAX: Final = 64
# A node that shrinks below this is joined with the one before it, so that deletions leave no crumbs.
NODE_MIN: Final = NODE_MAX // 4
# Up to so many changes to a leaf are put in one by one; more are merged and sorted.
FEW: Final = 8

# Keys with what stands behind each: the values of a leaf, or nodes one level down, each under its first key.
_Node = tuple[list[Any], list[Any]]


class SortedMap(Mapping[K, V], Generic[K, V]):
    """A persistent map. Values are not None: in `updated`, None stands for an entry that is taken out."""

    __slots__ = ("_height", "_length", "_root")

    def __init__(self, entries: Mapping[K, V] | Iterable[tuple[K, V]] = ()) -> None:
        given = dict(entries)
        keys = sorted(given)
        self._grow(_split(keys, [given[key] for key in keys]), 0, len(keys))

    def _grow(self, nodes: list[_Node], height: int, length: int) -> None:
        """Become the tree of these nodes, which stand `height` above the leaves."""
        while len(nodes) > 1:
            nodes = _split([node[0][0] for node in nodes], nodes)
            height += 1
        root = nodes[0] if nodes else ([], [])
        while height and len(root[0]) == 1:
            root = root[1][0]
            height -= 1
        self._root: _Node = root
        self._height = height if nodes else 0
        self._length = length

    def __getitem__(self, key: K) -> V:
        keys, values = self._root
        for _ in range(self._height):
            keys, values = values[bisect_right(keys, key, 1) - 1]
        position = bisect_left(keys, key)
        if position < len(keys) and keys[position] == key:
            found: V = values[position]
            return found
        raise KeyError(key)

    @overload
    def get(self, key: K, /) -> V | None: ...
    @overload
    def get(self, key: K, /, default: V | D) -> V | D: ...
    def get(self, key: K, /, default: object = None) -> object:
        try:
            return self[key]
        except KeyError:
            return default

    def __contains__(self, key: object) -> bool:
        return self.get(key) is not None  # type: ignore[arg-type] # Anything may be asked for.

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[K]:
        return chain.from_iterable(keys for keys, _ in self._leaves())

    def entries(self) -> Iterator[tuple[K, V]]:
        """The entries in order; several times as fast as `items()`, which looks every key up."""
        return chain.from_iterable(zip(keys, values, strict=True) for keys, values in self._leaves())

    def contents(self) -> Iterator[V]:
        """The values in the order of their keys; several times as fast as `values()`."""
        return chain.from_iterable(values for _, values in self._leaves())

    def _leaves(self) -> Iterator[_Node]:
        nodes: Iterator[_Node] = iter((self._root,))
        for _ in range(self._height):
            nodes = chain.from_iterable(node[1] for node in nodes)
        return nodes

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SortedMap):
            return NotImplemented
        if self._root is other._root:
            return True
        return len(self) == len(other) and [*self] == [*other] and [*self.contents()] == [*other.contents()]

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"SortedMap({dict(self.entries())!r})"

    def updated(self, changes: Mapping[K, V | None]) -> SortedMap[K, V]:
        """The map with these entries put in or replaced, and those that are None taken out."""
        if not changes:
            return self
        update = _Update(changes)
        nodes = update.node(self._root, self._height, 0, len(changes))
        updated: SortedMap[K, V] = SortedMap.__new__(SortedMap)
        updated._grow(nodes, self._height, self._length + update.growth)
        return updated

    def changes_to(self, other: SortedMap[K, V]) -> dict[K, V | None]:
        """What makes this map the other one by `updated`: no more than that."""
        if self._root is other._root:
            return {}
        gone = dict(self.entries())
        changes: dict[K, V | None] = {key: value for key, value in other.entries() if gone.pop(key, None) != value}
        changes |= dict.fromkeys(gone)
        return changes


class _Update:
    """One update on its way down the tree: the changes in order, and how many entries they add so far."""

    def __init__(self, changes: Mapping[Any, Any]) -> None:
        self.changes = changes
        self.order = sorted(changes)
        self.growth = 0

    def node(self, node: _Node, height: int, start: int, stop: int) -> list[_Node]:
        """What becomes of a node by the changes from `start` to `stop`: none, one or several of its height."""
        return self._inner(node, height, start, stop) if height else self._leaf(node, start, stop)

    def _inner(self, node: _Node, height: int, start: int, stop: int) -> list[_Node]:
        firsts, children = node
        grown_firsts: list[Any] = []
        grown: list[_Node] = []
        done = 0
        while start < stop:
            index = bisect_right(firsts, self.order[start], 1) - 1
            is_last = index + 1 == len(firsts)
            end = stop if is_last else bisect_left(self.order, firsts[index + 1], start, stop)
            grown_firsts += firsts[done:index]
            grown += children[done:index]
            nodes = self.node(children[index], height - 1, start, end)
            if len(nodes) == 1 and len(nodes[0][0]) < NODE_MIN and grown:
                grown_firsts.pop()
                (keys, values), (more_keys, more_values) = grown.pop(), nodes[0]
                nodes = _split(keys + more_keys, values + more_values)
            grown_firsts += [each[0][0] for each in nodes]
            grown += nodes
            done, start = index + 1, end
        grown_firsts += firsts[done:]
        grown += children[done:]
        return _split(grown_firsts, grown)

    def _leaf(self, node: _Node, start: int, stop: int) -> list[_Node]:
        changes = self.changes
        keys, values = node[0].copy(), node[1].copy()
        if stop - start > FEW:
            merged = dict(zip(keys, values, strict=True))
            merged.update((key, changes[key]) for key in self.order[start:stop])
            keys = sorted(key for key, value in merged.items() if value is not None)
            values = [merged[key] for key in keys]
        else:
            for key in self.order[start:stop]:
                value = changes[key]
                position = bisect_left(keys, key)
                is_there = position < len(keys) and keys[position] == key
                if value is None:
                    if is_there:
                        del keys[position], values[position]
                elif is_there:
                    values[position] = value
                else:
                    keys.insert(position, key)
                    values.insert(position, value)
        self.growth += len(keys) - len(node[0])
        return _split(keys, values)


def _split(keys: list[Any], values: list[Any]) -> list[_Node]:
    """Nodes of these members: none, one, or, where they are too many for one, several with room to grow."""
    if len(keys) <= NODE_MAX:
        return [(keys, values)] if keys else []
    count = -(-len(keys) // (NODE_MAX * 3 // 4))
    size = -(-len(keys) // count)
    return [(keys[at : at + size], values[at : at + size]) for at in range(0, len(keys), size)]
