"""Every declared message, and random values of each, for tests that must leave none out.

A seeded generator and not a Hypothesis strategy, because the referee judges thousands of messages in one go and has
nothing to shrink. It draws the values at which encodings change: bounds of integers, lengths around 0, 127 and 128,
null, empty, and tags that no schema knows.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator
from importlib import import_module
from random import Random
from typing import Any, TypeVar

from barnabas import protocol
from barnabas.protocol.schema import (
    ZERO_UUID,
    ArrayOf,
    FieldSpec,
    FieldType,
    Message,
    Primitive,
    Struct,
    Uuid,
    field_specs,
)

PACKAGES = (
    "messages",
    "embedded",
    "control_records",
    "metadata_records",
    "group_records",
    "transaction_records",
    "share_records",
    "remote_log_records",
    "files",
)
INTEGERS = {
    "int8": (-(2**7), 2**7 - 1),
    "int16": (-(2**15), 2**15 - 1),
    "uint16": (0, 2**16 - 1),
    "int32": (-(2**31), 2**31 - 1),
    "uint32": (0, 2**32 - 1),
    "int64": (-(2**63), 2**63 - 1),
}
ALPHABET = "abcXYZ019._-/ äß→日本𝄞\x00"

M = TypeVar("M", bound=Message)
S = TypeVar("S", bound=Struct)


def messages_of(package: str) -> Iterator[type[Message]]:
    """The messages that a package of `barnabas.protocol` declares, in the order of its files."""
    root = import_module(f"{protocol.__name__}.{package}")
    for module in pkgutil.iter_modules(root.__path__, f"{root.__name__}."):
        for value in vars(import_module(module.name)).values():
            if isinstance(value, type) and issubclass(value, Message) and value.__module__ == module.name:
                yield value


def every_message() -> Iterator[type[Message]]:
    for package in PACKAGES:
        yield from messages_of(package)


class RandomMessages:
    """A stream of messages that depends on nothing but its seed.

    `is_plain` keeps integers small and leaves out unknown tags, for readers that give numbers a meaning.
    """

    def __init__(self, seed: int, is_plain: bool = False) -> None:
        self._random = Random(seed)
        self._is_plain = is_plain

    def message(self, cls: type[M], version: int) -> M:
        return self._struct(cls, version, cls.is_flexible(version))

    def _struct(self, cls: type[S], version: int, is_flexible: bool) -> S:
        values: dict[str, Any] = {}
        for spec in field_specs(cls):
            if not spec.is_present(version) or (spec.is_tagged(version) and self._random.random() < 0.5):
                continue
            values[spec.name] = self._field(spec, version, is_flexible)
        if is_flexible and not self._is_plain and self._random.random() < 0.25:
            known = {spec.options.tag for spec in field_specs(cls)}
            free = [tag for tag in (0, 1, 2, 3, 5, 63, 127, 128, 20_000) if tag not in known]
            tags = sorted(self._random.sample(free, self._random.randint(1, 3)))
            values["unknown_tags"] = tuple((tag, self._bytes()) for tag in tags)
        return cls(**values)

    def _field(self, spec: FieldSpec, version: int, is_flexible: bool) -> Any:
        if spec.is_nullable(version) and self._random.random() < 0.25:
            return None
        return self._value(spec.type, version, is_flexible)

    def _value(self, type_: FieldType, version: int, is_flexible: bool) -> Any:
        if isinstance(type_, ArrayOf):
            lengths = (0, 1, 1, 2, 3) if isinstance(type_.element, type) else (0, 1, 2, 3, 127, 128)
            return [self._value(type_.element, version, is_flexible) for _ in range(self._random.choice(lengths))]
        if isinstance(type_, type):
            # A struct that looks like its default is left out where it is tagged.
            can_be_default = all(spec.has_default for spec in field_specs(type_))
            if can_be_default and self._random.random() < 0.5:
                return type_()
            return self._struct(type_, version, is_flexible)
        return self._primitive(type_)

    def _primitive(self, type_: Primitive) -> Any:
        if type_.name in INTEGERS:
            low, high = INTEGERS[type_.name]
            if self._is_plain:
                low, high = 0, 100
            return self._random.choice((0, low, high, max(low, -1), 1, self._random.randint(low, high)))
        match type_.name:
            case "bool":
                return self._random.random() < 0.5
            case "float64":
                return self._random.choice((0.0, -0.0, 1.5, float("inf"), self._random.uniform(-1e300, 1e300)))
            case "string":
                return "".join(self._random.choices(ALPHABET, k=self._length()))
            case "uuid":
                return Uuid(self._random.choice((bytes(16), self._random.randbytes(16))))
            case "bytes" | "records":
                return self._bytes()
        raise AssertionError(f"no random values for {type_.name}")

    def _bytes(self) -> bytes:
        return self._random.randbytes(self._length())

    def _length(self) -> int:
        return self._random.choice((0, 1, 2, 5, 9, 126, 127, 128, 300))


def blank(cls: type[S]) -> S:
    """A message whose every field has its default; those that must be given have the zero of their type."""
    values = {spec.name: _zero(spec.type) for spec in field_specs(cls) if not spec.has_default}
    return cls(**values)


def _zero(type_: FieldType) -> Any:
    if isinstance(type_, ArrayOf):
        return []
    if isinstance(type_, type):
        return blank(type_)
    zeros = {"bool": False, "float64": 0.0, "string": "", "uuid": ZERO_UUID, "bytes": b"", "records": None}
    return zeros.get(type_.name, 0)
