"""Messages as JSON, field for field as Kafka's own converters write and read them: in logs, dumps and `quorum-state`.

Tagged fields stand there only where they differ from their default. Ids are unpadded URL-safe base64, bytes are base64.
Records are given by their size alone, which is how Kafka logs them, and are read as base64.
"""

from __future__ import annotations

import binascii
import json
import math
from base64 import b64decode, b64encode
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final, TypeVar, cast

from barnabas.protocol.schema import (
    ArrayOf,
    EncodeError,
    FieldSpec,
    FieldType,
    Message,
    Primitive,
    Struct,
    Uuid,
    describe_place,
    field_specs,
    join_path,
)

M = TypeVar("M", bound=Message)

_SHORT_ESCAPES: Final = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}
_ESCAPES: Final = str.maketrans({chr(code): f"\\u{code:04X}" for code in range(0x20)} | _SHORT_ESCAPES)

INT_RANGES: Final = {
    "int8": range(-(2**7), 2**7),
    "int16": range(-(2**15), 2**15),
    "uint16": range(2**16),
    "int32": range(-(2**31), 2**31),
    "uint32": range(2**32),
    "int64": range(-(2**63), 2**63),
}


class JsonFormError(ValueError):
    """JSON that is not the form of a message: which message and version, which field, and why."""

    def __init__(self, message: str, version: int, path: str, reason: str) -> None:
        super().__init__(f"{describe_place(message, version, path)}: {reason}")


def to_json(message: Message, version: int) -> dict[str, Any]:
    """The message as `json` knows it; EncodeError where the version cannot carry a value."""
    return _Writer(type(message).__name__, version).struct(message, "")


def from_json(cls: type[M], version: int, node: object) -> M:
    """The message of a JSON object. Names that it does not have are left alone, as Kafka's readers do."""
    return cast(M, _Reader(cls.__name__, version).struct(cls, node, ""))


def json_text(node: object) -> str:
    """JSON in Kafka's spelling: no spaces, text unescaped where it may be, and numbers with a fraction as Java's."""
    if isinstance(node, dict):
        return "{" + ",".join(f"{json_text(name)}:{json_text(value)}" for name, value in node.items()) + "}"
    if isinstance(node, list):
        return "[" + ",".join(map(json_text, node)) + "]"
    if isinstance(node, float):
        return _double_text(node)
    if isinstance(node, str):
        return _string_text(node)
    return json.dumps(node)


class _Writer:
    def __init__(self, message: str, version: int) -> None:
        self._message = message
        self._version = version

    def struct(self, value: Struct, path: str) -> dict[str, Any]:
        node: dict[str, Any] = {}
        for spec in field_specs(type(value)):
            inner = join_path(path, spec.json_name)
            member = getattr(value, spec.name)
            if not spec.is_present(self._version):
                self._check_absent(spec, member, inner)
            elif spec.is_tagged(self._version) and member == spec.default():
                continue
            elif member is None:
                if not spec.can_be_null:
                    raise EncodeError(self._message, self._version, inner, "null is not allowed here")
                node[spec.json_name] = None
            elif isinstance(spec.type, Primitive) and spec.type.name == "records":
                node[f"{spec.json_name}SizeInBytes"] = len(member)
            else:
                node[spec.json_name] = self._value(spec.type, member, inner)
        return node

    def _check_absent(self, spec: FieldSpec, member: Any, path: str) -> None:
        if not spec.options.ignorable and member != spec.default():
            reason = f"this version has no such field, so it cannot say {member!r:.80}"
            raise EncodeError(self._message, self._version, path, reason)

    def _value(self, type_: FieldType, value: Any, path: str) -> Any:
        if isinstance(type_, ArrayOf):
            return [self._value(type_.element, item, f"{path}[{index}]") for index, item in enumerate(value)]
        if isinstance(type_, type):
            return self.struct(value, path)
        if type_.name == "bytes":
            return b64encode(value).decode("ascii")
        return str(value) if type_.name == "uuid" else value


class _Reader:
    def __init__(self, message: str, version: int) -> None:
        self._message = message
        self._version = version

    def struct(self, cls: type[Struct], node: object, path: str) -> Struct:
        if not isinstance(node, dict):
            raise self._refused(path, "an object", node)
        values = {}
        for spec in field_specs(cls):
            inner = join_path(path, spec.json_name)
            if spec.json_name in node:
                values[spec.name] = self._field(spec, node[spec.json_name], inner)
            elif spec.is_present(self._version) and not spec.is_tagged(self._version):
                raise JsonFormError(self._message, self._version, inner, "the field is missing")
            else:
                values[spec.name] = spec.default()
        return cls(**values)

    def _field(self, spec: FieldSpec, node: object, path: str) -> Any:
        if node is None and spec.can_be_null:
            return None
        return self._value(spec.type, node, path)

    def _value(self, type_: FieldType, node: object, path: str) -> Any:
        if isinstance(type_, ArrayOf):
            if not isinstance(node, list):
                raise self._refused(path, "an array", node)
            return [self._value(type_.element, item, f"{path}[{index}]") for index, item in enumerate(node)]
        if isinstance(type_, type):
            return self.struct(type_, node, path)
        try:
            return _PRIMITIVE_READERS[type_.name](node)
        except (TypeError, ValueError):
            raise self._refused(path, type_.name, node) from None

    def _refused(self, path: str, expected: str, node: object) -> JsonFormError:
        return JsonFormError(self._message, self._version, path, f"expected {expected}, found {node!r:.80}")


def _read_typed(expected: type) -> Callable[[Any], Any]:
    def read(node: object) -> object:
        if type(node) is not expected:
            raise TypeError
        return node

    return read


def _read_int(allowed: range) -> Callable[[Any], int]:
    def read(node: object) -> int:
        if type(node) is not int or node not in allowed:
            raise ValueError
        return node

    return read


def _read_bytes(node: str) -> bytes:
    try:
        return b64decode(node, validate=True)
    except binascii.Error as error:
        raise ValueError(str(error)) from None


def _read_uuid(node: object) -> Uuid:
    if not isinstance(node, str):
        raise TypeError
    return Uuid.parse(node)


_PRIMITIVE_READERS: Final[dict[str, Callable[[Any], Any]]] = {
    "bool": _read_typed(bool),
    "string": _read_typed(str),
    "float64": _read_typed(float),
    "bytes": _read_bytes,
    "records": _read_bytes,
    "uuid": _read_uuid,
    **{name: _read_int(allowed) for name, allowed in INT_RANGES.items()},
}


def _string_text(text: str) -> str:
    return f'"{text.translate(_ESCAPES)}"'


def _double_text(value: float) -> str:
    """Java's spelling: a plain fraction from a thousandth up to ten million, an exponent outside."""
    if not math.isfinite(value):
        return '"NaN"' if math.isnan(value) else '"Infinity"' if value > 0 else '"-Infinity"'
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return repr(value)
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    assert isinstance(exponent, int)
    fraction = "".join(map(str, digits[1:])) or "0"
    return f"{'-' if sign else ''}{digits[0]}.{fraction}E{exponent + len(digits) - 1}"
