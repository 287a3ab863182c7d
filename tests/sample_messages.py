"""Messages made for tests of the codec: between them they use everything that a declaration can say."""

from __future__ import annotations

from barnabas.protocol.schema import (
    Bool,
    Bytes,
    Float64,
    Int8,
    Int16,
    Int32,
    Int64,
    Message,
    Records,
    String,
    Struct,
    Uint16,
    Uint32,
    Uuid,
    field,
)


class Primitives(Message, key=1000, versions=(0, 1), flexible_since=1):
    flag: Bool
    tiny: Int8
    small: Int16
    unsigned_small: Uint16
    medium: Int32
    unsigned_medium: Uint32
    large: Int64
    ratio: Float64
    id: Uuid
    text: String
    maybe_text: String | None
    data: Bytes
    maybe_data: Bytes | None
    records: Records
    maybe_records: Records | None


class Arrays(Message, key=1001, versions=(0, 1), flexible_since=1):
    flags: list[Bool]
    bytes_: list[Int8] = field(name="bytes")
    shorts: list[Int16]
    ints: list[Int32]
    longs: list[Int64]
    ids: list[Uuid]
    texts: list[String]
    blobs: list[Bytes]
    maybe_ints: list[Int32] | None
    maybe_texts: list[String] | None


class Leaf(Struct):
    id: Int32 = -1
    name: String = field(since=1, default="", ignorable=True)


class Branch(Struct):
    title: String
    leaves: list[Leaf]
    best: Leaf | None = field(since=1, default=None)
    worst: Leaf = field(since=2, default_factory=Leaf)


class Versioned(Message, key=1002, versions=(0, 4), flexible_since=2):
    """Fields come, go, become nullable, and move among the tagged ones."""

    old: Int32 = field(until=1, default=7)
    kept: Int16
    branches: list[Branch] | None = field(nullable_since=1, nullable_until=3)
    client_id: String | None = field(never_flexible=True)
    hint: String = field(since=3, default="", ignorable=True)
    level: Int32 = field(since=2, tag=1, default=-1)
    label: String | None = field(since=1, tag=0, tagged_since=3, default="none", ignorable=True)
    owner: Leaf = field(since=3, tag=2, default_factory=Leaf)
    spare: Leaf | None = field(since=3, tag=3, default=None)
    numbers: list[Int64] = field(since=2, tag=5, default_factory=list)
    names: list[String] | None = field(since=4, tag=7, default=None, ignorable=True)
    backup: Leaf | None = field(since=4, tag=9, default_factory=Leaf)


class Retired(Message, key=1003, versions=None):
    pass


class Empty(Message, versions=(0, 0)):
    pass


SAMPLES: tuple[type[Message], ...] = (Primitives, Arrays, Versioned, Empty)
SAMPLE_VERSIONS = tuple((message, version) for message in SAMPLES for version in message.valid_versions)
