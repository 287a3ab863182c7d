"""Reads a record whose message stands behind its frame version, its type and its own version, each a varint."""

from __future__ import annotations

from collections.abc import Mapping

from barnabas.protocol.codec import decoder
from barnabas.protocol.schema import Message, ProtocolError
from barnabas.protocol.varint import read_unsigned_varint
from barnabas.records.batch import Buffer

FRAME_VERSION = 1


class FrameError(Exception):
    """A record that is not framed as it should be, or not filled by its message."""


def read_framed(records: Mapping[int, type[Message]], value: Buffer | None) -> tuple[Message, int]:
    """The message in a record's value, and its version."""
    if value is None:
        raise FrameError("the record has no value")
    view = memoryview(value)
    try:
        frame_version, position = read_unsigned_varint(view, 0)
        kind, position = read_unsigned_varint(view, position)
        version, position = read_unsigned_varint(view, position)
    except (IndexError, ValueError) as error:
        raise FrameError(f"the frame cannot be read: {error}") from error
    if frame_version != FRAME_VERSION:
        raise FrameError(f"the frame is of version {frame_version}, not {FRAME_VERSION}")
    if kind not in records:
        raise FrameError(f"there is no record type {kind}")
    try:
        message, position = decoder(records[kind], version)(view, position)
    except ProtocolError as error:
        raise FrameError(str(error)) from error
    if position != len(view):
        raise FrameError(f"{len(view) - position} bytes follow a record of type {kind}")
    return message, version
