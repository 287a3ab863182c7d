"""Files of JSON that Kafka's tools read: fields by name and type, with an error that says which is wrong."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from barnabas.cli.cluster_access import ToolError


class JsonObject:
    """An object of the file, whose fields are read one by one."""

    def __init__(self, fields: dict[str, Any]) -> None:
        self._fields = fields

    def text(self, name: str) -> str:
        return _text(self._field(name), name)

    def integer(self, name: str) -> int:
        return _integer(self._field(name), name)

    def integers(self, name: str) -> list[int]:
        return [_integer(each, name) for each in _list(self._field(name), name)]

    def texts(self, name: str) -> list[str] | None:
        """A list that may be left out."""
        if name not in self._fields:
            return None
        return [_text(each, name) for each in _list(self._fields[name], name)]

    def objects(self, name: str) -> Iterator[JsonObject] | None:
        """A list of objects that may be left out."""
        if name not in self._fields:
            return None
        return (_object(each, name) for each in _list(self._fields[name], name))

    def check_version(self) -> None:
        """There is one version so far, and a file need not name it."""
        version = self._fields.get("version", 1)
        if version != 1:
            raise ToolError(f"Not supported version field value {version}")

    def _field(self, name: str) -> Any:
        if name not in self._fields:
            raise ToolError(f"No such field exists: `{name}`")
        return self._fields[name]


def read_json(path: str) -> JsonObject:
    """OSError where there is no such file, ToolError where it holds no object."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    try:
        return _object(json.loads(text), path)
    except ValueError:
        raise ToolError("The input string is not a valid JSON") from None


def _object(value: Any, name: str) -> JsonObject:
    if not isinstance(value, dict):
        raise ToolError(f"Expected JSON object, received {json.dumps(value)} in {name}")
    return JsonObject(value)


def _list(value: Any, name: str) -> list[Any]:
    if not isinstance(value, list):
        raise ToolError(f"Expected JSON array, received {json.dumps(value)} in {name}")
    return value


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise ToolError(f"Expected `String` value, received {json.dumps(value)} in {name}")
    return value


def _integer(value: Any, name: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise ToolError(f"Expected a whole number, received {json.dumps(value)} in {name}")
    return value
