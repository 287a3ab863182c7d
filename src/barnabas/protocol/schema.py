"""The language in which Kafka's messages are declared: wire types as annotations, and the versions a field lives in.

A message is declared once, as a typed class. Its codecs are compiled from the declaration on first use (`codec.py`),
and so is its constructor: declaring a class costs little, because a broker declares some six hundred of them and uses
few at start.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    ClassVar,
    Final,
    NamedTuple,
    Union,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
)

from barnabas.protocol.uuid import ZERO_UUID, Uuid

__all__ = [
    "ZERO_UUID",
    "ArrayOf",
    "Bool",
    "Bytes",
    "EncodeError",
    "FieldOptions",
    "FieldSpec",
    "FieldType",
    "Float64",
    "Int8",
    "Int16",
    "Int32",
    "Int64",
    "Message",
    "Primitive",
    "ProtocolError",
    "Records",
    "String",
    "Struct",
    "Uint16",
    "Uint32",
    "UnsupportedVersion",
    "Uuid",
    "describe_place",
    "field",
    "field_specs",
    "join_path",
]

LAST_VERSION: Final = 32767


def join_path(path: str, name: str) -> str:
    """The path of a field within the struct at `path`, such as `topics[3].partitions`."""
    return f"{path}.{name}" if path else name


def describe_place(message: str, version: int, path: str) -> str:
    return f"{message} v{version}, {path}" if path else f"{message} v{version}"


class ProtocolError(Exception):
    """Bytes that are no message: which message and version was read, which field failed, at which byte, and why."""

    def __init__(self, message: str, version: int, path: str, position: int, reason: str) -> None:
        self.message = message
        self.version = version
        self.path = path
        self.position = position
        self.reason = reason
        super().__init__(f"{describe_place(message, version, path)}, at byte {position}: {reason}")


class UnsupportedVersion(ProtocolError):  # noqa: N818 (named after Kafka's error)
    """A version of a message that its declaration does not have."""


class EncodeError(Exception):
    """A message that a version cannot carry: a value is of the wrong type, out of range, or in a field it lacks."""

    def __init__(self, message: str, version: int, path: str, reason: str) -> None:
        self.message = message
        self.version = version
        self.path = path
        self.reason = reason
        super().__init__(f"{describe_place(message, version, path)}: {reason}")


class Primitive(NamedTuple):
    """A wire type without parts; `code` is its letter in a struct layout, or empty where its size varies."""

    name: str
    code: str = ""


Bool = Annotated[bool, Primitive("bool", "?")]
Int8 = Annotated[int, Primitive("int8", "b")]
Int16 = Annotated[int, Primitive("int16", "h")]
Uint16 = Annotated[int, Primitive("uint16", "H")]
Int32 = Annotated[int, Primitive("int32", "i")]
Uint32 = Annotated[int, Primitive("uint32", "I")]
Int64 = Annotated[int, Primitive("int64", "q")]
Float64 = Annotated[float, Primitive("float64", "d")]
String = Annotated[str, Primitive("string")]
Bytes = Annotated[bytes, Primitive("bytes")]
# Decoding gives a memoryview of the input. Encoding into one buffer takes anything bytes-like; gathering takes
# anything with a length, so that a region of a file can stand where its bytes will be sent.
Records = Annotated[Any, Primitive("records")]

UUID: Final = Primitive("uuid", "16s")


class ArrayOf(NamedTuple):
    """A counted sequence of one type; elements are never null."""

    element: FieldType


FieldType = Primitive | ArrayOf | type["Struct"]


class _Missing:
    """The default of a field that has none: the constructor must be given a value."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = _Missing()


class FieldOptions(NamedTuple):
    """What `field()` was told, kept as it stands until the class is used."""

    since: int = 0
    until: int = LAST_VERSION
    default: Any = MISSING
    default_factory: Callable[[], Any] | None = None
    nullable_since: int | None = None
    nullable_until: int = LAST_VERSION
    tag: int | None = None
    tagged_since: int | None = None
    ignorable: bool = False
    never_flexible: bool = False
    name: str | None = None


def field(
    *,
    since: int = 0,
    until: int = LAST_VERSION,
    default: Any = MISSING,
    default_factory: Callable[[], Any] | None = None,
    nullable_since: int | None = None,
    nullable_until: int = LAST_VERSION,
    tag: int | None = None,
    tagged_since: int | None = None,
    ignorable: bool = False,
    never_flexible: bool = False,
    name: str | None = None,
) -> Any:
    """Say in which versions a field lives and how it is written there.

    since, until        versions that have the field; elsewhere it reads as its default
    default             immutable, or `default_factory` for lists and structs; without either it must be given
    nullable_since      for `| None` fields, where null may be written; all the field's versions unless narrowed
    tag, tagged_since   written among the tagged fields, if it is not the default, from that version on
    ignorable           silently dropped in versions without it; otherwise a value other than the default is refused
    never_flexible      keeps the fixed-size length even in flexible versions, like a request header's client id
    name                Kafka's camelCase name where it does not follow from the Python one
    """
    return FieldOptions(
        since,
        until,
        default,
        default_factory,
        nullable_since,
        nullable_until,
        tag,
        tagged_since,
        ignorable,
        never_flexible,
        name,
    )


class FieldSpec(NamedTuple):
    """One field with its type resolved: what compilers, converters and test strategies walk."""

    name: str
    json_name: str
    type: FieldType
    can_be_null: bool
    options: FieldOptions

    def is_present(self, version: int) -> bool:
        return self.options.since <= version <= self.options.until

    def is_nullable(self, version: int) -> bool:
        if not self.can_be_null:
            return False
        first = self.options.nullable_since
        return (first is None or first <= version) and version <= self.options.nullable_until

    def is_tagged(self, version: int) -> bool:
        if self.options.tag is None:
            return False
        first = self.options.tagged_since
        return self.is_present(version) and (first is None or first <= version)

    @property
    def has_default(self) -> bool:
        return self.options.default is not MISSING or self.options.default_factory is not None

    def default(self) -> Any:
        """What the field reads as in a version without it."""
        if self.options.default_factory is not None:
            return self.options.default_factory()
        if self.options.default is MISSING:
            raise TypeError(f"field {self.name} does not live in every version and needs a default")
        return self.options.default


class _StructType(type):
    """Turns the annotated names of a class body into slots and keeps their options aside, unresolved."""

    def __new__(metaclass, name: str, bases: tuple[type, ...], body: dict[str, Any], **keywords: Any) -> _StructType:
        options: dict[str, FieldOptions] = {}
        for attribute, annotation in body.get("__annotations__", {}).items():
            if str(annotation).startswith("ClassVar"):
                continue
            value = body.pop(attribute, MISSING)
            options[attribute] = value if isinstance(value, FieldOptions) else FieldOptions(default=value)
        body["__slots__"] = tuple(options)
        body["__fields__"] = options
        return super().__new__(metaclass, name, bases, body, **keywords)


@dataclass_transform(kw_only_default=True, field_specifiers=(field,))
class _Declared(metaclass=_StructType):
    """Carries the dataclass semantics for type checkers, which leave the fields of this very class out."""


class Struct(_Declared):
    """A part of a message. Fields are given by keyword; unknown tagged fields are kept as (tag, bytes), by tag."""

    __fields__: ClassVar[dict[str, FieldOptions]]

    unknown_tags: tuple[tuple[int, bytes], ...] = field(default=())

    def __init__(self, **values: Any) -> None:
        # The first construction of a class replaces this by a constructor made for it.
        cls = type(self)
        cls.__init__ = _constructor(cls)  # type: ignore[method-assign]
        cls.__init__(self, **values)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self.unknown_tags == other.unknown_tags and all(
            getattr(self, name) == getattr(other, name) for name in self.__fields__
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = [f"{name}={_shown(getattr(self, name))}" for name in self.__fields__]
        if self.unknown_tags:
            shown.append(f"unknown_tags={self.unknown_tags!r}")
        return f"{type(self).__name__}({', '.join(shown)})"


class Message(Struct):
    """A whole message: a request, response, header, record key or value.

    `api_key` is the request's, the metadata record's or the coordinator record's number, or None where there is none.
    A message without valid versions has an empty range.
    """

    api_key: ClassVar[int | None]
    valid_versions: ClassVar[range]
    flexible_since: ClassVar[int]

    def __init_subclass__(
        cls, *, versions: tuple[int, int] | None, key: int | None = None, flexible_since: int | None = None
    ) -> None:
        super().__init_subclass__()
        assert not cls.__fields__.keys() & Message.__annotations__.keys(), (
            "a field would hide what describes the message"
        )
        cls.api_key = key
        cls.valid_versions = range(0) if versions is None else range(versions[0], versions[1] + 1)
        cls.flexible_since = LAST_VERSION + 1 if flexible_since is None else flexible_since

    @classmethod
    def is_flexible(cls, version: int) -> bool:
        return version >= cls.flexible_since


def _shown(value: Any) -> str:
    """A log line must stay a line, however large the batch in the message."""
    if isinstance(value, memoryview):
        return f"<{value.nbytes} bytes>"
    return repr(value)


def _constructor(cls: type[Struct]) -> Callable[..., None]:
    names: dict[str, Any] = {"MISSING": MISSING}
    parameters, body = [], []
    for name, options in {**cls.__fields__, **Struct.__fields__}.items():
        if options.default_factory is not None:
            names[f"make_{name}"] = options.default_factory
            parameters.append(f"{name}=MISSING")
            body.append(f"    self.{name} = make_{name}() if {name} is MISSING else {name}")
            continue
        if options.default is MISSING:
            parameters.append(name)
        else:
            names[f"default_{name}"] = options.default
            parameters.append(f"{name}=default_{name}")
        body.append(f"    self.{name} = {name}")
    source = "\n".join([f"def __init__(self, *, {', '.join(parameters)}):", *body])
    exec(compile(source, f"<constructor of {cls.__name__}>", "exec"), names)
    constructor: Callable[..., None] = names["__init__"]
    constructor.__qualname__ = f"{cls.__qualname__}.__init__"
    return constructor


@cache
def field_specs(cls: type[Struct]) -> tuple[FieldSpec, ...]:
    """The declared fields of a struct in wire order, types resolved."""
    return tuple(_resolve_fields(cls))


def _resolve_fields(cls: type[Struct]) -> Iterator[FieldSpec]:
    hints = get_type_hints(cls, include_extras=True)
    for name, options in cls.__fields__.items():
        hint, can_be_null = _without_none(hints[name])
        json_name = options.name or _camel_case(name)
        yield FieldSpec(name, json_name, _resolve_type(cls, name, hint), can_be_null, options)


def _without_none(hint: Any) -> tuple[Any, bool]:
    if get_origin(hint) not in (Union, UnionType):
        return hint, False
    (inner,) = (part for part in get_args(hint) if part is not NoneType)
    return inner, True


def _resolve_type(cls: type[Struct], name: str, hint: Any) -> FieldType:
    if get_origin(hint) is list:
        (element,) = get_args(hint)
        return ArrayOf(_resolve_type(cls, name, element))
    if hint is Uuid:
        return UUID
    if isinstance(hint, type) and issubclass(hint, Struct):
        return hint
    for note in getattr(hint, "__metadata__", ()):
        if isinstance(note, Primitive):
            return note
    raise TypeError(f"{cls.__name__}.{name} is declared as {hint!r}, which is no wire type")


def _camel_case(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)
