"""A file of JSON is read field by field, and what is wrong with it is named."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from barnabas.cli.cluster_access import ToolError
from barnabas.cli.json_input import JsonObject, read_json


def read(tmp_path: Path, text: str) -> JsonObject:
    path = tmp_path / "input.json"
    path.write_text(text)
    return read_json(str(path))


def test_fields_are_read_by_type(tmp_path: Path) -> None:
    file = read(tmp_path, '{"version": 1, "t": "x", "n": 7, "l": [1, 2], "s": ["a"], "o": [{"t": "y"}]}')
    file.check_version()
    assert (file.text("t"), file.integer("n"), file.integers("l"), file.texts("s")) == ("x", 7, [1, 2], ["a"])
    assert [entry.text("t") for entry in file.objects("o") or ()] == ["y"]
    assert (file.texts("none"), file.objects("none")) == (None, None)


@pytest.mark.parametrize("text", ["", "{", "nothing"])
def test_what_is_no_json_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(ToolError, match="The input string is not a valid JSON"):
        read(tmp_path, text)


@pytest.mark.parametrize(
    ("look", "complaint"),
    [
        (lambda file: file.text("none"), "No such field exists: `none`"),
        (lambda file: file.text("n"), "Expected `String` value, received 7 in n"),
        (lambda file: file.integer("t"), 'Expected a whole number, received "x" in t'),
        (lambda file: file.integer("b"), "Expected a whole number, received true in b"),
        (lambda file: file.integers("n"), "Expected JSON array, received 7 in n"),
        (lambda file: list(file.objects("l") or ()), "Expected JSON object, received 1 in l"),
        (lambda file: file.check_version(), "Not supported version field value 2"),
    ],
)
def test_a_field_of_another_kind_is_named(tmp_path: Path, look: Callable[[JsonObject], object], complaint: str) -> None:
    file = read(tmp_path, '{"version": 2, "t": "x", "n": 7, "l": [1], "b": true}')
    with pytest.raises(ToolError) as refused:
        look(file)
    assert str(refused.value) == complaint
