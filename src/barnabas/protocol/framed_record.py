"""Records that name themselves: a message behind its frame version, its type and its own version, each a varint.

The records of the metadata log and of remote log metadata are so.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from barnabas.protocol.codec import decoder, encoder
from barnabas.protocol.schema import Message, ProtocolError
from barnabas.protocol.varint import read_unsigned_varint, unsigned_varint

FRAME_VERSION: Final = 1


class FrameError(Exception):
    """A record that is not framed as it should be, or not filled by its message."""


def encode_framed(message: Message, version: int) -> bytes:
    assert message.api_key is not None, "a record that names itself has a type"
    out = bytearray((FRAME_VERSION,))
    out += unsigned_varint(message.api_key)
    out += unsigned_varint(version)
    encoder(type(message), version)(message, out)
    return bytes(out)


def decode_framed(
    records: Mapping[int, type[Message]], value: bytes | bytearray | memoryview | None
) -> tuple[Message, int]:
    """The message in a record's value, which is one of `records`, and its version."""
    if value is None:
        raise FrameError("the record has no value")
    view = memoryview(value)
    kind, version, position = _read_frame(view)
    if kind not in records:
        raise FrameError(f"there is no record of type {kind}")
    try:
        message, position = decoder(records[kind], version)(view, position)
    except ProtocolError as error:
        raise FrameError(str(error)) from error
    if position != len(view):
        raise FrameError(f"{len(view) - position} bytes follow a record of type {kind}")
    return message, version


def _read_frame(view: memoryview) -> tuple[int, int, int]:
    """The type of a record, its version, and where it begins."""
    # Types and versions are small: three bytes, unless somebody wrote them in a long form.
    if len(view) >= 3 and view[0] == FRAME_VERSION and view[1] < 0x80 and view[2] < 0x80:
        return view[1], view[2], 3
    try:
        frame_version, position = read_unsigned_varint(view, 0)
        kind, position = read_unsigned_varint(view, position)
        version, position = read_unsigned_varint(view, position)
    except (IndexError, ValueError) as error:
        raise FrameError(f"the frame cannot be read: {error}") from None
    if frame_version != FRAME_VERSION:
        raise FrameError(f"the frame is of version {frame_version}, not {FRAME_VERSION}")
    return kind, version, position
