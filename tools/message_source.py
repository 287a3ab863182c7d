"""Writes one message schema as Python classes in the declaration language of `barnabas.protocol.schema`.

Versions are clipped to those in which the enclosing struct exists, so a declaration says no more than it must: a
field without options lives in every version and has to be given. The text comes out as ruff would format it.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from tools.kafka_schema import FieldSchema, MessageSchema, Versions

LINE_LENGTH = 120

# Kafka's primitive types: the annotation, and the value of a field that a version lacks.
PRIMITIVES = {
    "bool": ("Bool", "False"),
    "int8": ("Int8", "0"),
    "int16": ("Int16", "0"),
    "uint16": ("Uint16", "0"),
    "int32": ("Int32", "0"),
    "uint32": ("Uint32", "0"),
    "int64": ("Int64", "0"),
    "float64": ("Float64", "0.0"),
    "string": ("String", '""'),
    "bytes": ("Bytes", 'b""'),
    "records": ("Records", "None"),
    "uuid": ("Uuid", "ZERO_UUID"),
}

# In the order in which ruff sorts an import: constants, classes by natural order, functions.
IMPORTABLE = (
    "ZERO_UUID",
    "Bool",
    "Bytes",
    "Float64",
    "Int8",
    "Int16",
    "Int32",
    "Int64",
    "Message",
    "Records",
    "String",
    "Struct",
    "Uint16",
    "Uint32",
    "Uuid",
    "field",
)
# Names that every declared class has already, and those that a whole message has besides.
STRUCT_NAMES = {"unknown_tags"}
MESSAGE_NAMES = STRUCT_NAMES | {"api_key", "valid_versions", "flexible_since", "is_flexible"}


def snake_case(name: str) -> str:
    """Kafka's CamelCase as a Python name; KRaft counts as one word."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name.replace("KRaft", "Kraft"))
    return words.lower()


def camel_case(name: str) -> str:
    """The name in JSON that a declared field has by itself."""
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def class_sources(schemas: list[MessageSchema], halves: tuple[str, ...]) -> list[str]:
    """The classes of one file, each after those it refers to.

    Where the two halves of a file (`halves`, like Request and Response) name different structs the same, each of the
    two carries its half in front: RequestTopicData, ResponseTopicData.
    """
    counts: dict[str, int] = {}
    for schema in schemas:
        for name in schema.structs:
            counts[name] = counts.get(name, 0) + 1
    sources = []
    for schema, half in zip(schemas, halves, strict=True):
        names = {name: half + name if counts[name] > 1 else name for name in schema.structs}
        sources += _MessageWriter(schema, names).write()
    return sources


def import_source(classes: list[str]) -> str:
    """The import line of what the classes use."""
    words = set(re.findall(r"\w+", "\n".join(_without_strings(text) for text in classes)))
    used = [name for name in IMPORTABLE if name in words]
    line = f"from barnabas.protocol.schema import {', '.join(used)}"
    if len(line) <= LINE_LENGTH:
        return line
    return "\n".join(["from barnabas.protocol.schema import (", *(f"    {name}," for name in used), ")"])


def _without_strings(text: str) -> str:
    return re.sub(r'"[^"]*"', "", text)


@dataclass
class _MessageWriter:
    """The classes of one message; `class_names` says what each of its structs is called in the file."""

    schema: MessageSchema
    class_names: dict[str, str]
    # The versions in which each struct exists, and the structs that must be constructible without values.
    scopes: dict[str, Versions] = field(default_factory=dict)
    default_structs: set[str] = field(default_factory=set)

    def write(self) -> list[str]:
        schema = self.schema
        self._measure(schema.fields, schema.versions, must_default=False)
        keywords = ["Message"]
        if schema.api_key is not None:
            keywords.append(f"key={schema.api_key}")
        keywords.append(f"versions=({schema.versions.oldest}, {schema.versions.newest})")
        if not schema.flexible.is_empty:
            keywords.append(f"flexible_since={schema.flexible.oldest}")
        structs = [
            self._class(self.class_names[name], "Struct", fields, self.scopes[name], name in self.default_structs)
            for name, fields in self._in_order(schema.fields)
        ]
        own = self._class(schema.name, ", ".join(keywords), schema.fields, schema.versions, must_default=False)
        return [*structs, own]

    def _measure(self, fields: tuple[FieldSchema, ...], scope: Versions, must_default: bool) -> None:
        """Find the versions in which each struct exists, and the structs that stand as a default of a field."""
        for each in fields:
            lives = each.versions.intersect(scope)
            if not each.is_struct or lives.is_empty:
                continue
            known = self.scopes.get(each.element)
            self.scopes[each.element] = lives if known is None else known.span(lives)
            is_default = not each.is_array and self._default(each, lives, scope, must_default) is not None
            if is_default and each.default != "null":
                self.default_structs.add(each.element)
            self._measure(self.schema.structs[each.element], lives, each.element in self.default_structs)

    def _in_order(
        self, fields: tuple[FieldSchema, ...], seen: set[str] | None = None
    ) -> Iterator[tuple[str, tuple[FieldSchema, ...]]]:
        seen = set() if seen is None else seen
        for each in fields:
            if each.is_struct and each.element in self.scopes and each.element not in seen:
                seen.add(each.element)
                inner = self.schema.structs[each.element]
                yield from self._in_order(inner, seen)
                yield each.element, inner

    def _class(
        self, name: str, bases: str, fields: tuple[FieldSchema, ...], scope: Versions, must_default: bool
    ) -> str:
        taken = STRUCT_NAMES if bases == "Struct" else MESSAGE_NAMES
        for each in fields:
            if snake_case(each.name) in taken or keyword.iskeyword(snake_case(each.name)):
                raise SystemExit(f"{name} has a field {each.name}, whose name in Python is taken")
        lines = [self._field(each, scope, must_default) for each in fields]
        body = [line for line in lines if line] or ["    pass"]
        return "\n".join([f"class {name}({bases}):", *body])

    def _field(self, each: FieldSchema, scope: Versions, must_default: bool) -> str:
        lives = each.versions.intersect(scope)
        if lives.is_empty:
            return ""
        name = snake_case(each.name)
        hint = self.class_names[each.element] if each.is_struct else PRIMITIVES[each.element][0]
        if each.is_array:
            hint = f"list[{hint}]"
        if not each.nullable.intersect(lives).is_empty:
            hint += " | None"
        options = list(self._options(each, lives, scope, must_default))
        if not options:
            return f"    {name}: {hint}"
        told = ", ".join(options)
        if len(options) == 1 and told.startswith("default="):
            return f"    {name}: {hint} = {told.removeprefix('default=')}"
        line = f"    {name}: {hint} = field({told})"
        return line if len(line) <= LINE_LENGTH else f"    {name}: {hint} = field(\n        {told}\n    )"

    def _options(self, each: FieldSchema, lives: Versions, scope: Versions, must_default: bool) -> Iterator[str]:
        """What `field()` has to be told, in the order of its parameters."""
        if lives.oldest > scope.oldest:
            yield f"since={lives.oldest}"
        if lives.newest < scope.newest:
            yield f"until={lives.newest}"
        default = self._default(each, lives, scope, must_default)
        if default:
            yield default
        nullable = each.nullable.intersect(lives)
        if not nullable.is_empty and nullable.oldest > lives.oldest:
            yield f"nullable_since={nullable.oldest}"
        if not nullable.is_empty and nullable.newest < lives.newest:
            yield f"nullable_until={nullable.newest}"
        tagged = each.tagged.intersect(lives)
        if not tagged.is_empty:
            yield f"tag={each.tag}"
            if tagged.oldest > lives.oldest:
                yield f"tagged_since={tagged.oldest}"
        if each.is_ignorable and lives != scope:
            yield "ignorable=True"
        if each.is_never_flexible:
            yield "never_flexible=True"
        json_name = each.name[0].lower() + each.name[1:]
        if camel_case(snake_case(each.name)) != json_name:
            yield f'name="{json_name}"'

    def _default(self, each: FieldSchema, lives: Versions, scope: Versions, must_default: bool) -> str | None:
        """The option that names the default, or None for a field that must be given."""
        if each.default is None and lives == scope and each.tag is None and not must_default:
            return None
        if each.default == "null":
            return "default=None"
        if each.is_array:
            return "default_factory=list"
        if each.is_struct:
            return f"default_factory={self.class_names[each.element]}"
        return f"default={_literal(each)}"


def _literal(each: FieldSchema) -> str:
    """A primitive field's default as Python writes it."""
    if each.default is None:
        return PRIMITIVES[each.element][1]
    if each.element == "bool":
        return each.default.capitalize()
    if each.element == "string":
        return f'"{each.default}"'
    return str(int(each.default, 0))
