"""A sorted map answers as a dictionary does, iterates in order, shares what did not change and keeps its shape."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.metadata import sorted_map
from barnabas.metadata.sorted_map import NODE_MAX, NODE_MIN, SortedMap

# Small nodes make deep trees of few entries, and keys from a small range make every kind of change hit.
KEYS = st.integers(0, 400)
CHANGES = st.dictionaries(KEYS, st.none() | st.integers(0, 5), max_size=60)
EXACT_FITS = [NODE_MAX - 1, NODE_MAX, NODE_MAX + 1, NODE_MAX * NODE_MAX, NODE_MAX * NODE_MAX + 1]


@pytest.fixture(params=[4, 8, NODE_MAX], autouse=True)
def node_size(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sorted_map, "NODE_MAX", request.param)
    monkeypatch.setattr(sorted_map, "NODE_MIN", request.param // 4)


def check_shape(tree: SortedMap[Any, Any]) -> None:
    """All leaves at one depth, no node empty or too large, every child under its first key."""

    def walk(node: Any, height: int) -> int:
        keys, members = node
        assert len(keys) == len(members)
        assert len(keys) <= sorted_map.NODE_MAX
        assert keys == sorted(set(keys))
        if not height:
            return len(keys)
        assert keys == [child[0][0] for child in members]
        return sum(walk(child, height - 1) for child in members)

    root = tree._root
    assert walk(root, tree._height) == len(tree)
    assert tree._height == 0 or len(root[0]) > 1, "the root is a leaf or has several children"


def with_changes(model: dict[int, int], changes: dict[int, int | None]) -> dict[int, int]:
    return {key: value for key, value in (model | changes).items() if value is not None}


@given(CHANGES, CHANGES)
def test_the_changes_to_another_map_are_those_that_make_it(
    first: dict[int, int | None], more: dict[int, int | None]
) -> None:
    empty: SortedMap[int, int] = SortedMap()
    tree = empty.updated(first)
    other = tree.updated(more)
    changes = tree.changes_to(other)
    assert tree.updated(changes) == other
    assert all(tree.get(key) != value for key, value in changes.items())
    assert tree.changes_to(tree) == {}


@given(st.lists(CHANGES, max_size=8))
def test_updates_leave_what_a_dictionary_would_hold_in_order(all_changes: list[dict[int, int | None]]) -> None:
    tree: SortedMap[int, int] = SortedMap()
    model: dict[int, int] = {}
    for changes in all_changes:
        before = dict(model)
        updated = tree.updated(changes)
        assert list(tree.entries()) == sorted(before.items()), "the map before the update is as it was"
        model = with_changes(model, changes)
        tree = updated
        check_shape(tree)
        assert list(tree.entries()) == sorted(model.items())
        assert list(tree.contents()) == [model[key] for key in sorted(model)]
        assert list(tree) == sorted(model)
        assert len(tree) == len(model)
    for key in range(401):
        assert tree.get(key) == model.get(key)
        assert (key in tree) == (key in model)


@given(CHANGES, CHANGES)
def test_maps_are_equal_by_content_whatever_their_history(
    first: dict[int, int | None], second: dict[int, int | None]
) -> None:
    grown = SortedMap[int, int]().updated(first).updated(second)
    made = SortedMap(with_changes(with_changes({}, first), second))
    assert grown == made
    assert grown.updated({500: 1}) != made
    assert grown.updated({500: 1, 501: 2}) != made.updated({500: 1, 501: 3})
    assert grown != dict(made)


@pytest.mark.parametrize("size", EXACT_FITS)
def test_maps_that_just_fill_their_nodes_are_sound(size: int) -> None:
    tree = SortedMap((number, str(number)) for number in range(size))
    check_shape(tree)
    emptied = tree.updated(dict.fromkeys(range(1, size)))
    check_shape(emptied)
    assert list(emptied.entries()) == [(0, "0")]
    assert len(emptied.updated({0: None})) == 0


@pytest.mark.parametrize("at_once", [1, 100, 1000])
def test_entries_taken_out_leave_no_crumbs(at_once: int) -> None:
    tree = SortedMap((number, number) for number in range(1000))
    step = sorted_map.NODE_MAX * 3 // 4  # Of every leaf, one entry stays.
    going = [number for number in range(1000) if number % step]
    for start in range(0, len(going), at_once):
        tree = tree.updated(dict.fromkeys(going[start : start + at_once]))
    check_shape(tree)
    assert len(list(tree._leaves())) <= len(tree) // max(sorted_map.NODE_MIN, 1) + 1


def test_an_update_shares_the_nodes_that_it_did_not_touch() -> None:
    tree = SortedMap((number, number) for number in range(5000))
    changed = tree.updated({2500: -1})
    shared = {id(leaf) for leaf in tree._leaves()} & {id(leaf) for leaf in changed._leaves()}
    assert len(shared) == len(list(tree._leaves())) - 1


def test_an_update_without_changes_is_the_same_map() -> None:
    tree = SortedMap({1: 1})
    assert tree.updated({}) is tree


def test_a_key_that_is_not_there_is_an_error_or_the_default() -> None:
    tree = SortedMap({2: "b"})
    with pytest.raises(KeyError):
        tree[1]
    with pytest.raises(KeyError):
        SortedMap[int, int]()[1]
    assert tree.get(3, "else") == "else"


def test_the_order_of_strings_is_that_of_the_strings() -> None:
    names = [f"topic-{number}" for number in range(100)]
    assert list(SortedMap((name, 1) for name in reversed(names))) == sorted(names)


def test_the_smallest_node_is_smaller_than_half_of_the_largest() -> None:
    """Else a node that was just split would be joined again."""
    assert NODE_MIN < NODE_MAX // 2
