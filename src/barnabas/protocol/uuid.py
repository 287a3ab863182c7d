"""Kafka's 128-bit ids: sixteen bytes that print as unpadded URL-safe base64, as every Kafka tool shows them.

A subclass of bytes, because ids are compared, hashed and copied to the wire far more often than they are printed.
"""

from __future__ import annotations

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode

UUID_BYTES = 16


class Uuid(bytes):
    """A topic, directory, incarnation or member id."""

    __slots__ = ()

    def __new__(cls, value: bytes | bytearray | memoryview) -> Uuid:
        if len(value) != UUID_BYTES:
            raise ValueError(f"an id has {UUID_BYTES} bytes, not {len(value)}")
        return super().__new__(cls, value)

    @classmethod
    def parse(cls, text: str) -> Uuid:
        """Read the form that `str()` writes; a ValueError says what is wrong with other text."""
        try:
            value = urlsafe_b64decode(text.rstrip("=") + "==")
        except (binascii.Error, ValueError) as error:
            raise ValueError(f"{text!r} is not a base64 id: {error}") from None
        if len(value) != UUID_BYTES:
            raise ValueError(f"{text!r} decodes to {len(value)} bytes, an id has {UUID_BYTES}")
        return cls(value)

    def __str__(self) -> str:
        return urlsafe_b64encode(self).rstrip(b"=").decode("ascii")

    def __repr__(self) -> str:
        return f"Uuid.parse({str(self)!r})"


ZERO_UUID = Uuid(bytes(UUID_BYTES))
