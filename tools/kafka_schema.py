"""Reads the message schemas inside Kafka's jars: JSON with comments, one file a message.

Only the facts are kept (names, types, versions, defaults, nullability); the prose beside them is dropped here.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Self

UNBOUNDED = 32767

COMMENT = re.compile(r"^\s*//.*$", re.MULTILINE)
# Kafka's artifacts that declare messages, and the folder inside the jar; connect and streams declare none we serve.
FOLDERS = {
    "kafka-clients": "common/message/",
    "kafka-group-coordinator": "common/message/",
    "kafka-metadata": "common/metadata/",
    "kafka-raft": "common/message/",
    "kafka-share-coordinator": "common/message/",
    "kafka-storage": "message/",
    "kafka-transaction-coordinator": "common/message/",
}


class Versions(NamedTuple):
    """The versions from `oldest` to `newest`, both included; none at all where they cross."""

    oldest: int
    newest: int

    @classmethod
    def parse(cls, text: str) -> Self:
        if text == "none":
            return cls(0, -1)
        if text.endswith("+"):
            return cls(int(text[:-1]), UNBOUNDED)
        oldest, _, newest = text.partition("-")
        return cls(int(oldest), int(newest or oldest))

    @property
    def is_empty(self) -> bool:
        return self.oldest > self.newest

    def intersect(self, other: Versions) -> Versions:
        return Versions(max(self.oldest, other.oldest), min(self.newest, other.newest))

    def span(self, other: Versions) -> Versions:
        return Versions(min(self.oldest, other.oldest), max(self.newest, other.newest))


@dataclass(frozen=True)
class FieldSchema:
    """One field as its schema file has it.

    `default` is "null" for a default of null, and None where the file leaves the default to the type. JSON's own null
    does the latter: Kafka's build takes it for no default at all.
    """

    name: str
    element: str  # Kafka's name of the type, or of an array's element
    is_array: bool
    versions: Versions
    nullable: Versions
    tag: int | None
    tagged: Versions
    default: str | None
    is_ignorable: bool
    is_never_flexible: bool

    @property
    def is_struct(self) -> bool:
        return self.element[0].isupper()


@dataclass(frozen=True)
class MessageSchema:
    """One message: its fields, and by name the structs that these and each other refer to."""

    artifact: str
    name: str
    kind: str  # request, response, header, data, metadata, coordinator-key or coordinator-value
    api_key: int | None
    versions: Versions
    flexible: Versions
    listeners: tuple[str, ...]
    is_newest_unstable: bool
    fields: tuple[FieldSchema, ...]
    structs: dict[str, tuple[FieldSchema, ...]]


def read_schemas(jars: Path) -> list[MessageSchema]:
    """Every message that the jars in a folder declare and that still has a valid version, by artifact and name."""
    return [schema for schema in _all_schemas(jars) if not schema.versions.is_empty]


def _all_schemas(jars: Path) -> Iterator[MessageSchema]:
    for artifact, folder in FOLDERS.items():
        found = sorted(jars.glob(f"{artifact}-[0-9]*.jar"))
        if len(found) != 1:
            raise SystemExit(f"{jars} must hold {artifact}-VERSION.jar once, and holds {len(found)}")
        with zipfile.ZipFile(found[0]) as jar:
            for name in sorted(jar.namelist()):
                if name.startswith(folder) and name.endswith(".json"):
                    yield parse_message(artifact, json.loads(COMMENT.sub("", jar.read(name).decode())))


def release(jars: Path) -> str:
    """The Kafka release of the jars, from the name of the one that every other depends on."""
    (path,) = jars.glob("kafka-clients-[0-9]*.jar")
    return path.stem.removeprefix("kafka-clients-")


def parse_message(artifact: str, source: dict[str, Any]) -> MessageSchema:
    """The facts of one schema file."""
    structs: dict[str, tuple[FieldSchema, ...]] = {}
    for shared in source.get("commonStructs", []):
        structs[shared["name"]] = _fields(shared["fields"], structs)
    return MessageSchema(
        artifact=artifact,
        name=source["name"],
        kind=source["type"],
        api_key=source.get("apiKey"),
        versions=Versions.parse(source["validVersions"]),
        flexible=Versions.parse(source.get("flexibleVersions", "none")),
        listeners=tuple(sorted(source.get("listeners", ()))),
        is_newest_unstable=source.get("latestVersionUnstable", False),
        fields=_fields(source.get("fields", []), structs),
        structs=structs,
    )


def _fields(sources: list[dict[str, Any]], structs: dict[str, tuple[FieldSchema, ...]]) -> tuple[FieldSchema, ...]:
    fields = []
    for source in sources:
        field = _field(source)
        if "fields" in source:
            structs[field.element] = _fields(source["fields"], structs)
        fields.append(field)
    return tuple(fields)


def _field(source: dict[str, Any]) -> FieldSchema:
    tagged = source.get("taggedVersions", "none")
    default = source.get("default")
    return FieldSchema(
        name=source["name"],
        element=source["type"].removeprefix("[]"),
        is_array=source["type"].startswith("[]"),
        # A tagged field may leave its versions to be understood from where it is tagged.
        versions=Versions.parse(source.get("versions", tagged)),
        nullable=Versions.parse(source.get("nullableVersions", "none")),
        tag=source.get("tag"),
        tagged=Versions.parse(tagged),
        default=None if default is None else str(default),
        is_ignorable=source.get("ignorable", False),
        is_never_flexible=source.get("flexibleVersions") == "none",
    )
