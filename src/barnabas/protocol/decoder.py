"""Compiles the decoder of one version of a message into a plain function.

The function reads neighbouring fixed-size fields, and the length that follows them, in one struct call, and fills
objects in place without calling their constructors. Every length is compared with what is left of the input before
anything is made of it. A failure compiles the traced twin of the function and runs it on the same input for the report.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import cache
from typing import Any, Final

from barnabas.protocol.schema import (
    UUID,
    ArrayOf,
    FieldSpec,
    FieldType,
    Message,
    Primitive,
    ProtocolError,
    Struct,
    Uuid,
    field_specs,
    join_path,
)
from barnabas.protocol.source import LENGTH_CODE, STRING_BYTES_MAX, STRING_LENGTH_CODE, Refused, Source
from barnabas.protocol.varint import read_unsigned_varint

Decoder = Callable[[memoryview, int], tuple[Any, int]]

# What reading past the end, a bad length or bad text raises. Anything else is a mistake of the compiler.
INPUT_ERRORS: Final = (IndexError, struct.error, ValueError)


def compile_decoder(message: type[Message], version: int) -> Decoder:
    return _DecoderSource(message, version, is_traced=False).decoder()


class _DecoderSource(Source):
    """Locals of the function: b the input, p the position in it, end its size, n a length, q where a value ends."""

    def __init__(self, message: type[Message], version: int, *, is_traced: bool) -> None:
        super().__init__(message, version, is_traced=is_traced)
        self._run: list[tuple[str, Primitive]] = []
        self.names.update(
            make=object.__new__,
            make_bytes=bytes.__new__,
            Uuid=Uuid,
            unpack_from=struct.unpack_from,
            bad_length=_bad_length,
            bad_tagged_size=_bad_tagged_size,
            long_length=_long_length,
            long_string_length=_long_string_length,
            long_count=read_unsigned_varint,
            read_tag=_read_tag,
            read_unknown_tags=_read_unknown_tags,
            not_in_version=_not_in_version,
            INPUT_ERRORS=INPUT_ERRORS,
            explain=self._explain,
        )

    def decoder(self) -> Decoder:
        with self.block("def decode(b, p):"):
            self.line("start = at = p; where = ''; end = len(b)")
            with self.block("try:"):
                self._struct("s", self.message, "")
                self._flush()
                self.line("return s, p")
            with self.block("except INPUT_ERRORS as error:"):
                self.line("raise explain(error, b, start, where, at) from None")
        return self.compile("decode")

    def _explain(self, error: Exception, buffer: memoryview, start: int, where: str, position: int) -> ProtocolError:
        if self.is_traced:
            return ProtocolError(self.message.__name__, self.version, where, position, _reason(error))
        try:
            _traced_decoder(self.message, self.version)(buffer, start)
        except ProtocolError as explained:
            return explained.with_traceback(None)
        raise AssertionError("the traced decoder took what the plain one refused") from error

    def _trace(self, path: str) -> None:
        """Note the field that comes next; `path` is the inside of an f-string over the loop counters."""
        if self.is_traced:
            self._flush()
            self.line(f'where = f"{path}"; at = p')

    def _flush(self) -> None:
        """Read the fixed-size fields gathered so far."""
        if not self._run:
            return
        targets = [target for target, _ in self._run]
        codes = "".join(primitive.code for _, primitive in self._run)
        if codes == "B":
            self.line(f"{targets[0]} = b[p]; p += 1")
        else:
            read, size = self.layout("unpack_from", codes)
            self.line(f"{', '.join(targets)}, = {read}(b, p); p += {size}")
        for target, primitive in self._run:
            if primitive is UUID:
                self.line(f"{target} = make_bytes(Uuid, {target})")
        self._run.clear()

    def _length(self, type_: FieldType, is_compact: bool) -> None:
        """Read n, the length that comes next, negative for null, together with the fields before it."""
        is_string = isinstance(type_, Primitive) and type_.name == "string"
        if not is_compact:
            self._run.append(("n", Primitive("length", STRING_LENGTH_CODE if is_string else LENGTH_CODE)))
            self._flush()
            return
        self._run.append(("n", Primitive("length", "B")))
        self._flush()
        self.line(f"if n > 127: n, p = {'long_string_length' if is_string else 'long_length'}(b, p - 1)")
        self.line("else: n -= 1")

    def _struct(self, target: str, cls: type[Struct], path: str) -> None:
        """Make an object in `target` and fill it."""
        self.line(f"{target} = make({self.constant(cls.__name__, cls)})")
        specs = field_specs(cls)
        tagged = [spec for spec in specs if spec.is_tagged(self.version)]
        for spec in specs:
            attribute = f"{target}.{spec.name}"
            if spec in tagged or not spec.is_present(self.version):
                self._default(attribute, spec)
                continue
            self._trace(join_path(path, spec.name))
            self._field(attribute, spec, join_path(path, spec.name))
        if self.is_flexible:
            self._tags(target, cls, tagged, path)
        else:
            self.line(f"{target}.unknown_tags = ()")

    def _default(self, attribute: str, spec: FieldSpec) -> None:
        factory = spec.options.default_factory
        if factory is list:
            self.line(f"{attribute} = []")
        elif factory is not None:
            self.line(f"{attribute} = {self.constant('make', factory)}()")
        else:
            self.line(f"{attribute} = {self.constant('default', spec.default())}")

    def _field(self, attribute: str, spec: FieldSpec, path: str) -> None:
        is_nullable = spec.is_nullable(self.version)
        is_compact = self.is_compact(spec)
        if isinstance(spec.type, type):
            self._nested(attribute, spec.type, path, is_nullable=is_nullable, is_tagged=spec.is_tagged(self.version))
        elif isinstance(spec.type, Primitive) and spec.type.code:
            self._run.append((attribute, spec.type))
        else:
            self._length(spec.type, is_compact)
            if not is_nullable:
                self._counted(attribute, spec.type, is_compact, path)
                return
            self.line(f"if n < 0: {attribute} = None")
            with self.block("else:"):
                self._counted(attribute, spec.type, is_compact, path)

    def _nested(self, attribute: str, cls: type[Struct], path: str, *, is_nullable: bool, is_tagged: bool) -> None:
        inner = self.local("s")
        if not is_nullable:
            self._struct(inner, cls, path)
            self.line(f"{attribute} = {inner}")
            return
        # A byte says whether the struct is there; what means absence is -1 in place and 0 in a tagged field.
        self._run.append(("n", Primitive("presence", "b")))
        self._flush()
        self.line(f"if n {'== 0' if is_tagged else '< 0'}: {attribute} = None")
        with self.block("else:"):
            self._struct(inner, cls, path)
            self._flush()
            self.line(f"{attribute} = {inner}")

    def _counted(self, target: str, type_: Primitive | ArrayOf, is_compact: bool, path: str) -> None:
        """Read what a length announces; a length below zero is refused here."""
        if isinstance(type_, ArrayOf):
            self._array(target, type_.element, is_compact, path)
            return
        self.line("q = p + n")
        self.line("if not p <= q <= end: raise bad_length(n, end - p)")
        take = {"string": "str(b[p:q], 'utf-8')", "bytes": "bytes(b[p:q])", "records": "b[p:q]"}[type_.name]
        self.line(f"{target} = {take}; p = q")

    def _array(self, target: str, element: FieldType, is_compact: bool, path: str) -> None:
        size = self.bytes_min(element, is_compact)
        self.line(f"if not 0 <= n * {size} <= end - p: raise bad_length(n, end - p, {size})")
        if isinstance(element, Primitive) and element.code:
            self.line(f"q = p + n * {size}")
            if element is UUID:
                self.line(f"{target} = [make_bytes(Uuid, b[i : i + {size}]) for i in range(p, q, {size})]; p = q")
            else:
                self.line(f"{target} = list(unpack_from(f'>{{n}}{element.code}', b, p)); p = q")
            return
        items, index = self.local("items"), self.local("i")
        path = f"{path}[{{{index}}}]"
        self.line(f"{items} = {target} = []")
        with self.block(f"for {index} in range(n):"):
            item = self.local("s")
            self._trace(path)
            if isinstance(element, type):
                self._struct(item, element, path)
            else:
                self._length(element, is_compact)
                self._counted(item, element, is_compact, path)
            self._flush()
            self.line(f"{items}.append({item})")

    def _tags(self, target: str, cls: type[Struct], tagged: list[FieldSpec], path: str) -> None:
        """Read the tagged fields; most structs have none, so their count joins the run before it."""
        self._trace(join_path(path, "tagged fields"))
        self._run.append(("n", Primitive("count", "B")))
        self._flush()
        with self.block("if n:"):
            self.line("if n > 127: n, p = long_count(b, p - 1)")
            self.line("if n * 2 > end - p: raise bad_length(n, end - p, 2)")
            known = [spec for spec in field_specs(cls) if spec.options.tag is not None]
            if not known:
                self.line(f"{target}.unknown_tags, p = read_unknown_tags(b, p, n)")
            else:
                self._known_tags(target, tagged, known, path)
        self.line(f"else: {target}.unknown_tags = ()")

    def _known_tags(self, target: str, tagged: list[FieldSpec], known: list[FieldSpec], path: str) -> None:
        tag, stop, unknown = self.local("tag"), self.local("stop"), self.local("unknown")
        self.line(f"{tag} = -1; {unknown} = []")
        with self.block("for _ in range(n):"):
            self._trace(join_path(path, "tagged fields"))
            self.line(f"{tag}, {stop}, p = read_tag(b, p, {tag})")
            condition = "if"
            for spec in known:
                with self.block(f"{condition} {tag} == {spec.options.tag}:"):
                    if spec in tagged:
                        self._trace(join_path(path, spec.name))
                        self._field(f"{target}.{spec.name}", spec, join_path(path, spec.name))
                        self._flush()
                    else:
                        self.line(f"raise not_in_version({tag})")
                condition = "elif"
            self.line(f"else: {unknown}.append(({tag}, bytes(b[p:{stop}]))); p = {stop}")
            self.line(f"if p != {stop}: raise bad_tagged_size({tag}, p - {stop})")
        self.line(f"{target}.unknown_tags = tuple({unknown})")


@cache
def _traced_decoder(message: type[Message], version: int) -> Decoder:
    return _DecoderSource(message, version, is_traced=True).decoder()


def _reason(error: Exception) -> str:
    if isinstance(error, UnicodeDecodeError):
        return f"the text is not UTF-8: {error.reason} at its byte {error.start}"
    if isinstance(error, IndexError | struct.error):
        return "the input ends before the field does"
    return str(error)


def _bad_length(length: int, remaining: int, element_bytes: int = 1) -> Refused:
    if length < 0:
        return Refused("null is not allowed here")
    if element_bytes == 1:
        return Refused(f"a length of {length}, but {remaining} bytes are left")
    return Refused(f"{length} elements of at least {element_bytes} bytes, but {remaining} bytes are left")


def _bad_tagged_size(tag: int, excess: int) -> Refused:
    return Refused(f"tagged field {tag} takes {abs(excess)} bytes {'more' if excess > 0 else 'less'} than it announced")


def _not_in_version(tag: int) -> Refused:
    return Refused(f"tag {tag} is not valid in this version")


def _long_length(b: memoryview, p: int) -> tuple[int, int]:
    value, p = read_unsigned_varint(b, p)
    return value - 1, p


def _long_string_length(b: memoryview, p: int) -> tuple[int, int]:
    value, p = read_unsigned_varint(b, p)
    if value - 1 > STRING_BYTES_MAX:
        raise Refused(f"a string of {value - 1} bytes is longer than {STRING_BYTES_MAX}")
    return value - 1, p


def _read_tag(b: memoryview, p: int, previous: int) -> tuple[int, int, int]:
    """The next tag, where its field ends, and where it starts. Tags rise (KIP-482), so none comes twice."""
    tag, p = read_unsigned_varint(b, p)
    if tag <= previous:
        raise Refused(f"tag {tag} comes after tag {previous}")
    size, p = read_unsigned_varint(b, p)
    if size > len(b) - p:
        raise _bad_length(size, len(b) - p)
    return tag, p + size, p


def _read_unknown_tags(b: memoryview, p: int, count: int) -> tuple[tuple[tuple[int, bytes], ...], int]:
    tag, unknown = -1, []
    for _ in range(count):
        tag, stop, p = _read_tag(b, p, tag)
        unknown.append((tag, bytes(b[p:stop])))
        p = stop
    return tuple(unknown), p
