"""The records of a coordinator's topic as bytes.

A key opens with the record's type, a value with its version, both int16; a null value deletes what the key names.
"""

from __future__ import annotations

from collections.abc import Mapping
from struct import Struct
from struct import error as StructError  # noqa: N812 (named like the errors beside it)
from typing import Final, NamedTuple

from barnabas.coordinator.decision import CoordinatorRecord
from barnabas.protocol.codec import decoder, encoder
from barnabas.protocol.schema import Message, ProtocolError

KEY_VERSION: Final = 0  # What stands in a key's place for a version is its type.
_INT16: Final = Struct(">h")


class Entry(NamedTuple):
    """A record that was read."""

    key: Message
    value: Message | None


class RecordCodec:
    """Reads and writes the records of one topic; keys and values by the type that a key opens with."""

    def __init__(self, keys: Mapping[int, type[Message]], values: Mapping[int, type[Message]]) -> None:
        self._keys = keys
        self._values = values

    def encode(self, record: CoordinatorRecord) -> tuple[bytes, bytes | None]:
        kind = record.key.api_key
        assert kind is not None, "a coordinator's key has a type"
        key = bytearray(_INT16.pack(kind))
        encoder(type(record.key), KEY_VERSION)(record.key, key)
        if record.value is None:
            return bytes(key), None
        value = bytearray(_INT16.pack(record.value_version))
        encoder(type(record.value), record.value_version)(record.value, value)
        return bytes(key), bytes(value)

    def decode(self, key: bytes | None, value: bytes | None) -> Entry | None:
        """The record, or None where it is of a type that a later release has; ValueError where it cannot be read."""
        if key is None:
            raise ValueError("a record without a key")
        try:
            (kind,) = _INT16.unpack_from(key)
            if kind not in self._keys:
                return None
            read_key = _read(self._keys[kind], KEY_VERSION, key)
            if value is None:
                return Entry(read_key, None)
            (version,) = _INT16.unpack_from(value)
            return Entry(read_key, _read(self._values[kind], version, value))
        except (ProtocolError, StructError) as error:
            raise ValueError(str(error)) from error


def _read(message: type[Message], version: int, data: bytes) -> Message:
    read: Message
    read, _ = decoder(message, version)(memoryview(data), _INT16.size)
    return read
