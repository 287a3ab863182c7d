"""Hypothesis strategies that draw any message from its declaration, with every field that the version carries."""

from __future__ import annotations

from functools import cache
from typing import Any, TypeVar

from hypothesis import strategies as st

from barnabas.protocol.schema import (
    ArrayOf,
    FieldSpec,
    FieldType,
    Message,
    Primitive,
    Struct,
    Uuid,
    field_specs,
)

M = TypeVar("M", bound=Message)

ELEMENTS_MAX = 3

# Short values keep a draw of a wide message small; 127 and 128 lie on both sides of a one-byte length.
SHORT_TEXT = st.text(max_size=8)
TEXT = st.one_of(SHORT_TEXT, SHORT_TEXT, st.sampled_from(["é" * 63 + "x", "k" * 127, "k" * 128]))
BINARY = st.one_of(st.binary(max_size=12), st.sampled_from([bytes(126), bytes(127), bytes(300)]))

PRIMITIVES: dict[str, st.SearchStrategy[Any]] = {
    "bool": st.booleans(),
    "int8": st.integers(-(2**7), 2**7 - 1),
    "int16": st.integers(-(2**15), 2**15 - 1),
    "uint16": st.integers(0, 2**16 - 1),
    "int32": st.integers(-(2**31), 2**31 - 1),
    "uint32": st.integers(0, 2**32 - 1),
    "int64": st.integers(-(2**63), 2**63 - 1),
    "float64": st.floats(allow_nan=False),
    "string": TEXT,
    "bytes": BINARY,
    "records": BINARY,
    "uuid": st.binary(min_size=16, max_size=16).map(Uuid),
}


def messages(cls: type[M], version: int) -> st.SearchStrategy[M]:
    """Messages that `version` carries without loss: what it does not have is at its default."""
    drawn: st.SearchStrategy[M] = _structs(cls, version, cls.is_flexible(version))
    return drawn


@cache
def _structs(cls: type[Struct], version: int, is_flexible: bool) -> st.SearchStrategy[Any]:
    fields = {spec.name: _values(spec, version, is_flexible) for spec in field_specs(cls) if spec.is_present(version)}
    if is_flexible:
        fields["unknown_tags"] = _unknown_tags(cls)
    return st.builds(cls, **fields)


def _values(spec: FieldSpec, version: int, is_flexible: bool) -> st.SearchStrategy[Any]:
    values = _typed(spec.type, version, is_flexible)
    if spec.is_nullable(version):
        values = st.none() | values
    if spec.is_tagged(version) and spec.options.default_factory is None:
        values = st.just(spec.default()) | values
    return values


def _typed(type_: FieldType, version: int, is_flexible: bool) -> st.SearchStrategy[Any]:
    if isinstance(type_, Primitive):
        return PRIMITIVES[type_.name]
    if isinstance(type_, ArrayOf):
        return st.lists(_typed(type_.element, version, is_flexible), max_size=ELEMENTS_MAX)
    return _structs(type_, version, is_flexible)


def _unknown_tags(cls: type[Struct]) -> st.SearchStrategy[tuple[tuple[int, bytes], ...]]:
    declared = {spec.options.tag for spec in field_specs(cls)}
    tags = st.integers(0, 2**31 - 1).filter(lambda tag: tag not in declared)
    some = st.dictionaries(tags, st.binary(max_size=6), min_size=1, max_size=2)
    return st.just(()) | some.map(lambda unknown: tuple(sorted(unknown.items())))
