"""Reading and writing messages: the codec of a version is compiled when it is first asked for, and kept."""

from __future__ import annotations

from functools import cache
from typing import Any, TypeVar

from barnabas.protocol.decoder import Decoder, compile_decoder
from barnabas.protocol.encoder import Encoder, compile_encoder
from barnabas.protocol.schema import Message, ProtocolError, UnsupportedVersion

M = TypeVar("M", bound=Message)


@cache
def decoder(message: type[Message], version: int) -> Decoder:
    """A function of (memoryview, position) that gives (message, position after it) or raises ProtocolError.

    Records in the message are views of the buffer; everything else is copied out of it.
    """
    _check_version(message, version)
    return compile_decoder(message, version)


@cache
def encoder(message: type[Message], version: int) -> Encoder:
    """A function of (message, bytearray) that appends the message or raises EncodeError and appends nothing."""
    _check_version(message, version)
    return compile_encoder(message, version, gathers=False)


@cache
def gatherer(message: type[Message], version: int) -> Encoder:
    """An encoder that does not copy records: it returns the buffers to send, with the records between them.

    Records may be anything with a length here, such as a region of a file.
    """
    _check_version(message, version)
    return compile_encoder(message, version, gathers=True)


def decode(message: type[M], version: int, buffer: bytes | bytearray | memoryview) -> M:
    """The message that fills the whole buffer."""
    view = memoryview(buffer)
    decoded: M
    decoded, position = decoder(message, version)(view, 0)
    if position != len(view):
        raise ProtocolError(message.__name__, version, "", position, f"{len(view) - position} bytes follow the message")
    return decoded


def encode(message: Message, version: int) -> bytearray:
    out = bytearray()
    encoder(type(message), version)(message, out)
    return out


def gather(message: Message, version: int) -> list[Any]:
    """The message as a list of buffers, records uncopied."""
    return gatherer(type(message), version)(message, bytearray())


def _check_version(message: type[Message], version: int) -> None:
    valid = message.valid_versions
    if version not in valid:
        known = f"versions {valid.start} to {valid.stop - 1} are known" if valid else "no version is in use"
        raise UnsupportedVersion(message.__name__, version, "", 0, known)
