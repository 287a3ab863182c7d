"""Source text of a function under construction: indented lines, the names they refer to, runs of fixed-size fields.

A traced function is the same text with lines between that note which field is at work; it is compiled after a plain one
has failed, to say where. So the plain one pays nothing for good error messages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from struct import Struct as Layout
from typing import Any

from barnabas.protocol.schema import ArrayOf, FieldSpec, FieldType, Message, Primitive, Struct, field_specs

# Sizes in bytes of the length before a string and before bytes, records and arrays, outside flexible versions.
STRING_LENGTH_CODE = "h"
LENGTH_CODE = "i"
STRING_BYTES_MAX = 32767


class Refused(ValueError):  # noqa: N818 (what happens to the value, not an accident)
    """A value that the wire format does not allow; its text is the whole reason."""


class Source:
    """Grows one function of a message's version."""

    def __init__(self, message: type[Message], version: int, *, is_traced: bool) -> None:
        self.message = message
        self.version = version
        self.is_flexible = message.is_flexible(version)
        self.is_traced = is_traced
        self.names: dict[str, Any] = {}
        self._lines: list[str] = []
        self._depth = 0
        self._serial = count(1)

    def line(self, text: str) -> None:
        self._lines.append("    " * self._depth + text)

    @contextmanager
    def block(self, opening: str) -> Iterator[None]:
        self.line(opening)
        self._depth += 1
        yield
        self._depth -= 1

    def local(self, prefix: str) -> str:
        """A local variable that nothing else in the function uses."""
        return f"{prefix}{next(self._serial)}"

    def constant(self, prefix: str, value: Any) -> str:
        """A global of the function that holds this value."""
        name = self.local(prefix + "_")
        self.names[name] = value
        return name

    def layout(self, action: str, codes: str) -> tuple[str, int]:
        """The bound `pack` or `unpack_from` of a layout by name, and the layout's size."""
        layout = Layout(">" + codes)
        name = f"{action}_{codes.replace('?', 'o')}"
        self.names[name] = getattr(layout, action)
        return name, layout.size

    def is_compact(self, spec: FieldSpec) -> bool:
        """Whether lengths of the field are variable-length integers."""
        return self.is_flexible and not spec.options.never_flexible

    def compile(self, function: str) -> Callable[..., Any]:
        text = "\n".join(self._lines) + "\n"
        exec(compile(text, f"<{function} {self.message.__name__} v{self.version}>", "exec"), self.names)
        made: Callable[..., Any] = self.names[function]
        made.__doc__ = text
        return made

    def bytes_min(self, type_: FieldType, is_compact: bool) -> int:
        """The least that an element can take, by which a count is judged before anything is reserved for it."""
        if isinstance(type_, Primitive):
            if type_.code:
                return Layout(">" + type_.code).size
            if is_compact:
                return 1
            return Layout(STRING_LENGTH_CODE if type_.name == "string" else LENGTH_CODE).size
        if isinstance(type_, ArrayOf):
            return 1 if is_compact else Layout(LENGTH_CODE).size
        return self._struct_bytes_min(type_)

    def _struct_bytes_min(self, struct: type[Struct]) -> int:
        total = 1 if self.is_flexible else 0
        for spec in field_specs(struct):
            if not spec.is_present(self.version) or spec.is_tagged(self.version):
                continue
            is_nullable_struct = isinstance(spec.type, type) and spec.is_nullable(self.version)
            total += 1 if is_nullable_struct else self.bytes_min(spec.type, self.is_compact(spec))
        # An element without any byte would make every count credible.
        return max(total, 1)
