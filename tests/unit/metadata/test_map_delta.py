"""A delta answers with the changes made, leaves the map that it began with alone, and is found between two maps."""

from __future__ import annotations

from barnabas.metadata.map_delta import MapDelta, NestedMapDelta
from barnabas.metadata.sorted_map import SortedMap


def test_a_delta_answers_with_the_changes_made() -> None:
    delta = MapDelta(SortedMap({1: "a", 2: "b", 3: "c"}))
    delta.put(1, "x")
    delta.remove(2)
    delta.put(4, "d")
    assert [delta.get(key) for key in range(1, 6)] == ["x", None, "c", "d", None]
    assert dict(delta.apply()) == {1: "x", 3: "c", 4: "d"}
    assert dict(delta.base) == {1: "a", 2: "b", 3: "c"}


def nested() -> NestedMapDelta[str, int]:
    return NestedMapDelta(SortedMap({"a": SortedMap({"x": 1, "y": 2}), "b": SortedMap({"x": 3})}))


def applied(delta: NestedMapDelta[str, int]) -> dict[str, dict[str, int]]:
    return {key: dict(inner) for key, inner in delta.apply().items()}


def test_an_inner_map_changes_by_name_and_goes_with_its_last_entry() -> None:
    delta = nested()
    delta.put("a", "z", 9)
    delta.remove("a", "x")
    delta.remove("b", "x")
    delta.put("c", "x", 4)
    delta.remove("d", "x")
    assert applied(delta) == {"a": {"y": 2, "z": 9}, "c": {"x": 4}}
    assert delta.changes["a"].changes == {"z": 9, "x": None}


def test_an_inner_map_can_go_whole_and_come_again() -> None:
    delta = nested()
    delta.put("a", "z", 9)
    delta.remove_all("a")
    delta.remove_all("nowhere")
    assert applied(delta) == {"b": {"x": 3}}
    delta.put("a", "y", 5)
    assert applied(delta) == {"a": {"y": 5}, "b": {"x": 3}}
    assert set(delta.changes) == {"a"}


def test_between_two_maps_is_what_differs_at_both_levels() -> None:
    base = nested().base
    other = SortedMap({"a": SortedMap({"x": 1, "y": 5}), "c": SortedMap({"x": 3})})
    delta = NestedMapDelta.between(base, other)
    assert {key: inner.changes for key, inner in delta.changes.items()} == {
        "a": {"y": 5},
        "b": {"x": None},
        "c": {"x": 3},
    }
    assert delta.apply() == other
    assert not NestedMapDelta.between(other, other).changes
