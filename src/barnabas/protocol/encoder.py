"""Compiles the encoder of one version of a message into a plain function that appends to a bytearray.

Neighbouring fixed-size fields and the length that follows them are one struct call. A message with records has a second
encoder, which hands out the records between the buffers instead of copying them. A value that the version cannot carry
compiles the traced twin of the function and runs it on the same message for the report; the output is left as it was.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, Final

from barnabas.protocol.schema import (
    UUID,
    ArrayOf,
    EncodeError,
    FieldSpec,
    FieldType,
    Message,
    Primitive,
    Struct,
    field_specs,
    join_path,
)
from barnabas.protocol.source import LENGTH_CODE, STRING_BYTES_MAX, STRING_LENGTH_CODE, Refused, Source
from barnabas.protocol.uuid import UUID_BYTES
from barnabas.protocol.varint import unsigned_varint

Encoder = Callable[[Any, bytearray], list[Any]]

# What a wrong value raises when it is written. Anything else is a mistake of the compiler.
VALUE_ERRORS: Final = (AttributeError, TypeError, ValueError, OverflowError, struct.error)


def compile_encoder(message: type[Message], version: int, *, gathers: bool) -> Encoder:
    """A function that appends the message to a buffer and returns what to send, in order.

    Without `gathers` that is the buffer alone. With it, records stand in the list as they are in the message, and the
    buffers between them follow the one that was given.
    """
    return _EncoderSource(message, version, gathers=gathers, is_traced=False).encoder()


class _EncoderSource(Source):
    """Locals of the function: out the buffer, parts what to send, v a value, n its length."""

    def __init__(self, message: type[Message], version: int, *, gathers: bool, is_traced: bool) -> None:
        super().__init__(message, version, is_traced=is_traced)
        self._gathers = gathers
        self._tag_depth = 0
        self._run: list[tuple[str, str]] = []
        self.names.update(
            pack=struct.pack,
            varint=unsigned_varint,
            bad_uuid=_bad_uuid,
            long_string=_long_string,
            not_in_version=_not_in_version,
            no_tags=_no_tags,
            write_tags=_write_tags,
            VALUE_ERRORS=VALUE_ERRORS,
            explain=self._explain,
        )

    def encoder(self) -> Encoder:
        with self.block("def encode(s, out):"):
            self.line("first = out; start = len(out); where = kind = ''; value = None; parts = [out]")
            with self.block("try:"):
                self._struct("s", self.message, "")
                self._flush()
                if self._gathers:
                    self.line("if not out and len(parts) > 1: parts.pop()")
            with self.block("except VALUE_ERRORS as error:"):
                self.line("del first[start:]")
                self.line("raise explain(error, s, where, kind, value) from error")
            self.line("return parts")
        return self.compile("encode")

    def _explain(self, error: Exception, message: Message, where: str, kind: str, value: Any) -> EncodeError:
        if self.is_traced:
            reason = str(error) if isinstance(error, Refused) else f"{value!r:.80} cannot be written as {kind}: {error}"
            return EncodeError(self.message.__name__, self.version, where, reason)
        try:
            _traced_encoder(self.message, self.version, self._gathers)(message, bytearray())
        except EncodeError as explained:
            return explained.with_traceback(None)
        raise AssertionError("the traced encoder took what the plain one refused") from error

    def _trace(self, path: str, kind: str, value: str) -> None:
        if self.is_traced:
            self._flush()
            self.line(f'where = f"{path}"; kind = {kind!r}; value = {value}')

    def _trace_tags(self, value: str, path: str) -> None:
        self._trace(join_path(path, "tagged fields"), "tags", f"{value}.unknown_tags")

    def _flush(self) -> None:
        if self._run:
            self.line(f"out += {self._packed()}")
            self._run.clear()

    def _packed(self, *more: tuple[str, str]) -> str:
        """The call that packs the run and `more` at its end."""
        fields = [*self._run, *more]
        pack, _ = self.layout("pack", "".join(code for code, _ in fields))
        return f"{pack}({', '.join(value for _, value in fields if value)})"

    def _flush_with_varint(self, value: str) -> None:
        """Write the run and then `value` as a variable-length integer, in one call while it is small."""
        if not self._run:
            self.line(f"if {value} < 128: out.append({value})")
            self.line(f"else: out += varint({value})")
            return
        self.line(f"if {value} < 128: out += {self._packed(('B', value))}")
        self.line(f"else: out += {self._packed()}; out += varint({value})")
        self._run.clear()

    def _length(self, is_compact: bool, code: str, length: str) -> None:
        """Write the run and the length of what follows; -1 stands for null."""
        if is_compact:
            self.line(f"n = {length} + 1")
            self._flush_with_varint("n")
        else:
            self._run.append((code, length))
            self._flush()

    def _struct(self, value: str, cls: type[Struct], path: str) -> None:
        specs = field_specs(cls)
        tagged = [spec for spec in specs if spec.is_tagged(self.version)]
        for spec in specs:
            attribute, inner = f"{value}.{spec.name}", join_path(path, spec.name)
            if spec in tagged:
                continue
            if not spec.is_present(self.version):
                self._absent(attribute, spec, inner)
                continue
            self._trace(inner, _kind(spec.type), attribute)
            self._field(attribute, spec, inner)
        if self.is_flexible:
            self._tags(value, cls, tagged, path)
        else:
            self._trace_tags(value, path)
            self.line(f"if {value}.unknown_tags: raise no_tags()")

    def _absent(self, attribute: str, spec: FieldSpec, path: str) -> None:
        """A version without the field must not lose what it says, unless it is ignorable."""
        if spec.options.ignorable:
            return
        self._trace(path, _kind(spec.type), attribute)
        self.line(f"if {self._differs_from_default(attribute, spec)}: raise not_in_version({attribute})")

    def _differs_from_default(self, attribute: str, spec: FieldSpec) -> str:
        return self._differs(attribute, spec.type, spec.default(), spec.can_be_null)

    def _differs(self, value: str, type_: FieldType, default: Any, can_be_null: bool) -> str:
        """An expression that is true where the value is not the default; structs are compared in place."""
        if default is None:
            return f"{value} is not None"
        if not isinstance(type_, type):
            return f"{value} != {self.constant('default', default)}"
        parts = [f"{value} is None"] if can_be_null else []
        parts += [
            self._differs(f"{value}.{spec.name}", spec.type, getattr(default, spec.name), spec.can_be_null)
            for spec in field_specs(type_)
        ]
        return f"({' or '.join(parts)} or {value}.unknown_tags)"

    def _field(self, attribute: str, spec: FieldSpec, path: str) -> None:
        is_nullable = spec.is_nullable(self.version)
        is_compact = self.is_compact(spec)
        if isinstance(spec.type, type):
            self._nested(attribute, spec.type, path, is_nullable=is_nullable, is_tagged=spec.is_tagged(self.version))
        elif isinstance(spec.type, Primitive) and spec.type.code:
            self._fixed(attribute, spec.type)
        else:
            self._counted(attribute, spec.type, is_compact, is_nullable, path)

    def _fixed(self, attribute: str, primitive: Primitive) -> None:
        if primitive is UUID:
            # A struct layout would cut or pad a value of another size.
            self.line(f"if len({attribute}) != {UUID_BYTES}: raise bad_uuid({attribute})")
        self._run.append((primitive.code, attribute))

    def _nested(self, attribute: str, cls: type[Struct], path: str, *, is_nullable: bool, is_tagged: bool) -> None:
        inner = self.local("s")
        self.line(f"{inner} = {attribute}")
        if not is_nullable:
            self._struct(inner, cls, path)
            return
        # Absence is -1 in place, but 0 in a tagged field, where Kafka writes it as a variable-length integer.
        self._flush()
        self.line(f"if {inner} is None: out += {bytes([0 if is_tagged else 255])!r}")
        with self.block("else:"):
            self._run.append(("b", "1"))
            self._struct(inner, cls, path)
            self._flush()

    def _counted(
        self, attribute: str, type_: Primitive | ArrayOf, is_compact: bool, is_nullable: bool, path: str
    ) -> None:
        """Write a value with its length before it."""
        value = self.local("v")
        self.line(f"{value} = {attribute}")
        if isinstance(type_, Primitive) and type_.name == "string":
            self._string(value, is_compact, is_nullable)
            return
        self._length(
            is_compact, LENGTH_CODE, f"(-1 if {value} is None else len({value}))" if is_nullable else f"len({value})"
        )
        # After the length, null and empty are alike: nothing follows.
        with self.block(f"if {value}:"):
            if isinstance(type_, ArrayOf):
                self._elements(value, type_.element, is_compact, path)
            elif type_.name == "records" and self._gathers and not self._tag_depth:
                self.line(f"out = bytearray(); parts.append({value}); parts.append(out)")
            else:
                self.line(f"out += {value}")

    def _string(self, value: str, is_compact: bool, is_nullable: bool) -> None:
        encode = f"{value} = {value}.encode(); n = len({value})"
        if is_nullable:
            self.line(f"if {value} is None: {value} = b''; n = -1")
            self.line(f"else: {encode}")
        else:
            self.line(encode)
        self.line(f"if n > {STRING_BYTES_MAX}: raise long_string(n)")
        self._length(is_compact, STRING_LENGTH_CODE, "n")
        self.line(f"out += {value}")

    def _elements(self, values: str, element: FieldType, is_compact: bool, path: str) -> None:
        if element is UUID:
            self.line(f"v = b''.join({values}); out += v")
            self.line(f"if len(v) != len({values}) * {UUID_BYTES}: raise bad_uuid({values})")
            return
        if isinstance(element, Primitive) and element.code:
            self.line(f"out += pack(f'>{{len({values})}}{element.code}', *{values})")
            return
        item, index = self.local("s"), self.local("i")
        inner = f"{path}[{{{index}}}]"
        with self.block(
            f"for {index}, {item} in enumerate({values}):" if self.is_traced else f"for {item} in {values}:"
        ):
            self._trace(inner, _kind(element), item)
            if isinstance(element, type):
                self._struct(item, element, inner)
            else:
                self._counted(item, element, is_compact, False, inner)
            self._flush()

    def _tags(self, value: str, cls: type[Struct], tagged: list[FieldSpec], path: str) -> None:
        declared = frozenset(spec.options.tag for spec in field_specs(cls) if spec.options.tag is not None)
        known = "()"
        if tagged:
            known = self.local("known")
            self._flush()
            self.line(f"{known} = []")
        for spec in sorted(tagged, key=lambda spec: spec.options.tag or 0):
            attribute, inner = f"{value}.{spec.name}", join_path(path, spec.name)
            self._trace(inner, _kind(spec.type), attribute)
            with self.block(f"if {self._differs_from_default(attribute, spec)}:"):
                outer = self.local("out")
                self.line(f"{outer} = out; out = bytearray()")
                self._tag_depth += 1
                self._field(attribute, spec, inner)
                self._flush()
                self._tag_depth -= 1
                self.line(f"{known}.append(({spec.options.tag}, out)); out = {outer}")
        self._trace_tags(value, path)
        condition = f"{known} or {value}.unknown_tags" if tagged else f"{value}.unknown_tags"
        write = f"write_tags(out, {known}, {value}.unknown_tags, {self.constant('declared', declared)})"
        if self._run:
            self.line(f"if {condition}: out += {self._packed()}; {write}")
            self.line(f"else: out += {self._packed(('x', ''))}")
            self._run.clear()
        else:
            self.line(f"if {condition}: {write}")
            self.line("else: out.append(0)")


@cache
def _traced_encoder(message: type[Message], version: int, gathers: bool) -> Encoder:
    return _EncoderSource(message, version, gathers=gathers, is_traced=True).encoder()


def _kind(type_: FieldType) -> str:
    if isinstance(type_, Primitive):
        return type_.name
    return "an array" if isinstance(type_, ArrayOf) else type_.__name__


def _bad_uuid(value: Any) -> Refused:
    return Refused(f"{value!r:.80} is not made of ids of {UUID_BYTES} bytes")


def _long_string(length: int) -> Refused:
    return Refused(f"a string of {length} bytes is longer than {STRING_BYTES_MAX}")


def _not_in_version(value: Any) -> Refused:
    return Refused(f"this version has no such field, so it cannot say {value!r:.80}")


def _no_tags() -> Refused:
    return Refused("this version has no tagged fields")


def _write_tags(
    out: bytearray,
    known: Iterable[tuple[int, bytearray]],
    unknown: tuple[tuple[int, bytes], ...],
    declared: frozenset[int],
) -> None:
    """Merge the fields that were declared with those that were kept aside, by rising tag."""
    merged: dict[int, bytes | bytearray] = dict(known)
    for tag, value in unknown:
        if tag in declared or tag in merged:
            raise Refused(f"unknown tag {tag} has a field of its own or comes twice")
        merged[tag] = value
    out += unsigned_varint(len(merged))
    for tag, written in sorted(merged.items()):
        out += unsigned_varint(tag)
        out += unsigned_varint(len(written))
        out += written
